"""What an annotation says of a value."""

from __future__ import annotations

import ast

from compilefix.analysis import values
from compilefix.analysis.builtin_calls import NUMPY_GENERATORS
from compilefix.analysis.values import Kind, Value, replace
from compilefix.source.definitions import Class
from compilefix.source.module import Module
from compilefix.source.project import Project
from compilefix.source.tree import elements_of

_STATIC_TYPES = {"int": "int", "float": "float", "bool": "bool", "complex": "complex"}
_STATIC_NAMES = frozenset(
    {
        "str",
        "bytes",
        "slice",
        "torch.dtype",
        "torch.device",
        "torch.layout",
        "torch.memory_format",
        "numbers.Number",
        "numbers.Complex",
        "numbers.Real",
        "numbers.Integral",
    }
)
_SEQUENCES = frozenset({"list", "List", "Sequence", "Iterable", "Iterator", "set", "Set", "frozenset", "Collection"})
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"})
_CONTAINERS = _SEQUENCES | _MAPPINGS | {"tuple", "Tuple"}
_ARRAY_TYPES = frozenset({"numpy.ndarray", "np.ndarray", "numpy.typing.NDArray"})
_NO_TENSORS = frozenset({"PIL", "cv2", "datetime", "fractions", "jax", "networkx", "pandas", "pathlib", "polars"})
"""Packages of whose classes none is a tensor: `Union[Tensor, PIL.Image.Image]`."""
_OPTIONAL = frozenset({Kind.TENSOR, Kind.NONE})
_TENSOR_TYPES = frozenset({"torchtyping.TensorType", "torchtyping.tensor_type.TensorType"})
_JAXTYPING_DTYPES = {"Float": "float", "Int": "int", "Bool": "bool", "UInt": "int", "Complex": "complex", "Num": None}
_TENSOR_SUBCLASSES = {
    "FloatTensor": "float",
    "DoubleTensor": "float",
    "HalfTensor": "float",
    "BFloat16Tensor": "float",
    "LongTensor": "int",
    "IntTensor": "int",
    "ByteTensor": "int",
    "BoolTensor": "bool",
}


class _Recursive(Exception):
    """A type alias that stands for itself among other things: `Nested = list[Union[Tensor, "Nested"]]`."""

    def __init__(self, alias: str) -> None:
        super().__init__(alias)
        self.alias = alias


def annotated(node: ast.expr | None, module: Module, project: Project, within: frozenset[str] = frozenset()) -> Value:
    """The value that an annotation promises; unknown where it promises nothing that matters here.

    within: the type aliases that the annotation is a part of.
    """
    if node is None:
        return values.UNKNOWN
    if isinstance(node, ast.Constant):
        if node.value is None:
            return values.NONE
        if isinstance(node.value, str):
            try:
                return annotated(ast.parse(node.value.strip(), mode="eval").body, module, project, within)
            except (SyntaxError, ValueError):
                return values.UNKNOWN
        return values.UNKNOWN
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _either([annotated(node.left, module, project, within), annotated(node.right, module, project, within)])
    if isinstance(node, ast.Subscript):
        return _generic(node, module, project, within)
    name = module.qualified(node)
    if name is not None and name in module.assigns:
        name = f"{module.name}.{name}"
    return values.UNKNOWN if name is None else named(name, project, within)


def named(name: str, project: Project, within: frozenset[str] = frozenset()) -> Value:
    """The value that is an instance of the type of this dotted name."""
    last = name.rpartition(".")[2]
    if is_tensor_type(name) or name == "torch.tensor":  # no type, and written for one
        return values.tensor()
    if last in _TENSOR_SUBCLASSES:
        return values.tensor(dtype=_TENSOR_SUBCLASSES[last])
    if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return values.tensor(dtype="float")
    if name in ("torch.nn.Buffer", "torch.nn.parameter.Buffer"):
        return values.tensor()
    if name in _STATIC_TYPES:
        return replace(values.STATIC, dtype=_STATIC_TYPES[name])
    if name in _STATIC_NAMES:
        return values.STATIC
    if name == "torch.Size":
        return values.SHAPE
    if name in _ARRAY_TYPES:
        return values.NDARRAY
    if last in _CONTAINERS:
        return values.container(ref="dict" if last in _MAPPINGS else None)
    if name == "logging.Logger" or name in NUMPY_GENERATORS:
        return replace(values.ANY_OBJECT, ref=name)
    found = project.resolve(name)
    if isinstance(found, Class):
        if any(isinstance(a, str) and a in _TENSOR_TYPES for a in project.ancestors(found)):
            return values.tensor()
        if _is_tensor_name(found, project):
            return values.tensor(certain=False)
        if any(
            isinstance(a, str) and a.rpartition(".")[2] in ("Enum", "IntEnum", "StrEnum")
            for a in project.ancestors(found)
        ):
            return values.STATIC
        return replace(values.ANY_OBJECT, ref=found.full_name)
    if isinstance(found, str) and (alias := _alias(found, project, within)) is not None:
        return alias
    if isinstance(found, str) and found != name:
        return named(found, project, within)
    if name.partition(".")[0] in _NO_TENSORS and last[:1].isupper():
        return replace(values.ANY_OBJECT, ref=name)
    if name.startswith(("torch.nn.", "torch.distributions.")):
        # An annotation does not say whether the module writes in place.
        return replace(values.ANY_OBJECT, ref=name, inplace=True)
    return values.UNKNOWN


