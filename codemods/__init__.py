"""The rules: what each finds, and the rewrite that it offers."""
