"""Which sides of the rewritten branches the inputs reached.

The original source is run once more, eager, with the condition of each such branch reported to a counter. Only text
inside a condition is added, so line numbers stay as they are.
"""

from __future__ import annotations

import ast
import builtins
import io
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compilefix.codemods.finding import Span

_BRANCHES = (ast.If, ast.IfExp, ast.While)
HOOK = "__compilefix_branch__"


class BranchCounts:
    """Counts by branch how often its condition was true and false. Install it before the workload is imported."""

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, int]] = {}

    def install(self) -> None:
        """Makes the counter reachable from instrumented source."""
        setattr(builtins, HOOK, self._seen)

    def _seen(self, branch: str, value: Any) -> Any:
        true, false = self.counts.get(branch, (0, 0))
        self.counts[branch] = (true + 1, false) if value else (true, false + 1)
        return value


def branch_lines(source: str, after: str, spans: Iterable[Span]) -> tuple[int, ...]:
    """The lines of the conditions inside the spans that `after` has no more; without spans of the file.

    Empty for source that does not parse.
    """
    return tuple(sorted({test.lineno for test in _tests(source, after, spans)}))


def instrumented(source: str, after: str, spans: Iterable[Span], path: str) -> str:
    """The source with each condition that was rewritten reported under the key `path:line`."""
    tests = _tests(source, after, spans)
    lines = [line.encode("utf-8") for line in io.StringIO(source, newline="")]
    # From the back, so that positions before stay true; an inner condition comes after the outer one that holds it.
    marks: list[tuple[int, int, int, bytes]] = []
    for order, test in enumerate(tests):
        if test.end_lineno is None or test.end_col_offset is None:
            continue
        key = f"{path}:{test.lineno}"
        marks.append((test.lineno, test.col_offset, -order, f"{HOOK}({key!r}, (".encode()))
        marks.append((test.end_lineno, test.end_col_offset, order, b"))"))
    for line, column, _, text in sorted(marks, reverse=True):
        lines[line - 1] = lines[line - 1][:column] + text + lines[line - 1][column:]
    return b"".join(lines).decode("utf-8")


def _tests(source: str, after: str, spans: Iterable[Span]) -> list[ast.expr]:
    wanted = list(spans)
    try:
        tree = ast.parse(source)
        # A fixed condition inside a rewritten branch stays a condition: only those that are gone count.
        kept = Counter(ast.dump(node.test) for node in ast.walk(ast.parse(after)) if isinstance(node, _BRANCHES))
    except (SyntaxError, ValueError):
        return []
    tests: list[ast.expr] = []
    inside: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, _BRANCHES):
            near = not wanted or any(
                span.line <= node.lineno and (node.end_lineno or 0) <= span.end_line for span in wanted
            )
            (inside if near else tests).append(node.test)
    kept.subtract(Counter(ast.dump(test) for test in tests))
    gone: list[ast.expr] = []
    for test in inside:
        if kept[ast.dump(test)] > 0:
            kept[ast.dump(test)] -= 1
        else:
            gone.append(test)
    return gone