def _is_tensor_name(found: Class, project: Project) -> bool:
    """Whether a class is another name for a tensor: `class Matrix(Tensor)` and classes on it that say nothing more."""
    ancestors = project.ancestors(found)
    outside = {a for a in ancestors if isinstance(a, str)} - {"object", "typing.Generic"}
    if not outside or not all(is_tensor_type(name) for name in outside):
        return False
    classes = [a.node for a in ancestors if isinstance(a, Class)]
    return all(
        not node.decorator_list and not node.keywords and all(isinstance(s, ast.Pass | ast.Expr) for s in node.body)
        for node in classes
    )


def _alias(name: str, project: Project, within: frozenset[str]) -> Value | None:
    """What a type alias of the project stands for: `OptTensor = Optional[Tensor]`, `State = dict`, `type X = ...`."""
    if name in within:
        raise _Recursive(name)
    head, _, last = name.rpartition(".")
    module = project.modules.get(head)
    node = module.assigns.get(last) if module is not None else None
    if module is None:
        return None
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.BinOp | ast.Call):
        return None
    try:
        if isinstance(node, ast.Call):
            return _variable(node, module, project, within | {name})
        return annotated(node, module, project, within | {name})
    except _Recursive as recursive:
        if recursive.alias != name:
            raise
        return None


def _variable(node: ast.Call, module: Module, project: Project, within: frozenset[str]) -> Value | None:
    """What a type variable may stand for: `TypeVar("ImageT", Tensor, Image)`, `TypeVar("T", bound=Tensor)`."""
    if (module.qualified(node.func) or "").rpartition(".")[2] != "TypeVar":
        return None
    bound = [k.value for k in node.keywords if k.arg == "bound"]
    kinds = node.args[1:] or bound
    return _either([annotated(kind, module, project, within) for kind in kinds]) if kinds else None


def is_tensor_type(name: str) -> bool:
    """Whether a dotted type name means `torch.Tensor`.

    Packages re-export it (`kornia.core.Tensor`), and a check of one file does not see from where.
    """
    head, _, last = name.rpartition(".")
    return last == "Tensor" and head.partition(".")[0] not in (
        "tensorflow",
        "tf",
        "paddle",
        "mindspore",
        "tinygrad",
        "onnx",
    )


def _either(parts: list[Value]) -> Value:
    """A union. Beside a type that says nothing (a sparse tensor of another package), a tensor is what code gets."""
    joined = values.join_all(parts)
    if joined.is_unknown and any(p.is_tensor for p in parts):
        known = values.join_all(p for p in parts if not p.is_unknown)
        return replace(known, certain=False)
    if Kind.TENSOR in joined.kinds and not joined.kinds <= _OPTIONAL:
        # What an array has by the same name is no tensor: `image.max()`.
        return replace(joined, declared=True, certain=joined.certain and Kind.NDARRAY not in joined.kinds)
    return joined


def _generic(node: ast.Subscript, module: Module, project: Project, within: frozenset[str]) -> Value:
    name = module.qualified(node.value) or ""
    if name in _TENSOR_TYPES:
        return values.tensor()
    last = name.rpartition(".")[2]
    args = elements_of(node.slice)
    if last == "Optional":
        return values.join(annotated(args[0], module, project, within), values.NONE)
    if last == "Union":
        return _either([annotated(a, module, project, within) for a in args])
    if last in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
        return annotated(args[0], module, project, within)
    if last == "Literal":
        return values.STATIC
    if last in _SEQUENCES:
        return values.container(annotated(args[0], module, project, within))
    if last in _MAPPINGS and len(args) == 2:
        return values.container(annotated(args[1], module, project, within), ref="dict")
    if last in ("tuple", "Tuple"):
        if len(args) == 2 and isinstance(args[1], ast.Constant) and args[1].value is Ellipsis:
            return values.container(annotated(args[0], module, project, within))
        return values.container(elements=tuple(annotated(a, module, project, within) for a in args))
    if last in ("Callable", "type", "Type"):
        return values.FUNCTION
    if name in _ARRAY_TYPES:
        return values.NDARRAY
    if last in _JAXTYPING_DTYPES and len(args) == 2 and is_tensor_type(module.qualified(args[0]) or ""):
        dims = args[1].value.split() if isinstance(args[1], ast.Constant) and isinstance(args[1].value, str) else None
        rank = None if dims is None or any(d.startswith(("*", "...")) for d in dims) else len(dims)
        return values.tensor(dtype=_JAXTYPING_DTYPES[last], rank=rank)
    return values.UNKNOWN
