"""What the analysis knows of an expression: the abstract value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from compilefix.analysis.leaves import ANY_LEAF, one_of


class Kind(Enum):
    """What an expression can be at run time, as far as `torch.compile` cares."""

    TENSOR = "tensor"
    NUMBER = "number read from a tensor"
    SIZE = "shape integer"
    STATIC = "static Python value"
    NDARRAY = "ndarray"
    OBJECT = "object"
    CONTAINER = "container"
    NONE = "None"
    CALLABLE = "callable"
    UNKNOWN = "unknown"

    # The hash of an enum member is that of its name, computed in Python each time; members are compared by identity.
    __hash__ = object.__hash__


@dataclass(frozen=True)
class Const:
    """A constant that is known. A wrapper, so that a known None differs from nothing known."""

    value: bool | int | float | complex | str | bytes | None


NOTHING: frozenset[str] = frozenset()
"""No memory, no tensors. To write `frozenset[str]()` in its place takes ten times as long."""
_ONES = re.compile(r"\((?:1,)*\)")
_new = object.__new__
_set = object.__setattr__


def shape_of_ones(rank: int) -> str:
    """The `shape_id` of tensors with one element in so many dimensions: `()`, `(1,)`, `(1,1,)`."""
    return f"({'1,' * rank})"


def is_of_ones(shape_id: str) -> bool:
    """Whether a `shape_id` is that of tensors with one element."""
    return shape_id[:1] == "(" and _ONES.fullmatch(shape_id) is not None


def replace(value: Value, **changes: Any) -> Value:
    """`dataclasses.replace` for values, without running the constructor: it is called for every expression."""
    new = _new(Value)
    _set(new, "__dict__", value.__dict__ | changes)
    return new


@dataclass(frozen=True, eq=False)
class Value:
    """An abstract value: the kinds it may have and, for a tensor, what is proved of it.

    dtype: the class (`bool`, `int`, `float`, `complex`), None where unknown; also the type of a number.
    dtype_id, shape_id: two tensors with the same id have the same dtype or shape on every run; None proves nothing.
    rank: number of dimensions of a tensor.
    has_dims: whether a tensor is proved to have at least one dimension, where the rank is not known.
    certain: False where the kind rests on how the code looks and not on an annotation or a type rule.
    declared: whether only an annotation with other types beside it (`float | Tensor`) says that it may be a tensor.
    origin: whether a tensor is an argument or attribute as it came, so that its gradient goes nowhere else.
    inplace: whether a module may write its argument in place.
    storage: the memory that the value may share; tokens that begin with `param:` or `self.` are seen from outside.
    leaves: the tensors that may receive a gradient through the value.
    ref: qualified name of a function, class or module; for an OBJECT the class it is an instance of. A tensor has none,
        or HAS_GRADIENT, and what is not known may have NO_TENSOR.
    elements: the items of a container, one by one; of an OBJECT without `ref` one of each class that it may be of.
    """

    kinds: frozenset[Kind]
    dtype: str | None = None
    dtype_id: str | None = None
    rank: int | None = None
    shape_id: str | None = None
    has_dims: bool = False
    certain: bool = True
    declared: bool = False
    const: Const | None = None
    element: Value | None = None
    elements: tuple[Value, ...] | None = None
    ref: str | None = None
    inplace: bool = False
    origin: bool = False
    storage: frozenset[str] = NOTHING
    leaves: frozenset[str] = NOTHING

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self.__dict__ == other.__dict__ if other.__class__ is Value else NotImplemented

    def __hash__(self) -> int:
        return hash((self.kinds, self.dtype, self.rank, self.ref))

    def is_(self, *kinds: Kind) -> bool:
        """Whether the value is proved to have one of these kinds."""
        for kind in self.kinds:
            if kind not in kinds:
                return False
        return bool(self.kinds)

    def may_be(self, kind: Kind) -> bool:
        """Whether the value may have this kind; an unknown value may have any."""
        return kind in self.kinds or Kind.UNKNOWN in self.kinds

    @property
    def is_tensor(self) -> bool:
        """Whether the value is a tensor on every run."""
        kinds = self.kinds
        return kinds is _TENSOR or kinds == _TENSOR

    @property
    def sometimes_tensor(self) -> bool:
        """Whether the value is seen to be a tensor on some way, and something else, or unknown, on another."""
        return Kind.TENSOR in self.kinds and not self.declared and not self.kinds <= _OPTIONAL_TENSOR

    @property
    def is_scalar_tensor(self) -> bool:
        """Whether the value is a tensor proved to have no dimension."""
        return self.is_tensor and self.rank == 0

    @property
    def has_one_element(self) -> bool:
        """Whether the value is a tensor proved to have one element, in however many dimensions."""
        return self.is_tensor and (self.rank == 0 or (self.shape_id is not None and is_of_ones(self.shape_id)))

    @property
    def dimensioned(self) -> bool:
        """Whether the value is proved to be no tensor without dimensions."""
        return self.has_dims or (self.rank is not None and self.rank > 0)

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of the kind."""
        return Kind.UNKNOWN in self.kinds

    @property
    def is_static(self) -> bool:
        """Whether the value is fixed when Dynamo traces: a Python value, a shape integer, None."""
        return self.is_(Kind.STATIC, Kind.SIZE, Kind.NONE)

    def without(self, *kinds: Kind) -> Value:
        """The value narrowed by a test that ruled these kinds out."""
        left = self.kinds - frozenset(kinds)
        return replace(self, kinds=left) if left else self

    def stripped(self) -> Value:
        """The value without the ids, for one carried round a loop: the next turn may have another shape."""
        return replace(self, dtype_id=None, shape_id=None) if self.shape_id or self.dtype_id else self


