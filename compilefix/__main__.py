"""Lets `python -m compilefix` do what the `compilefix` command does."""

from __future__ import annotations

from compilefix.cli.app import main

main()
