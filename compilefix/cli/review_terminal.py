"""The questions of `apply --interactive` on a terminal: plain lines and single keys, so that it works over ssh too."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from difflib import unified_diff

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.text import Text

from compilefix.cli.inputs import Inputs
from compilefix.cli.review import Answer, Proposal, Quit, Reviewed, review
from compilefix.codemods import registry
from compilefix.codemods.assumptions import ASSUMPTIONS
from compilefix.codemods.finding import Finding
from compilefix.fixing.patchset import PatchSet
from compilefix.reporting.frames import printable
from compilefix.reporting.report import place
from compilefix.reporting.rule_page import page
from compilefix.reporting.summary import count
from compilefix.source.errors import InputError
from compilefix.source.files import display_path
from compilefix.source.notebooks import Notebook

KEYS: Mapping[str, tuple[Answer | None, str]] = {
    "y": ("accept", "accept this fix"),
    "n": ("skip", "skip it"),
    "a": ("rule", "accept this and all later fixes of this rule"),
    "i": ("never", "never here: write a comment that silences the finding"),
    "e": (None, "explain: the rule's page"),
    "b": ("back", "back to the one before"),
    "w": ("write", "write what was accepted so far, and stop"),
    "q": ("quit", "quit and write nothing"),
    "?": (None, "help"),
}
_CONTEXT_LINES = 3


def interactive(inputs: Inputs) -> Reviewed | None:
    """Go through the fixes with a person; None where nothing is to be written. Raises InputError without a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("--interactive needs a terminal")
    terminal = _Terminal(Console(highlight=False))
    try:
        reviewed = review(inputs, terminal.ask)
        if reviewed.patchset and not reviewed.write and not terminal.confirm(reviewed.patchset):
            raise Quit
    except Quit:
        terminal.console.print("Nothing written.")
        return None
    return reviewed


class _Terminal:
    def __init__(self, console: Console) -> None:
        self.console = console

    def ask(self, proposal: Proposal) -> Answer:
        """Show one fix and wait for a key that answers."""
        self._show(proposal)
        while True:
            key = self._key(f"Apply this fix? [{','.join(KEYS)}] ")
            if key == "e":
                self._explain(proposal.finding)
            elif key in KEYS and (answer := KEYS[key][0]) is not None:
                return answer
            else:
                for name, (_, meaning) in KEYS.items():
                    self.console.print(Text(f"  {name}  {meaning}"))

    def confirm(self, patchset: PatchSet) -> bool:
        """Whether the person wants the changes written."""
        fixes = count(len(patchset.fixes), "fix", "fixes")
        self.console.print()
        for change in patchset:
            new = "new file, " if change.before is None else ""
            self.console.print(Text(f"  {display_path(change.path)} ({new}{count(len(change.fixes), 'fix', 'fixes')})"))
        while True:
            key = self._key(f"Write {fixes} to {count(len(patchset.changes), 'file')}? [y,n] ")
            if key in ("y", "n", "q"):
                return key == "y"

    def _key(self, prompt: str) -> str:
        self.console.print(Text(prompt, "bold"), end="")
        try:
            key = typer.getchar().lower()
        except EOFError:
            key = "q"
        self.console.print(Text(printable(key)))
        return key

    def _show(self, proposal: Proposal) -> None:
        finding = proposal.finding
        head = Text(f"\n[{proposal.number}/{proposal.total}] ", "bold")
        head.append(finding.code, "bold red")
        head.append(f" {finding.name}  ")
        head.append(str(place(finding, proposal.file)), "cyan")
        head.append(f"  in {finding.function}")
        self.console.print(head)
        self.console.print(Text(printable(finding.message)))
        self.console.print()
        for line in _hunks(proposal):
            self.console.print(_coloured(line))
        self.console.print()
        if finding.fix is None or finding.fix.safe:
            self.console.print(Text("safe: no result, gradient or exception changes", "green"))
            return
        for name in finding.fix.assumptions:
            note = Text("assumes ", "yellow")
            note.append(name, "bold yellow")
            note.append(f": {ASSUMPTIONS.get(name, '')}")
            self.console.print(note)
        for reason in finding.fix.reasons:
            self.console.print(Text(f"  {printable(reason)}"))

    def _explain(self, finding: Finding) -> None:
        rule = registry.load().get(finding.code)
        if rule is not None:
            self.console.print(Markdown(page(rule)))


def _hunks(proposal: Proposal) -> Sequence[str]:
    file = proposal.file
    lines = unified_diff(file.lines, proposal.after.lines, n=_CONTEXT_LINES, lineterm="")
    # The two lines with file names say nothing new.
    shown = [printable(line) for number, line in enumerate(lines) if number > 1]
    return [line.replace(file.mark, "cell") for line in shown] if isinstance(file, Notebook) else shown


def _coloured(line: str) -> Text:
    mark, code = line[:1], line[1:]
    if mark == "@":
        return Text(line, "cyan")
    text = Text(mark, {"+": "bold green", "-": "bold red"}.get(mark, ""))
    highlighted = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(code)
    highlighted.rstrip()
    if mark in "+-":
        highlighted.stylize("bold" if mark == "+" else "dim")
    return text.append_text(highlighted)
