"""Freezes values into plain nodes that `torch.save` can carry between processes and `torch.load` reads without code.

A node is a dict with a `kind`: "tensor", "array", "scalar", "list" (list, tuple and their subclasses), "dict" (also
dataclasses and mappings such as model outputs) or "opaque" for anything whose content is not looked at.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import torch

Node = dict[str, Any]

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")
_DEPTH = 12
_HEAP_TYPE = 1 << 9
"""The flag of classes that Python code defines (Py_TPFLAGS_HEAPTYPE)."""


def freeze(value: Any, depth: int = 0) -> Node:
    """The node for `value`: tensors are copied to the CPU, so that later changes in place do not show."""
    if isinstance(value, torch.Tensor):
        return _tensor_node(value)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return _scalar_node(value)
    if depth >= _DEPTH:
        return _opaque_node(value)
    if isinstance(value, (list, tuple)):
        return {"kind": "list", "type": _type(value), "items": [freeze(item, depth + 1) for item in value]}
    if isinstance(value, Mapping):
        return {
            "kind": "dict",
            "type": _type(value),
            "items": {_key(key): freeze(item, depth + 1) for key, item in value.items()},
        }
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
        return {
            "kind": "dict",
            "type": _type(value),
            "items": {name: freeze(item, depth + 1) for name, item in fields.items()},
        }
    if type(value).__module__ == "numpy":
        return _array_node(value)
    if isinstance(value, (set, frozenset)):
        items = sorted(value, key=repr)
        return {"kind": "list", "type": _type(value), "items": [freeze(item, depth + 1) for item in items]}
    if _has_data(value):
        fields = {name: item for name, item in vars(value).items() if not name.startswith("_")}
        return {
            "kind": "dict",
            "type": _type(value),
            "items": {name: freeze(item, depth + 1) for name, item in fields.items()},
        }
    return _opaque_node(value)


def _has_data(value: Any) -> bool:
    """Whether an object's public attributes are what it is: one of a class written in Python, and no module."""
    kind = type(value)
    if isinstance(value, (type, torch.nn.Module, torch.optim.Optimizer, BaseException)):
        return False
    if not hasattr(value, "__dict__"):
        return False
    return bool(kind.__flags__ & _HEAP_TYPE) and not callable(value)


def without_addresses(text: str) -> str:
    """The text with memory addresses blanked: they differ from run to run and mean nothing."""
    return _ADDRESS.sub("0x...", text)


def same_tensor(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors agree bit for bit in type, shape and value, NaN being equal to NaN."""
    if left.dtype != right.dtype or left.shape != right.shape or left.layout != right.layout:
        return False
    left, right = dense(left), dense(right)
    if torch.equal(left, right):
        return True
    if not (left.is_floating_point() or left.is_complex()):
        return False
    return bool(((left == right) | (left.isnan() & right.isnan())).all())


def same_node(left: Node, right: Node) -> bool:
    """Whether two frozen values agree bit for bit, NaN being equal to NaN."""
    if left.keys() != right.keys() or left["kind"] != right["kind"] or left.get("type") != right.get("type"):
        return False
    if left["kind"] in ("tensor", "array"):
        return same_tensor(dense(left["tensor"]), dense(right["tensor"]))
    if left["kind"] == "list":
        return len(left["items"]) == len(right["items"]) and all(map(same_node, left["items"], right["items"]))
    if left["kind"] == "dict":
        return list(left["items"]) == list(right["items"]) and all(
            same_node(item, right["items"][key]) for key, item in left["items"].items()
        )
    return bool(left == right) or (left["kind"] == "scalar" and left["value"] != left["value"] != right["value"])


def dtypes_in(node: Node) -> set[torch.dtype]:
    """The dtypes of all tensors in a frozen value."""
    if node["kind"] in ("tensor", "array"):
        return {node["tensor"].dtype}
    items = node["items"].values() if node["kind"] == "dict" else node.get("items", ())
    return set().union(*map(dtypes_in, items))


def without_strides(node: Node) -> Node:
    """The value without what is known of its layout in memory."""
    return _with_leaves(node, lambda leaf: {key: value for key, value in leaf.items() if key != "contiguous"})


def without_tensors(node: Node) -> Node:
    """The value with nothing known of its tensors but that they are there."""
    return _with_leaves(node, lambda leaf: {"kind": "opaque"} if leaf["kind"] == "tensor" else leaf)


def _with_leaves(node: Node, change: Callable[[Node], Node]) -> Node:
    if node["kind"] == "list":
        return {**node, "items": [_with_leaves(item, change) for item in node["items"]]}
    if node["kind"] == "dict":
        return {**node, "items": {key: _with_leaves(item, change) for key, item in node["items"].items()}}
    return change(node)


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in the plain strided layout, quantized values taken out."""
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


def _tensor_node(value: torch.Tensor) -> Node:
    plain = value.detach()
    if type(plain) not in (torch.Tensor, torch.nn.Parameter):
        plain = plain.as_subclass(torch.Tensor)
    return {
        "kind": "tensor",
        "type": "torch.Tensor" if isinstance(value, torch.nn.Parameter) else _type(value),
        "tensor": plain.to("cpu", copy=True),
        "device": value.device.type,
        "requires_grad": value.requires_grad,
        "contiguous": _contiguous(value),
    }


def _contiguous(value: torch.Tensor) -> bool:
    return value.layout != torch.strided or bool(value.is_contiguous())


def _scalar_node(value: Any) -> Node:
    if isinstance(value, complex):
        return {"kind": "scalar", "type": _type(value), "value": [value.real, value.imag]}
    if isinstance(value, bytes):
        return {"kind": "scalar", "type": _type(value), "value": value.hex()}
    if isinstance(value, float):
        # float() drops subclasses such as numpy.float64, which `type` already tells apart
        return {"kind": "scalar", "type": _type(value), "value": float(value)}
    if isinstance(value, str):
        return {"kind": "scalar", "type": _type(value), "value": without_addresses(str(value))}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"kind": "scalar", "type": _type(value), "value": int(value)}
    return {"kind": "scalar", "type": _type(value), "value": value}


def _array_node(value: Any) -> Node:
    try:
        tensor = torch.from_numpy(value.copy()) if hasattr(value, "copy") and value.ndim else torch.tensor(value.item())
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return _opaque_node(value)
    return {"kind": "array", "type": f"{_type(value)}[{getattr(value, 'dtype', '')}]", "tensor": tensor}


def _opaque_node(value: Any) -> Node:
    try:
        text = without_addresses(repr(value))
    except Exception as error:
        text = f"<no repr: {type(error).__name__}>"
    return {"kind": "opaque", "type": _type(value), "text": text[:500]}


def _type(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _key(key: Any) -> str:
    return key if isinstance(key, str) else repr(key)


def scalar_text(node: Node) -> str:
    """A short text for a node, for messages."""
    kind = node["kind"]
    if kind == "scalar":
        value = node["value"]
        return repr(value) if not isinstance(value, float) or math.isfinite(value) else f"float {value}"
    if kind in ("tensor", "array"):
        tensor = node["tensor"]
        return f"tensor of shape {tuple(tensor.shape)}, {str(tensor.dtype).removeprefix('torch.')}"
    if kind in ("list", "dict"):
        return f"{node['type']} of {len(node['items'])}"
    return f"a {node['type']}"
