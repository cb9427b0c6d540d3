from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.source.config import Config, load
from compilefix.source.selection import SelectionError, choose

KNOWN = ("CF101", "CF102", "CF201", "CF301")


def codes(config: Config, **options: list[str]) -> list[str]:
    return sorted(choose(config, KNOWN, **options).codes)


def test_all_rules_run_by_default() -> None:
    assert codes(Config(Path())) == list(KNOWN)


def test_the_longer_value_wins_and_ignore_wins_a_tie() -> None:
    assert codes(Config(Path(), select=("CF1",), ignore=("CF101",))) == ["CF102"]
    assert codes(Config(Path(), select=("CF101",), ignore=("CF1",))) == ["CF101"]
    assert codes(Config(Path(), select=("CF1",), ignore=("CF1",))) == []


def test_the_command_line_adds_to_the_configuration() -> None:
    config = Config(Path(), select=("CF1",))
    assert codes(config, extend_select=["cf3"]) == ["CF101", "CF102", "CF301"]
    assert codes(config, ignore=["CF102"]) == ["CF101"]


def test_select_on_the_command_line_starts_afresh() -> None:
    assert codes(Config(Path(), select=("CF1",), ignore=("CF201",)), select=["CF201"]) == ["CF201"]
    assert codes(Config(Path(), select=("CF1",)), select=["ALL"]) == list(KNOWN)


def test_an_unknown_rule_is_named_with_the_nearest() -> None:
    with pytest.raises(SelectionError, match=r"unknown rule 'CF103'; did you mean 'CF10[12]'\?"):
        codes(Config(Path()), ignore=["CF103"])
    with pytest.raises(SelectionError, match="'E501'"):
        codes(Config(Path(), select=("E501",)))
    with pytest.raises(SelectionError, match="'CF9'"):
        codes(Config(Path(), per_file_ignores={"tests": ("CF9",)}))


def test_an_unknown_rule_in_the_configuration_is_named_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool.compilefix]\nignore = ['CF1']\nper-file-ignores = { 'a/**' = ['CF9'] }\n")
    with pytest.raises(SelectionError, match=r"pyproject.toml:3: 'per-file-ignores': unknown rule 'CF9'"):
        choose(load([tmp_path]), KNOWN)


def test_ignores_per_file() -> None:
    config = Config(Path("/project"), per_file_ignores={"tests/**": ("CF1",), "*_old.py": ("ALL",)})
    selection = choose(config, KNOWN)
    assert selection.for_file(Path("/project/model.py")) == set(KNOWN)
    assert selection.for_file(Path("/project/tests/model.py")) == {"CF201", "CF301"}
    assert selection.for_file(Path("/project/pkg/model_old.py")) == set()
    assert selection.for_file(Path("/elsewhere/tests/model.py")) == set(KNOWN)
