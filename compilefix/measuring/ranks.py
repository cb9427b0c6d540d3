"""Runs that belong to a job of several processes, as `torchrun` starts them: which rank this is, and of how many."""

from __future__ import annotations

import os
import zlib
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


def rendezvous(environment: Mapping[str, str], arm: str) -> dict[str, str]:
    """The variables with which the workers of one arm, and of no other, find each other over all ranks of a job.

    Each arm runs in processes of its own, one set after the other. At the meeting point of the job itself an arm would
    find the addresses of the arm before it. So rank 0 of each arm opens one of its own, at a port that all ranks work
    out alike. `arm` is the same text on all ranks and another one for each set of workers. Empty without a job.
    """
    if world_size(environment) == 1:
        return {}
    known = f"{environment.get('MASTER_PORT', '')}:{arm}".encode()
    # Below the ports that systems hand out by themselves.
    return {"TORCHELASTIC_USE_AGENT_STORE": "False", "MASTER_PORT": str(20000 + zlib.crc32(known) % 12000)}


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "")
    return int(text) if text.isdigit() else default
