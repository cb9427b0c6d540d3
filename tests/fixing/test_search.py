"""Units, processes and kept results change how long a run takes, never what it finds."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import sys
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from compilefix.analysis.infer import Inference
from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.fixing import search
from compilefix.fixing.engine import Outcome, run
from compilefix.fixing.search import Search
from compilefix.source.config import Config
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

MODEL = """\
import torch
from torch import nn
from {other} import threshold, scaled

class Net{index}(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > threshold():
            x = x + {index}
        return scaled(x, self.limit())

    def limit(self):
        print("limit")
        return 1.0
"""
HELPERS = """\
import torch

def threshold():
    return 0.5

def scaled(x: torch.Tensor, limit):
    if x.max() > limit:
        x = x * 2
    return x
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, SourceFile]:
    monkeypatch.setattr(search, "UNIT_CHARACTERS", 700)
    texts = {f"model{index}": MODEL.format(index=index, other="helpers") for index in range(7)}
    texts |= {"helpers": HELPERS, "broken": "def f(:\n", "zz": "VALUE = 1\n"}
    return {name: SourceFile(tmp_path / f"{name}.py", name, text) for name, text in sorted(texts.items())}


def outcome(
    files: dict[str, SourceFile], tmp_path: Path, rules: Sequence[type[Rule]] | None = None, **more: object
) -> Outcome:
    rules = list(registry.load().values()) if rules is None else rules
    return run(list(files.values()), Config(root=tmp_path), rules=rules, rewrite=False, **more)  # type: ignore[arg-type]


def test_any_number_of_processes_finds_the_same(files: dict[str, SourceFile], tmp_path: Path) -> None:
    alone = outcome(files, tmp_path)
    assert len(alone.findings) >= 15
    assert [error.path.rpartition("/")[2] for error in alone.errors] == ["broken.py"]
    for jobs in (2, 3, 16):
        assert outcome(files, tmp_path, jobs=jobs) == alone


