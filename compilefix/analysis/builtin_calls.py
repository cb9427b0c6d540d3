"""The results of Python's built-in functions, of `math` and of `numpy`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence

from compilefix.analysis import values
from compilefix.analysis.dtypes import is_real, promote
from compilefix.analysis.leaves import perhaps
from compilefix.analysis.operators import binary, element_of, elementwise, perhaps_read, picked
from compilefix.analysis.values import NOTHING, Kind, Value, join_all, number, replace, static, undecided

_CASTS = {"float": "float", "int": "int", "bool": "bool", "complex": "complex"}

_SOME_NUMBER = replace(values.UNKNOWN, storage=frozenset(), leaves=frozenset())
"""A number of which it is not known whether it comes from a tensor."""
_WHOLE = frozenset({Kind.NDARRAY, Kind.CONTAINER, Kind.TENSOR})
_READ = frozenset({Kind.NUMBER, Kind.NDARRAY})
"""What may be read from a tensor, or hold what is."""
_NUMERIC_BUILTINS = frozenset({"abs", "round", "min", "max", "sum", "pow", "divmod"})
BUILTINS = frozenset(
    {
        *_CASTS,
        *_NUMERIC_BUILTINS,
        "len",
        "isinstance",
        "hasattr",
        "callable",
        "issubclass",
        "any",
        "all",
        "range",
        "slice",
        "enumerate",
        "zip",
        "list",
        "tuple",
        "reversed",
        "sorted",
        "set",
        "iter",
        "getattr",
        "print",
        "setattr",
        "dict",
        "str",
        "repr",
        "type",
        "id",
        "format",
        "hash",
    }
)


def builtin_result(name: str, args: Sequence[Value], place: str) -> Value:
    """The result of a call of one of `BUILTINS`."""
    first = args[0] if args else values.UNKNOWN
    tensors = [v for v in args if v.may_be(Kind.TENSOR) and not v.is_unknown]
    certain = all(v.certain for v in tensors)
    if name in _CASTS:
        return _cast(name, first, tensors, certain=certain)
    if name == "len":
        return values.SIZE
    if name in ("isinstance", "hasattr", "callable", "issubclass"):
        return Value(frozenset({Kind.STATIC}), dtype="bool")
    if name in _NUMERIC_BUILTINS:
        return _number_of(name, args, tensors, place)
    if name in ("any", "all"):
        element = first.element if first.is_(Kind.CONTAINER) else None
        if (element is not None and (element.is_tensor or element.is_(Kind.NUMBER))) or first.is_tensor:
            return number("bool", certain)
        return (
            Value(frozenset({Kind.STATIC}), dtype="bool")
            if element is not None and element.is_static
            else values.UNKNOWN
        )
    if name == "range":
        source = join_all(args) if args else values.UNKNOWN
        return values.container(
            replace(values.SIZE, const=None)
            if source.is_static
            else number("int")
            if source.is_(Kind.NUMBER, Kind.TENSOR, Kind.STATIC, Kind.SIZE)
            else replace(_SOME_NUMBER, dtype="int")
        )
    if name == "slice":
        # As in `x[a:b]`: it holds nothing of tensors where its bounds are none.
        return values.STATIC if args and all(v.is_static for v in args) else values.UNKNOWN
    if name == "enumerate":
        # It goes through what is there when it is asked.
        pair = values.container(elements=(values.SIZE, element_of(first)))
        return replace(values.container(pair), storage=first.storage)
    if name == "zip":
        items = (picked(element_of(v), f"{place}/{i}") for i, v in enumerate(args))
        return values.container(values.container(elements=tuple(items)))
    if name in ("list", "tuple", "reversed", "sorted", "set", "iter"):
        if first.is_(Kind.CONTAINER):
            item = element_of(first)
            if name in ("reversed", "sorted", "set"):
                item = picked(item, place)
            kept = None if name in ("reversed", "sorted", "set") or first.ref == "dict" else first.elements
            return replace(first, element=item, elements=kept, ref=None)
        return (
            replace(values.container(element_of(first)), storage=first.storage, leaves=first.leaves)
            if args
            else values.container(elements=())
        )
    if name == "getattr":
        return values.UNKNOWN
    if name in ("print", "setattr"):
        return values.NONE
    return values.STATIC if name in ("str", "repr", "type", "id", "format", "hash") else values.UNKNOWN


def _cast(name: str, first: Value, tensors: Sequence[Value], *, certain: bool) -> Value:
    """`float`, `int`, `bool` or `complex` of a value."""
    if name == "float" and first.const is not None and first.const.value in ("inf", "-inf", "nan"):
        return static(float(first.const.value))
    if first.is_tensor or first.is_(Kind.NUMBER) or (tensors and first is tensors[0]):
        return number(_CASTS[name], certain)
    if first.is_(Kind.SIZE):
        return replace(values.SIZE, dtype=_CASTS[name])
    if not first.is_unknown and first.kinds & _READ:
        return perhaps_read(_CASTS[name])
    return (
        Value(frozenset({Kind.STATIC}), dtype=_CASTS[name])
        if not first.is_unknown
        else replace(_SOME_NUMBER, dtype=_CASTS[name])
    )


def _number_of(name: str, args: Sequence[Value], tensors: Sequence[Value], place: str) -> Value:
    """What `sum`, `abs`, `round` and their like give, a tensor of `tensors` among the arguments."""
    if name in ("sum", "min", "max") and any(v.is_(Kind.CONTAINER) for v in args):
        return _over_items(name, args, place)
    if tensors:
        if name in ("min", "max") and len(args) > 1:
            return _one_of(args, place)
        if name in ("sum", "min", "max") and Kind.CONTAINER in args[0].kinds:  # a list in some calls
            as_list = _over_items(name, [replace(args[0], kinds=frozenset({Kind.CONTAINER})), *args[1:]], place)
            as_tensor = replace(args[0], kinds=args[0].kinds - {Kind.CONTAINER})
            made = elementwise([as_tensor, *args[1:]], place, "promote")
            return replace(join_all([made, as_list]), declared=args[0].declared)
        made = elementwise(args, place, "same" if name == "abs" else "promote")
        if name == "sum" and len(args) == 1:
            return replace(made, certain=False)  # of no rows it is the number 0
        if name != "abs" or is_real(args[0]):
            return made
        return replace(made, dtype="float" if made.dtype == "complex" else made.dtype, dtype_id=f"dtype {place}")
    if any(v.is_unknown for v in args):
        return values.UNKNOWN
    dtype = promote(*(v.dtype for v in args))
    if (name == "round" and len(args) == 1) or (name == "abs" and dtype == "bool"):
        dtype = "int"
    elif name in ("min", "max") and len({v.dtype for v in args}) > 1:
        dtype = None  # one of them as it is, not promoted
    elif name == "pow" and len(args) == 2:
        return binary(ast.Pow(), args[0], args[1], place)
    if any(v.is_(Kind.NUMBER) for v in args):
        return number(dtype)
    if any(v.may_be(Kind.NUMBER) for v in args):
        return perhaps_read(dtype)
    if any(v.is_(Kind.SIZE) for v in args):
        return replace(values.SIZE, dtype=dtype)
    if name == "divmod" or any(v.is_(Kind.CONTAINER) for v in args):
        return values.container()
    return Value(frozenset({Kind.STATIC}), dtype=dtype)


def _over_items(name: str, args: Sequence[Value], place: str) -> Value:
    """`sum`, `min` or `max` of the items of one container."""
    first = args[0]
    if len(args) > 1 or first.element is None:
        return replace(
            values.UNKNOWN,
            storage=frozenset({place}).union(*(v.storage for v in args)),
            leaves=perhaps(NOTHING.union(*(v.leaves for v in args)), f"?{place}") | {f"?{place}"},
        )
    item = element_of(first)
    if name != "sum":
        return _one_of([picked(item, place)], place)
    return replace(
        item,
        dtype="int"
        if item.dtype == "bool" and not item.may_be(Kind.TENSOR)
        else item.dtype
        if item.dtype != "bool"
        else None,
        dtype_id=item.dtype_id if item.dtype in ("int", "float") else None,
        # The sum of nothing is the number 0.
        certain=item.certain and bool(first.elements),
        const=None,
        origin=False,
        storage=frozenset({place}),
    )


def _one_of(args: Sequence[Value], place: str) -> Value:
    """`min` or `max` of several values: one of them as it is, which one is decided at run time."""
    result = undecided(join_all(args), args, f"?{place}")
    if all(v.rank == 0 or (v.is_(Kind.STATIC) and v.dtype in ("int", "float")) for v in args):
        result = replace(result, rank=0 if any(v.rank == 0 for v in args) else None)  # if it is a tensor
    return replace(result, shape_id=None if result.rank != 0 else "()", origin=False)


def math_result(name: str, args: Sequence[Value]) -> Value:
    """The result of a function of `math`."""
    dtype = (
        "int"
        if name.removeprefix("math.") in ("ceil", "floor", "trunc", "comb", "perm", "factorial", "gcd", "lcm", "isqrt")
        else "bool"
        if name.startswith("math.is")
        else "float"
    )
    if any(v.is_tensor or v.is_(Kind.NUMBER) for v in args):
        return number(dtype, all(v.certain for v in args))
    if any(v.is_unknown for v in args):
        return replace(_SOME_NUMBER, dtype=dtype)
    if any(v.may_be(Kind.NUMBER) for v in args):
        return perhaps_read(dtype)
    if name == "math.prod":
        element = args[0].element if args else None
        kept = element.dtype if element is not None else None
        return replace(values.SIZE, dtype="int" if kept == "bool" else kept)
    sized = name in ("math.ceil", "math.floor") and any(v.is_(Kind.SIZE) for v in args)
    return replace(values.SIZE, dtype="int") if sized else Value(frozenset({Kind.STATIC}), dtype=dtype)


_NUMPY_PYTHON = frozenset(
    f"numpy.{name}"
    for name in (
        "array2string",
        "array_repr",
        "array_str",
        "base_repr",
        "binary_repr",
        "can_cast",
        "dtype",
        "errstate",
        "finfo",
        "iinfo",
        "iscomplexobj",
        "isdtype",
        "isrealobj",
        "isscalar",
        "issubdtype",
        "iterable",
        "may_share_memory",
        "ndim",
        "promote_types",
        "result_type",
        "shape",
        "shares_memory",
        "size",
    )
)
"""What gives a Python value, a dtype or another object, and no array."""


_NUMPY_ARRAYS = frozenset(
    f"numpy.{name}" for name in ("arange", "empty", "eye", "full", "identity", "linspace", "logspace", "ones", "zeros")
)


_NUMPY_SEVERAL = frozenset(
    f"numpy.{name}"
    for name in (
        *("array_split", "broadcast_arrays", "divmod", "dsplit", "frexp", "histogram", "histogram2d", "hsplit"),
        *("histogramdd", "ix_", "linalg.eig", "linalg.eigh", "linalg.lstsq", "linalg.qr", "linalg.slogdet"),
        *("linalg.svd", "mask_indices", "meshgrid", "modf", "nonzero", "random.get_state", "split", "tril_indices"),
        *("triu_indices", "unravel_index", "vsplit"),
    )
)
"""What gives several arrays, in a list or tuple."""


_NUMPY_SEVERAL_OR_ONE: dict[str, tuple[int, frozenset[str]]] = {
    "numpy.average": (3, frozenset({"returned"})),
    "numpy.gradient": (0, frozenset()),
    "numpy.linalg.qr": (1, frozenset({"mode"})),
    "numpy.linalg.svd": (1, frozenset({"compute_uv"})),
    "numpy.polyfit": (3, frozenset({"full", "cov"})),
    "numpy.unique": (1, frozenset({"return_index", "return_inverse", "return_counts"})),
}
"""What gives one array or several, as further arguments or these keywords say: how many arguments say nothing of it."""


_NUMPY_WITH_EACH = frozenset({"numpy.atleast_1d", "numpy.atleast_2d", "numpy.atleast_3d"})
"""What gives an array for each of its arguments, one alone for one."""


_NUMPY_TRUTHS = frozenset({"numpy.allclose", "numpy.array_equal", "numpy.array_equiv"})
"""What gives a truth of Python, and a tensor where Dynamo runs it."""


_NUMPY_FLOATS = frozenset(
    f"numpy.{name}"
    for name in (
        *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "copysign", "cos", "cosh"),
        *("deg2rad", "degrees", "divide", "exp", "exp2", "expm1", "fabs", "float32", "float64", "hypot", "log"),
        *("log10", "log1p", "log2", "logaddexp", "mean", "rad2deg", "radians", "rint", "sin", "sinc", "sinh", "sqrt"),
        *("std", "tan", "tanh", "true_divide", "var"),
    )
)
"""What gives a float of integers, too."""


_NUMPY_WRITERS = frozenset(
    f"numpy.{name}"
    for name in (
        *("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"),
        *("random.seed", "random.set_state", "random.shuffle"),
    )
)
"""What writes into an array, or into the state of the generator, and gives None."""


_ARRAY_METHODS = frozenset(
    {
        *(
            "all",
            "any",
            "argmax",
            "argmin",
            "argsort",
            "astype",
            "clip",
            "conj",
            "copy",
            "cumprod",
            "cumsum",
            "diagonal",
        ),
        *(
            "dot",
            "flatten",
            "max",
            "mean",
            "min",
            "prod",
            "ptp",
            "ravel",
            "repeat",
            "reshape",
            "round",
            "squeeze",
            "std",
        ),
        *("sum", "swapaxes", "take", "trace", "transpose", "var", "view"),
    }
)


def array_method_result(name: str) -> Value | None:
    """The result of a method of an ndarray; None where nothing is known of it."""
    if name in _ARRAY_METHODS:
        return values.NDARRAY
    return perhaps_read(None) if name == "item" else None


NUMPY_DRAWS = {
    "rand": 0,
    "randn": 0,
    "random": 0,
    "random_sample": 0,
    "sample": 0,
    "uniform": 2,
    "normal": 2,
    "randint": 2,
}
"""Draws of `numpy.random` that torch's NumPy has: the number of leading arguments that are not the size."""


