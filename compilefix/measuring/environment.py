"""What a measurement was made with, so that it can be judged and repeated."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path

import torch

from compilefix.measuring.request import Options


def describe(options: Options, device: torch.device) -> dict[str, str]:
    """The environment of the running process."""
    found = {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": device.type,
        "device_name": _device_name(device),
        "cpu_count": str(os.cpu_count() or 0),
        "threads": str(torch.get_num_threads()),
        "mode": options.mode,
        "backend": options.backend,
        "seed": str(options.seed),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }
    if device.type == "cuda":
        found["cuda"] = str(torch.version.cuda or torch.version.hip)
        found["driver"] = _driver()
        free, total = torch.cuda.mem_get_info(device)
        found["device_memory_bytes"] = str(total)
        found["device_memory_free_bytes"] = str(free)
    return found


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _driver() -> str:
    try:
        with Path("/proc/driver/nvidia/version").open(encoding="utf-8") as lines:
            words = lines.readline().split()
    except OSError:
        return ""
    return next((word for word in words if word[0].isdigit() and "." in word), "")
