"""The commands, one file each; `app` puts them together."""
