"""The length of a loop in which the graph breaks: Dynamo does not unroll it, so other lengths compile nothing again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods import registry  # noqa: E402
from compilefix.fixing.engine import run  # noqa: E402
from compilefix.source.config import Config  # noqa: E402
from compilefix.source.files import SourceFile  # noqa: E402

HELPERS = (
    "def number(self, row: torch.Tensor):",
    "    return row.sum().item()",
    "def at_times(self, row: torch.Tensor, flag: bool):",
    "    if flag:",
    "        return row.sum().item()",
    "    return 2",
    "def checked(self, row: torch.Tensor):",
    "    assert row.dim() == 1, f'one row, and not {row.sum().item()}'",
    "    return 2",
    "def parts(self, row: torch.Tensor):",
    "    yield row.sum().item()",
)
HEAD = "import torch\nfrom torch import nn\nclass Model(nn.Module):\n"


def codes(turn: Sequence[str], tmp_path: Path) -> set[str]:
    """The rules with a finding in a `forward` that goes over the rows of its input."""
    lines = ["def forward(self, x: torch.Tensor, flag: bool):", "    y = x", "    for i in range(x.shape[0]):"]
    lines += [f"        {line}" for line in turn] + ["    return y", *HELPERS]
    path = tmp_path / "model.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in lines), encoding="utf-8")
    file = SourceFile(path, "model", path.read_text(encoding="utf-8"))
    return {
        f.code for f in run([file], Config(root=tmp_path), rules=list(registry.load().values()), rewrite=False).findings
    }


@pytest.mark.parametrize(
    ("turn", "unrolled"),
    [
        (("y = y + x[i].sum()",), True),
        (("n = int(x[i].sum().item())", "y = y + n"), False),
        (("if x[i].sum() > 0:", "    y = y[:2] + 1", "    print(i)"), False),
        (("with torch.no_grad():", "    n = x[i].sum().item()", "y = y * n"), False),
        (("for j in range(3):", "    n = x[i, j].item()", "    y = y * n"), False),
        (("if flag:", "    n = x[i].sum().item()", "    y = y * n", "y = y + 1"), True),
        (("y = y * self.number(x[i])",), False),
        (("y = y * self.at_times(x[i], flag)",), True),
        (("if flag:", "    y = y * self.number(x[i])"), True),
        (("y = y * (x[i].sum().item() if flag else 2)",), True),
        (("y = y * self.checked(x[i])",), True),
        (("later = self.parts(x[i])", "y = y * 2"), True),
        (("if flag:", "    continue", "n = x[i].sum().item()", "y = y * n"), True),
    ],
)
def test_a_loop_in_which_the_graph_breaks_has_no_finding_for_its_length(
    turn: Sequence[str], unrolled: bool, tmp_path: Path
) -> None:
    assert ("CF605" in codes(turn, tmp_path)) is unrolled


@pytest.mark.parametrize("here", [True, False])
def test_dynamo_does_not_unroll_such_a_loop(here: bool) -> None:
    def number(row: torch.Tensor) -> int:
        return int(row.sum().item())

    def rows(x: torch.Tensor) -> torch.Tensor:
        for i in range(x.shape[0]):
            x = x + (int(x[i].sum().item()) if here else number(x[i]))
        return x

    torch._dynamo.reset()
    graphs: list[torch.fx.GraphModule] = []

    def backend(module: torch.fx.GraphModule, _: object) -> Callable[..., object]:
        graphs.append(module)
        return module.forward

    compiled = torch.compile(rows, backend=backend)
    compiled(torch.ones(2, 2))
    assert len(graphs) == (0 if here else 1)  # what is called has a graph of its own
    for length in (3, 4):
        compiled(torch.ones(length, 2))
    assert len(graphs) == (0 if here else 1)
