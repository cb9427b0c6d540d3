"""Notebooks through the commands, with the shipped rules."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("nbformat", reason="validates notebooks")

import nbformat

MODEL = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        if x.abs().max() > 100.0:
            x = x.clamp(-100.0, 100.0)
        return x * x.detach().abs().mean().item()"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A notebook with outputs and metadata in a layout that nothing would write by itself."""
    picture = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}, "metadata": {"é": 1.50}}
    cells = [
        nbformat.v4.new_markdown_cell("# A model"),
        nbformat.v4.new_code_cell("%matplotlib inline\nimport torch\nfrom torch import nn\n\n!nvidia-smi"),
        nbformat.v4.new_code_cell(MODEL, execution_count=7, outputs=[picture], metadata={"collapsed": True}),
        nbformat.v4.new_code_cell("%%bash\necho 'if x.sum() > 0:'"),
        nbformat.v4.new_code_cell("Model()(torch.ones(2, 8))"),
    ]
    content = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "x", "display_name": "x", "language": "python"}}
    )
    for cell in content.cells:
        cell["source"] = cell["source"].splitlines(keepends=True)
    path = tmp_path / "model.ipynb"
    path.write_text(json.dumps(content, indent=3, ensure_ascii=False).replace("1.5", "1.50"), encoding="utf-8")
    return path


Command = Callable[..., subprocess.CompletedProcess[str]]


def test_findings_name_the_cell(command: Command, path: Path) -> None:
    done = command(path.parent, "check", "--output-format", "concise", "-q")
    assert done.returncode == 1, done.stderr
    places = [line.split(" ")[0:3] for line in done.stdout.splitlines()]
    assert places == [["model.ipynb:cell", "3:8:9:", "CF101"], ["model.ipynb:cell", "3:10:20:", "CF201"]]
    first = json.loads(command(path.parent, "check", "--output-format", "json").stdout)["findings"][0]
    assert (first["cell"], first["line"], first["end_line"]) == (3, 8, 9)
    assert "    8 |         if x.abs().max() > 100.0:" in command(path.parent, "check").stdout


def test_a_comment_in_a_cell_silences(command: Command, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("> 100.0:", "> 100.0:  # compilefix: ignore[CF101]"), encoding="utf-8")
    done = command(path.parent, "check", "--output-format", "concise", "-q")
    assert [line.split(" ")[2] for line in done.stdout.splitlines()] == ["CF201"]


def test_cells_are_fixed_in_place_and_all_else_stays_byte_for_byte(command: Command, path: Path) -> None:
    before = path.read_text(encoding="utf-8")
    diff = command(path.parent, "apply", "--diff")
    done = command(path.parent, "apply")
    assert done.returncode == 0, done.stderr
    after = path.read_text(encoding="utf-8")
    nbformat.validate(nbformat.reads(after, as_version=4))
    old, new = json.loads(before), json.loads(after)
    source = "".join(new["cells"][2]["source"])
    assert "torch.where(x.abs().max() > 100.0" in source
    assert ".item()" not in source
    assert [i for i, cell in enumerate(new["cells"]) if cell != old["cells"][i]] == [2]
    start, end = before.index('"class Model'), before.index(".item()") + len('.item()"')
    assert after.startswith(before[:start])
    assert after.endswith(before[end:])
    # The diff is of the file itself.
    path.write_text(before, encoding="utf-8")
    subprocess.run(["git", "apply", "-"], input=diff.stdout, cwd=path.parent, text=True, encoding="utf-8", check=True)
    assert path.read_text(encoding="utf-8") == after
    assert command(path.parent, "apply").stdout == "0 fixes applied in 0 files.\n"


def test_an_import_that_a_fix_needs_comes_into_the_first_code_cell(command: Command, tmp_path: Path) -> None:
    model = "import numpy as np\nimport torch.nn as nn\n\n\n" + MODEL.replace("x.abs().max() > 100.0", "x.sum() > 0")
    cells = [
        nbformat.v4.new_markdown_cell("# A"),
        nbformat.v4.new_code_cell("%load_ext x"),
        nbformat.v4.new_code_cell(model),
    ]
    path = tmp_path / "model.ipynb"
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)), encoding="utf-8")
    assert command(tmp_path, "apply", "--unsafe-fixes").returncode == 0
    new = nbformat.read(path, as_version=4)
    whole = "\n".join(cell.source for cell in new.cells)
    assert "import torch\n" in whole
    assert whole.index("import torch\n") < whole.index("torch.where(")
    assert "%load_ext x" in new.cells[1].source


@pytest.mark.parametrize("first", ["%%bash\nls", "%%time\ny = 1", "%%capture out\nimport os", "# only a comment", ""])
def test_an_import_never_comes_above_a_cell_magic_or_into_another_language(
    command: Command, tmp_path: Path, first: str
) -> None:
    model = "import torch.nn as nn\n\n\n" + MODEL
    model = model.replace("return x * x.detach().abs().mean().item()", "print('step')\n        return x")
    cells = [nbformat.v4.new_code_cell(first), nbformat.v4.new_code_cell(model)]
    path = tmp_path / "model.ipynb"
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)), encoding="utf-8")
    assert command(tmp_path, "apply", "--unsafe-fixes").returncode == 0
    new = nbformat.read(path, as_version=4)
    whole = "\n".join(cell.source for cell in new.cells)
    assert whole.index("from _compile_boundary import emit") < whole.index("emit(")
    assert whole.index("import torch\n") < whole.index("torch.where(")
    start = first.partition("\n")[0]
    assert new.cells[0].source.startswith(start)
    if first.startswith("%%bash"):
        assert new.cells[0].source == first
    if first.startswith(("%%time", "%%capture")):
        assert first.partition("\n")[2] in new.cells[0].source
    assert command(tmp_path, "apply", "--unsafe-fixes").stdout == "0 fixes applied in 0 files.\n"
