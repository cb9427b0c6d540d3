"""Rules for what a real run met and no other rule finds: their findings come from `check --trace`."""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.codemods.finding import Finding, Span
from compilefix.codemods.rule import Rule, Scope


class TracedRule(Rule):
    """A rule that finds nothing in source code: a trace does."""

    def find(self, scope: Scope) -> Iterator[Finding]:  # noqa: ARG002 - as every rule has it
        """Nothing."""
        yield from ()

    def met(
        self,
        path: str,
        span: Span,
        function: str,
        message: str,
        reason: str,
        *,
        gb: tuple[str, ...] = (),
        source_line: str = "",
    ) -> Finding:
        """A finding at a place that the run met; `reason` says why there is no fix."""
        return Finding(
            code=self.code,
            name=self.name,
            path=path,
            span=span,
            message=message,
            function=function,
            reached_by=(function,),
            gb=gb,
            effect=self.effect,
            fix=None,
            declined=reason,
            source_line=source_line,
            confirmed=True,
        )
