"""What texts say without being parsed, and that an answer stands among what was asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compilefix.source.files import SourceFile
from compilefix.source.texts import Texts, word_start

PROJECT = {
    "pkg": "from pkg.api import *\n",
    "pkg.api": "from pkg.ops import scaled\n__all__ = ['scaled']\n",
    "pkg.ops": "def scaled(x): ...\ndef _hidden(x): ...\ndef other(x): ...\n",
    "pkg.line": "from .ops import scaled\n",
    "pkg.lines": "from .ops import (\n    other,\n    scaled as s,\n)\n",
    "pkg.of_module": "from pkg import (\n    ops,\n)\nops.scaled(1)\n",
    "pkg.by_package": "import pkg\npkg.ops.scaled(1)\n",
    "pkg.all": "from .ops import *\nscaled(1)\n",
    "pkg.same_word": "def scaled(x): ...\n",
    "pkg.no_use": "from .ops import other\n",
}


def texts(**changed: str) -> Texts:
    return Texts({name: SourceFile(Path(f"{name}.py"), name, text) for name, text in (PROJECT | changed).items()})


def test_who_imports_a_name_from_a_module() -> None:
    importing = texts().importing("pkg.ops", "scaled")
    assert set(importing) == {"pkg.api", "pkg.line", "pkg.lines", "pkg.of_module", "pkg.by_package", "pkg.all"}
    assert list(importing) == [name for name in PROJECT if name in importing]


@pytest.mark.parametrize(
    ("package", "name", "handed"),
    [
        ("from pkg.ops import scaled\n", "scaled", True),
        ("from pkg.ops import scaled_2\n", "scaled", False),
        ("from pkg.ops import *\n", "scaled", True),
        ("from pkg.ops import *\n", "_hidden", False),
        ("import pkg.ops\n", "scaled", False),
        ("from .ops import *\n", "scaled", True),
        ("from .line import *\n", "scaled", False),
        ("from pkg.line import *\n", "scaled", False),
        ("from .uses import *\n", "scaled", True),
        ("from .elsewhere import *\n", "scaled", True),
    ],
)
def test_whether_a_package_hands_a_name_out(package: str, name: str, handed: bool) -> None:
    project = Texts(
        {
            "pkg": SourceFile(Path("pkg/__init__.py"), "pkg", package),
            "pkg.ops": SourceFile(Path("pkg/ops.py"), "pkg.ops", PROJECT["pkg.ops"]),
            "pkg.line": SourceFile(Path("pkg/line.py"), "pkg.line", "from pkg.ops import scaled_2\n"),
            "pkg.uses": SourceFile(Path("pkg/uses.py"), "pkg.uses", "from pkg.ops import scaled\n"),
        }
    )
    assert bool(project.handing_out("pkg.ops", name)) is handed


def test_a_word_and_a_pattern() -> None:
    project = texts()
    assert project.mentioning("_hidden") == ("pkg.ops",)
    assert project.matching("scaled", r"^def scaled") == ("pkg.ops", "pkg.same_word")
    assert project.matching("scaled", r"scaled\Z") == ()


def test_what_was_asked_can_be_asked_again_of_other_texts() -> None:
    project = texts()
    project.begin()
    project.mentioning("other")
    project.importing("pkg.ops", "other")
    project.overriding("Net", "forward")
    project.setting("weight", "Net", "pkg.line")
    asked = project.asked
    assert len(asked) == 4
    assert all(texts().answer(question) == answer for question, answer in asked)
    changed = texts(**{"pkg.line": "from .ops import other\nclass Sub(Net):\n    def forward(self): ...\n"})
    assert sum(changed.answer(question) != answer for question, answer in asked) == 3
    project.begin()
    assert project.asked == ()


@pytest.mark.parametrize("text", ["ab", "ab(", "xab", "_ab", "x.ab", "x ab", "xab ab", "ab_ (ab", "é.ab", "éab", ""])
def test_a_word_is_found_where_it_begins(text: str) -> None:
    found = [match.start() for match in re.finditer(word_start("ab"), text)]
    assert found == [match.start() for match in re.finditer(r"\bab", text)]