def draws_one(name: str, count: int, keywords: Iterable[str | None]) -> bool:
    """Whether a call of a function of `NUMPY_DRAWS` with so many arguments draws one number, no array."""
    return count <= NUMPY_DRAWS[name] and not {"size", "d0", None} & set(keywords)


_NUMPY_DISTRIBUTIONS = frozenset(
    {
        *("beta", "binomial", "chisquare", "exponential", "gamma", "geometric", "gumbel", "laplace", "logistic"),
        *("lognormal", "poisson", "standard_normal", "triangular", "vonmises", "weibull"),
    }
)
"""Draws of `numpy.random` that give one number where neither a size is asked for nor an array given."""


NUMPY_GENERATORS = frozenset({"numpy.random.RandomState", "numpy.random.Generator"})
"""The classes of NumPy whose objects draw random numbers."""
_MADE_GENERATORS = {
    "numpy.random.RandomState": "numpy.random.RandomState",
    "numpy.random.default_rng": "numpy.random.Generator",
    "sklearn.utils.check_random_state": "numpy.random.RandomState",
    "sklearn.utils.validation.check_random_state": "numpy.random.RandomState",
}


def generator_of(name: str) -> str | None:
    """The class of the generator that a function of this name makes, or gives back; None where it makes none."""
    return _MADE_GENERATORS.get(name)