_TENSOR = frozenset({Kind.TENSOR})
CONTAINER = frozenset({Kind.CONTAINER})
"""The kinds of what is proved to be a container."""
OBJECT = frozenset({Kind.OBJECT})
"""The kinds of what is proved to be an object."""
_OPTIONAL_TENSOR = frozenset({Kind.TENSOR, Kind.NONE})
ANY_MEMORY = "global.?"
"""Among the memory of a value: it may be any memory, that of arguments and attributes too."""
ANY_OWN = "self.?"
"""Among the memory of a value: it may be that of any attribute of the object that the method belongs to."""
OTHERS = "self.*."
"""With the name of an attribute, among the memory of a value: the attribute of that name of some other object."""
ANY_OTHER = OTHERS + "?"
"""Among the memory of a value: it may be that of any attribute of another object."""
OWN = frozenset({ANY_OWN})
"""The memory of the object itself that a method belongs to."""
LEAKED = "leaked"
"""Among the memory of a value: it may be any that was handed to other code, or stored, before."""

HAS_GRADIENT = "torch.Tensor.grad"
"""The `ref` of a tensor of which the code has asked whether there is a gradient, and where there is one."""

NO_TENSOR = "no torch.Tensor"
"""The `ref` of what is not known where a test has said that it is no tensor."""

UNKNOWN = Value(frozenset({Kind.UNKNOWN}), storage=frozenset({ANY_MEMORY}), leaves=frozenset({ANY_LEAF}))
ARRAYS = frozenset({Kind.TENSOR, Kind.NDARRAY})
"""The kinds of what arrays and tensors alike give, and nothing else: to Dynamo both are tensors."""
CLASSES = frozenset({Kind.CALLABLE, Kind.UNKNOWN})
"""The kinds of a class out of a table: its `elements` are the classes that are known to be in it."""
OBJECTS = frozenset({Kind.OBJECT, Kind.UNKNOWN})
"""The kinds of an object of such a class: its `elements` are an object of each."""
_OBJECT_OR_MORE = frozenset({frozenset({Kind.OBJECT}), OBJECTS})
_NONE = frozenset({Kind.NONE})
NONE = Value(_NONE, const=Const(None))
STATIC = Value(frozenset({Kind.STATIC}))
BOOL = Value(frozenset({Kind.STATIC}), dtype="bool")
SIZE = Value(frozenset({Kind.SIZE}), dtype="int")
SHAPE = Value(frozenset({Kind.CONTAINER}), element=SIZE, ref="torch.Size")
NDARRAY = Value(frozenset({Kind.NDARRAY}))
ANY_OBJECT = Value(OBJECT)
FUNCTION = Value(frozenset({Kind.CALLABLE}))
_ONE_OF = (OBJECT, FUNCTION.kinds)
"""The kinds of what is remembered as one of several, where two ways give different ones."""
_ANY_TENSOR = Value(_TENSOR)
_NUMBER = Value(frozenset({Kind.NUMBER}))
_CONTAINER = Value(frozenset({Kind.CONTAINER}))


