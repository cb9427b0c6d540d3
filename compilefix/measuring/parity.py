"""Compares what two arms did, call by call: is the patched code still the same program?

Outputs, gradients, state, inputs, exceptions and text are judged apart. "equal" is bit for bit (NaN equals NaN),
"close" is within the tolerance of the dtype. Types, dtypes, shapes and whether a gradient exists always count.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from compilefix.measuring.request import ArmResult, Options
from compilefix.measuring.snapshot import Node, dense, same_tensor, scalar_text
from compilefix.measuring.verdict_model import Aspect, Difference, Parity, worst

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
# Compiling alone may round differently. Where the original itself differs when compiled, the patched code may differ
# from eager by this many times as much, since another fusion rounds at other places.
YARDSTICK = 2.0

# How far a printed fraction may be off, relative to its value and at least to one.
PRINTED = 1e-4
_NUMBER = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")

ASPECTS = ("outputs", "gradients", "state", "inputs", "exceptions", "text")


@dataclass(frozen=True)
class _Leaf:
    """Two tensors or values that stand at the same place, and how they compare."""

    place: str
    status: Aspect
    error: float = 0.0
    excess: float = 0.0
    text: str = ""


def compare(reference: ArmResult, arm: ArmResult, baseline: ArmResult | None, options: Options) -> Parity:
    """How `arm` compares with `reference`.

    `baseline` is the unpatched code in the same form as `arm` (compiled): its own distance from the reference is the
    yardstick for values that are not within the plain tolerance. An arm without observations compares as "error".
    """
    if reference.observations is None:
        return Parity.all("not-run")
    if arm.observations is None:
        return Parity.all("error")
    wanted, got = _load(reference.observations), _load(arm.observations)
    base = _load(baseline.observations) if baseline is not None and baseline.observations is not None else None
    leaves: dict[str, list[_Leaf]] = {aspect: [] for aspect in ASPECTS}
    beyond: dict[str, list[tuple[_Leaf, _Leaf]]] = {aspect: [] for aspect in ASPECTS}
    for index, (left, right) in enumerate(zip(wanted, got, strict=True)):
        yardstick = base[index] if base is not None else None
        where = f"call {left['call'] + 1}, input set {left['set'] + 1}"
        for aspect in ASPECTS:
            for leaf in _judged(aspect, left, right, yardstick, options, beyond[aspect]):
                leaves[aspect].append(dataclasses.replace(leaf, place=f"{where}, {leaf.place}"))
    statuses = {aspect: worst(leaf.status for leaf in found) for aspect, found in leaves.items()}
    everything = [(aspect, leaf) for aspect in ASPECTS for leaf in leaves[aspect]]
    first = next(
        (
            Difference(aspect, leaf.place, leaf.text)
            for aspect, leaf in everything
            if leaf.status in ("different", "error")
        ),
        None,
    )
    return Parity(
        **statuses,
        max_abs_error=max((leaf.error for _, leaf in everything), default=0.0),
        first_difference=first,
        notes=tuple(_note(aspect, pairs) for aspect, pairs in beyond.items() if pairs),
    )


def _note(aspect: str, pairs: Sequence[tuple[_Leaf, _Leaf]]) -> str:
    here, there = max(leaf.error for leaf, _ in pairs), max(own.error for _, own in pairs)
    places = ", ".join(dict.fromkeys(leaf.place for leaf, _ in pairs[:3]))
    return (
        f"{aspect}: beyond the tolerance of the dtype, but so is the original when compiled "
        f"(up to {there:.3g} there, {here:.3g} here): {places}{' and others' if len(pairs) > 3 else ''}"
    )


def _load(path: Path) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = torch.load(path, weights_only=True, map_location="cpu")
    return records


def _judged(
    aspect: str,
    left: Mapping[str, Any],
    right: Mapping[str, Any],
    base: Mapping[str, Any] | None,
    options: Options,
    beyond: list[tuple[_Leaf, _Leaf]],
) -> Iterator[_Leaf]:
    if aspect == "exceptions":
        yield _exception(left["exception"], right["exception"])
    elif aspect == "text":
        yield from _text(left["text"], right["text"], skip_stderr=right["compiled"])
    elif aspect == "outputs":
        if left["exception"] is None and right["exception"] is None:
            plain = list(_compared(left["outputs"], right["outputs"], "output", options))
            own = {} if base is None else _by_place(_compared(left["outputs"], base["outputs"], "output", options))
            yield from _scaled(plain, own, beyond)
        elif (left["exception"] is None) != (right["exception"] is None):
            yield _Leaf("output", "error", text="only one of the two returned")
    else:
        for name in sorted({*left[aspect], *right[aspect]}):
            place = {"gradients": "gradient of ", "state": "", "inputs": "after the call: "}[aspect] + name
            if name not in left[aspect] or name not in right[aspect]:
                verb = "has a gradient" if aspect == "gradients" else "changed"
                who = "original" if name in left[aspect] else "patched code"
                yield _Leaf(place, "different", text=f"{verb} only in the {who}")
                continue
            plain = list(_compared(left[aspect][name], right[aspect][name], place, options))
            own = {}
            if base is not None and name in base[aspect]:
                own = _by_place(_compared(left[aspect][name], base[aspect][name], place, options))
            yield from _scaled(plain, own, beyond)


def _scaled(leaves: Sequence[_Leaf], own: Mapping[str, _Leaf], beyond: list[tuple[_Leaf, _Leaf]]) -> Iterator[_Leaf]:
    for leaf in leaves:
        yardstick = own.get(leaf.place)
        if yardstick is not None and _within(leaf, yardstick):
            beyond.append((leaf, yardstick))
            yield dataclasses.replace(leaf, status="close")
        else:
            yield leaf


def _within(leaf: _Leaf, yardstick: _Leaf) -> bool:
    return leaf.status == "different" and 1.0 < leaf.excess <= YARDSTICK * yardstick.excess < float("inf")


def _by_place(leaves: Iterator[_Leaf]) -> dict[str, _Leaf]:
    return {leaf.place: leaf for leaf in leaves}


def _compared(left: Node, right: Node, place: str, options: Options) -> Iterator[_Leaf]:
    if left["kind"] != right["kind"] or left["type"] != right["type"]:
        yield _Leaf(place, "different", text=f"{_typed(left)} in the original, {_typed(right)} in the patched code")
    elif left["kind"] in ("tensor", "array"):
        yield _tensors(left, right, place, options)
    elif left["kind"] == "list":
        if len(left["items"]) != len(right["items"]):
            yield _Leaf(place, "different", text=f"{len(left['items'])} items against {len(right['items'])}")
            return
        for index, (one, two) in enumerate(zip(left["items"], right["items"], strict=True)):
            yield from _compared(one, two, f"{place}[{index}]", options)
    elif left["kind"] == "dict":
        if list(left["items"]) != list(right["items"]):
            yield _Leaf(place, "different", text=f"keys {list(left['items'])} against {list(right['items'])}")
            return
        for key, one in left["items"].items():
            yield from _compared(one, right["items"][key], f"{place}[{key!r}]", options)
    elif left["kind"] == "scalar":
        yield _scalars(left, right, place, options)
    else:
        same = left["text"] == right["text"]
        yield _Leaf(place, "equal" if same else "different", text=f"{left['text']} against {right['text']}")


def _tensors(left: Node, right: Node, place: str, options: Options) -> _Leaf:
    one, two = left["tensor"], right["tensor"]
    for label, of in _PROPERTIES:
        if of(one) != of(two):
            return _Leaf(place, "different", text=f"{label} {of(one)} in the original, {of(two)} in the patched code")
    for label, key in (("device", "device"), ("requires_grad", "requires_grad")):
        if left.get(key) != right.get(key):
            return _Leaf(place, "different", text=f"{label} {left.get(key)} in the original, {right.get(key)} after")
    if same_tensor(one, two):
        return _Leaf(place, "equal")
    return _distance(dense(one), dense(two), place, options)


_PROPERTIES: tuple[tuple[str, Callable[[torch.Tensor], object]], ...] = (
    ("dtype", lambda tensor: tensor.dtype),
    ("shape", lambda tensor: tuple(tensor.shape)),
    ("layout", lambda tensor: tensor.layout),
)


_SUMMED = {torch.float32: 1.5e-5, torch.float64: 1e-12}
"""For gradients: the rounding that is let pass, relative to the tensor's largest entry (about 128 units)."""


