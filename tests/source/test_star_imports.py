"""What `from module import *` binds, against what Python binds."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile
from compilefix.source.module import Module
from compilefix.source.project import Project

PACKAGE = {
    "stars": "from stars.first import *\nfrom stars.second import *\nfrom stars.circle import *\n"
    "from stars.named import named\nfrom stars.shown import *\n\ndef own(): ...\n",
    "stars.named": "def named():\n    pass\n",
    "stars.shown": "def shown():\n    pass\n",
    "stars.first": "from stars.inner import *\n\ndef both():\n    pass\n\ndef one():\n    pass\n\ndef own(): ...\n",
    "stars.second": "import stars.plain as renamed\nfrom stars.plain import told as heard\n\ndef both():\n    pass\n",
    "stars.inner": "__all__ = ['listed', '_hidden']\n\n"
    "def listed():\n    pass\n\ndef _hidden():\n    pass\n\ndef unlisted():\n    '''As far as `one` does.'''\n",
    "stars.plain": "def told():\n    pass\n\ndef _private():\n    pass\n",
    "stars.circle": "from stars.back import *\n\ndef round():\n    pass\n",
    "stars.back": "from stars.circle import *\nfrom stars.plain import *\n",
}
NAMES = (
    "both",
    "one",
    "own",
    "heard",
    "listed",
    "_hidden",
    "unlisted",
    "told",
    "_private",
    "round",
    "named",
    "shown",
    "absent",
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    files = []
    for name, text in PACKAGE.items():
        parts = name.split(".")
        path = (
            tmp_path.joinpath(*parts, "__init__.py")
            if len(parts) == 1
            else tmp_path.joinpath(*parts[:-1], parts[-1] + ".py")
        )
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        files.append(SourceFile(path, name, text))
    return Project(files)


def bound_by_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    package = importlib.import_module("stars")
    found = {name: getattr(package, name, None) for name in NAMES}
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "stars":
            monkeypatch.delitem(sys.modules, name)
    return {name: None if item is None else f"{item.__module__}.{item.__qualname__}" for name, item in found.items()}


def test_names_stand_for_what_python_binds(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = bound_by_python(tmp_path, monkeypatch)
    resolved = {name: project.resolve(f"stars.{name}") for name in NAMES}
    found = {
        name: None if isinstance(item, str) else f"{item.module.name}.{item.qualname}"
        for name, item in resolved.items()
        if not isinstance(item, Module)
    }
    assert found == truth
    assert [name for name, item in truth.items() if item is None] == ["_hidden", "unlisted", "_private", "absent"]


@pytest.mark.parametrize("order", [NAMES, NAMES[::-1]])
@pytest.mark.parametrize("first", ["stars.circle", "stars.back", "stars"])
def test_the_order_of_the_questions_does_not_matter(project: Project, order: tuple[str, ...], first: str) -> None:
    alone = {name: Project(list(project.modules.files.values())).resolve(f"stars.{name}") for name in NAMES}
    for name in order:
        project.resolve(f"{first}.{name}")
    found = {name: project.resolve(f"stars.{name}") for name in NAMES}
    assert {n: getattr(f, "full_name", None) for n, f in found.items()} == {
        n: getattr(f, "full_name", None) for n, f in alone.items()
    }


def test_what_was_searched_counts_as_used(project: Project) -> None:
    project.modules.begin()
    assert project.resolve("stars.absent") == "stars.absent"
    assert set(project.modules.used.modules) >= {
        "stars.first",
        "stars.second",
        "stars.inner",
        "stars.circle",
        "stars.back",
    }


def test_modules_without_the_name_are_not_parsed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    original = SourceFile.parsed

    def noted(self: SourceFile) -> object:
        parsed.append(self.module)
        return original(self)

    monkeypatch.setattr(SourceFile, "parsed", noted)
    project.resolve("stars.one")
    assert "stars.first" in parsed
    assert "stars.plain" not in parsed


def test_a_line_is_not_moved_where_the_helper_s_name_is_taken(tmp_path: Path) -> None:
    texts = {
        "talk": "def {name}(text):\n    return None\n",
        "model": "import torch\nfrom talk import *\n\n@torch.compile\ndef step(x: torch.Tensor):\n"
        "    print('step')\n    return x + 1\n",
    }
    reasons = {}
    for name in ("emit", "told"):
        files = [SourceFile(tmp_path / f"{n}.py", n, text.replace("{name}", name)) for n, text in texts.items()]
        outcome = run(files, Config(tmp_path), rules=list(registry.load().values()), rewrite=False)
        (found,) = (finding for finding in outcome.findings if finding.code == "CF301")
        reasons[name] = found.declined
    assert reasons == {"emit": "the file uses the name `emit` for something else", "told": None}


@pytest.mark.parametrize("line", ["from math import *", "from talk import *"])
def test_a_builtin_that_another_module_puts_aside(line: str, tmp_path: Path) -> None:
    texts = {
        "talk": "from math import *\n",
        "model": f"import torch\n{line}\n\n@torch.compile\ndef step(x: torch.Tensor):\n    return pow(x.sum(), 2)\n",
    }
    files = [SourceFile(tmp_path / f"{n}.py", n, text) for n, text in texts.items()]
    outcome = run(files, Config(tmp_path), rules=list(registry.load().values()))
    assert "CF709" not in {finding.code for finding in outcome.findings}
    assert not list(outcome.patchset)


def test_a_file_that_takes_a_name_of_a_package_called_like_it_ends_the_search() -> None:
    text = "from stars.inference import inference\n\ndef use():\n    return inference()\n"
    project = Project([SourceFile(Path("/nets/stars.py"), "stars", text)])
    assert project.resolve("stars.inference.inference") == "stars.inference.inference"
    assert project.resolve("stars.inference") == "stars.inference"
