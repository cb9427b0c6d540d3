"""Which workloads `verify` runs, and which changes it measures on each."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compilefix.cli.inputs import Inputs, Request, gather, print_errors
from compilefix.codemods.finding import Finding
from compilefix.fixing.patchset import PatchSet
from compilefix.measuring.git import patchset_between
from compilefix.measuring.request import WorkloadError, split_spec
from compilefix.source import config
from compilefix.source.errors import InputError, suggestion
from compilefix.source.files import display_path


@dataclass(frozen=True)
class Chosen:
    """A workload by the name that reports give it."""

    name: str
    spec: str


@dataclass(frozen=True)
class Changes:
    """What is measured: all changes together, and each fix alone where that was asked for.

    `build` gives the patch set of some of the fixes.
    """

    patchset: PatchSet
    singles: tuple[tuple[Finding, PatchSet], ...] = ()
    build: Callable[[Sequence[Finding]], PatchSet] | None = None


def chosen(workload: str | None, paths: list[Path], file: Path | None) -> tuple[Chosen, ...]:
    """The workload that was named, or all that the configuration names. Raises InputError where there is none."""
    if workload is not None and ":" in workload:
        return (Chosen(workload, workload),)
    found = config.load(paths, file)
    if workload is None:
        if not found.workloads:
            raise InputError("no workload: name one, or list some under workloads in [tool.compilefix]")
        return tuple(Chosen(name, _placed(spec, found.root)) for name, spec in found.workloads.items())
    if workload not in found.workloads:
        names = f" ({', '.join(found.workloads)})" if found.workloads else ""
        raise InputError(
            f"{workload!r} is no workload{suggestion(workload, found.workloads)}: write path/to/file.py:function, "
            f"package.module:function, or a name of [tool.compilefix.workloads]{names}"
        )
    return (Chosen(workload, _placed(found.workloads[workload], found.root)),)


def changes(spec: str, request: Request, base: str | None, each: bool) -> Changes:
    """What the fixes, or a revision as the base, come to for a workload.

    The paths of the request are those that were given; without any, the file of the workload is fixed. Raises
    InputError, WorkloadError and GitError.
    """
    place, _ = split_spec(spec)
    if base is not None:
        return Changes(patchset_between(Path.cwd(), base, list(request.paths)))
    if place.endswith(".py") and not Path(place).is_file():
        raise WorkloadError(f"{place}: no such file")
    paths = request.paths or [Path(place) if place.endswith(".py") else _module_file(place)]
    inputs = gather(replace(request, paths=paths))
    if inputs.errors and not inputs.files:
        raise InputError(str(inputs.errors[0]))
    outcome = inputs.run(rewrite=True)
    print_errors([*inputs.errors, *outcome.errors])
    if not each:
        return Changes(outcome.patchset)
    return Changes(outcome.patchset, one_by_one(inputs, outcome.patchset), lambda some: only(inputs, some))


def _placed(spec: str, root: Path) -> str:
    """A workload of the configuration, whose file is relative to the configuration's folder."""
    place, _, function = spec.rpartition(":")
    return f"{display_path(root / place)}:{function}" if place.endswith(".py") else spec


def _module_file(name: str) -> Path:
    sys.path.insert(0, str(Path.cwd()))
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise InputError(f"the module {name} cannot be found: {error}") from error
    finally:
        sys.path.pop(0)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise InputError(f"the module {name} cannot be found: name the files to fix after the workload")
    return Path(spec.origin)


def only(inputs: Inputs, fixes: Sequence[Finding]) -> PatchSet:
    """The patch set that has these fixes and no others."""
    chosen = {(fix.fingerprint, fix.span) for fix in fixes}
    return inputs.run(rewrite=True, wanted=lambda finding: (finding.fingerprint, finding.span) in chosen).patchset


def one_by_one(inputs: Inputs, patchset: PatchSet) -> tuple[tuple[Finding, PatchSet], ...]:
    """For each fix the patch set that has only this one. A fix that only another one made possible is left out."""
    alone = ((fix, inputs.run(rewrite=True, only=fix).patchset) for fix in patchset.fixes)
    return tuple((fix, single) for fix, single in alone if single)
