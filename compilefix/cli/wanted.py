"""Which findings count: those whose rule runs on the file, that no comment silences, and that were asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compilefix.codemods.finding import Finding, Span
from compilefix.source import suppressions
from compilefix.source.files import SourceFile
from compilefix.source.selection import RuleSelection
from compilefix.source.suppressions import Comment, Suppressions


@dataclass(frozen=True)
class _File:
    """What is asked of one file again and again."""

    source: SourceFile
    codes: frozenset[str]
    comments: Suppressions
    functions: Mapping[str, tuple[Comment, ...]]
    used: set[tuple[Comment, str]] = field(default_factory=set)


class Wanted:
    """Whether a finding counts. It remembers which comments silenced something."""

    def __init__(self, files: Mapping[str, SourceFile], selection: RuleSelection) -> None:
        self._sources = files
        self._selection = selection
        self._files: dict[str, _File] = {}
        self._silenced: set[str] = set()

    def __call__(self, finding: Finding) -> bool:
        """Decide for one finding, of the file as it is on disk or of a text that fixes have changed already."""
        # A comment is of use where it silences what would not be reported either.
        return self._is_heard(finding) and self._is_asked_for(finding)

    def _is_asked_for(self, finding: Finding) -> bool:
        return not (finding.apart and self._selection.reached) or finding.confirmed is True

    def _is_heard(self, finding: Finding) -> bool:
        file = self._file(finding.path)
        if finding.code not in file.codes:
            return False
        if not file.comments:
            return True
        found = [c for c in self._of_function(file, finding.function) if c.silences(finding.code)]
        if _is_original(finding, file.source):
            # What a comment keeps as it is, is not rewritten either, where the finding stands elsewhere.
            places = (finding.span, *(edit.target for edit in (finding.fix.edits if finding.fix is not None else ())))
            lines = dict.fromkeys(n for place in places for n in statement_lines(file.source.tree, place))
            found += file.comments.covering(finding.code, *lines)
            if found:
                self._silenced.add(finding.fingerprint)
        elif finding.fingerprint in self._silenced:
            # Fixes above have moved the line: what was silenced there stays so.
            return False
        elif not found:
            # The comment is on the line still.
            here = suppressions.parse_line(finding.source_line)
            return not (file.comments.covers(finding.code) or here.covers(finding.code, 1))
        file.used.update((comment, finding.code) for comment in found)
        return not found

    def unused(self, known: Sequence[str]) -> Iterator[tuple[SourceFile, Comment, tuple[str, ...]]]:
        """The comments that silenced nothing, with those of their codes that did not.

        `known` are the codes of all rules. A comment that names no rule is left out where some rule did not run, and so
        is a code whose rules did not.
        """
        for path, source in self._sources.items():
            if not suppressions.parse(source.text):
                continue
            file = self._file(path)
            for comment in file.comments.comments:
                used = {code for other, code in file.used if other == comment}
                if not comment.codes:
                    if not used and not comment.whole_file and file.codes >= set(known):
                        yield file.source, comment, ()
                    continue
                idle = tuple(
                    prefix
                    for prefix in sorted(comment.codes)
                    if not any(code.startswith(prefix) for code in used)
                    and all(code in file.codes for code in known if code.startswith(prefix))
                )
                if idle:
                    yield file.source, comment, idle

    def _file(self, path: str) -> _File:
        if path not in self._files:
            source = self._sources[path]
            comments = suppressions.parse(source.text)
            functions = comments.by_function(source.tree) if comments else {}
            self._files[path] = _File(source, self._selection.for_file(source.path), comments, functions)
        return self._files[path]

    def _of_function(self, file: _File, function: str) -> Iterator[Comment]:
        for qualname, comments in file.functions.items():
            if function == qualname or function.startswith(f"{qualname}.<locals>."):
                yield from comments


def _is_original(finding: Finding, file: SourceFile) -> bool:
    line = finding.span.line
    return line <= len(file.lines) and file.lines[line - 1] == finding.source_line


def statement_lines(tree: ast.Module, span: Span) -> tuple[int, ...]:
    """The line of the place, and the first and the last line of its statement (of its head, if it has a body)."""
    body: Sequence[ast.stmt] = tree.body
    lines = {span.line}
    while True:
        around = [s for s in body if s.lineno <= span.line <= (s.end_lineno or s.lineno)]
        if not around:
            return tuple(sorted(lines))
        statement = around[-1]
        inner = [child for child in ast.walk(statement) if isinstance(child, ast.stmt) and child is not statement]
        head_end = min((child.lineno for child in inner), default=(statement.end_lineno or statement.lineno) + 1) - 1
        if span.line <= max(head_end, statement.lineno):
            return tuple(sorted(lines | {statement.lineno, max(head_end, statement.lineno)}))
        body = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
        for part in ast.iter_child_nodes(statement):
            if isinstance(part, ast.ExceptHandler | ast.match_case):
                body = [*body, *part.body]
