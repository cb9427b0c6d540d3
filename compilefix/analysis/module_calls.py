"""Modules of `torch.nn`: what making one gives, and what calling one gives."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence

from compilefix.analysis import torch_api, values
from compilefix.analysis.dtypes import dtype_class
from compilefix.analysis.leaves import ANY_LEAF
from compilefix.analysis.torch_results import shaped
from compilefix.analysis.values import ANY_MEMORY, Kind, Value, join_all, replace, tensor
from compilefix.source.definitions import Class
from compilefix.source.project import Project

_SWITCHES = r"(?<!\bself)\.inplace\s*=(?!=|\s*False\b)|[\"']inplace[\"']"

_NEW_RESULT = (
    "Linear",
    "Conv",
    "Norm",
    "Pool",
    "Attention",
    "Embedding",
    "Softmax",
    "GELU",
    "Sigmoid",
    "Tanh",
    "Softplus",
    "Upsample",
    "LSTM",
    "GRU",
    "RNN",
    "Loss",
)
_FLOAT_ONLY = (
    "Linear",
    "Conv",
    "LayerNorm",
    "BatchNorm",
    "GroupNorm",
    "InstanceNorm",
    "RMSNorm",
    "MultiheadAttention",
    "LSTM",
    "GRU",
)
_INPLACE_MODULES = frozenset(
    {
        "ReLU",
        "ReLU6",
        "SiLU",
        "Mish",
        "Hardswish",
        "Hardsigmoid",
        "Hardtanh",
        "LeakyReLU",
        "ELU",
        "CELU",
        "SELU",
        "RReLU",
        "Threshold",
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "AlphaDropout",
        "FeatureAlphaDropout",
    }
)
_GIVES_ITSELF = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "to_empty", "requires_grad_"}
)
# The modules that others are made of, by their attributes.
_PARTS = {
    ("torch.nn.Transformer", "encoder"): "torch.nn.TransformerEncoder",
    ("torch.nn.Transformer", "decoder"): "torch.nn.TransformerDecoder",
}


def part_of_module(ref: str, attribute: str, project: Project) -> str | None:
    """The class of a module that is an attribute of a module of torch, where its constructor makes it.

    Unknown where some code gives it a module of its own (`custom_encoder=`), or puts one in its place later.
    """
    part = _PARTS.get((ref, attribute))
    replaced = rf"custom_{attribute}|(?<!self)\.{attribute}\s*=(?!=)"
    return part if part is not None and not project.modules.texts.matching(attribute, replaced) else None


def gives_itself(found: Value, methods: Collection[str], project: Project) -> bool:
    """Whether an object is a module that all these methods of it give back: `nn.LSTM(3, 4).to(device)`."""
    if not _GIVES_ITSELF.issuperset(methods):
        return False
    if found.ref is None and found.elements and found.kinds in (values.OBJECT, values.OBJECTS):  # one of several
        return all(gives_itself(one, methods, project) for one in found.elements)
    if not found.is_(Kind.OBJECT) or found.ref is None:
        return False
    cls = project.resolve(found.ref)
    if isinstance(cls, Class):
        return project.is_module_class(cls) and all(project.method(cls, method) is None for method in methods)
    return isinstance(cls, str) and cls.startswith("torch.nn.")


def asks_for_complex(given: Iterable[Value]) -> bool:
    """Whether one of the arguments for a module is a complex dtype: what the module gives is complex then, too."""
    names = (torch_api.dtype_name(value.ref) for value in given if value.ref is not None)
    return any(dtype_class(name) == "complex" for name in names)


def may_be_switched(ref: str) -> bool:
    """Whether modules of this class have a setting `inplace`."""
    return makes_module(ref) and ref.rpartition(".")[2] in _INPLACE_MODULES


def switching_in_place(project: Project) -> tuple[str, ...]:
    """The modules that, by their texts, make layers write into what they are given: `layer.inplace = True`."""
    return project.modules.texts.matching("inplace", _SWITCHES)


def switched_in_place(layer: Value) -> Value:
    """A layer, and the layers in it, as they are when something may have switched them so."""
    inner = None if layer.elements is None else tuple(map(switched_in_place, layer.elements))
    element = None if layer.element is None else switched_in_place(layer.element)
    switched = layer.is_(Kind.OBJECT) and may_be_switched(layer.ref or "")
    return replace(layer, inplace=layer.inplace or switched, element=element, elements=inner)


def makes_module(name: str) -> bool:
    """Whether the full name is one of a module class of torch."""
    in_namespace = name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()
    return torch_api.module(name) is not None or in_namespace


def made_module(name: str, node: ast.Call, args: Sequence[Value], place: str) -> Value:
    """A new module, or a new parameter or buffer."""
    element = None
    if name.endswith((".Sequential", ".ModuleList", ".ModuleDict")):
        element = _module_elements(args)
    elif name.endswith((".ParameterList", ".ParameterDict")):
        # Both may hold other things too: a dictionary lists of parameters.
        element = tensor(certain=False, storage=frozenset({ANY_MEMORY}), leaves=frozenset({ANY_LEAF}))
    elif name.endswith(".Parameter"):
        source = args[0] if args else values.UNKNOWN
        rank = source.rank if source.is_tensor else None
        told = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "requires_grad")]
        asks = not any(ast.unparse(value) == "False" for value in told)
        # Integers and truths may be parameters as well, where they ask for no gradient.
        dtype = "float" if all(ast.unparse(v) == "True" for v in told) else source.dtype if source.is_tensor else None
        own = frozenset({f"?{place}"}) if asks else values.NOTHING
        shape_id = source.shape_id if source.has_one_element else None
        return tensor(dtype=dtype, rank=rank, shape_id=shape_id, storage=source.storage | {place}, leaves=own)
    elif name.endswith(".Buffer"):
        source = args[0] if args and args[0].is_tensor else tensor()
        given = args[0].storage if args else values.NOTHING
        return replace(source, storage=given | {place}, leaves=values.NOTHING, origin=False, certain=True)
    if any(k.arg == "return_indices" and ast.unparse(k.value) != "False" for k in node.keywords):
        return values.ANY_OBJECT  # a pooling layer that gives a pair
    hidden = any(isinstance(a, ast.Starred) for a in node.args) or not name.endswith(".Sequential")
    inplace = any(
        k.arg == "inplace" and not (isinstance(k.value, ast.Constant) and k.value.value is False) for k in node.keywords
    )
    if name.rpartition(".")[2] in _INPLACE_MODULES:
        inplace = inplace or any(v.const is None or v.const.value is True for v in args)
    elements = None if hidden else tuple(args)
    storage = frozenset({place}).union(*(v.storage for v in args))
    return Value(
        frozenset({Kind.OBJECT}), ref=name, element=element, elements=elements, inplace=inplace, storage=storage
    )


def _module_elements(args: Sequence[Value]) -> Value | None:
    parts: list[Value] = []
    for value in args:
        if value.is_(Kind.CONTAINER):
            if value.element is not None:
                parts.append(value.element)
        else:
            parts.append(value)
    return join_all(parts) if parts else None


def makes_new(ref: str) -> bool:
    """Whether the result of calling a module of this class is never a view of what it is given."""
    kind = ref.rpartition(".")[2]
    return any(part in kind for part in _NEW_RESULT)


def takes_only_floats(ref: str) -> bool:
    """Whether modules of this class fail on a tensor that is not floating, and on one without dimensions."""
    kind = ref.rpartition(".")[2]
    return any(part in kind for part in _FLOAT_ONLY)


def _dtype(ref: str, api: torch_api.Api, first: Value) -> str | None:
    if api.dtype == "same" and first.dtype is not None:
        return first.dtype
    if takes_only_floats(ref) or api.dtype in ("float", "promote_float"):
        return "float"
    return "float" if any(part in ref for part in ("Embedding", "Loss", "RNN", "Transformer")) else None


def module_result(
    ref: str, api: torch_api.Api, args: Sequence[Value], operands: Sequence[Value], path: str, place: str
) -> Value:
    """What calling a module gives, by its entry in the API table.

    args: the positional arguments; operands: these and the keyword arguments; path: how the module is reached, for
    the gradients that its own parameters get.
    """
    kind = ref.rpartition(".")[2]
    storage = frozenset({place})
    if not makes_new(ref):
        storage = storage.union(*(v.storage for v in operands))
    first = args[0] if args else values.UNKNOWN
    same = api.pointwise or (api.dtype == "same" and api.rank == "same")
    keeps_shape = api.rank == "same" and (api.pointwise or "Norm" in kind)
    keeps_dims = api.rank == "same" and first.is_tensor and first.dimensioned
    result = tensor(
        dtype=_dtype(ref, api, first),
        dtype_id=(first.dtype_id if same and first.is_tensor else None) or f"{place} dtype",
        rank=first.rank if api.rank == "same" else 0 if api.rank == "0" else None,
        shape_id=(first.shape_id if keeps_shape else None) or place,
        has_dims=takes_only_floats(ref) or "Embedding" in kind or keeps_dims,
        storage=storage,
        leaves=frozenset({path}).union(*(v.leaves for v in operands)),
    )
    return shaped(api.returns, result)