def _distance(one: torch.Tensor, two: torch.Tensor, place: str, options: Options) -> _Leaf:
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
        return _Leaf(place, "close", error, most)
    flat = int(excess.flatten().argmax())
    index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), one.shape))
    count = int((excess > 1.0).sum())
    text = (
        f"{one.flatten()[flat].item()!r} in the original, {two.flatten()[flat].item()!r} in the patched code"
        f" at {list(index)}; {count} of {one.numel()} elements differ"
    )
    return _Leaf(place, "different", error, most, text)


def _scalars(left: Node, right: Node, place: str, options: Options) -> _Leaf:
    one, two = left["value"], right["value"]
    if one == two or (isinstance(one, float) and one != one and two != two):
        return _Leaf(place, "equal")
    text = f"{scalar_text(left)} in the original, {scalar_text(right)} in the patched code"
    if isinstance(one, float) and isinstance(two, float):
        # A Python float is read from a tensor here, so it is as exact as float32 arithmetic.
        rtol, atol = _tolerance(torch.float32, options)
        gap = abs(one - two)
        if gap <= atol + rtol * abs(one):
            return _Leaf(place, "close", gap, gap / (atol + rtol * abs(one)))
        if gap == gap and gap != float("inf"):
            return _Leaf(place, "different", gap, gap / (atol + rtol * abs(one)), text)
    return _Leaf(place, "different", 0.0, float("inf"), text)


