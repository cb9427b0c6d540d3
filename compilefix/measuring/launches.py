"""How often a call starts work on the device, counted with the profiler: what CUDA graphs and fusion save."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import torch

_LAUNCHES = (
    "cudaLaunchKernel",
    "cudaLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuLaunchCooperativeKernel",
    "cudaGraphLaunch",
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipModuleLaunchKernel",
    "hipGraphLaunch",
)
"""What the runtime's calls that start kernels and graphs begin with; copies and memory settings do not count."""


def launches(work: Callable[[], Any], device: torch.device) -> int | None:
    """The launches while `work` runs once: a kernel or a whole CUDA graph counts one. None where none can be counted.

    Without the right to profile, or without the profiling library, nothing is seen.
    """
    if device.type != "cuda":
        return None
    from torch.profiler import ProfilerActivity, profile

    try:
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
            work()
            torch.cuda.synchronize(device)
        return counted(event.name for event in profiler.events() or ())
    except Exception:  # one number less is better than a measurement that is lost at its end
        return None


def counted(names: Iterable[str]) -> int | None:
    """The launches among the names of a profile's events; None where there is none, for then none were recorded."""
    found = Counter(name.startswith(_LAUNCHES) for name in names)
    return found[True] or None
