"""NumPy functions of Python numbers, and what Python has for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Result = Literal["float", "whole", "same", "truth"]
Domain = Literal["all", "nonnegative", "positive", "bounded"]


@dataclass(frozen=True)
class Function:
    """What stands for a NumPy function.

    python: the code, with `{m}` for the math module and `{0}`, `{1}` for the arguments.
    result: "float"; "truth", a bool; "whole", a whole number whose type follows NumPy's version; "same", the type of
    the arguments.
    exact: the result has the same bits.
    symbolic: Dynamo keeps a shape symbolic through the Python function, so that it helps against recompiles.
    """

    python: str
    result: Result
    domain: Domain = "all"
    exact: bool = True
    symbolic: bool = True
    arity: int = 1
    sequence: bool = False


FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function("{m}.sqrt({0})", "float", "nonnegative"),
    "log": Function("{m}.log({0})", "float", "positive", exact=False, symbolic=False),
    "log2": Function("{m}.log2({0})", "float", "positive", exact=False),
    "log10": Function("{m}.log10({0})", "float", "positive", exact=False, symbolic=False),
    "log1p": Function("{m}.log1p({0})", "float", "nonnegative", exact=False, symbolic=False),
    "exp": Function("{m}.exp({0})", "float", "bounded", exact=False, symbolic=False),
    "sin": Function("{m}.sin({0})", "float", exact=False),
    "cos": Function("{m}.cos({0})", "float", exact=False),
    "tan": Function("{m}.tan({0})", "float", exact=False),
    "tanh": Function("{m}.tanh({0})", "float", exact=False),
    "ceil": Function("{m}.ceil({0})", "whole"),
    "floor": Function("{m}.floor({0})", "whole"),
    "trunc": Function("{m}.trunc({0})", "whole"),
    "rint": Function("round({0})", "whole"),
    "round": Function("round({0})", "whole"),
    "prod": Function("{m}.prod({0})", "same", sequence=True),
    "sum": Function("sum({0})", "same", sequence=True),
    "max": Function("max({0})", "same", sequence=True),
    "amax": Function("max({0})", "same", sequence=True),
    "min": Function("min({0})", "same", sequence=True),
    "amin": Function("min({0})", "same", sequence=True),
    "abs": Function("abs({0})", "same"),
    "absolute": Function("abs({0})", "same"),
    "isnan": Function("{m}.isnan({0})", "truth"),
    "isinf": Function("{m}.isinf({0})", "truth"),
    "isfinite": Function("{m}.isfinite({0})", "truth"),
    "maximum": Function("max({0}, {1})", "same", arity=2),
    "minimum": Function("min({0}, {1})", "same", arity=2),
}
"""NumPy functions of Python numbers, measured against `math` in tests/codemods/test_numpy_calls.py."""
