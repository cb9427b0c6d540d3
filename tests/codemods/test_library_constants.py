"""Constants of libraries that the tests have not installed: which calls are kept as one (CF405)."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, rewritten  # noqa: E402

HEAD = "import scipy.fftpack\nimport scipy.spatial\nimport torch\nfrom torch import nn\n\n\n"


def is_kept(call: str) -> bool:
    body = f"        made = {call}\n        return x * made\n"
    text = f"{HEAD}class Layer(nn.Module):\n    def forward(self, x, given):\n{body}"
    return "assume_constant_result" in after(rewritten(Path("m.py"), text, frozenset({"constant-result"})), text)


@pytest.mark.parametrize(
    ("call", "kept"),
    [
        ("scipy.fftpack.next_fast_len(given)", True),
        # Dynamo takes an array's values while it traces: each later call would have the hull of the first points.
        ("scipy.spatial.ConvexHull(given).volume", False),
        ("scipy.spatial.Delaunay(given)", False),
    ],
)
def test_what_takes_arrays_is_kept_for_no_unknown_argument(call: str, kept: bool) -> None:
    assert is_kept(call) is kept
