"""What each arm must be served so that it runs the code before or after a patch set, with or without probes."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass, replace
from pathlib import Path

from compilefix.fixing.patchset import FileChange, PatchSet
from compilefix.measuring.probes import Probe, probed
from compilefix.measuring.request import NewModule, Overlay


def overlays(patchset: PatchSet) -> tuple[Overlay, Overlay]:
    """What each arm must be served: of each file, the text that is not the one on disk.

    A patch set that was not written needs an overlay for the arm after, one that compares a revision with the working
    tree for the arm before. An empty `after` of a file that is not on disk stands for a deleted file.
    """
    before = _Sides([], [])
    after = _Sides([], [])
    for change in patchset:
        on_disk = _text_on_disk(change.path)
        if change.before is not None and change.before != on_disk:
            before.add(change, change.before, on_disk)
        if change.after != on_disk and not (on_disk is None and change.after == ""):
            after.add(change, change.after, on_disk)
    return before.overlay(), after.overlay()


@dataclass(frozen=True)
class Probed:
    """The overlays of both sides with probes, and the probes of each side."""

    before: Overlay
    after: Overlay
    in_before: tuple[Probe, ...]
    in_after: tuple[Probe, ...]


def probed_overlays(patchset: PatchSet) -> Probed:
    """As `overlays`, with each condition and statement that only one side has reported to a counter."""
    changes: list[FileChange] = []
    in_before: list[Probe] = []
    in_after: list[Probe] = []
    for change in patchset:
        path = shown_path(change.path)
        before, after = change.before, change.after
        if before is not None:
            before, found = probed(before, change.after, path)
            in_before += found
        if change.module != patchset.boundary:
            after, found = probed(change.after, change.before or "", path)
            in_after += found
        changes.append(replace(change, before=before, after=after))
    return Probed(*overlays(PatchSet(tuple(changes), patchset.boundary)), tuple(in_before), tuple(in_after))


def shown_path(path: Path | str) -> str:
    """The path relative to the working directory where it is below it."""
    try:
        return Path(path).resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return str(path)


@dataclass(frozen=True)
class _Sides:
    sources: list[tuple[Path, str]]
    new_modules: list[NewModule]

    def add(self, change: FileChange, text: str, on_disk: str | None) -> None:
        if on_disk is None:
            self.new_modules.append(NewModule(change.module, change.path.resolve(), text))
        else:
            self.sources.append((change.path.resolve(), text))

    def overlay(self) -> Overlay:
        return Overlay(tuple(self.sources), tuple(self.new_modules))


def _text_on_disk(path: Path) -> str | None:
    try:
        data = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None
