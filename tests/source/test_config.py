from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from compilefix.source import config
from compilefix.source.config import ConfigError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pkg").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)


def test_every_key_is_read(project: Path) -> None:
    write(
        project,
        """
        [tool.compilefix]
        select = ["CF1"]
        extend-select = ["CF201"]
        ignore = ["CF102"]
        per-file-ignores = { "tests/**" = ["CF3"] }
        exclude = ["gen"]
        assume = ["log-late"]
        roots = ["pkg.model:Model.forward"]
        target-torch = "2.11.0"
        helper-module = "pkg._boundary"
        logging = "guard"
        workloads = { main = "bench.py:workload" }
        line-length = 100
        """,
    )
    assert config.load([project / "pkg"]) == config.Config(
        root=project,
        select=("CF1",),
        extend_select=("CF201",),
        ignore=("CF102",),
        per_file_ignores={"tests/**": ("CF3",)},
        exclude=("gen",),
        assume=("log-late",),
        roots=("pkg.model:Model.forward",),
        target_torch="2.11",
        helper_module="pkg._boundary",
        logging="guard",
        workloads={"main": "bench.py:workload"},
        line_length=100,
    )


def test_workloads_of_a_list_have_no_other_name(project: Path) -> None:
    write(project, '[tool.compilefix]\nworkloads = ["bench.py:f", "pkg.bench:g"]\n')
    assert config.load([project]).workloads == {"bench.py:f": "bench.py:f", "pkg.bench:g": "pkg.bench:g"}


def test_the_nearest_file_with_the_table_counts(project: Path) -> None:
    write(project, '[tool.compilefix]\nselect = ["CF1"]\n')
    (project / "pkg" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert config.load([project / "pkg"]).root == project


def test_paths_elsewhere_fall_back_to_the_working_directory(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    write(project, '[tool.compilefix]\nselect = ["CF1"]\n')
    assert config.load([tmp_path_factory.mktemp("elsewhere")]).select == ("CF1",)


def test_without_a_table_the_project_folder_is_the_root(project: Path) -> None:
    write(project, '[project]\nname = "x"\n')
    assert config.load([project / "pkg"]).root == project


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("selct = ['CF1']", ["unknown key 'selct'", "did you mean 'select'?"]),
        ("select = 'CF1'", ["'select' must be a list of strings, not \"CF1\""]),
        ("select = [1]", ["'select' must be a list of strings"]),
        ("per-file-ignores = ['CF1']", ["'per-file-ignores' must be a table"]),
        ("target-torch = 2.11", ["'target-torch' must be a version in quotes"]),
        ("target-torch = '2.4'", ["'target-torch' must be at least '2.6'"]),
        ("helper-module = 'a-b'", ["'helper-module' must be a dotted module name"]),
        ("roots = ['a/b.py:f']", ["'roots' must be a list of names such as 'package.module:Class.forward'"]),
        ("logging = 'late'", ["'logging' must be 'boundary', 'guard' or 'remove', not \"late\""]),
        ("logging = ['guard']", ["'logging' must be"]),
        ("workloads = ['bench.py']", ["'workloads' must be a table of names", "or a list of workloads"]),
        ("workloads = { a = 1 }", ["'workloads' must be a table of names"]),
        ("line-length = true", ["'line-length' must be a positive number"]),
        ("reached = 'yes'", ["'reached' must be true or false, not \"yes\""]),
        ("select = }", ["is not valid TOML", "line 2"]),
    ],
)
def test_mistakes_are_named_with_file_and_key(project: Path, text: str, parts: list[str]) -> None:
    write(project, f"[tool.compilefix]\n{text}\n")
    with pytest.raises(ConfigError) as raised:
        config.load([project])
    message = str(raised.value)
    assert message.startswith("pyproject.toml:2: ")
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[project]\nname = 'x'\n\n[tool.compilefix]\n# why\nselect = ['CF1']\nselct = []\n", 7),
        ("[tool.compilefix]\nselct = [\n  'CF1',\n]\nselect = []\n", 2),
        ("[tool]\nx = 1\ncompilefix = { selct = [] }\n", 3),
        ("[tool.compilefix]\nselect = []\n\n\n[tool.compilefix.selct]\nx = 1\n", 5),
        ("tool.compilefix.select = []\ntool.compilefix.selct = []\n", 2),
        ("[tool]\ncompilefix = 3\n", 2),
    ],
)
def test_the_line_of_a_mistake_is_the_one_that_sets_the_value(project: Path, text: str, line: int) -> None:
    write(project, text)
    with pytest.raises(ConfigError, match=f"^pyproject.toml:{line}: "):
        config.load([project])


def test_the_place_of_a_value_is_known_for_messages_about_it(project: Path) -> None:
    write(project, "[tool.compilefix]\nselect = ['CF1']\n\n[tool.compilefix.per-file-ignores]\n'a/*' = ['CF2']\n")
    loaded = config.load([project])
    assert loaded.place("select") == "pyproject.toml:2"
    assert loaded.place("per-file-ignores", "a/*") == "pyproject.toml:5"
    assert config.Config(project).place("select") == ""


def test_an_explicit_file_needs_no_table_of_its_own(project: Path) -> None:
    (project / "compilefix.toml").write_text('select = ["CF1"]\n')
    assert config.load([project], project / "compilefix.toml").select == ("CF1",)
    write(project, "")
    with pytest.raises(ConfigError, match="has no table"):
        config.load([project], project / "pyproject.toml")
    with pytest.raises(ConfigError, match="No such file"):
        config.load([project], project / "missing.toml")


@pytest.mark.parametrize(
    ("installed", "target"),
    [("2.11.0+cu128", "2.11"), ("2.14.0.dev20260101", "2.14"), ("2.3.1", "2.6"), (None, config.NEWEST_TORCH)],
)
def test_the_installed_torch_is_the_default_target(
    project: Path, monkeypatch: pytest.MonkeyPatch, installed: str | None, target: str
) -> None:
    def version(name: str) -> str:
        if installed is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert config.load([project]).target_torch == target
