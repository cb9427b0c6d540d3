"""Comments that silence findings: `# compilefix: ignore`, `ignore[CF101,CF2]`, `ignore-file`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field

_MARK = "compilefix:"
_COMMENT = re.compile(
    r"#\s*compilefix:\s*ignore(?P<file>-file)?(?![\w-])\s*(?:\[(?P<codes>[^\]]*)\])?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Suppressions:
    """What the comments of one file silence: codes or prefixes by line (from 1), an empty set for every rule."""

    lines: Mapping[int, frozenset[str]] = field(default_factory=dict)
    file: frozenset[str] | None = None

    def covers(self, code: str, *lines: int) -> bool:
        """Whether a finding of `code` is silenced by the file or on one of `lines`.

        Give the line of the finding and the first and the last line of its statement.
        """
        if self.file is not None and _silences(self.file, code):
            return True
        return any(line in self.lines and _silences(self.lines[line], code) for line in lines)


def parse(text: str) -> Suppressions:
    """The suppressions in `text`, which must be Python source.

    Only comments count, not strings that look like them. A file without the mark costs one search.
    """
    if _MARK not in text.lower():
        return Suppressions()
    lines: dict[int, frozenset[str]] = {}
    whole_file: frozenset[str] | None = None
    for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
        if token.type == tokenize.COMMENT:
            whole_file = _collect(token.string, token.start[0], lines, whole_file)
    return Suppressions(lines, whole_file)


def parse_line(line: str) -> Suppressions:
    """The suppressions on one line that stands alone, as line 1; strings that look like comments count here too."""
    lines: dict[int, frozenset[str]] = {}
    return Suppressions(lines, _collect(line, 1, lines, None))


def _collect(
    comment: str, line: int, lines: dict[int, frozenset[str]], whole_file: frozenset[str] | None
) -> frozenset[str] | None:
    for match in _COMMENT.finditer(comment):
        codes = _codes(match["codes"])
        if match["file"]:
            whole_file = codes if whole_file is None else _both(whole_file, codes)
        else:
            lines[line] = _both(lines[line], codes) if line in lines else codes
    return whole_file


def _codes(written: str | None) -> frozenset[str]:
    """The codes between the brackets. Without brackets, or with nothing between them, all rules are meant."""
    return frozenset(code for part in (written or "").split(",") if (code := part.strip().upper()))


def _both(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    return left | right if left and right else frozenset()


def _silences(codes: frozenset[str], code: str) -> bool:
    return not codes or any(code.startswith(prefix) for prefix in codes)
