# ruff: noqa: E501
"""No Python file makes the analysis or the rewriting crash or hang, however odd it is."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from compilefix.analysis.infer import Inference
from compilefix.codemods import registry
from compilefix.fixing.engine import Outcome, run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

sys.path.insert(0, str(Path(__file__).parent))
import mutations

settings.register_profile("robustness-ci", max_examples=60, derandomize=True)
settings.register_profile("robustness-nightly", max_examples=3000)
PROFILE = settings.get_profile(
    "robustness-nightly" if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else "robustness-ci"
)
RULES = list(registry.load().values())
SOURCES = mutations.sources()
LIMIT = 60.0
"""Seconds of processor time for one small file: a hundred times what it takes, so that only a hang exceeds it."""


def files(*texts: str) -> list[SourceFile]:
    names = ("module", "x", "y", "z")
    return [SourceFile(Path(f"{name}.py"), name, text) for name, text in zip(names, texts, strict=False)]


def rewritten(sources: Sequence[SourceFile], allowed: frozenset[str] | None = None) -> Outcome:
    return run(sources, Config(root=Path()), rules=RULES, allowed=allowed)


def survives(*texts: str) -> None:
    """Check and rewrite with every assumption, twice: the result parses, and the second time changes nothing."""
    started = time.process_time()
    sources = files(*texts)
    outcome = rewritten(sources)
    assert not outcome.errors, "nothing here is deep enough not to be looked at"
    changed = {change.path: change.after for change in outcome.patchset}
    again = [SourceFile(s.path, s.module, changed.get(s.path, s.text)) for s in sources]
    for source in again:
        assert mutations.parses(source.text)
    second = [change for change in rewritten(again).patchset if change.before is not None]
    assert not second, second[0].after
    assert time.process_time() - started < LIMIT, "it took as long as a hang"


@settings(PROFILE, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_no_changed_file_makes_it_fail(seed: int) -> None:
    text = mutations.mutated(Random(seed), SOURCES)
    note(text)
    survives(text)


@pytest.mark.parametrize("piece", mutations.ODD)
def test_odd_python_is_looked_at(piece: str) -> None:
    assert mutations.parses(piece)
    indented = "".join(f"    {line}\n" for line in piece.splitlines())
    survives(piece)
    inside = f"import torch\n\n\n@torch.compile\ndef root(x: torch.Tensor, y):\n{indented}    return x\n"
    if mutations.parses(inside):
        survives(inside)


@pytest.mark.parametrize("piece", mutations.NEWER)
def test_newer_syntax_is_looked_at_or_refused(piece: str) -> None:
    if not mutations.parses(piece):
        pytest.skip("not the syntax of this Python")
    survives(piece)


def test_modules_that_import_each_other() -> None:
    survives(
        "from x import *\nfrom x import f as f\nfrom y import g\n\n\ndef h(t):\n    return f(g(h(t)))\n",
        "from module import *\nfrom module import h as f\nfrom x import f as g\nA = A\n",
        "from x import g\nfrom y import g\nimport module.x.y as y\n\n\nclass K(y.K):\n    pass\n",
    )


def test_classes_that_inherit_from_each_other() -> None:
    survives(
        "from x import B\n\n\nclass A(B):\n    def forward(self, t):\n        return super().forward(t)\n",
        "from module import A\n\n\nclass B(A):\n    def forward(self, t):\n        return self.forward(super().forward(t))\n",
    )


@pytest.mark.parametrize(
    "aliases",
    [
        'Nested = list[Union[int, "Nested"]]',
        'Nested = list["Nested"] | torch.Tensor | None',
        'Nested = dict[str, "Other"]\nOther = Union[torch.Tensor, Nested]',
        'Nested = Optional["Other"]\nOther = tuple["Third", ...]\nThird = Union[torch.Tensor, "Other"]',
    ],
)
def test_type_aliases_that_stand_for_themselves(aliases: str) -> None:
    survives(
        f"import torch\nfrom typing import Optional, Union\n\n{aliases}\n\n\n@torch.compile\n"
        "def f(a: Nested, b: list[Nested], *c: Nested, d: 'Nested' = None) -> Nested:\n"
        "    if b[0].sum() > 0:\n        a = a * 2\n    e: Nested = f(a, b)\n    return e\n"
    )


@pytest.mark.parametrize(
    "again",
    ["n = min(n, m)", "n = m\n        m = n", "n = n", "n, k = (n, m)", "k = n + m\n        n = int(k)", "n = f(x, n)"],
)
def test_a_number_that_is_given_to_its_own_name(again: str) -> None:
    survives(
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, p=0):\n"
        "    n = x.min().item()\n    m = int(x.max())\n    for _ in range(3):\n"
        f"        {again}\n        m = max(m, n)\n        p = n * 2\n    return torch.zeros(n) * p, x + m\n"
    )


@pytest.mark.parametrize("again", ["a = float(a)", "a = abs(a)", "a = -a", "a = max(a, 1)", "a = f(x, a)"])
def test_a_parameter_that_is_given_to_its_own_name(again: str) -> None:
    survives(
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, a: torch.Tensor):\n"
        f"    {again}\n    return x * a + g(x, int(a))\n\n\n"
        f"def g(x, a):\n    {again}\n    return x - a\n"
    )


DEEP = {
    "brackets": lambda n: f"def f(x):\n    return {'(' * n}x{')' * n}\n",
    "additions": lambda n: f"def f(x):\n    return {' + '.join(['x'] * n)}\n",
    "attributes": lambda n: f"def f(x):\n    return x{'.a' * n}\n",
    "calls": lambda n: f"def f(x):\n    return x{'.relu()' * n}\n",
    "subscripts": lambda n: f"def f(x):\n    return x{'[0]' * n}\n",
    "conditions": lambda n: f"def f(x):\n    return {'x if x.sum() > 0 else ' * n}x\n",
    "not": lambda n: f"def f(x):\n    return {'not ' * n}x\n",
    "lambdas": lambda n: f"def f(x):\n    return {'lambda: ' * n}x\n",
    "lists": lambda n: f"def f(x):\n    return {'[' * n}x{']' * n}\n",
    "elif": lambda n: "def f(x):\n    if x: pass\n" + "    elif x.sum() > 0: x = x * 2\n" * n + "    return x\n",
    "statements": lambda n: "def f(x):\n" + "    x = x + 1 if x.sum() > 0 else x\n" * n + "    return x\n",
    "ifs": lambda n: "def f(x):\n" + "    if x.sum() > 0:\n        x = x * 2\n" * n + "    return x\n",
    "dict": lambda n: f"def f(x):\n    return {{{', '.join(f'{i}: x' for i in range(n))}}}\n",
    "names": lambda n: "def f(x):\n" + "".join(f"    v{i} = x\n" for i in range(n)) + "    return x\n",
    "functions": lambda n: "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(n)),
    "functions called twice": lambda n: "".join(f"def f{i}(x):\n    return f{i + 1}(f{i + 1}(x))\n" for i in range(n)),
    "methods": lambda n: (
        "import torch\nclass M(torch.nn.Module):\n"
        + "".join(f"    def m{i}(self, x):\n        self.a{i} = self.m{i + 1}(x)\n        return x\n" for i in range(n))
    ),
    "bases": lambda n: "".join(
        f"class A{i}(A{i + 1}):\n    def forward(self, x): return super().forward(x)\n" for i in range(n)
    ),
}


@pytest.mark.parametrize("what", DEEP)
@pytest.mark.parametrize("size", [40, 400])
def test_long_and_deep_code(what: str, size: int) -> None:
    text = DEEP[what](size)
    if not mutations.parses(text):
        pytest.skip("too deep for Python itself")
    project = Project(files(text))
    inference = Inference(project)
    for module in project.modules.values():
        for function in module.all_functions:
            inference.facts(function)
    outcome = rewritten(files(text), frozenset())
    assert all(mutations.parses(change.after) for change in outcome.patchset)


@pytest.mark.parametrize("depth", [8, 14])
def test_nested_loops_are_walked_a_bounded_number_of_times(depth: int) -> None:
    lines = [f"{'    ' * (i + 1)}for i{i} in x:" for i in range(depth)]
    text = "def f(x):\n" + "\n".join(lines) + f"\n{'    ' * (depth + 1)}x = x + i0\n    return x\n"
    started = time.process_time()
    project = Project(files(text))
    Inference(project).facts(project.modules["module"].functions["f"])
    assert time.process_time() - started < LIMIT


def test_functions_that_use_each_other_on_many_ways() -> None:
    layers = [
        f"def part_{layer}_{at}(x):\n    x = torch.relu(x)\n    return "
        + " + ".join(f"part_{layer - 1}_{below}(x)" if layer else "x" for below in range(4))
        for layer in range(14)
        for at in range(4)
    ]
    top = ", ".join(f"part_13_{at}(torch.ones(2))" for at in range(4))
    shown = f"def show_results():\n    print({top})"
    survives("import torch\n\n\n" + "\n\n\n".join([*layers, shown]), "import torch\n")


def test_the_same_is_found_every_time() -> None:
    texts = [mutations.mutated(Random(seed), SOURCES) for seed in range(6)]
    first = [f.fingerprint for text in texts for f in rewritten(files(text)).findings]
    assert first == [f.fingerprint for text in texts for f in rewritten(files(text)).findings]
    assert first
