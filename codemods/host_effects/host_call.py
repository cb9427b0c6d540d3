"""What the rules for prints, log lines, warnings and writers have in common."""

from __future__ import annotations

import ast

from compilefix.codemods.finding import Finding
from compilefix.codemods.host_effects.alternatives import fix_of
from compilefix.codemods.host_effects.deferral import where_to_wrap
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.host_effects.rare_lines import costs_little
from compilefix.codemods.rule import Rule, Scope


class HostCallRule(Rule):
    """A rule about calls that act on the host."""

    def judge(self, node: ast.AST, call: ast.Call, scope: Scope, message: str, **changes: object) -> Finding:
        """The finding at `node` for a call, with the fix that the configuration wants or the reason against it."""
        changes["minor"] = costs_little(call, scope)
        try:
            fix = fix_of(call, scope)
        except Refused as reason:
            return self.declined(scope, node, message, str(reason), **changes)
        return self.fixed(scope, node, message + (where_to_wrap(scope) if fix.boundary else ""), fix, **changes)
