"""Which rules may find something in a text, by the words without which they find nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compilefix.codemods.rule import Rule

_WORD = re.compile(r"\w+")


class HintWords:
    """The rules that `Rule.may_find` lets through, for many texts.

    Most hints are parts of words, and the functions of a project share their words: each word is searched for hints
    once.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        hints = dict.fromkeys(hint for rule in rules for hint in rule.hints if _WORD.fullmatch(hint))
        self._bits = {hint: 1 << number for number, hint in enumerate(hints)}
        self._known: dict[str, int] = {}
        self._rules = [
            (
                rule,
                sum(self._bits.get(hint, 0) for hint in set(rule.hints)),
                tuple(h for h in rule.hints if h not in hints),
            )
            for rule in rules
        ]

    def rules(self, text: str) -> list[Rule]:
        """The rules that may find something in a text, in their order."""
        there = 0
        known = self._known
        for word in set(_WORD.findall(text)):
            bits = known.get(word)
            if bits is None:
                bits = known[word] = sum(bit for hint, bit in self._bits.items() if hint in word)
            there |= bits
        return [
            rule
            for rule, bits, others in self._rules
            if bits & there or (others and any(other in text for other in others)) or not rule.hints
        ]