def numpy_result(name: str, args: Sequence[Value], keywords: Collection[str | None] = ()) -> Value:
    """The result of a function of `numpy`."""
    drawn = name.removeprefix("numpy.random.")
    if name.rpartition(".")[0] in NUMPY_GENERATORS:
        return values.UNKNOWN  # a number or an array
    if drawn in NUMPY_DRAWS and drawn != name and draws_one(drawn, len(args), keywords):
        return perhaps_read(None)  # the graph ends at the draw, and goes on with a Python number
    if name in _NUMPY_ARRAYS:
        return values.NDARRAY
    if name in _NUMPY_WRITERS:
        return values.NONE
    if args and all(v.is_(Kind.STATIC, Kind.SIZE) for v in args) and not name.startswith("numpy.random."):
        real = name in _NUMPY_FLOATS and all(v.dtype != "complex" for v in args)
        return replace(values.STATIC, dtype="float" if real else None, ref="numpy")
    if name in _NUMPY_PYTHON or (name.startswith("numpy.random.") and name.rpartition(".")[2][:1].isupper()):
        return values.UNKNOWN
    # Of Python numbers alone some functions give a number that Dynamo computes itself.
    proved = name.startswith(("numpy.random.", "numpy.array", "numpy.asarray"))
    whole = any(v.kinds & _WHOLE and not v.is_unknown for v in args)
    array = values.NDARRAY if proved or whole else replace(values.NDARRAY, certain=False)
    one = drawn == "choice" and all(v.is_(Kind.NONE) for v in args[1:2])
    if "size" not in keywords and (one or (drawn in _NUMPY_DISTRIBUTIONS and not whole)):
        return replace(array, kinds=_READ | {Kind.STATIC}, certain=False)
    if name in _NUMPY_TRUTHS:
        return replace(array, kinds=_READ)
    several = _gives_several(name, args, keywords)
    if several is None:
        return replace(values.container(array), kinds=values.CONTAINER | {Kind.NDARRAY}, certain=False)
    return values.container(array) if several else array


def _gives_several(name: str, args: Sequence[Value], keywords: Collection[str | None]) -> bool | None:
    """Whether a function of `numpy` gives several arrays; None where the values of its arguments decide that."""
    if name in _NUMPY_SEVERAL_OR_ONE:
        silent, words = _NUMPY_SEVERAL_OR_ONE[name]
        if len(args) > silent or {None, *words} & set(keywords):
            return None
    if name in _NUMPY_WITH_EACH:
        return len(args) > 1
    return name in _NUMPY_SEVERAL or (name == "numpy.where" and len(args) == 1 and not keywords)
