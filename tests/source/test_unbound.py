from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compilefix.source.unbound import unbound_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x):\n    return x[mask]\n", {"mask"}),
        ("import torch\ndef f(x):\n    return torch.where(x > 0, x, y)\n", {"y"}),
        ("def f(x):\n    y = x\n    return lambda z: y + z + w\n", {"w"}),
        ("def f():\n    global late\n    late = 1\ndef g():\n    return late\n", set()),
        ("class A:\n    b = 1\n    def f(self):\n        return b\n", {"b"}),
        ("class A:\n    def f(self):\n        return __class__, __file__, len(A.__name__)\n", set()),
        ("def f(xs):\n    return [x + y for x in xs if (y := x)]\n", set()),
        (
            "try:\n    import numpy as np\nexcept ImportError as error:\n    np = error\ndef f():\n    return np\n",
            set(),
        ),
        ("def f(x: Tensor) -> 'Later':\n    del x\n", {"Tensor"}),
        ("from torch import *\ndef f(x):\n    return relu(x) + y\n", set()),
        ("print(a)\nfor a in range(3):\n    pass\n", set()),
    ],
)
def test_names_that_nothing_gives_a_value(text: str, names: set[str]) -> None:
    assert unbound_names(text) == names


def test_what_python_does_not_compile() -> None:
    with pytest.raises(SyntaxError):
        unbound_names("return 1\n")


# On a busy machine each draw may be slow.
@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.sets(st.sampled_from("abcdefgh")), st.sets(st.sampled_from("abcdefgh")))
def test_what_is_read_without_a_value_raises_when_it_runs(given_: set[str], read: set[str]) -> None:
    lines = [f"{name} = 1" for name in sorted(given_)]
    text = "\n".join([*lines, "def f():", f"    return ({''.join(f'{name}, ' for name in sorted(read))})", ""])
    space: dict[str, object] = {}
    exec(text, space)
    if unbound_names(text):
        with pytest.raises(NameError):
            space["f"]()  # type: ignore[operator]
    else:
        space["f"]()  # type: ignore[operator]
