"""Einsum of opt_einsum and TensorLy: which calls of a file are rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, rewritten  # noqa: E402

ALLOWED = frozenset({"torch-einsum"})
HEAD = """
import opt_einsum as oe
import tensorly as tl
import torch
from tensorly.plugins import use_opt_einsum

"""
PLUGGED = 'tl.set_backend("pytorch")\nuse_opt_einsum("optimal")\n'


def rewrite(call: str, begins: str = PLUGGED) -> str:
    body = f"\n\ndef mixed(x: torch.Tensor, weight, eq, options):\n    y = x * 2\n    return {call}\n"
    text = HEAD + begins + body
    result = after(rewritten(Path("mixed.py"), text, ALLOWED), text)
    return result.rpartition("return ")[2].strip()


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("tl.einsum(eq, y, weight)", "torch.einsum(eq, y, weight)"),
        ('tl.einsum(f"{eq}->", y, *weight)', 'torch.einsum(f"{eq}->", y, *weight)'),
        ("oe.contract(eq, y, weight, optimize=False)", "torch.einsum(eq, y, weight)"),
        ('oe.contract("ab, bc -> ac", y, weight)', 'torch.einsum("ab, bc -> ac", y, weight)'),
        ('oe.contract("a...,a...", y, weight, memory_limit=options)', 'torch.einsum("a...,a...", y, weight)'),
        ("oe.contract(*options)", "torch.einsum(*options)"),
    ],
)
def test_a_sum_of_tensors_is_torchs(call: str, wanted: str) -> None:
    assert rewrite(call) == wanted


@pytest.mark.parametrize(
    "call",
    [
        'oe.contract("ab,bc->ac", y, weight, **options)',
        'oe.contract("ab,bc->ac", y, weight, optimize=options())',
        'oe.contract("ab,bc->ac", y, weight, backend="jax")',
        'oe.contract("ab,bc->ac", y, 2.0)',
        "oe.contract(y, [0, 1], weight, [1, 2])",
        'oe.contract("ab>ac", y, weight)',
    ],
)
def test_what_is_more_than_a_sum_of_tensors_stays(call: str) -> None:
    assert rewrite(call) == call


@pytest.mark.parametrize(
    "begins",
    [
        "use_opt_einsum()\n",
        'tl.set_backend("jax")\nuse_opt_einsum()\n',
        'tl.set_backend("pytorch")\ntl.set_backend("numpy")\nuse_opt_einsum()\n',
    ],
)
def test_tensorly_of_another_backend_stays(begins: str) -> None:
    assert rewrite("tl.einsum(eq, y, weight)", begins) == "tl.einsum(eq, y, weight)"


def test_tensorlys_own_einsum_is_traced_and_not_reported() -> None:
    text = 'import tensorly as tl\nimport torch\ntl.set_backend("pytorch")\n\n\ndef f(x: torch.Tensor):\n'
    text += '    return tl.einsum("ab->ba", x)\n'
    assert rewritten(Path("own.py"), text, ALLOWED).findings == ()


def test_a_sum_of_arrays_is_not_reported() -> None:
    text = "import numpy as np\nimport opt_einsum as oe\nimport torch\n\n\ndef f(x: torch.Tensor):\n"
    text += '    a = np.ones((2, 2))\n    return x * float(oe.contract("ab,bc->", a, a))\n'
    outcome = rewritten(Path("arrays.py"), text, ALLOWED)
    assert "CF406" not in {finding.code for finding in outcome.findings}
