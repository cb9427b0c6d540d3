"""Compares two frozen values leaf by leaf: types, dtypes and shapes exactly, numbers within the dtype's tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch

from compilefix.measuring.request import Options
from compilefix.measuring.snapshot import Node, dense, same_tensor, scalar_text
from compilefix.measuring.verdict_model import Aspect

# As torch.testing.assert_close; the default for other dtypes is exact.
TOLERANCES: Mapping[torch.dtype, tuple[float, float]] = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-3, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


@dataclass(frozen=True)
class Leaf:
    """Two tensors or values that stand at the same place, and how they compare.

    `error` is the largest absolute difference, `excess` how many times the tolerance it is. `pair` holds the two
    tensors where only their numbers differ. `none_for_zeros` says that one is None and the other all zero.
    """

    place: str
    status: Aspect
    error: float = 0.0
    excess: float = 0.0
    text: str = ""
    pair: tuple[torch.Tensor, torch.Tensor] | None = None
    none_for_zeros: bool = False


def by_place(leaves: Iterator[Leaf]) -> dict[str, Leaf]:
    """The leaves by their place."""
    return {leaf.place: leaf for leaf in leaves}


def compared(left: Node, right: Node, place: str, options: Options) -> Iterator[Leaf]:
    """Compares two frozen values; one leaf for each place where both have something to compare."""
    if place.startswith("gradient") and _zeros_and_none(left, right):
        text = f"{_typed(left)} in the original, {_typed(right)} in the patched code (zeros against None)"
        yield Leaf(place, "different", text=text, none_for_zeros=True)
    elif left["kind"] != right["kind"] or left["type"] != right["type"]:
        yield Leaf(place, "different", text=f"{_typed(left)} in the original, {_typed(right)} in the patched code")
    elif left["kind"] in ("tensor", "array"):
        yield _tensors(left, right, place, options)
    elif left["kind"] == "list":
        if len(left["items"]) != len(right["items"]):
            yield Leaf(place, "different", text=f"{len(left['items'])} items against {len(right['items'])}")
            return
        for index, (one, two) in enumerate(zip(left["items"], right["items"], strict=True)):
            yield from compared(one, two, f"{place}[{index}]", options)
    elif left["kind"] == "dict":
        if list(left["items"]) != list(right["items"]):
            yield Leaf(place, "different", text=f"keys {list(left['items'])} against {list(right['items'])}")
            return
        for key, one in left["items"].items():
            yield from compared(one, right["items"][key], f"{place}[{key!r}]", options)
    elif left["kind"] == "scalar":
        yield _scalars(left, right, place, options)
    else:
        same = left["text"] == right["text"]
        yield Leaf(place, "equal" if same else "different", text=f"{left['text']} against {right['text']}")


def kinds(node: Node, place: str) -> Iterator[tuple[str, str]]:
    """What stands at each place of a frozen value, whatever its numbers: the type, and of a tensor the dtype."""
    if node["kind"] in ("list", "dict"):
        yield place, str(node["type"])
        inside = node["items"].items() if node["kind"] == "dict" else enumerate(node["items"])
        for key, item in inside:
            yield from kinds(item, f"{place}[{key!r}]")
    else:
        yield place, str(node["tensor"].dtype) if node["kind"] == "tensor" else str(node["type"])


def _zeros_and_none(left: Node, right: Node) -> bool:
    none, other = (left, right) if left["kind"] == "scalar" else (right, left)
    if none["kind"] != "scalar" or none["value"] is not None or other["kind"] != "tensor":
        return False
    return not bool(dense(other["tensor"]).any())


def _tensors(left: Node, right: Node, place: str, options: Options) -> Leaf:
    one, two = left["tensor"], right["tensor"]
    for label, of in _PROPERTIES:
        if of(one) != of(two):
            return Leaf(place, "different", text=f"{label} {of(one)} in the original, {of(two)} in the patched code")
    for label, key in (("device", "device"), ("requires_grad", "requires_grad")):
        if left.get(key) != right.get(key):
            return Leaf(place, "different", text=f"{label} {left.get(key)} in the original, {right.get(key)} after")
    if left.get("contiguous", False) and not right.get("contiguous", True):
        text = f"contiguous in the original, strides {_strides(right)} in the patched code, which `view` refuses"
        return Leaf(place, "different", text=text)
    if same_tensor(one, two):
        return Leaf(place, "equal")
    return _distance(dense(one), dense(two), place, options)


def _strides(node: Node) -> str:
    return str(tuple(node["tensor"].stride()))


_PROPERTIES: tuple[tuple[str, Callable[[torch.Tensor], object]], ...] = (
    ("dtype", lambda tensor: tensor.dtype),
    ("shape", lambda tensor: tuple(tensor.shape)),
    ("layout", lambda tensor: tensor.layout),
)


_SUMMED = {torch.float32: 1.5e-5, torch.float64: 1e-12}
"""For gradients: the rounding that is let pass, relative to the tensor's largest entry (about 128 units)."""


