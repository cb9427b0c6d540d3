"""The peak of an arm's memory: what the device allocator held, or on a CPU what the process kept resident."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import torch

_PROCESS = Path("/proc/self")


class PeakMemory:
    """Watches the memory from its making on. On a device that is the arm's whole life.

    On a CPU the peak of the resident set is set back by `restart`, so that compiling does not count.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)

    def restart(self) -> None:
        """Forgets the peak so far, on a CPU where the system can do that. CUDA graphs allocate while they are made."""
        if self._device.type != "cuda":
            with contextlib.suppress(OSError):
                (_PROCESS / "clear_refs").write_text("5", encoding="ascii")

    def bytes(self) -> int | None:
        """The peak in bytes, None where it is not known."""
        if self._device.type == "cuda":
            return int(torch.cuda.max_memory_allocated(self._device))
        return _resident_peak()


def _resident_peak() -> int | None:
    with contextlib.suppress(OSError, ValueError):
        for line in (_PROCESS / "status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