def tensor(
    *,
    dtype: str | None = None,
    dtype_id: str | None = None,
    rank: int | None = None,
    shape_id: str | None = None,
    has_dims: bool = False,
    certain: bool = True,
    declared: bool = False,
    storage: frozenset[str] = frozenset(),
    leaves: frozenset[str] = frozenset(),
    ref: str | None = None,
) -> Value:
    """A tensor. A tensor without dimensions has the one shape id of all of them."""
    return replace(
        _ANY_TENSOR,
        dtype=dtype,
        dtype_id=dtype_id,
        rank=rank,
        shape_id="()" if rank == 0 else shape_id,
        has_dims=has_dims,
        certain=certain,
        declared=declared,
        storage=storage,
        leaves=frozenset() if dtype in ("bool", "int") else leaves,
        ref=ref,
    )


def number(dtype: str | None, certain: bool = True) -> Value:
    """A Python number that was read from a tensor."""
    return replace(_NUMBER, dtype=dtype, certain=certain)


LIKELY_TENSOR = tensor(certain=False, storage=UNKNOWN.storage, leaves=UNKNOWN.leaves)
"""Any tensor, if it is one."""


def likely(item: Value) -> Value | None:
    """What the items of a container are where other code may have put something in: most likely tensors as before."""
    return LIKELY_TENSOR if item.is_tensor else None


_NUMBERS = {bool: "bool", int: "int", float: "float", complex: "complex"}


def static(value: complex | str | bytes | None) -> Value:
    """A Python constant."""
    if value is None:
        return NONE
    return _kept_static(value) if value.__class__ in _EXACT else _static(value)


def _static(value: complex | str | bytes) -> Value:
    return replace(STATIC, dtype=_NUMBERS.get(value.__class__), const=Const(value))


# The same constants stand everywhere. 0.0 and -0.0 are equal and are different constants.
_EXACT = frozenset({bool, int, str})
_kept_static = lru_cache(maxsize=4096, typed=True)(_static)


def container(element: Value | None = None, elements: tuple[Value, ...] | None = None, ref: str | None = None) -> Value:
    """A list, tuple, dict or set: its elements one by one where their number is known, else their join."""
    if elements is not None and element is None:
        element = join_all(elements) if elements else None
    return replace(_CONTAINER, element=element, elements=elements, ref=ref)


def undecided(joined: Value, parts: Sequence[Value], decision: str) -> Value:
    """A join of values that hang on other tensors, or whose items do, as `decision` turns out in a run."""
    parts = [part for part in parts if part.kinds != _NONE]
    if len(parts) < 2:
        return joined
    if any(part.leaves != parts[0].leaves for part in parts):
        joined = replace(joined, leaves=one_of(tuple(part.leaves for part in parts), decision))
    if joined.elements is not None:
        items = [[part.elements[i] for part in parts if part.elements] for i in range(len(joined.elements))]
        elements = tuple(undecided(v, of, decision) for v, of in zip(joined.elements, items, strict=True))
        joined = replace(joined, elements=elements)
    if joined.element is not None:
        held = [part.element for part in parts if part.element is not None]
        joined = replace(joined, element=undecided(joined.element, held, decision))
    return joined


