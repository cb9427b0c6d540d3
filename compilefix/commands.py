"""Each rule as a LibCST codemod command, named by its code.

    python -m libcst.tool codemod -x compilefix.commands.CF101 src/

A file is looked at alone, with the configuration that holds for it; the command itself selects the rule. A fix that
needs the helper module of the compile boundary is left to `compilefix apply`: a codemod changes one file only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import libcst as cst
from libcst.codemod import CodemodCommand, CodemodContext, SkipFile

from compilefix.cli.documents import needs_helper, open_document
from compilefix.cli.inputs import Request
from compilefix.cli.options import split
from compilefix.codemods import registry
from compilefix.codemods.rule import Rule


class RuleCommand(CodemodCommand):
    """Applies the fixes of one rule."""

    CODE: ClassVar[str]

    def __init__(
        self, context: CodemodContext, assume: Iterable[str] | None = None, unsafe_fixes: bool = False
    ) -> None:
        super().__init__(context)
        self.assume = split(list(assume or ()))
        self.unsafe_fixes = unsafe_fixes

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Add the options that say which fixes may be made."""
        arg_parser.add_argument("--assume", action="append", metavar="NAMES", help="assumptions, separated by commas")
        arg_parser.add_argument("--unsafe-fixes", action="store_true", help="allow fixes that rest on any assumption")

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The module with the fixes made. Warns of fixes that need the helper module."""
        # As the command line sets it: functions are interpreted inside each other, some twenty deep.
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 6000))
        path = Path(self.context.filename or "<stdin>")
        document = open_document(path, tree.code, self._request)
        if document.inputs.errors:
            raise SkipFile(document.inputs.errors[0].message)
        for finding in document.findings:
            if needs_helper(finding):
                self.warn(f"line {finding.span.line}: {finding.code} needs a helper module: use `compilefix apply`")
        for change in document.fixed(helper=False):
            return cst.parse_module(change.after, config=tree.config_for_parsing)
        return tree

    def _request(self, plain: Request) -> Request:
        return replace(plain, select=(self.CODE,), assume=self.assume, unsafe_fixes=self.unsafe_fixes)


def _command(rule: type[Rule]) -> type[RuleCommand]:
    description = f"{rule.name}: {rule.summary}"
    return type(rule.code, (RuleCommand,), {"__module__": __name__, "CODE": rule.code, "DESCRIPTION": description})


# LibCST finds a command as an attribute of its module, also in its worker processes.
globals().update({code: _command(rule) for code, rule in registry.load().items()})
