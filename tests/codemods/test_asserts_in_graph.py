"""Asserts that Dynamo keeps in the graph, of what may be a tensor or an array, which it traces as a tensor."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods import registry  # noqa: E402
from compilefix.fixing.engine import run  # noqa: E402
from compilefix.source.config import Config  # noqa: E402
from compilefix.source.files import SourceFile  # noqa: E402

HEAD = "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def forward(self, x, lengths):\n"


@pytest.mark.parametrize(
    ("line", "breaks"),
    [
        ("assert x.shape[0] == lengths.data.max()", False),
        ("assert lengths.data.max() > 0, 'empty'", False),
        ("assert lengths.numpy().max() > 0", False),
        ("assert lengths.data.max() > 0, f'{x.shape}'", True),
        ("assert not lengths.data.max() > 9", True),
    ],
)
def test_an_assert_of_a_tensor_or_array_is_told_where_it_breaks(line: str, breaks: bool, tmp_path: Path) -> None:
    text = HEAD + indent(f"y = x * 2\n{line}\nreturn y * 3\n", " " * 8)
    file = SourceFile(Path("/model.py"), "model", text)
    found = run([file], Config(Path("/")), rules=list(registry.load().values()), rewrite=False).findings
    assert any(finding.code == "CF105" for finding in found) is breaks

    path = tmp_path / "model.py"
    path.write_text(text, encoding="utf-8")
    names: dict[str, object] = {}
    exec(compile(text, str(path), "exec"), names)
    torch._dynamo.reset()
    graphs: list[object] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> object:
        graphs.append(graph)
        return graph.forward

    torch.compile(names["Model"](), backend=backend)(torch.ones(3, 2), torch.tensor([3, 1]))  # type: ignore[operator]
    assert (len(graphs) > 1) is breaks
