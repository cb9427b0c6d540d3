"""Fixes that only move a break: a number stays a tensor, and decides a branch that no fix takes out then.

Which fixes a branch gets is known when all are made. Where one is left that was none of a tensor before, and no more
reads went than such branches came, nothing is won: the number is read, or drawn, as it was. So it is with the places of
a mask that become the mask: what selects by it has a size that depends on values, where it had that of the list; with
their number, which a fix gives a name of its own and puts into the line of the branch; and with the size of what a mask
selects, which becomes the number of its true values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from compilefix.codemods.finding import Edit, Finding
from compilefix.source.files import SourceFile
from compilefix.source.tree import names_in

_READS, _PLACES, _TRUTHS, _COUNTS, _SIZES, _DRAWS = "CF2", "CF505", "CF105", "CF508", "CF503", "CF403"
_ASSIGNED = re.compile(r"^[ ]*(\w+(?:, \w+)*) = ", re.MULTILINE)
_BRANCHES = frozenset({"CF101", "CF102", "CF104", "CF105"})
_HEADS = ("if ", "elif ", "while ", "assert ", "if(", "elif(", "while(", "assert(")
_SELECTIONS = frozenset({"CF501", "CF502"})


@dataclass(frozen=True)
class Kept:
    """A fix that keeps a number as a tensor, or a mask in place of its places, the names that hold it, and new ones."""

    finding: Finding
    names: frozenset[str]
    given: frozenset[str] = frozenset()


def kept_tensors(fixes: Iterable[Finding], file: SourceFile) -> list[Kept]:
    """Those of some fixes that leave another tensor in a name, or one for a number; the file is as they found it."""
    codes = (_READS, _PLACES, _COUNTS, _SIZES, _DRAWS)
    reads = [finding for finding in fixes if finding.code.startswith(codes) or _is_value(finding)]
    assigned = [n for n in ast.walk(file.tree) if isinstance(n, ast.Assign | ast.AnnAssign)] if reads else []
    found = []
    for finding in reads:
        around = (n for n in assigned if n.lineno <= finding.span.line <= (n.end_lineno or n.lineno))
        targets = [t for n in around for t in (n.targets if isinstance(n, ast.Assign) else [n.target])]
        names = names_in(*targets)
        found.append(Kept(finding, frozenset(names), given_names(finding) - names))
    return found


def given_names(finding: Finding) -> frozenset[str]:
    """The names that the code of a fix gives a value."""
    found = (made for edit in _edits(finding) for made in _ASSIGNED.findall(edit.template))
    return frozenset(name for made in found for name in made.split(", "))


def _edits(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix is not None else ()


def moved_breaks(
    kept: Collection[Kept], left: Iterable[Finding], before: Iterable[Finding], texts: Mapping[str, str]
) -> list[tuple[Finding, Finding]]:
    """The fixes whose break is now that of a branch, or of a selection, with the finding that says so.

    `left` are the findings when all fixes are made and `before` those of the files as they were, with these `texts` by
    path.
    """
    found = list(before)
    known = {_place(finding) for finding in found}
    branches = {_place(finding) for finding in found if finding.code in _BRANCHES}
    moved = []
    for branch in left:
        if branch.code not in _BRANCHES | _SELECTIONS or branch.effect != "break" or _place(branch) in known:
            continue
        if branch.fix is not None:
            continue  # one that is not allowed here
        line = branch.source_line.strip()
        words = frozenset(re.findall(r"\w+", line))
        near = [k for k in kept if (k.finding.path, k.finding.function) == (branch.path, branch.function)]
        near = [k for k in near if k.finding.code == _PLACES or branch.code in _BRANCHES]
        lines = texts[branch.path].splitlines()
        if line in map(str.strip, lines):
            moved += [(k.finding, branch) for k in near if k.names & words]
            continue
        for one in near:  # a fix wrote this line: what stood there is known where no other moved it
            if one.given & words:
                places = [e.target.line - 1 for e in _edits(one.finding) if e.template in words]
                was = [lines[n] for n in places if n < len(lines) and one.names & set(re.findall(r"\w+", lines[n]))]
                moved.append((one.finding, replace(branch, source_line=was[0]) if was else branch))
            elif branch.code in _BRANCHES and (stood := _read_in(one, line, lines)) is not None:
                was_one = (branch.path, branch.function, stood.strip()) in branches
                moved += [] if was_one else [(one.finding, replace(branch, source_line=stood))]
    return [pair for pair in moved if not _is_gain(pair, moved)]


def _read_in(kept: Kept, line: str, lines: Sequence[str]) -> str | None:
    """The line of a branch as it was where a number was read in it: `if abs(float(x)) < limit:`."""
    for target in (edit.target for edit in _edits(kept.finding)):
        was = lines[target.line - 1] if target.line == target.end_line and target.line <= len(lines) else ""
        head, tail = was[: target.column].lstrip(), was[target.end_column :].rstrip()
        if head.startswith(_HEADS) and line.startswith(head) and line.endswith(tail):
            return was
    return None


def _is_value(finding: Finding) -> bool:
    """Whether a fix makes a tensor of the truth that an expression read (`outside = not inside.all()`)."""
    return finding.code == _TRUTHS and finding.fix is not None and not finding.fix.boundary


def reason(branch: Finding) -> str:
    """Why a fix is not made that leaves this break."""
    kind = "stays a branch" if branch.code in _BRANCHES else "selects as many elements as values say"
    return f"the break would only move to `{branch.source_line.strip()}`, which {kind}"


def _is_gain(pair: tuple[Finding, Finding], moved: Collection[tuple[Finding, Finding]]) -> bool:
    """Whether more reads go than branches come in the same function: `high - low < 1`, of which both were read."""
    place = pair[0].path, pair[0].function
    there = [(fix, branch) for fix, branch in moved if (fix.path, fix.function) == place]
    return len({fix for fix, _ in there}) > len({branch for _, branch in there})


def _place(finding: Finding) -> tuple[str, str, str]:
    return finding.path, finding.function, finding.source_line.strip()
