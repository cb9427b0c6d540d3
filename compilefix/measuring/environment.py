"""What a measurement was made with, so that it can be judged and repeated."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

import torch

from compilefix.measuring.ranks import rank, world_size
from compilefix.measuring.request import Options

_VARIABLES = ("TORCH", "PYTORCH_", "TRITON_", "CUDA_", "NVIDIA_TF32", "OMP_", "MKL_", "KMP_", "PYTHONHASHSEED")
_OWN = ("TORCHINDUCTOR_CACHE_DIR", "TORCHELASTIC_", "TORCHDYNAMO_DISABLE")


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
        "load": _load(),
        "triton": _version("triton"),
        "numpy": _version("numpy"),
        "git": _revision(),
        "flags": "; ".join(_flags()),
        "variables": "; ".join(_variables()),
        "peak_memory": "of the device allocator" if device.type == "cuda" else "resident set while timed",
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
    if world_size() > 1:
        found["rank"] = str(rank())
        found["world_size"] = str(world_size())
    return found


def _load() -> str:
    """The load averages of the machine, over 1, 5 and 15 minutes; empty where they are not known."""
    return " ".join(f"{value:.2f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else ""


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _revision() -> str:
    """The commit of the working directory, with a word when files differ from it; empty outside of git."""
    try:
        commit = _git("rev-parse", "--short=12", "HEAD")
        return commit + (" with changes" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, check=True, timeout=20)
    return done.stdout.decode("utf-8", "replace").strip()


def _flags() -> list[str]:
    """The settings of torch that change what is computed or how fast, as `name=value`."""
    return [
        f"float32_matmul_precision={torch.get_float32_matmul_precision()}",
        f"deterministic={torch.are_deterministic_algorithms_enabled()}",
        f"cudnn.allow_tf32={torch.backends.cudnn.allow_tf32}",
        f"cudnn.benchmark={torch.backends.cudnn.benchmark}",
        f"interop_threads={torch.get_num_interop_threads()}",
    ]


def _variables() -> list[str]:
    """The environment variables that torch and its libraries read, without those that a worker is given."""
    return sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith(_VARIABLES) and not name.startswith(_OWN)
    )


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
