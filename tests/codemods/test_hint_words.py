"""The words of all rules are looked for at once, with the outcome that each rule alone gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.codemods import registry
from compilefix.codemods.hint_words import HintWords
from compilefix.codemods.module_rule import ModuleRule

FOLDER = Path(__file__).parents[2] / "compilefix" / "analysis"
RULES = [rule() for rule in registry.load().values() if not issubclass(rule, ModuleRule)]
TEXTS = [
    "",
    "x = torch.randn(2)\n",
    "if x:\n    a()\nelse:\n    b()\n",
    "x+=1\n",
    "élse_warn = maße.item()\n",
    "warning\n",
    'f"{x!r:>{width}}print"\n',
    *(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py"))),
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_the_rules_are_those_that_may_find_something(text: str) -> None:
    words = HintWords(RULES)
    parts = [text, *text.split("\n\n"), text]
    assert [words.rules(part) for part in parts] == [[r for r in RULES if r.may_find(part)] for part in parts]
