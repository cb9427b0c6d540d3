from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from compilefix.source import files, writing
from compilefix.source.files import SourceError
from compilefix.source.notebooks import Notebook


def cell(source: str | list[str], kind: str = "code", **more: Any) -> dict[str, Any]:
    extra = {"execution_count": 3, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["é\n"]}]}
    return {"cell_type": kind, "metadata": {"tags": []}, **(extra if kind == "code" else {}), "source": source, **more}


def notebook(*cells: dict[str, Any], language: str = "python") -> dict[str, Any]:
    metadata = {"kernelspec": {"display_name": "x", "language": language, "name": "x"}}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def put(path: Path, content: Any, **layout: Any) -> Path:
    path.write_text(json.dumps(content, **{"indent": 1, "ensure_ascii": False, **layout}) + "\n", encoding="utf-8")
    return path


def read(path: Path) -> Notebook:
    result = files.read(path)
    assert isinstance(result, Notebook), result
    return result


CELLS = (
    cell("# Title", "markdown"),
    cell(["import torch\n", "%matplotlib inline\n", "x = 1"]),
    cell([]),
    cell(["def f(x):\n", "    '''ü'''\n", "    return x + 1\n"]),
)


@pytest.mark.parametrize(
    "layout",
    [{}, {"indent": None}, {"indent": 4}, {"ensure_ascii": True}, {"separators": (",", ":"), "indent": None}],
)
def test_only_the_source_of_a_changed_cell_changes(tmp_path: Path, layout: dict[str, Any]) -> None:
    path = put(tmp_path / "n.ipynb", notebook(*CELLS), **layout)
    before = path.read_bytes()
    source = read(path)
    assert source.encoded(source.text) == before
    assert writing.write(source, source.text.replace("return x + 1", "y = 'ü'\n    return x + y")) is None
    wanted = json.loads(before)
    wanted["cells"][3]["source"][2:] = ["    y = 'ü'\n", "    return x + y\n"]
    expected = json.dumps(wanted, **{"indent": 1, "ensure_ascii": False, **layout}) + "\n"
    assert path.read_text(encoding="utf-8") == expected


def test_a_source_in_one_string_stays_one(tmp_path: Path) -> None:
    path = put(tmp_path / "n.ipynb", notebook(cell("x = 1\ny = 2"), cell("z = 3")))
    source = read(path)
    assert writing.write(source, source.text.replace("y = 2", "y = 5")) is None
    assert [c["source"] for c in json.loads(path.read_text())["cells"]] == ["x = 1\ny = 5", "z = 3"]


@pytest.mark.parametrize(
    ("lines", "defined"),
    [
        (["%load_ext autoreload", "x = 1"], ["x"]),
        (["!pip install \\", "  torch", "x = 1"], ["x"]),
        (["files = !ls", "x = 1"], ["files", "x"]),
        (["time = %timeit -o f()"], ["time"]),
        (["x = 1", "x?", "?x", "x.y??"], ["x"]),
        (["%%time", "x = 1"], ["x"]),
        (["%%capture out", "!ls", "x = 1"], ["x"]),
        (["%%bash", "for i in 1 2; do echo $i; done"], []),
        (["%%writefile model.py", "def f(:", "%%no"], []),
        (["if True:", "    %time y = 1", "else:", "    !ls", "x = 1"], ["x"]),
        (["x = (7", "  % 2)"], ["x"]),
        (["x = await f()"], ["x"]),
    ],
)
def test_lines_for_ipython_are_looked_past_and_come_back(tmp_path: Path, lines: list[str], defined: list[str]) -> None:
    text = "\n".join(lines)
    path = put(tmp_path / "n.ipynb", notebook(cell("before = 1"), cell(text), cell("after = 1")))
    source = read(path)
    names = [n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    assert sorted(names) == sorted(["before", *defined, "after"])
    changed = json.loads(source.encoded(source.text.replace("after = 1", "after = 2")))
    assert [c["source"] for c in changed["cells"]] == ["before = 1", text, "after = 2"]


def test_lines_of_the_module_are_lines_of_cells(tmp_path: Path) -> None:
    source = read(put(tmp_path / "n.ipynb", notebook(*CELLS)))
    places = {}
    for number, line in enumerate(source.lines, 1):
        found = source.cell_at(number)
        if found is not None and line.strip() in ("x = 1", "return x + 1"):
            places[line.strip()] = (found.number, number - found.line + 1)
    assert places == {"x = 1": (2, 3), "return x + 1": (4, 3)}


def test_a_module_may_have_the_name_of_a_notebook(tmp_path: Path) -> None:
    assert read(put(tmp_path / "model.ipynb", notebook(cell("x = 1")))).module != "model"


def test_a_notebook_in_another_language_has_no_code(tmp_path: Path) -> None:
    source = read(put(tmp_path / "n.ipynb", notebook(cell("x <- 1"), language="R")))
    assert source.text == ""


def test_cells_that_cannot_be_told_apart_are_not_written(tmp_path: Path) -> None:
    path = put(tmp_path / "n.ipynb", notebook(*CELLS))
    before = path.read_bytes()
    source = read(path)
    without = "\n".join(line for line in source.text.split("\n") if not line.startswith("# %%"))
    error = writing.write(source, without)
    assert error is not None
    assert "cells cannot be told apart" in error.message
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "n.ipynb:1: is not a notebook"),
        ("[]", "n.ipynb: is not a notebook of format 4"),
        ('{"worksheets": [], "nbformat": 3}', "n.ipynb: is not a notebook of format 4"),
        ('{"cells": [{"cell_type": "code"}]}', "n.ipynb: is not a valid notebook"),
        ('{"cells": [7]}', "n.ipynb: is not a valid notebook"),
        (json.dumps(notebook(cell("x"), cell("y = 1\ndef f(:"))), "n.ipynb: cell 2, line 2: syntax error"),
        ('"\xff', "n.ipynb:1: is not valid utf-8"),
    ],
)
def test_what_is_no_notebook_gets_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "n.ipynb"
    path.write_bytes(content.encode("latin-1"))
    error = files.read(path)
    assert isinstance(error, SourceError)
    assert message in str(error)
    assert "\n" not in str(error)