def test_units_find_what_one_unit_finds(
    files: dict[str, SourceFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_units = outcome(files, tmp_path)
    monkeypatch.setattr(search, "UNIT_CHARACTERS", 10**9)
    whole = outcome(files, tmp_path)
    assert [(f.path, f.span, f.code) for f in in_units.findings] == [(f.path, f.span, f.code) for f in whole.findings]
    ways = {f.reached_by for f in in_units.findings if f.function == "scaled"}
    assert ways == {("Net0.forward", "scaled")}


ATTENTION = """\
import torch
from masks import unpadded

def attend(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return unpadded(x * 2, mask).sum()
"""
MASKS = """\
import torch

def _kept(mask: torch.Tensor) -> torch.Tensor:
    return mask.flatten().nonzero()

def unpadded(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return x[_kept(mask)]
"""
CALLER = """\
import torch
from torch import nn
from attention import attend

class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return attend(x, x > 0)
"""


def test_a_way_goes_on_where_it_leaves_a_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"attention": ATTENTION, "caller": CALLER, "masks": MASKS}
    files = {name: SourceFile(tmp_path / f"{name}.py", name, text) for name, text in texts.items()}
    whole = outcome(files, tmp_path)
    monkeypatch.setattr(search, "UNIT_CHARACTERS", 1)
    in_units = outcome(files, tmp_path)
    assert in_units == whole
    assert {(f.reached_by, f.apart) for f in in_units.findings if f.function == "_kept"} == {
        (("Net.forward", "attend", "unpadded", "_kept"), False)
    }


# Lines, a number on the module and checks that raise, in functions that have the same names in all modules.
BUSY = """\
import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)

class Block{index}(nn.Module):
    def __init__(self):
        super().__init__()
        self.total{index} = 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        logger.info("mean %s", x.mean().item())
        print("sum", x.sum())
        self.total{index} += x.sum().item()
        return self.run(x)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        if (x < 0).any():
            raise ValueError("negative")
        return x.sqrt()

def checked(x: torch.Tensor) -> torch.Tensor:
    if x.isnan().any():
        raise ValueError("nan")
    return x

def attempt(block, x):
    try:
        return block(x)
    except ValueError:
        return None
"""


def test_a_unit_rests_on_no_module_that_only_uses_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a `forward`: to parse them all took 1.8 GiB for transformers, and any change made all look again."""
    monkeypatch.setattr(search, "UNIT_CHARACTERS", 1)
    texts = {f"block{index}": BUSY.format(index=index) for index in range(5)}
    files = [SourceFile(tmp_path / f"{name}.py", name, text) for name, text in texts.items()]
    looking = Search(Project(files), list(registry.load().values()), ())
    entry = looking.entry()
    for names in looking.units:
        result = looking.unit(names, entry)
        assert sum(len(reached.findings or ()) for reached in result.reached) >= 5
        assert {name for name in result.used.modules if name not in names} == set()


def test_some_files_alone_have_the_findings_that_they_have_among_all(files: dict[str, SourceFile]) -> None:
    """`apply` looks again only at what it has changed: what runs compiled there is known by the other files."""
    rules = list(registry.load().values())

    def found(only: set[Path] | None) -> set[Finding]:
        looking = Search(Project(list(files.values())), rules, (), only=only)
        entry = looking.entry()
        reached = [one for names in looking.units for one in looking.unit(names, entry).reached]
        return {finding for one in reached for finding in one.findings or ()}

    wanted = {files["model3"].path, files["helpers"].path}
    everything = found(None)
    named = {path.as_posix() for path in wanted}
    assert {finding.path for finding in everything} > named
    alone = found(wanted)
    assert alone == {finding for finding in everything if finding.path in named}
    assert {finding.path for finding in alone} == named


def test_no_unit_keeps_its_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cyclic collector is off in a check: whatever holds itself would keep the trees of a unit for good."""
    made: list[weakref.ref[Inference]] = []

    class Noted(Inference):
        def __init__(self, project: Project) -> None:
            super().__init__(project)
            made.append(weakref.ref(self))

    monkeypatch.setattr(search, "Inference", Noted)
    folder = Path(__file__).parents[2] / "fixtures" / "rules"
    paths = sorted(path for path in folder.glob("*/*.before.py"))
    files = [SourceFile(path, f"fixture{number}", path.read_text()) for number, path in enumerate(paths)]
    looking = Search(Project(files), list(registry.load().values()), ())
    gc.collect()
    gc.disable()
    try:
        entry = looking.entry()
        found = [looking.unit(names, entry) for names in looking.units]
        kept = [reference for reference in made if reference() is not None]  # before the collector is on again
    finally:
        gc.enable()
    assert len(files) > 200
    assert any(reached.findings for unit in found for reached in unit.reached)
    assert made
    assert kept == []


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    seen: list[tuple[str, ...]] = []
    original = Search.unit

    def unit(self: Search, names: tuple[str, ...], entry: search.Entry) -> search.UnitResult:
        seen.append(names)
        return original(self, names, entry)

    monkeypatch.setattr(Search, "unit", unit)
    return seen


def test_a_second_run_looks_at_nothing_again(
    files: dict[str, SourceFile], tmp_path: Path, looked: list[tuple[str, ...]]
) -> None:
    cache = tmp_path / "kept"
    first = outcome(files, tmp_path, cache=cache)
    assert len(looked) == 3
    looked.clear()
    assert outcome(files, tmp_path, cache=cache) == first
    assert looked == []
    assert (cache / ".gitignore").read_text() == "*\n"


def test_what_rests_on_a_changed_file_is_looked_at_again(
    files: dict[str, SourceFile], tmp_path: Path, looked: list[tuple[str, ...]]
) -> None:
    cache = tmp_path / "kept"
    outcome(files, tmp_path, cache=cache)
    looked.clear()
    changed = HELPERS.replace("return 0.5", "return torch.zeros(3)")
    files["helpers"] = SourceFile(files["helpers"].path, "helpers", changed)
    assert outcome(files, tmp_path, cache=cache) == outcome(files, tmp_path)
    again = {name for names in looked for name in names}
    assert {"helpers", "model0", "model6"} <= again


def test_a_changed_file_that_others_do_not_use_leaves_them_alone(
    files: dict[str, SourceFile], tmp_path: Path, looked: list[tuple[str, ...]]
) -> None:
    cache = tmp_path / "kept"
    outcome(files, tmp_path, cache=cache)
    looked.clear()
    files["zz"] = SourceFile(files["zz"].path, "zz", "VALUE = 2\n")
    outcome(files, tmp_path, cache=cache)
    assert [names for names in looked if "zz" not in names] == []
    assert len(looked) == 1


def test_a_new_torch_compile_changes_what_counts(files: dict[str, SourceFile], tmp_path: Path) -> None:
    cache = tmp_path / "kept"
    outcome(files, tmp_path, cache=cache)
    text = "import torch\nfrom model3 import Net3\nnet = Net3()\nfast = torch.compile(net)\n"
    files["zz"] = SourceFile(files["zz"].path, "zz", text)
    found = outcome(files, tmp_path, cache=cache)
    assert found == outcome(files, tmp_path)
    assert {Path(f.path).stem for f in found.findings} == {"model3", "helpers"}


def test_a_torch_compile_beside_the_same_word_changes_what_counts(files: dict[str, SourceFile], tmp_path: Path) -> None:
    """That a file has the word says nothing: `re.compile` stood there before."""
    cache = tmp_path / "kept"
    before = "import re\nPATTERN = re.compile('x')\n"
    files["zz"] = SourceFile(files["zz"].path, "zz", before)
    outcome(files, tmp_path, cache=cache)
    text = f"{before}import torch\nfrom model3 import Net3\nfast = torch.compile(Net3())\n"
    files["zz"] = SourceFile(files["zz"].path, "zz", text)
    found = outcome(files, tmp_path, cache=cache)
    assert found == outcome(files, tmp_path)
    assert {Path(f.path).stem for f in found.findings} == {"model3", "helpers"}


def test_a_name_that_a_package_comes_to_hand_out_changes_what_counts(tmp_path: Path) -> None:
    cache = tmp_path / "kept"
    functions = """\
import torch

def longest(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = x + 1
    return x

def show(x: torch.Tensor) -> None:
    import matplotlib.pyplot as plt
    plt.plot(longest(x))
"""

    def findings(handed: str, cache: Path | None) -> Outcome:
        texts = {"pkg": handed, "pkg.functions": functions, "pkg.net": MODEL.format(index=1, other="pkg.helpers")}
        places = {"pkg": "pkg/__init__.py", "pkg.functions": "pkg/functions.py", "pkg.net": "pkg/net.py"}
        return outcome({n: SourceFile(tmp_path / places[n], n, t) for n, t in texts.items()}, tmp_path, cache=cache)

    for handed in ("# longest\n", "from pkg.functions import *\n", "from pkg.functions import longest\n", ""):
        assert findings(handed, cache) == findings(handed, None)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"key": 1}', "\0"])
