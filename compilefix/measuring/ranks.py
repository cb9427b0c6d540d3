"""Runs that belong to a job of several processes, as `torchrun` starts them: which rank this is, and of how many."""

from __future__ import annotations

import os
from collections.abc import Mapping


def rank(environment: Mapping[str, str] = os.environ) -> int:
    """The number of this process in its job; 0 where there is no job."""
    return _number(environment, "RANK", 0)


def world_size(environment: Mapping[str, str] = os.environ) -> int:
    """How many processes the job has; 1 where there is no job."""
    return max(1, _number(environment, "WORLD_SIZE", 1)) if "RANK" in environment else 1


def local_rank(environment: Mapping[str, str] = os.environ) -> int | None:
    """The number of this process on its machine, which is that of its device; None where there is no job."""
    return _number(environment, "LOCAL_RANK", 0) if world_size(environment) > 1 else None


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "")
    return int(text) if text.isdigit() else default
