"""One call of a torch function or tensor method, with its entry in the API table and the values of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from compilefix.analysis import torch_api, values
from compilefix.analysis.values import Value

RESHAPES_IN_PLACE = frozenset(
    {
        "unsqueeze_",
        "squeeze_",
        "t_",
        "transpose_",
        "swapaxes_",
        "swapdims_",
        "resize_",
        "resize_as_",
        "set_",
        "as_strided_",
    }
)


class TorchCall(NamedTuple):
    """One call of an entry of the API table.

    name: the full name of a function, the bare name of a method.
    args: the positional arguments, a method's tensor first.
    nodes: the positional arguments as they are written.
    place: names the call, for the ids of what it makes.
    """

    name: str
    api: torch_api.Api
    args: Sequence[Value]
    keywords: Mapping[str | None, Value]
    nodes: Sequence[ast.expr]
    place: str

    @property
    def bare(self) -> str:
        """The name without the module."""
        return self.name.rpartition(".")[2]

    @property
    def first(self) -> Value:
        """The first argument."""
        return self.args[0] if self.args else next(iter(self.keywords.values()), values.UNKNOWN)

    @property
    def second(self) -> Value | None:
        """The second positional argument."""
        return self.args[1] if len(self.args) > 1 else None

    @property
    def has_star(self) -> bool:
        """Whether arguments are unpacked, so that the others may have any place: `torch.zeros(*sizes)`."""
        return any(isinstance(node, ast.Starred) for node in self.nodes)

    @property
    def may_write_first(self) -> bool:
        """Whether `inplace=True` may be passed, so that the result is the first argument."""
        place = torch_api.INPLACE_AT.get(self.name)
        told = [v for k, v in self.keywords.items() if k == "inplace" or (k is None and place is not None)]
        told += self.args[place : place + 1] if place is not None else ()
        return any(v.const is None or bool(v.const.value) for v in told)

    @property
    def reshapes_in_place(self) -> bool:
        """Whether the tensor itself may have another shape after the call."""
        return self.api.mutates and self.bare in RESHAPES_IN_PLACE and self.first.is_tensor
