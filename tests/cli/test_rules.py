from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from compilefix.codemods.assumptions import ASSUMPTIONS

if TYPE_CHECKING:
    from conftest import Cli


def test_rules_are_listed(cli: Cli) -> None:
    assert cli("rules").out.splitlines() == [
        "CF901  slow-call   a slow call",
        "CF902  risky-call  a risky call",
        "CF911  never-call  a call that stays",
    ]
    assert [rule["code"] for rule in json.loads(cli("rules", "--output-format", "json").out)] == [
        "CF901",
        "CF902",
        "CF911",
    ]


def test_assumptions_are_listed_with_their_meaning(cli: Cli) -> None:
    lines = cli("rules", "--assumptions").out.splitlines()
    assert len(lines) == len(ASSUMPTIONS)
    assert all(meaning in line for line, meaning in zip(lines, ASSUMPTIONS.values(), strict=True))


@pytest.mark.parametrize("asked", ["CF902", "cf902", "risky-call"])
def test_a_rule_is_explained(cli: Cli, asked: str) -> None:
    result = cli("rule", asked)
    assert result.code == 0
    assert result.out.startswith("# CF902 risky-call\n")
    assert f"- `log-late`: {ASSUMPTIONS['log-late']}" in result.out
    document = json.loads(cli("rule", asked, "--output-format", "json").out)
    assert (document["code"], document["assumptions"]) == ("CF902", ["log-late"])
    assert document["documentation"].startswith("Rules of our own")


def test_an_unknown_rule_is_refused_with_the_nearest(cli: Cli) -> None:
    result = cli("rule", "risky-cal")
    assert result.code == 2
    assert result.err == (
        "compilefix: unknown rule 'risky-cal'; did you mean 'risky-call'? (`compilefix rules` lists them)\n"
    )
