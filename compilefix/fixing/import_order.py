"""Where among the others a new import stands: as isort would have it, where the file is sorted so."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import takewhile

import libcst as cst
from libcst.helpers import get_full_name_for_node

_STANDARD = sys.stdlib_module_names - {"__future__"}
_Line = cst.SimpleStatementLine | cst.BaseCompoundStatement


def in_its_group(lines: Sequence[_Line], new: _Line) -> list[_Line] | None:
    """The lines with a new import at its place in the group that it belongs to; None where there is no such group.

    A group is what no blank line divides: what it begins with of the standard library, or what it imports from the
    same package. What imports from another package belongs before the relative imports at the end.
    """
    top = _module(new)[0]
    groups = _groups(lines)
    for group in groups:
        tops = [_module(lines[at])[0] for at in group]
        if top in _STANDARD and tops[0] in _STANDARD:
            return _put(
                lines,
                new,
                [at for at, _ in takewhile(lambda pair: pair[1] in _STANDARD, zip(group, tops, strict=True))],
            )
        if top not in _STANDARD and top in tops:
            return _put(lines, new, [at for at, one in zip(group, tops, strict=True) if one == top])
    last = groups[-1] if groups else []
    relative = [at for at in last if not _module(lines[at])[0]]
    if not top or top in _STANDARD or not relative or relative != last[-len(relative) :]:
        return None
    apart = relative == last and len(groups) > 1
    there = new.with_changes(leading_lines=[cst.EmptyLine(indent=False)]) if apart else new
    return [*lines[: relative[0]], there, *lines[relative[0] :]] if apart or relative != last else None


def _put(lines: Sequence[_Line], new: _Line, group: Sequence[int]) -> list[_Line]:
    """The lines with the new one among those of the group, if these are sorted, else behind them."""
    keys = [_module(lines[at])[1:] for at in group]
    behind = [at for at, key in zip(group, keys, strict=True) if key > _module(new)[1:]] if keys == sorted(keys) else []
    place = behind[0] if behind else group[-1] + 1
    if not behind or not _leading(lines[place]):
        return [*lines[:place], new, *lines[place:]]
    if any(line.comment is not None for line in _leading(lines[place])):
        return [*lines[: place + 1], new, *lines[place + 1 :]]
    first = new.with_changes(leading_lines=_leading(lines[place]))
    return [*lines[:place], first, lines[place].with_changes(leading_lines=[]), *lines[place + 1 :]]


def _groups(lines: Sequence[_Line]) -> list[list[int]]:
    """The places of the imports, in groups that blank lines divide."""
    groups: list[list[int]] = []
    for at, line in enumerate(lines):
        if not is_import(line):
            continue
        begins = not groups or groups[-1][-1] != at - 1 or any(one.comment is None for one in _leading(line))
        if begins:
            groups.append([])
        groups[-1].append(at)
    return groups


def _leading(line: _Line) -> Sequence[cst.EmptyLine]:
    return line.leading_lines


def is_import(line: cst.BaseStatement | cst.SimpleStatementLine) -> bool:
    """Whether a statement imports something."""
    return isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.Import | cst.ImportFrom)


def _module(line: _Line) -> tuple[str, bool, str]:
    """The top package, which is empty for a relative import, whether names are taken `from` it, and the full name."""
    node = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
    if isinstance(node, cst.Import):
        name = get_full_name_for_node(node.names[0].name) or ""
        return name.partition(".")[0], False, name.lower()
    if isinstance(node, cst.ImportFrom):
        name = get_full_name_for_node(node.module) or "" if node.module is not None else ""
        return "" if node.relative else name.partition(".")[0], True, name.lower()
    return "", True, ""
