"""Runs code before and after a patch set, in processes of its own, and says what changed.

The only part of compilefix that uses torch.
"""