def may_share(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two values with these memory tokens may share memory."""
    if a & b:
        return True
    if not a or not b:
        return False
    if ANY_MEMORY in a or ANY_MEMORY in b:
        return True
    for these, those in ((a, b), (b, a)):
        if ANY_OWN in these and any(token.startswith("self.") for token in those):
            return True
        if ANY_OTHER in these and (ANY_OWN in those or any(token.startswith(OTHERS) for token in those)):
            return True
    return False


def of_other(tokens: frozenset[str]) -> frozenset[str]:
    """The names of memory inside a method, where the object of the method is another one."""
    return frozenset(
        OTHERS + t.removeprefix("self.") if t.startswith("self.") and not t.startswith(OTHERS) else t for t in tokens
    )


def join(a: Value, b: Value, decision: str = ANY_LEAF) -> Value:
    """What holds of a value that is one of the two, as `decision` (`?` and a place) turns out: what both agree on."""
    if a is b:
        return a
    # One of the hottest functions: the fields are read, and the result is made, without the detour over attributes.
    x, y = a.__dict__, b.__dict__
    if x == y:
        return a
    kinds_a, kinds_b = x["kinds"], y["kinds"]
    if kinds_a == _NONE or kinds_b == _NONE:
        return replace(b if kinds_a == _NONE else a, kinds=_either_kind(kinds_a, kinds_b), const=None)
    items_a, items_b = x["elements"], y["elements"]
    item_a, item_b = x["element"], y["element"]
    elements = None
    if items_a is not None and items_b is not None and len(items_a) == len(items_b):
        elements = tuple(join(one, other, decision) for one, other in zip(items_a, items_b, strict=True))
    if (kinds_a == kinds_b and kinds_a in _ONE_OF and x["ref"] != y["ref"]) or (
        kinds_a != kinds_b and kinds_a in _OBJECT_OR_MORE and kinds_b in _OBJECT_OR_MORE
    ):
        elements = _alternatives(a, b)
    if item_a is None and Kind.CONTAINER in kinds_a and items_a != ():
        element = None  # of the items of one nothing is known; one without items says nothing against the other's
    elif item_b is None and Kind.CONTAINER in kinds_b and items_b != ():
        element = None
    elif (x["ref"] == "dict") != (y["ref"] == "dict"):
        element = None  # one gives its keys where the other gives its items
    elif item_a is not None and item_b is not None:
        element = join(item_a, item_b, decision)
    else:
        element = item_b if item_a is None else item_a
    declared_a, declared_b = x["declared"], y["declared"]
    new = _new(Value)
    fields = {
        "kinds": _either_kind(kinds_a, kinds_b),
        "dtype": x["dtype"] if x["dtype"] == y["dtype"] else None,
        "dtype_id": x["dtype_id"] if x["dtype_id"] == y["dtype_id"] else None,
        "rank": x["rank"] if x["rank"] == y["rank"] else None,
        "has_dims": a.dimensioned and b.dimensioned,
        "shape_id": x["shape_id"] if x["shape_id"] == y["shape_id"] else None,
        "certain": x["certain"] and y["certain"],
        "declared": (declared_a or Kind.TENSOR not in kinds_a)
        and (declared_b or Kind.TENSOR not in kinds_b)
        and (declared_a or declared_b),
        "const": x["const"] if _same_const(x["const"], y["const"]) else None,
        "element": element,
        "elements": elements,
        "ref": x["ref"] if x["ref"] == y["ref"] else None,
        "inplace": x["inplace"] or y["inplace"],
        "origin": x["origin"] and y["origin"],
        "storage": x["storage"] if x["storage"] == y["storage"] else x["storage"] | y["storage"],
        "leaves": x["leaves"] if x["leaves"] == y["leaves"] else one_of((x["leaves"], y["leaves"]), decision),
    }
    _set(new, "__dict__", x | fields)
    return new


def _alternatives(a: Value, b: Value) -> tuple[Value, ...] | None:
    """The objects or classes that a value may be that is one of two; None where that of one is not known."""
    found: dict[str, Value] = {}
    for value in (a, b):
        for one in (value,) if value.ref is not None else value.elements or (UNKNOWN,):
            if one.ref is None:
                return None
            found.setdefault(one.ref, one)
    return tuple(found.values())


@lru_cache(maxsize=4096)
def _either_kind(a: frozenset[Kind], b: frozenset[Kind]) -> frozenset[Kind]:
    # There are some eighty sets of kinds: to keep them takes less memory than to make them anew.
    return a | b


def join_all(values: Iterable[Value]) -> Value:
    """The join of several values; unknown when there is none."""
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return UNKNOWN if result is None else result


def _same_const(a: Const | None, b: Const | None) -> bool:
    # 1, 1.0 and True are equal in Python and are different constants.
    return a is not None and b is not None and type(a.value) is type(b.value) and a.value == b.value
