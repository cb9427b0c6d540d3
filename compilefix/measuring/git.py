"""The changes between a git revision and the working tree, as a patch set."""

from __future__ import annotations

import io
import subprocess
import tokenize
from collections.abc import Sequence
from pathlib import Path

from compilefix.fixing.patchset import FileChange, PatchSet


class GitError(Exception):
    """Git cannot answer; the message is git's own."""


def patchset_between(root: Path, rev: str, paths: Sequence[Path]) -> PatchSet:
    """The Python files under `paths` as they were at `rev` (before) and as they are in the working tree (after).

    Files that git does not track count as new. A file that was deleted since has an empty `after`. Raises GitError for
    an unknown revision, a folder that is no git repository, or a machine without git.
    """
    top = Path(_git(root, "rev-parse", "--show-toplevel").decode().strip())
    commit = _commit(root, rev)
    where = [str(path.resolve()) for path in paths] or [str(root.resolve())]
    changed = _names(_git(top, "diff", "--name-only", "--no-renames", "-z", commit, "--", *where))
    untracked = _names(_git(top, "ls-files", "--others", "--exclude-standard", "-z", "--", *where))
    changes = []
    for name in sorted({*changed, *untracked}):
        if name.endswith(".py"):
            old = None if name in untracked else _at(top, commit, name)
            path = top / name
            new = _decoded(path.read_bytes(), name) if path.is_file() else ""
            if old != new:
                changes.append(FileChange(path, _module(path), old, new))
    return PatchSet(tuple(changes))


def _commit(root: Path, rev: str) -> str:
    try:
        return _git(root, "rev-parse", "--verify", "--end-of-options", f"{rev}^{{commit}}").decode().strip()
    except GitError as error:
        raise GitError(f"{rev!r} is no revision here: {error}") from error


def _names(output: bytes) -> set[str]:
    return {name.decode("utf-8", "surrogateescape") for name in output.split(b"\0") if name}


def _at(top: Path, commit: str, name: str) -> str | None:
    listed = _git(top, "ls-tree", "--name-only", "-z", commit, "--", name)
    return _decoded(_git(top, "cat-file", "blob", f"{commit}:{name}"), name) if listed else None


def _decoded(data: bytes, name: str) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise GitError(f"{name} cannot be read as Python source: {error}") from error


def _module(path: Path) -> str:
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except OSError as error:
        raise GitError(f"git does not run: {error}") from error
    if done.returncode != 0:
        raise GitError(done.stderr.decode("utf-8", "replace").strip() or f"git {words[0]} failed")
    return done.stdout
