"""The one currency of every command: what each file was, what it becomes, and which fixes made the difference."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from compilefix.codemods.finding import Finding


@dataclass(frozen=True)
class FileChange:
    """One file of a PatchSet. `before` is None for a file that the fixes create.

    `module` is the dotted name under which the file is imported. The texts are decoded and keep the file's newlines.
    """

    path: Path
    module: str
    before: str | None
    after: str
    fixes: tuple[Finding, ...] = ()

    def diff(self, root: Path) -> str:
        """The unified diff with `a/` and `b/` paths relative to `root`, as `git apply` takes it."""
        name = _relative(self.path, root)
        lines = difflib.unified_diff(
            _lines(self.before or ""),
            _lines(self.after),
            "/dev/null" if self.before is None else f"a/{name}",
            f"b/{name}",
        )
        header = f"diff --git a/{name} b/{name}\n"
        if self.before is None:
            header += "new file mode 100644\n"
        return header + "".join(_with_newline(line) for line in lines)


@dataclass(frozen=True)
class PatchSet:
    """The changes that a set of fixes makes. `boundary` is the module name of the helper, when one is used."""

    changes: tuple[FileChange, ...]
    boundary: str | None = None

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __iter__(self) -> Iterator[FileChange]:
        return iter(self.changes)

    @property
    def fixes(self) -> tuple[Finding, ...]:
        """All fixes in the set, by file and place."""
        return tuple(fix for change in self.changes for fix in change.fixes)

    def sources(self) -> Mapping[Path, str]:
        """The new text of every changed file, for the overlay."""
        return {change.path: change.after for change in self.changes}

    def diff(self, root: Path) -> str:
        """The unified diff of all files."""
        return "".join(change.diff(root) for change in self.changes)


def _relative(path: Path, root: Path) -> str:
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return path.resolve().as_posix().lstrip("/")


def _lines(text: str) -> list[str]:
    # Only "\n" ends a line for git; str.splitlines would split at form feeds too.
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _with_newline(line: str) -> str:
    return line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
