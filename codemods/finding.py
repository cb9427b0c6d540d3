"""What a codemod says: a Finding, and either the Fix for it or the reason why there is none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Literal

Effect = Literal["break", "recompile", "sync", "slow", "none"]
"""What a finding costs; `none`: no speed, but an error, or something that does not do what it seems to."""


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of source text: lines from 1, columns from 0 in code points, the end exclusive.

    These are LibCST's positions. `ast` counts columns in UTF-8 bytes; `SourceFile.span` converts.
    """

    line: int
    column: int
    end_line: int
    end_column: int

    def overlaps(self, other: Span) -> bool:
        """Whether the two stretches share at least one character."""
        return (self.line, self.column) < (other.end_line, other.end_column) and (
            other.line,
            other.column,
        ) < (self.end_line, self.end_column)

    def holds(self, other: Span) -> bool:
        """Whether the other stretch lies in this one."""
        return (self.line, self.column) <= (other.line, other.column) and (other.end_line, other.end_column) <= (
            self.end_line,
            self.end_column,
        )


@dataclass(frozen=True)
class Edit:
    """The replacement of one syntax node, an expression or a statement, by new code.

    `template` is Python code in which `{name}` stands for the original node at `parts[name]`, taken over with its
    own formatting and comments. Literal braces are doubled, as in `str.format`. A statement line that consists of
    one placeholder stands for the statement in that span. An empty template removes the statement. Where the target of
    a statement is empty, the template stands before the statement that begins there.
    """

    target: Span
    template: str
    parts: tuple[tuple[str, Span], ...] = ()
    statement: bool = False

    @property
    def inserts(self) -> bool:
        """Whether the template stands before a statement, and replaces nothing."""
        return self.statement and self.target == replace(
            self.target, end_line=self.target.line, end_column=self.target.column
        )


@dataclass(frozen=True)
class Fix:
    """A rewrite: edits in one file, the modules it needs imported, and the assumptions it rests on.

    `imports` holds absolute imports as they are written (`"torch"`, `"from math import prod"`). `boundary` says that
    the code uses the helper module that carries host effects to the compile boundary. `reasons` says for each
    assumption what could not be proved. `always` is the code that runs at every call with the fix, and did not before,
    and `captured` what breaks the graph in it without the capture flags, and not with them.
    A `last` fix is made only when no other one is left to make: it helps with what these leave.
    """

    edits: tuple[Edit, ...]
    imports: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    boundary: bool = False
    always: tuple[Span, ...] = ()
    captured: tuple[Span, ...] = ()
    last: bool = False

    @property
    def safe(self) -> bool:
        """Whether the fix rests on nothing but proved facts."""
        return not self.assumptions


@dataclass(frozen=True)
class Finding:
    """One thing that costs speed under `torch.compile`, at one place.

    `reached_by` runs from the compiled root to `function`, which stands `apart` where nothing is seen to compile it.
    Exactly one of `fix` and `declined` is set; `declined` names the precondition that failed, or says what a person
    should do. A finding that is `minor` costs little: it leaves nothing to do, or hardly ever runs. It is `conditional`
    where a setting, an optional argument or a size decides whether a call gets there, where arrays in a file without
    torch are worked on, and in a module that no program of the project makes. One that `repeats` says what another one
    says of the same statement.
    """

    code: str
    name: str
    path: str
    span: Span
    message: str
    function: str
    reached_by: tuple[str, ...]
    gb: tuple[str, ...]
    effect: Effect
    fix: Fix | None
    declined: str | None
    source_line: str = ""
    confirmed: bool | None = None
    apart: bool = False
    minor: bool = False
    conditional: bool = False
    repeats: bool = False

    def is_allowed(self, allowed: frozenset[str] | None) -> bool:
        """Whether there is a fix that rests on nothing but what is allowed; None allows all."""
        return self.fix is not None and (allowed is None or allowed.issuperset(self.fix.assumptions))

    @property
    def is_quiet(self) -> bool:
        """Whether it is shown behind the others, without a warning: it stands apart or is minor, and no run met it."""
        return (self.apart or self.minor) and not self.confirmed

    @property
    def is_met_in_each_call(self) -> bool:
        """Whether each call meets it: a break about which no setting decides, nor another size or value."""
        return bool(self.confirmed) or (self.effect in ("break", "sync") and not self.conditional)

    @property
    def fingerprint(self) -> str:
        """A key that survives edits elsewhere in the file: rule, path, function and the text of the line."""
        key = "\0".join((self.code, self.path, self.function, self.source_line.strip()))
        # A path whose bytes are no text in the locale's encoding holds lone surrogates.
        return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()[:16]
