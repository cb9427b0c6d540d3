"""Putting a patch set on disk, or printing it."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from compilefix.cli.inputs import Inputs
from compilefix.fixing.patchset import FileChange, PatchSet
from compilefix.source.discovery import repository
from compilefix.source.files import SourceError, SourceFile, display_path, read
from compilefix.source.notebooks import Notebook
from compilefix.source.writing import write

_BOM = "\ufeff"


def write_changes(patchset: PatchSet, inputs: Inputs) -> tuple[list[FileChange], list[SourceError]]:
    """Write what can be written: first the new files, without which the fixes that import them are left out."""
    sources = {file.path: file for file in inputs.files}
    written: list[FileChange] = []
    errors: list[SourceError] = []
    helper_failed = False
    for change in sorted(patchset, key=lambda change: change.path in sources):
        if helper_failed and any(fix.fix is not None and fix.fix.boundary for fix in change.fixes):
            errors.append(SourceError(display_path(change.path), "not written, because the helper module could not be"))
            continue
        error = write(_target(change, sources), change.after, root=inputs.config.root)
        if error is None:
            written.append(change)
        else:
            errors.append(error)
            helper_failed = helper_failed or change.path not in sources
    return written, errors


def _target(change: FileChange, sources: dict[Path, SourceFile]) -> SourceFile | Path:
    """What `write` replaces or creates. An older helper module is replaced, though nobody named it."""
    source: SourceFile | SourceError | None = sources.get(change.path)
    if source is None and change.before is not None:
        source = read(change.path)
    return source if isinstance(source, SourceFile) else change.path


def print_diff(patchset: PatchSet, inputs: Inputs) -> list[SourceError]:
    """Write each file's diff in the bytes of that file, so that the diff applies whatever the encoding."""
    sources = {file.path: file for file in inputs.files}
    root = _diff_root(change.path for change in patchset)
    errors: list[SourceError] = []
    sys.stdout.flush()
    for change in patchset:
        source = sources.get(change.path)
        try:
            shown = _as_on_disk(change, source)
        except ValueError as error:
            errors.append(SourceError(display_path(change.path), f"not in the diff: {error}"))
            continue
        encoding = "utf-8" if source is None else source.encoding
        text = shown.diff(root)
        try:
            data = text.encode(encoding)
        except UnicodeEncodeError:
            # Only a path can hold what the file's own encoding lacks.
            head, mark, body = text.partition("\n@@")
            data = os.fsencode(head) + (mark + body).encode(encoding)
        sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return errors


def _as_on_disk(change: FileChange, source: SourceFile | None) -> FileChange:
    """The change of what stands in the file: with its byte order mark; of a notebook the JSON text."""
    if isinstance(source, Notebook):
        return dataclasses.replace(change, before=source.raw, after=source.encoded(change.after).decode())
    if source is not None and source.bom and change.before is not None:
        return dataclasses.replace(change, before=_BOM + change.before, after=_BOM + change.after)
    return change


def print_fixed_stdin(patchset: PatchSet, inputs: Inputs) -> None:
    """Write the standard input as the fixes leave it to the standard output; as it came where nothing changes."""
    data = inputs.stdin or b""
    for change in patchset:
        data = inputs.files[0].encoded(change.after)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _diff_root(paths: Iterable[Path]) -> Path:
    """What the diff's paths are relative to: the git working tree, as `git apply` reads them, else where we are."""
    here = Path.cwd()
    root = repository(here)
    if root is not None and all(path.resolve().is_relative_to(root.resolve()) for path in paths):
        return root
    return here
