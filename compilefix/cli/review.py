"""`compilefix apply --interactive`: one fix at a time, decided by a person.

Fixes are shown against the files as they are. What was accepted is made in memory, where it may show further fixes,
which are asked about in turn. Nothing is on disk before the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from compilefix.cli.documents import lines_for_comment
from compilefix.cli.inputs import Inputs
from compilefix.cli.wanted import Wanted
from compilefix.codemods.finding import Finding, Span
from compilefix.fixing import engine
from compilefix.fixing.patchset import FileChange, PatchSet
from compilefix.source.files import SourceError, SourceFile, parse
from compilefix.source.silence import silenced

Answer = Literal["accept", "skip", "rule", "never", "back", "write", "quit"]
"""What a person may answer: `rule` accepts this and all later fixes of the rule, `write` and `quit` end the review."""

_MOST_ROUNDS = 12


@dataclass(frozen=True)
class Proposal:
    """One fix to decide about: the file as it is, as it becomes with this fix alone, and which of how many it is."""

    finding: Finding
    file: SourceFile
    after: SourceFile
    number: int
    total: int


@dataclass(frozen=True)
class Reviewed:
    """What came of it: the changes, and whether the person wants them written without being asked again."""

    patchset: PatchSet
    write: bool
    errors: tuple[SourceError, ...] = ()


class Quit(Exception):
    """The person wants nothing written."""


def review(inputs: Inputs, ask: Callable[[Proposal], Answer]) -> Reviewed:
    """Ask about each fix until none is left. Raises Quit."""
    state = _State(inputs)
    outcome = inputs.run(rewrite=False)
    errors = (*inputs.errors, *outcome.errors)
    findings: Sequence[Finding] = outcome.findings
    for _ in range(_MOST_ROUNDS):
        proposals = state.proposals(findings)
        if not proposals:
            break
        enough = _decide(proposals, state, ask)
        state.carry_out(proposals)
        if enough:
            return Reviewed(state.patchset(), True, errors)
        findings = inputs.run(rewrite=False, wanted=state.wanted(), files=list(state.files.values())).findings
    return Reviewed(state.patchset(), False, errors)


def _decide(proposals: Sequence[Proposal], state: _State, ask: Callable[[Proposal], Answer]) -> bool:
    """Ask about each proposal; whether the person had enough before the end."""
    asked: list[int] = []
    whole: dict[str, int] = {}
    index = 0
    while index < len(proposals):
        finding = proposals[index].finding
        if finding.code in state.rules or whole.get(finding.code, index) < index:
            state.decide(finding, "accept")
            index += 1
            continue
        answer = ask(proposals[index])
        if answer == "quit":
            raise Quit
        if answer == "write":
            for later in proposals[index:]:
                state.decide(later.finding, "skip")
            return True
        if answer == "back":
            if asked:
                index = asked.pop()
                whole = {code: place for code, place in whole.items() if place < index}
            continue
        asked.append(index)
        if answer == "rule":
            whole[finding.code] = index
        state.decide(finding, "accept" if answer == "rule" else answer)
        index += 1
    state.rules.update(whole)
    return False


class _State:
    """The files as the accepted fixes leave them, and what was decided."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.files = {file.path: file for file in inputs.files}
        self.rules: set[str] = set()
        self._created: dict[Path, FileChange] = {}
        self._fixes: dict[Path, list[Finding]] = {}
        self._answers: dict[tuple[str, str, Span], Answer] = {}
        self._skipped: set[str] = set()
        self._skips: Counter[tuple[str, str, str]] = Counter()

    def wanted(self) -> Wanted:
        """The usual filter, for the files as they are now."""
        return Wanted({file.path.as_posix(): file for file in self.files.values()}, self.inputs.selection)

    def proposals(self, findings: Sequence[Finding]) -> Sequence[Proposal]:
        """The fixes that are allowed, can be made, and were not decided about."""
        by_path = {file.path.as_posix(): file for file in self.files.values()}
        found: list[tuple[Finding, SourceFile, SourceFile]] = []
        for finding in self._open([f for f in findings if f.is_allowed(self.inputs.allowed)]):
            file = by_path[finding.path]
            after = engine.rewritten(file, [finding], self.inputs.config)
            if after is not None:
                found.append((finding, file, after))
        return [Proposal(*item, number, len(found)) for number, item in enumerate(found, 1)]

    def _open(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """The findings that nobody has skipped.

        Another fix on its line gives a finding another fingerprint: of each rule and function, as many as were skipped
        and are not seen under theirs are the same under a new one.
        """
        left = self._skips.copy()
        left.subtract(_group(finding) for finding in findings if finding.fingerprint in self._skipped)
        for finding in findings:
            if finding.fingerprint in self._skipped:
                continue
            if left[_group(finding)] > 0:
                left[_group(finding)] -= 1
            else:
                yield finding

    def decide(self, finding: Finding, answer: Answer) -> None:
        """Note an answer; a later one takes the place of an earlier one."""
        self._answers[_identity(finding)] = answer

    def carry_out(self, proposals: Sequence[Proposal]) -> None:
        """Write the comments and make the fixes that were decided on, in memory."""
        accepted: set[tuple[str, str, Span]] = set()
        for proposal in proposals:
            finding = proposal.finding
            answer = self._answers.pop(_identity(finding))
            if answer == "skip" or (answer == "never" and not self._silence(finding)):
                self._skipped.add(finding.fingerprint)
                self._skips[_group(finding)] += 1
            elif answer == "accept":
                accepted.add(_identity(finding))
        if not accepted:
            return

        def once(finding: Finding) -> bool:
            # In later passes the place may be that of another finding.
            if _identity(finding) not in accepted:
                return False
            accepted.remove(_identity(finding))
            return True

        outcome = self.inputs.run(rewrite=True, wanted=once, files=list(self.files.values()))
        for change in outcome.patchset:
            self._fixes.setdefault(change.path, []).extend(change.fixes)
            if change.path in self.files:
                self.files[change.path] = replace(self.files[change.path], text=change.after)
            else:
                self._created[change.path] = change
                file = parse(change.path, change.after.encode())
                if isinstance(file, SourceFile):
                    self.files[change.path] = file

    def _silence(self, finding: Finding) -> bool:
        """Write the comment; whether there is a place for it."""
        path = next(path for path in self.files if path.as_posix() == finding.path)
        file = self.files[path]
        text = silenced(file.text, lines_for_comment(file, finding), finding.code)
        if text is not None:
            self.files[path] = replace(file, text=text)
        return text is not None

    def patchset(self) -> PatchSet:
        """All that was decided, as one change of each file."""
        originals = {file.path: file for file in self.inputs.files}
        changes = [
            FileChange(path, file.module, originals[path].text, file.text, tuple(self._fixes.get(path, ())))
            for path, file in sorted(self.files.items())
            if path in originals and file.text != originals[path].text
        ]
        created = [replace(change, after=self.files[path].text) for path, change in self._created.items()]
        return PatchSet((*changes, *created))


def _group(finding: Finding) -> tuple[str, str, str]:
    return finding.path, finding.code, finding.function


def _identity(finding: Finding) -> tuple[str, str, Span]:
    return finding.path, finding.code, finding.span
