"""One text that somebody else holds, an editor or LibCST: its findings, and what the fixes make of it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from compilefix.cli.inputs import STDIN, Inputs, Request, gather
from compilefix.cli.wanted import statement_lines
from compilefix.codemods.finding import Finding
from compilefix.fixing.patchset import PatchSet
from compilefix.source.files import SourceFile
from compilefix.source.silence import silenced


@dataclass(frozen=True)
class Document:
    """A text with the configuration that holds for its path. `file` is None where it cannot be looked at."""

    inputs: Inputs

    @property
    def file(self) -> SourceFile | None:
        """The text as a file."""
        return self.inputs.files[0] if self.inputs.files else None

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What `check` would report."""
        return self.inputs.run(rewrite=False).findings

    def fixed(self, *, helper: bool) -> PatchSet:
        """What all allowed fixes make of it; those that need a helper module only where `helper` says so."""
        usual = self.inputs.wanted()
        return self.inputs.run(rewrite=True, wanted=lambda f: (helper or not needs_helper(f)) and usual(f)).patchset

    def fixed_only(self, finding: Finding) -> PatchSet:
        """What the fix of one finding makes of it, whatever that assumes."""
        return replace(self.inputs, allowed=None).run(rewrite=True, only=finding).patchset

    def silenced(self, finding: Finding) -> str | None:
        """The text with a comment that silences the finding, None where no comment can stand."""
        if self.file is None:
            return None
        return silenced(self.file.text, lines_for_comment(self.file, finding), finding.code)


def open_document(path: Path, text: str, request: Callable[[Request], Request] = lambda request: request) -> Document:
    """The document for a text that stands, or would stand, at `path`. Raises InputError for a bad configuration."""
    plain = Request(paths=(STDIN,), stdin_filename=path, content=_encoded(text), force_exclude=True)
    return Document(gather(request(plain)))


def needs_helper(finding: Finding) -> bool:
    """Whether the fix of a finding needs the helper module beside the file."""
    return finding.fix is not None and finding.fix.boundary


def lines_for_comment(file: SourceFile, finding: Finding) -> Sequence[int]:
    """The lines on which a comment silences the finding, the best first."""
    around = statement_lines(file.tree, finding.span)
    return [finding.span.line, *(line for line in reversed(around) if line != finding.span.line)]


def _encoded(text: str) -> bytes:
    """The text in the encoding that its first lines name, as it would be in a file."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return text.encode(encoding)
    except (SyntaxError, UnicodeEncodeError, LookupError):
        return data
