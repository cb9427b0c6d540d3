"""From findings to a patch set, and what can be done with one."""
