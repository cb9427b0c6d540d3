from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import compilefix

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def packages_below(folder: Path, name: str) -> list[str]:
    inside = (path.parent.relative_to(folder) for path in folder.rglob("*.py") if "__pycache__" not in path.parts)
    return [".".join((name, *path.parts)) for path in sorted(set(inside))]


def test_the_package_list_is_the_tree(project: dict[str, Any]) -> None:
    tree = packages_below(ROOT / "compilefix", "compilefix")
    tree += packages_below(ROOT / "codemods", "compilefix.codemods")
    assert project["tool"]["setuptools"]["packages"] == sorted(tree)


def test_every_package_has_an_init_file(project: dict[str, Any]) -> None:
    for name in project["tool"]["setuptools"]["packages"]:
        parts = name.split(".")
        folder = ROOT.joinpath(*(parts[1:] if parts[1:2] == ["codemods"] else parts))
        assert (folder / "__init__.py").is_file(), name


def test_package_data_is_there(project: dict[str, Any]) -> None:
    for package, names in project["tool"]["setuptools"]["package-data"].items():
        for name in names:
            assert (ROOT.joinpath(*package.split(".")) / name).is_file(), f"{package}: {name}"


def test_the_changelog_knows_the_version() -> None:
    assert compilefix.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_base_dependencies_have_no_torch(project: dict[str, Any]) -> None:
    names = {re.split(r"[<>=;\[ ]", line)[0] for line in project["project"]["dependencies"]}
    assert names == {"libcst", "pathspec", "rich", "tomli", "typer"}


def test_every_pinned_version_fits_the_requirements(project: dict[str, Any]) -> None:
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    wanted = {re.split(r"[<>=;\[ ]", line)[0] for line in project["project"]["optional-dependencies"]["dev"]}
    assert wanted - {"compilefix"} <= pinned
