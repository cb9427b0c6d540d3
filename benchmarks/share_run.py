"""Runs the models of one package under one set of fixes. Each arm is a fork of a process that has imported them.

An arm whose fixes change no file that the model runs is that of fewer fixes, and is not run again. Each result holds a
key: what of the sources and flags it depends on. A result with another key is replaced.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections.abc import Collection, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import share_models
import torch
from share import ARMS, EAGER
from share_fixes import load

from compilefix.fixing.overlay import install
from compilefix.measuring.observing import observe
from compilefix.measuring.request import ArmResult, BreakSite, FrameEvent, Options, WorkerRequest, WorkloadError


@dataclass(frozen=True)
class Place:
    """What graphs are compiled with, and the device of models and inputs."""

    backend: str = "eager"
    device: str = "cpu"


def serve(
    fixes: str, names: list[str], out: Path, seconds: int, where: Place, wanted: Collection[str] = tuple(ARMS)
) -> int:
    """Run those of the wanted arms with these fixes whose results are not there."""
    arms = [arm for arm, (level, _) in ARMS.items() if level == fixes and arm in wanted]
    package = names[0].partition("/")[0]
    overlay, boundary = load(package, fixes, out)
    texts = {str(path): text for path, text in overlay.sources}
    texts |= {str(module.path): module.text for module in overlay.new_modules}
    pending = []
    for name in names:
        for arm in arms:
            key = _key(name, arm, texts, out)
            if not _reused(name, arm, key, out):
                pending.append((name, arm, key))
    if not pending:
        return 0
    torch.set_num_threads(1)
    on_cpu = where.device == "cpu"  # a fork cannot use a GPU that this process uses, as some packages do at import
    if on_cpu:
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
    new = {module.name: (module.path, module.text) for module in overlay.new_modules}
    install(dict(overlay.sources), new)
    if on_cpu:
        # Where the package as a whole does not import, the models import their part of it, with stand-ins for the rest.
        with suppress(Exception):
            importlib.import_module(package)
    context = multiprocessing.get_context("fork")
    for name, arm, key in pending:
        result_of(name, arm, out).unlink(missing_ok=True)
        if arm == "flags" and _is_free(result_of(name, "assumed", out)):
            continue
        process = context.Process(target=_child, args=(name, arm, key, boundary, out, seconds, where))
        started = time.monotonic()
        process.start()
        process.join(20 * seconds)
        if process.is_alive():
            process.kill()
            process.join()
        if not result_of(name, arm, out).exists():
            error = f"ended with {process.exitcode} after {time.monotonic() - started:.0f} s"
            _save({"error": error, "key": key}, name, arm, out)
    return 0


def _key(name: str, arm: str, texts: Mapping[str, str], out: Path) -> str:
    """What an arm depends on: the flags, and the changed ones of the files that the model runs."""
    if ARMS[arm][0] == "none":
        return arm
    eager = result_of(name, "eager", out)
    ran = set(json.loads(eager.read_text(encoding="utf-8")).get("files", ())) if eager.exists() else set(texts)
    text = "".join(f"{path}\n{texts[path]}" for path in sorted(ran & set(texts)))
    changed = hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""
    if arm in EAGER:
        return f"{changed} eager" if text else "eager"
    return f"{changed or 'written'} with flags" if ARMS[arm][1] else changed or "written"


def _reused(name: str, arm: str, key: str, out: Path) -> bool:
    """Whether there is a result with this key; that of another arm is copied."""
    for other in (arm, *ARMS):
        path = result_of(name, other, out)
        if path.exists():
            document = json.loads(path.read_text(encoding="utf-8"))
            if document.get("key") == key:
                if other != arm:
                    _save(document, name, arm, out)
                return True
    return False


def result_of(name: str, arm: str, out: Path) -> Path:
    """Where the result of an arm is kept."""
    return out / f"run-{name}-{arm}.json".replace("/", "__").replace(" ", "_")


def take_over(name: str, observed: Path, out: Path) -> None:
    """Keep what `accuracy.py run` saw of a model as the result of the arm as written, where there is none yet."""
    seen = observed / (name.replace("/", "__").replace(" ", "_") + ".json")
    if result_of(name, "written", out).exists() or not seen.exists():
        return
    result = json.loads(seen.read_text(encoding="utf-8"))
    sites = tuple(BreakSite(s["path"], s["line"], s["column"], s["gb"], s["reason"], 1) for s in result["sites"])
    skipped = tuple(FrameEvent(f["path"], f["line"], f["function"], "", 1) for f in result["skipped"])
    arm = ArmResult(break_sites=sites, skipped_frames=skipped)
    _save({"modes": {"eval": arm.to_dict()}, "files": [], "key": "written"}, name, "written", out)


def free(result: dict[str, Any]) -> bool:
    """Whether an arm ran in all modes, compiled, without a break."""
    modes = {name: ArmResult.from_dict(m) for name, m in result.get("modes", {}).items()}
    return bool(modes) and all(
        m.error is None
        and not m.break_sites
        and not m.skipped_frames
        and (m.graphs_per_call or name.endswith("varied"))  # graphs that were compiled before are not counted
        for name, m in modes.items()
    )


def _is_free(path: Path) -> bool:
    return path.exists() and free(json.loads(path.read_text(encoding="utf-8")))


def _save(document: dict[str, Any], name: str, arm: str, out: Path) -> None:
    result_of(name, arm, out).write_text(json.dumps(document), encoding="utf-8")


def _child(name: str, arm: str, key: str, boundary: str | None, out: Path, seconds: int, where: Place) -> None:
    warnings.simplefilter("ignore")
    signal.setitimer(signal.ITIMER_PROF, seconds)  # the machine may be busy with other work
    _, flags = ARMS[arm]
    if flags:
        torch._dynamo.config.capture_scalar_outputs = True
        torch._dynamo.config.trace_autograd_ops = True
        torch._dynamo.config.capture_dynamic_output_shape_ops = True
    modes: dict[str, Any] = {}
    files: set[str] = set()
    if arm != "eager":  # the inputs are those of the original, also where fixed code would take others
        original = json.loads(result_of(name, "eager", out).read_text(encoding="utf-8"))
        share_models.requiring = original.get("requiring")
        share_models.running = original.get("running", {})
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for mode in share_models.MODES:
            share_models.current = (name, mode)
            if not mode.endswith("varied"):  # the same code with other values
                torch._dynamo.reset()
            folder = out / "seen" / f"{name}-{arm}-{mode}".replace("/", "__").replace(" ", "_")
            folder.mkdir(parents=True, exist_ok=True)
            request = WorkerRequest(
                name=arm,
                role="observe",
                compiled=arm not in EAGER,
                workload="share_models:workload",
                options=options(mode, where),
                folder=folder,
                boundary=boundary,
            )
            if arm == "eager":
                sys.setprofile(lambda frame, event, _: files.add(frame.f_code.co_filename) if event == "call" else None)
            modes[mode] = _observed(request).to_dict()
            sys.setprofile(None)
    document = {"modes": modes, "files": sorted(files), "key": key}
    document |= {"requiring": share_models.requiring, "running": share_models.running}
    _save(document, name, arm, out)
    os._exit(0)


def options(mode: str, where: Place) -> Options:
    """How a mode is run."""
    return Options(device=where.device, backend=where.backend, training=mode.startswith("train"), calls=1, repeats=0)


def _observed(request: WorkerRequest) -> ArmResult:
    try:
        result, *_ = observe(request, lambda _: None)
        assert isinstance(result, ArmResult)
        return result
    except WorkloadError as error:
        return ArmResult(error=str(error), error_kind="workload")
    except Exception as error:
        print(error, file=sys.stderr)
        return ArmResult(error=f"{type(error).__name__}: {error}", error_kind="run")
