"""What a piece of code does to memory, in the tokens of abstract values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import LEAKED, Kind, Value

OUTSIDE = ("self.", "global.")
ANY_OUTSIDE = "global.*"
"""Among what a call writes into: any memory that is there when the function that calls it begins."""
NOTHING: frozenset[str] = frozenset()
PLAIN = (Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE)
ALONE = (*PLAIN, Kind.TENSOR, Kind.NDARRAY)
"""What holds no other tensor."""


@dataclass(frozen=True)
class Writes:
    """What a piece of code does to memory, by tokens.

    into: what it may write into. keeps: what other code may get at afterwards, not through the result.
    """

    into: frozenset[str] = NOTHING
    keeps: frozenset[str] = NOTHING

    def __or__(self, other: Writes) -> Writes:
        if not (other.into or other.keeps):
            return self
        return Writes(self.into | other.into, self.keeps | other.keeps)


NONE = Writes()


def written_memory(value: Value) -> frozenset[str]:
    """The memory that a write into a value changes: what came from elsewhere may be what was handed on before."""
    memory = memory_of(value)
    known = value.is_(*ALONE) and not any(t.startswith(OUTSIDE) for t in memory)
    return memory if known else memory | {LEAKED}


def unknown_call(given: Iterable[Value]) -> Writes:
    """A call of which nothing is known."""
    memory = memory_of_all(given)
    return Writes(memory | {LEAKED}, memory)


def memory_of_all(given: Iterable[Value]) -> frozenset[str]:
    """The memory that one of several values or an item of one may share."""
    return NOTHING.union(*map(memory_of, given))


def is_outside(value: Value) -> bool:
    """Whether a value or an item of it was there before the function was called, or may have been."""
    return any(t.startswith(("param:", *OUTSIDE)) for t in memory_of(value))
