"""The files that changed since a git revision."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

from compilefix.source.errors import InputError


def changed_since(rev: str, folder: Path) -> frozenset[Path]:
    """The files, with links resolved, that the working tree at `folder` has otherwise than `rev`, untracked ones too.

    Where the branch and `rev` have gone apart, what counts is the commit that they have in common, as in a pull
    request. Raises InputError for an unknown revision, a folder outside a git repository, or a machine without git.
    """
    top = Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))
    try:
        commit = os.fsdecode(_git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}"))
    except InputError:
        raise InputError(f"--since: '{rev}' is no revision in {top}") from None
    commit = commit.strip()
    # Nothing in common: a shallow clone, or another history.
    with contextlib.suppress(InputError):
        commit = os.fsdecode(_git(top, "merge-base", commit, "HEAD")).strip()
    changed = _git(top, "diff", "--name-only", "--no-renames", "--diff-filter=d", "-z", commit, "--")
    untracked = _git(top, "ls-files", "--others", "--exclude-standard", "-z")
    names = (changed + untracked).split(b"\0")
    return frozenset(Path(os.path.realpath(top / os.fsdecode(name))) for name in names if name)


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)
    except OSError as error:
        raise InputError("--since needs git, which cannot be run here") from error
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip()
        raise InputError(f"--since: {text.splitlines()[-1] if text else 'git failed'}")
    return done.stdout
