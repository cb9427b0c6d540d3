"""Lets `python -m compilefix` do what the `compilefix` command does."""

from __future__ import annotations

import os
import sys

if not getattr(sys.flags, "safe_path", False) and sys.path[:1] in ([""], [os.getcwd()]):  # noqa: PTH109
    # `python -m` puts the working directory first: a torch.py or rich.py there is what is looked at, not what is run.
    del sys.path[0]

from compilefix.cli.app import main

main()