def _tolerance(dtype: torch.dtype, options: Options) -> tuple[float, float]:
    if options.rtol is not None and options.atol is not None and (dtype.is_floating_point or dtype.is_complex):
        return options.rtol, options.atol
    return TOLERANCES.get(dtype, (0.0, 0.0))


def _typed(node: Node) -> str:
    if node["kind"] == "scalar" and node["value"] is None:
        return "None"
    return scalar_text(node) if node["kind"] in ("tensor", "array") else str(node["type"])


def _exception(left: Mapping[str, str] | None, right: Mapping[str, str] | None) -> _Leaf:
    if left == right:
        return _Leaf("exception", "equal")
    return _Leaf(
        "exception", "different", text=f"{_raised(left)} in the original, {_raised(right)} in the patched code"
    )


def _raised(error: Mapping[str, str] | None) -> str:
    if error is None:
        return "nothing raised"
    text = error["text"] if len(error["text"]) <= 300 else error["text"][:300] + "..."
    return f"{error['type']}: {text}" + (" (in the backward pass)" if error["phase"] == "backward" else "")


def _text(left: Mapping[str, Any], right: Mapping[str, Any], skip_stderr: bool) -> Iterator[_Leaf]:
    for channel in ("stdout", "stderr"):
        # While it compiles, torch itself may write to standard error.
        if channel == "stderr" and skip_stderr:
            continue
        status = _words(left[channel], right[channel])
        yield _Leaf(channel, status, text="" if status == "equal" else _first_line(left[channel], right[channel]))
    status = _records(left["records"], right["records"])
    text = "" if status == "equal" else _first_record(left["records"], right["records"])
    yield _Leaf("log records and warnings", status, text=text)


def _words(left: str, right: str) -> Aspect:
    if left == right:
        return "equal"
    if _NUMBER.sub("#", left) != _NUMBER.sub("#", right):
        return "different"
    # The same words with other digits: a printed value that was rounded in another way.
    pairs = zip(_NUMBER.findall(left), _NUMBER.findall(right), strict=True)
    return (
        "close" if all(abs(float(a) - float(b)) <= PRINTED * max(1.0, abs(float(a))) for a, b in pairs) else "different"
    )


def _records(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> Aspect:
    if len(left) != len(right):
        return "different"
    return worst(
        _words(one[2], two[2]) if (*one[:2], one[3]) == (*two[:2], two[3]) else "different"
        for one, two in zip(left, right, strict=True)
    )


def _first_line(left: str, right: str) -> str:
    one, two = left.splitlines(), right.splitlines()
    for index in range(max(len(one), len(two))):
        a, b = one[index : index + 1], two[index : index + 1]
        if a != b:
            return f"line {index + 1}: {a[0] if a else 'nothing'!r} in the original, {b[0] if b else 'nothing'!r} after"
    return "the line ends differ"


def _first_record(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> str:
    for index in range(max(len(left), len(right))):
        a, b = left[index : index + 1], right[index : index + 1]
        if a != b:
            if a and b and a[0][:3] == b[0][:3]:
                return f"record {index + 1} comes at another place among the printed lines: {a[0][2]!r}"
            return f"record {index + 1}: {_record(a)} in the original, {_record(b)} in the patched code"
    return ""


def _record(found: Sequence[Sequence[Any]]) -> str:
    return f"{found[0][0]} {found[0][1]}: {found[0][2]!r}" if found else "nothing"