def _distance(one: torch.Tensor, two: torch.Tensor, place: str, options: Options) -> Leaf:
    rtol, atol = _tolerance(one.dtype, options)
    wide = torch.complex128 if one.is_complex() else torch.float64
    a, b = one.to(wide), two.to(wide)
    same = (a == b) | (a.isnan() & b.isnan())
    gap = torch.where(same, 0.0, (a - b).abs())
    broken = ~same & ~(torch.isfinite(a) & torch.isfinite(b))
    gap = torch.where(broken, float("inf"), gap)
    allowed = atol + rtol * a.abs()
    if place.startswith("gradient") and options.rtol is None and one.dtype in _SUMMED:
        # A gradient is a sum over the batch: what rounding leaves of it goes with the largest entries.
        finite_a = a.abs()[torch.isfinite(a)]
        scale = float(finite_a.max()) if finite_a.numel() else 0.0
        allowed = allowed.clamp(min=_SUMMED[one.dtype] * scale)
    excess = torch.where(same, 0.0, torch.where(allowed > 0, gap / allowed, float("inf")))
    most = float(excess.max())
    finite = gap[torch.isfinite(gap)]
    error = float(finite.max()) if finite.numel() else 0.0
    if most <= 1.0:
        return Leaf(place, "close", error, most)
    flat = int(excess.flatten().argmax())
    index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), one.shape))
    count = int((excess > 1.0).sum())
    text = (
        f"{one.flatten()[flat].item()!r} in the original, {two.flatten()[flat].item()!r} in the patched code"
        f" at {list(index)}; {count} of {one.numel()} elements differ"
    )
    return Leaf(place, "different", error, most, text, (one, two))


def _scalars(left: Node, right: Node, place: str, options: Options) -> Leaf:
    one, two = left["value"], right["value"]
    if one == two or (isinstance(one, float) and one != one and two != two):
        return Leaf(place, "equal")
    text = f"{scalar_text(left)} in the original, {scalar_text(right)} in the patched code"
    if isinstance(one, float) and isinstance(two, float):
        # A Python float is read from a tensor here, so it is as exact as float32 arithmetic.
        rtol, atol = _tolerance(torch.float32, options)
        gap = abs(one - two)
        if gap <= atol + rtol * abs(one):
            return Leaf(place, "close", gap, gap / (atol + rtol * abs(one)))
        if gap == gap and gap != float("inf"):
            pair = (torch.tensor(one, dtype=torch.float64), torch.tensor(two, dtype=torch.float64))
            return Leaf(place, "different", gap, gap / (atol + rtol * abs(one)), text, pair)
    return Leaf(place, "different", 0.0, float("inf"), text)


def _tolerance(dtype: torch.dtype, options: Options) -> tuple[float, float]:
    if options.rtol is not None and options.atol is not None and (dtype.is_floating_point or dtype.is_complex):
        return options.rtol, options.atol
    return TOLERANCES.get(dtype, (0.0, 0.0))


def _typed(node: Node) -> str:
    if node["kind"] == "scalar" and node["value"] is None:
        return "None"
    return scalar_text(node) if node["kind"] in ("tensor", "array") else str(node["type"])
