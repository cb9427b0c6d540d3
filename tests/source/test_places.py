"""Modules in folders without `__init__.py`, and modules of one name: which of them an import means."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.definitions import Function
from compilefix.source.files import SourceFile, read
from compilefix.source.module import Module
from compilefix.source.project import Project

FUNCTION = "def f(x):\n    return x\n"
READS = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.sum().item()\n"
NEEDS = "import json\nimport torch\n{imported}\n\n\ndef use(x: torch.Tensor):\n    return json.dumps([{called}(x)])\n"


def project(folder: Path, texts: dict[str, str]) -> list[SourceFile]:
    found = []
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        found.append(read(path))
    return [file for file in found if isinstance(file, SourceFile)]


@pytest.mark.parametrize(
    ("importing", "imported", "called", "meant"),
    [
        ("train.py", "from models.net import f", "f", "models/net.py"),
        ("train.py", "import models.net as net", "net.f", "models/net.py"),
        ("train.py", "import models.net", "models.net.f", "models/net.py"),
        ("train.py", "from models import net", "net.f", "models/net.py"),
        ("train.py", "from models.net import *", "f", "models/net.py"),
        ("tools/run.py", "from models.net import f", "f", "models/net.py"),
        ("models/whole.py", "from net import f", "f", "models/net.py"),
        ("models/whole.py", "from .net import f", "f", "models/net.py"),
        ("models/whole.py", "from ..pkg.layers.net import f", "f", "pkg/layers/net.py"),
        ("other/whole.py", "from net import f", "f", "other/net.py"),
        ("other/whole.py", "from . import net", "net.f", "other/net.py"),
        ("tools/run.py", "from pkg.layers.net import f", "f", "pkg/layers/net.py"),
        ("pkg/layers/more.py", "from .net import f", "f", "pkg/layers/net.py"),
        ("pkg/main.py", "from .layers.net import f", "f", "pkg/layers/net.py"),
        ("tests/test_it.py", "from proj.net import f", "f", "src/proj/net.py"),
        ("tools/run.py", "from net import f", "f", None),  # beside it is none, and which of the others nobody knows
        ("train.py", "from torch.nn import f", "f", None),
    ],
)
def test_an_import_names_the_module_that_python_finds(
    importing: str, imported: str, called: str, meant: str | None, tmp_path: Path
) -> None:
    nets = ("models/net.py", "other/net.py", "pkg/layers/net.py", "src/proj/net.py", "torch/nn.py")
    texts = {"pkg/__init__.py": "", **dict.fromkeys(nets, FUNCTION)}
    texts[importing] = f"{imported}\n\n\ndef use(x):\n    return {called}(x)\n"
    found = Project(project(tmp_path, texts))
    module = next(m for m in found.modules.values() if m.file.path == tmp_path / importing)
    assert isinstance(module, Module)
    call = module.functions["use"].node.body[0].value  # type: ignore[attr-defined]
    function = found.resolve(module.qualified(call.func) or "")
    where = function.module.file.path.relative_to(tmp_path).as_posix() if isinstance(function, Function) else None
    assert where == meant


@pytest.mark.parametrize(
    ("folder", "imported", "called"),
    [
        ("pkg/layers", "from pkg.layers.reading import f", "f"),
        ("pkg/layers", "from .layers.reading import f", "f"),
        ("models", "from models.reading import f", "f"),
        ("models", "import models.reading", "models.reading.f"),
        ("pkg/layers", "import pkg.layers.reading", "pkg.layers.reading.f"),
    ],
)
def test_who_calls_from_another_folder_needs_the_number(
    folder: str, imported: str, called: str, tmp_path: Path
) -> None:
    user = "pkg/use.py" if folder.startswith("pkg") else "use.py"
    texts = {f"{folder}/reading.py": READS, user: NEEDS.format(imported=imported, called=called)}
    if folder.startswith("pkg"):
        texts["pkg/__init__.py"] = ""
    rules = list(registry.load().values())
    outcome = run(project(tmp_path, texts), Config(root=tmp_path), rules=rules, allowed=frozenset({"number-to-tensor"}))
    assert not outcome.patchset
    assert any("needs it as a Python number" in (finding.declined or "") for finding in outcome.findings)


def test_classes_of_one_name_in_files_of_one_name_are_two(tmp_path: Path) -> None:
    """`len(self.layers)` of None raises another error than the assert."""
    text = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.layers = {layers}\n\n"
        "    def forward(self, x: torch.Tensor):\n        assert self.layers\n        return x\n"
    )
    texts = {"a/model.py": text.format(layers="nn.ModuleList()"), "b/model.py": text.format(layers="None")}
    outcome = run(project(tmp_path, texts), Config(root=tmp_path), rules=list(registry.load().values()))
    assert [change.path.relative_to(tmp_path).as_posix() for change in outcome.patchset] == ["a/model.py"]


def test_a_file_in_a_folder_of_a_package_switches_no_flag_on(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef count(x: torch.LongTensor):\n    return torch.zeros(int(x.max()) + 1)\n"
    rules = list(registry.load().values())
    for package, changed in (("", 1), ("pkg/__init__.py", 0)):
        texts = {"pkg/layers/count.py": text, **({package: ""} if package else {})}
        outcome = run(project(tmp_path, texts), Config(root=tmp_path), rules=rules, allowed=None)
        assert len(outcome.patchset.changes) == changed


def test_a_file_that_is_called_like_the_package_it_imports_does_not_mean_itself(tmp_path: Path) -> None:
    files = project(tmp_path, {"net/__init__.py": "", "net/gradio.py": "import gradio as gr\n"})
    assert Project(files).modules["net.gradio"].packages == {"gradio"}


@pytest.mark.parametrize(
    ("inside", "name"),
    [
        ("", "numba.cuda"),
        ("try:\n    import numba  # noqa: F401\nfinally:\n    from lazily import lazy_export\n", "numba.cuda"),
        ("from .gpu import cuda\n", "kernels.numba.cuda"),
        ("from .gpu import *\n", "kernels.numba.cuda"),
    ],
)
def test_a_folder_that_is_called_like_the_package_it_imports_has_to_know_the_name(
    inside: str, name: str, tmp_path: Path
) -> None:
    """`kernels/numba/loss.py`, whose kernels would be taken for code that Dynamo traces."""
    texts = {"kernels/__init__.py": "", "kernels/numba/__init__.py": inside, "kernels/numba/gpu.py": "cuda = None\n"}
    files = project(tmp_path, texts | {"kernels/numba/loss.py": "from numba import cuda\n"})
    assert Project(files).modules["kernels.numba.loss"].imported("cuda") == name
