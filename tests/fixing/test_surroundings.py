"""Fixes that do not fit to what stands round them are declined, and what stays the same is run."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, differences, execute, observe, rewritten  # noqa: E402

PATH = Path("/nowhere/program.py")
HEAD = "import numpy as np\nimport torch\n"

HIDDEN = {
    "a parameter": (
        "def f(x: torch.Tensor, *, math=2):\n    return x.reshape(x.shape[0], int(np.prod(x.shape[1:]))) * math\n",
        "`math`",
    ),
    "a local name": (
        "def f(x: torch.Tensor):\n    math = x.dim()\n    return x.view(len(x), int(np.prod(x.shape[1:]))) * math\n",
        "`math`",
    ),
    "a name of the file": (
        "math = 2\n\ndef f(x: torch.Tensor):\n    return x.reshape(x.shape[0], int(np.prod(x.shape[1:]))) * math\n",
        "`math`",
    ),
    "a function of the file": (
        "def max(x):\n    return x\n\ndef f(x: torch.Tensor):\n    return max(x) / int(np.maximum(x.shape[0], 4))\n",
        "`max`",
    ),
}
INSIDE = """
def f(target: torch.LongTensor, preds: torch.LongTensor):
    values = torch.unique(target)
    seen = lambda: values
    wrong = torch.any(values > 1)
    values = torch.unique(preds)
    wrong = wrong | torch.any(values < 0)
    return target * wrong, seen()
"""
CROWDED = {
    "a name that is given again": """
def f(target: torch.LongTensor, preds: torch.LongTensor):
    values = torch.unique(target)
    wrong = torch.any((values != 0) & (values != 1))
    values = torch.unique(preds); wrong = wrong | torch.any(values < 0)
    return target * wrong
""",
    "a tensor that is returned too": """
def f(x: torch.Tensor, y: torch.Tensor):
    x = x.float(); doubled = x * 2.0; chosen = doubled if doubled.sum() > 0 else x * 4.0; return doubled, chosen
""",
}
SCRIPTED = {
    "a decorator": "@torch.jit.script\ndef f(x: torch.Tensor):\n{body}",
    "a decorator under another name": "from torch.jit import script\n\n@script\ndef f(x: torch.Tensor):\n{body}",
    "a call": "def f(x: torch.Tensor):\n{body}\n\ng = torch.jit.script(f)\n",
    "a method": "class M(torch.nn.Module):\n @torch.jit.export\n def forward(self, x: torch.Tensor):\n{body}",
    "numba": "import numba\n\n@numba.njit(cache=True)\ndef f(x: torch.Tensor):\n{body}",
}
TARGETS = [(torch.tensor([0, 1, 1]), torch.tensor(p)) for p in ([0, 1, -1], [1, 0, 0], [-1, -2, 0])]


def _same(text: str, inputs: list[tuple[object, ...]]) -> str:
    safe = after(rewritten(PATH, text), text)
    seen = [observe(lambda of=of: (execute(of, "program")["f"], inputs), calls=1) for of in (text, safe)]
    assert differences(*seen) == []
    return safe


@pytest.mark.parametrize("name", HIDDEN)
def test_a_name_that_means_something_else(name: str) -> None:
    text, hidden = HEAD + HIDDEN[name][0], HIDDEN[name][1]
    assert _same(text, [(torch.ones(2, 3, 2),)]) == text
    reasons = [finding.declined or "" for finding in rewritten(PATH, text).findings]
    assert any(hidden in reason for reason in reasons)


def test_names_of_other_functions_do_not_count() -> None:
    text = (
        f"{HEAD}\ndef g(math):\n    return math\n\ndef f(x: torch.Tensor):\n    return x * int(np.prod(x.shape[1:]))\n"
    )
    assert "math.prod" in _same(text, [(torch.ones(2, 3, 2),)])
    local = text.replace("    return x * int", "    import math\n    return x * math.pi * int")
    assert "math.prod" in _same(local, [(torch.ones(2, 3, 2),)])


def test_a_value_that_a_function_inside_reads() -> None:
    text = HEAD + INSIDE
    _same(text, TARGETS)
    assert "function inside reads `values`" in " ".join(f.declined or "" for f in rewritten(PATH, text).findings)


@pytest.mark.parametrize("name", CROWDED)
def test_several_statements_on_one_line(name: str) -> None:
    text = HEAD + CROWDED[name]
    assert _same(text, TARGETS) == text
    assert "holds several statements" in " ".join(f.declined or "" for f in rewritten(PATH, text).findings)


def test_a_line_of_other_things() -> None:
    body = "    rows = x.shape[0]; wide = x.shape[1]\n    return x * int(np.prod(x.shape[1:])) + rows + wide\n"
    assert "math.prod" in _same(f"{HEAD}\ndef f(x: torch.Tensor):\n{body}", [(torch.ones(2, 3, 2),)])


def test_a_function_in_a_function_has_names_of_its_own() -> None:
    inner = INSIDE.replace("    seen = lambda: values\n", "").replace(", seen()", "")
    body = "".join(f"    {line}\n" if line else "\n" for line in inner.splitlines()) + "    return f\n"
    safe = _same(f"{HEAD}\ndef make():\n{body}\nf = make()\n", TARGETS)
    assert "unique" not in safe


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_function_that_is_compiled_from_its_text(name: str) -> None:
    body = "    if (x > 0).any():\n        raise ValueError('positive')\n    return x * 2\n"
    text = HEAD + SCRIPTED[name].format(body=body)
    outcome = rewritten(PATH, text, None)
    assert after(outcome, text) == text
    assert all("from its text" in (finding.declined or "") for finding in outcome.findings)
    plain = text.replace("@", "# @").replace("g = torch.jit.script(f)", "")
    assert after(rewritten(PATH, plain, None), plain) != plain
