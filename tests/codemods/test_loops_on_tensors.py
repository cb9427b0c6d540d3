"""What CF104 says that a loop on a tensor costs is what Dynamo does: a graph for each turn, or none at all."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods import registry  # noqa: E402
from compilefix.fixing.engine import run  # noqa: E402
from compilefix.source.config import Config  # noqa: E402
from compilefix.source.files import SourceFile  # noqa: E402

WHILE = "while x.abs().sum() > 1:\n        x = x / 2\n    "
LOOPS = {
    "alone": (WHILE, True),
    "a read": (WHILE.replace("x.abs().sum() > 1", "x.abs().sum().item() > 1"), False),
    "a call that reads": (WHILE.replace("x.abs().sum() > 1", "not torch.equal(x, x.clamp(max=1))"), False),
    "two tensors": (WHILE.replace("x.abs().sum() > 1", "x.abs().sum() > 1 and x.max() > 0.1"), False),
    "a counter": (
        "n = 0\n    " + WHILE.replace("> 1:", "> 1 and n < 20:").replace("/ 2", "/ 2\n        n += 1"),
        False,
    ),
    "a print": (WHILE.replace("x / 2", "x / 2\n        print(x)"), False),
    "a number": (WHILE.replace("x / 2", "x / (2 + 0 * float(x.mean()))"), False),
    "another test": (WHILE.replace("x / 2", "x / 2\n        if x.max() > 100:\n            x = x / 4"), False),
    "another end": (WHILE.replace("x / 2", "x / 2\n        if x.max() > 100:\n            break"), False),
    "tried": (
        "try:\n        " + WHILE.replace("\n    ", "\n        ") + "pass\n    finally:\n        x = x + 1\n    ",
        False,
    ),
    "a method": (WHILE.replace("x / 2", "torch.relu(x).div(2)"), True),
    "in a loop": ("for _ in range(3):\n        " + WHILE.replace("\n    ", "\n        ") + "x = x * 5\n    ", False),
    "an end": ("for _ in range(30):\n        x = x / 2\n        if x.abs().sum() < 1:\n            break\n    ", False),
}


@pytest.mark.parametrize("name", LOOPS)
def test_the_message_says_what_dynamo_does(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, resumed = LOOPS[name]
    module = "loops_on_tensors_" + "".join(c for c in name if c.isalnum())
    text = f"import torch\n\n\ndef settled(x: torch.Tensor):\n    x = x * 3\n    {loop}return x.sum()\n"
    path = tmp_path / f"{module}.py"
    path.write_text(text, encoding="utf-8")
    told = run([SourceFile(path, module, text)], Config(tmp_path), rules=[registry.load()["CF104"]], rewrite=False)
    assert {("in each turn" in f.message, "skip the function" in f.message) for f in told.findings} == {
        (resumed, not resumed)
    }

    graphs: list[Callable[..., Any]] = []

    def backend(graph: Any, _inputs: Any) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            graphs.append(counted)
            return graph.forward(*args)

        return counted

    monkeypatch.syspath_prepend(tmp_path)
    torch._dynamo.reset()
    torch.compile(importlib.import_module(module).settled, backend=backend)(torch.full((4,), 9.0))
    torch._dynamo.reset()
    assert (len(graphs) > 3) is resumed