def test_damaged_results_are_not_taken(files: dict[str, SourceFile], tmp_path: Path, damage: str) -> None:
    cache = tmp_path / "kept"
    first = outcome(files, tmp_path, cache=cache)
    for path in cache.glob("*.json"):
        path.write_text(damage)
    assert outcome(files, tmp_path, cache=cache) == first
    assert all(json.loads(path.read_text())["content"] for path in cache.glob("*.json"))


def test_other_rules_do_not_get_the_results_of_these(files: dict[str, SourceFile], tmp_path: Path) -> None:
    cache = tmp_path / "kept"
    outcome(files, tmp_path, cache=cache)
    one = [registry.load()["CF101"]]
    assert {f.code for f in outcome(files, tmp_path, one, cache=cache).findings} == {"CF101"}


def test_a_folder_that_cannot_be_made_is_as_good_as_none(files: dict[str, SourceFile], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert outcome(files, tmp_path, cache=tmp_path / "file" / "kept") == outcome(files, tmp_path)


class Deadly(Rule):
    """Kills the process that looks at one of the models, unless it is the first one."""

    code = "CF101"
    name = "deadly"
    summary = "kills"
    gb = ()

    def find(self, scope: Scope) -> Iterator[Finding]:
        if scope.function.qualname.startswith("Net3.") and multiprocessing.parent_process() is not None:
            os._exit(9)
        yield from registry.load()["CF101"]().find(scope)


@pytest.mark.skipif(sys.platform != "linux", reason="the rule of this test is known only to a forked process")
def test_the_work_of_a_process_that_dies_is_done(files: dict[str, SourceFile], tmp_path: Path) -> None:
    assert outcome(files, tmp_path, [Deadly], jobs=3) == outcome(files, tmp_path, [registry.load()["CF101"]])


LAYER = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x: torch.FloatTensor):
        y = self.lin(x)
        return x * x.detach().double().sum().item(), y
"""
REPLACED = (
    "net.lin = nn.Identity()",
    "number, net.lin = 1, nn.Identity()",
    "net.lin, number = nn.Identity(), 1",
    "setattr(net, 'lin', nn.Identity())",
)


@pytest.mark.parametrize("line", REPLACED)
@pytest.mark.parametrize("made", ["from net import Net\nnet = Net()", "import net as models\nnet = models.made()"])
def test_a_layer_that_another_file_replaces(tmp_path: Path, line: str, made: str) -> None:
    """`nn.Linear` proves that its input has dimensions, `nn.Identity` takes a tensor without any."""
    cache = tmp_path / "kept"

    def fixes(text: str) -> list[bool]:
        texts = {"net": LAYER, "use": text}
        files = {name: SourceFile(tmp_path / f"{name}.py", name, text) for name, text in texts.items()}
        found = outcome(files, tmp_path, cache=cache)
        assert found == outcome(files, tmp_path)
        return [f.fix is not None and not f.fix.assumptions for f in found.findings if f.code == "CF201"]

    use = f"from torch import nn\n{made}\n"
    assert fixes(use) == [True]
    assert fixes(f"{use}{line}\n") == [False]
    assert fixes(f"{use}net.other = 1\n") == [True]
