"""Input sets made from those of the workload, to reach what its own do not: signs, zeros, NaN, ties, other sizes.

Everything is derived from the name of the variant and the inputs, so that two processes that hold the same inputs make
the same variants.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from compilefix.measuring.request import BEYOND, FLOATING, MODE_TEXT, ROUNDING, STRIDED, Variant
from compilefix.measuring.workload import InputSet, mapped

Change = Callable[[torch.Tensor, torch.Generator], torch.Tensor]

_SEPARATE_INPUTS = 4
_SIZES = 3


def _filled(value: float) -> Change:
    return lambda tensor, _: torch.full_like(tensor, value)


def _spiked(value: float) -> Change:
    def spike(tensor: torch.Tensor, draw: torch.Generator) -> torch.Tensor:
        if not tensor.numel():
            return tensor
        return _at(tensor, int(torch.randint(tensor.numel(), (1,), generator=draw)), value)

    return spike


def _at(tensor: torch.Tensor, place: int, value: float) -> torch.Tensor:
    flat = tensor.reshape(-1).clone()
    flat[place] = value
    return flat.reshape(tensor.shape)


def _redrawn(tensor: torch.Tensor, draw: torch.Generator) -> torch.Tensor:
    noise = torch.randn(tensor.shape, generator=draw, dtype=torch.float32).to(tensor)
    finite = tensor[torch.isfinite(tensor)].abs()
    scale = float(finite.max()) if finite.numel() else 1.0
    return noise * (scale or 1.0) / 2


def _tied(tensor: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """Half of the values, each twice."""
    flat = tensor.reshape(-1)
    half = flat[: (flat.numel() + 1) // 2]
    return torch.cat([half, half])[: flat.numel()].reshape(tensor.shape)


def _cancelling(tensor: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """Large values of both signs, so that sums lose digits unless they are made in a wider type."""
    signs = torch.ones(tensor.numel(), dtype=tensor.dtype, device=tensor.device)
    signs[1::2] = -1
    if tensor.numel() % 2:
        signs[-1] = 0
    return tensor + 1000 * signs.reshape(tensor.shape)


FLOATS: dict[str, Change] = {
    "negated": lambda tensor, _: -tensor,
    "drawn anew": _redrawn,
    "all zero": _filled(0.0),
    "made positive": lambda tensor, _: tensor.abs() + 0.1,
    "made negative": lambda tensor, _: -tensor.abs() - 0.1,
    "with a NaN": _spiked(float("nan")),
    "times 100": lambda tensor, _: tensor * 100,
    "times 0.001": lambda tensor, _: tensor * 1e-3,
    "with an infinity": _spiked(float("inf")),
    "with a negative infinity": _spiked(float("-inf")),
    "all ones": _filled(1.0),
    "with ties": _tied,
    "rounded": lambda tensor, _: tensor.round(),
    "with a zero": _spiked(0.0),
    "with a negative zero": _spiked(-0.0),
    "with a large value": _spiked(1000.0),
    ROUNDING: _cancelling,
    f"{ROUNDING}, drawn anew": lambda tensor, draw: _cancelling(_redrawn(tensor, draw), draw),
    f"{ROUNDING}, reversed": lambda tensor, draw: _cancelling(tensor, draw).flip(0) if tensor.dim() else tensor,
    "drawn once more": _redrawn,
    "reversed": lambda tensor, _: tensor.flip(0) if tensor.dim() else tensor,
    "all minus one": _filled(-1.0),
}
_NOT_FINITE = frozenset({"with a NaN", "with an infinity", "with a negative infinity"})
_ALONE = ("negated", "all zero", "with a NaN", "times 100", "times 0.001", "made positive", "made negative")
_IN_MODES = ("unchanged", "negated", "drawn anew", "all zero")


def _scaled(factor: float) -> Change:
    return lambda tensor, _: tensor * factor


def _shifted(shift: float) -> Change:
    return lambda tensor, _: tensor + shift


_FACTORS = (10.0, 1e4, 1e6, 0.1, 0.01, -10.0, -100.0, -1e4, -1e-3)
_SHIFTS = (0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 10.0, -10.0, 100.0, -100.0, 1e4, -1e4)
SEARCH: dict[str, Change] = {
    **{f"times {factor:g}": _scaled(factor) for factor in _FACTORS},
    **{f"plus {shift:g}": _shifted(shift) for shift in _SHIFTS},
    "all NaN": _filled(float("nan")),
    "all infinite": _filled(float("inf")),
    "sorted": lambda tensor, _: tensor.reshape(-1).sort().values.reshape(tensor.shape),
}
_ANYTHING = {**FLOATS, **SEARCH}


def variants(
    input_sets: Sequence[InputSet], has_modules: bool, state_sizes: frozenset[int] = frozenset()
) -> Iterator[Variant]:
    """What to try, the likeliest to show something first.

    `state_sizes` are the sizes of parameters and buffers: an input's dimension of such a size belongs to the model.
    """
    floats = [place for place, tensor in input_sets[0].tensors() if tensor.is_floating_point()]
    if floats:
        for name in FLOATS:
            yield Variant(name, finite=name not in _NOT_FINITE)
    for index in range(min(2, len(input_sets))):
        yield from _modes("unchanged", index, has_modules)
    for name in _discrete(input_sets[0]):
        yield Variant(name, scalars=name.startswith("Python"))
    for name in _resizes(input_sets[0], state_sizes):
        yield Variant(name, resized=True)
    if any(tensor.dim() > 1 for _, tensor in input_sets[0].tensors()):
        yield Variant(STRIDED, calls=1)
    if 1 < len(floats) <= _SEPARATE_INPUTS:
        for place in floats:
            for name in _ALONE:
                yield Variant(name, only=place, finite=name not in _NOT_FINITE)
    if floats:
        for name in _IN_MODES[1:]:
            yield from _modes(name, 0, has_modules)
        for index in range(1, min(3, len(input_sets))):
            for name in ("negated", "drawn anew", "with a NaN", "all zero"):
                yield Variant(name, index, finite=name not in _NOT_FINITE)


def search(
    input_sets: Sequence[InputSet], state_sizes: frozenset[int] = frozenset(), device: str = "cpu"
) -> Iterator[Variant]:
    """More to try for sides of conditions that are still not reached.

    Integers leave their range on a CPU only: a wrong index is an error there, and the end of the process elsewhere.
    """
    floats = [place for place, tensor in input_sets[0].tensors() if tensor.is_floating_point()]
    for name in SEARCH if floats else ():
        yield Variant(name, finite="NaN" not in name and "infinite" not in name)
    for index in range(1, len(input_sets)):
        for name in (*_discrete(input_sets[index]), *_resizes(input_sets[index], state_sizes)):
            yield Variant(name, index, resized=name.startswith("size"), scalars=name.startswith("Python"))
    if 1 < len(floats) <= _SEPARATE_INPUTS:
        for place in floats:
            for name in (*[key for key in FLOATS if key not in _ALONE], *SEARCH):
                finite = name not in _NOT_FINITE and "NaN" not in name and "infinite" not in name
                yield Variant(name, only=place, finite=finite)
    # What a normalization keeps small, whatever the inputs, grows with the parameters.
    for name in ("unchanged", "times 100", "negated") if floats else ("unchanged",):
        yield Variant(name, mode="large parameters")
    whole = [place for place, tensor in input_sets[0].tensors() if _is_integer(tensor)]
    if device == "cpu" and whole:
        for only in (None, *(whole if 1 < len(whole) <= _SEPARATE_INPUTS else ())):
            for name in OUTSIDE:
                yield Variant(name, only=only)


def varied(input_sets: Sequence[InputSet], variant: Variant) -> InputSet:
    """The inputs of a variant, on the device and in the layout of the originals; new memory."""
    inputs = input_sets[variant.input_set].copy()
    draw = torch.Generator().manual_seed(int.from_bytes(hashlib.sha256(variant.name.encode()).digest()[:6], "big"))
    change = _change(variant, draw)
    if variant.mode in FLOATING:
        given, dtype = change, getattr(torch, FLOATING[variant.mode])
        change = lambda tensor: _cast(given(tensor), dtype)  # noqa: E731
    if variant.mode == "input gradients":
        plain = change
        change = lambda tensor: _requiring(plain(tensor))  # noqa: E731
    wanted = {id(tensor) for place, tensor in inputs.tensors() if variant.only in (None, place)}

    def of(tensor: torch.Tensor) -> torch.Tensor:
        return change(tensor) if id(tensor) in wanted or variant.mode in FLOATING else tensor

    memo: dict[int, Any] = {}
    made = InputSet(mapped(inputs.args, of, memo), mapped(dict(inputs.kwargs), of, memo))
    return _with_scalars(made, variant.name) if variant.scalars else made


def following(input_sets: Sequence[InputSet], variant: Variant) -> InputSet:
    """Other values in the shapes of a variant, for the call after it: what the first leaves behind shows in them."""
    if not variant.resized:
        return varied(input_sets, replace(variant, name="drawn anew", only=None, scalars=False))
    resized = varied(input_sets, variant)
    return varied([resized], replace(variant, name="negated", input_set=0, resized=False))


def _modes(name: str, index: int, has_modules: bool) -> Iterator[Variant]:
    for mode in list(MODE_TEXT)[1:-1]:
        # In half precision only types and errors are compared: one set of values shows them.
        if (mode != "other mode" or has_modules) and (mode != "bfloat16" or (name, index) == ("unchanged", 0)):
            yield Variant(name, index, mode)


def _change(variant: Variant, draw: torch.Generator) -> Callable[[torch.Tensor], torch.Tensor]:
    name = variant.name
    if variant.resized:
        _, old, _, new = name.split()
        return lambda tensor: _resized(tensor, int(old), int(new))

    if name == STRIDED:
        return _strided

    def apply(tensor: torch.Tensor) -> torch.Tensor:
        value = tensor.detach()
        if value.is_floating_point() and name in _ANYTHING:
            # Complex, quantized and sparse inputs stay as they are.
            value = _ANYTHING[name](value, draw) if value.layout == torch.strided else value
        elif value.dtype == torch.bool and name in BOOLS:
            value = BOOLS[name](value, draw)
        elif not value.is_floating_point() and not value.is_complex() and name in _DISCRETE:
            value = _DISCRETE[name](value, draw)
        else:
            return tensor
        return _like(value, tensor)

    return apply


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, the last two dimensions the other way round in memory."""
    if tensor.dim() < 2 or tensor.layout != torch.strided:
        return tensor
    turned = tensor.detach().transpose(-1, -2).contiguous().transpose(-1, -2)
    return turned.requires_grad_(tensor.requires_grad)


def _like(value: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """The value in the strides of the original."""
    if value.shape == tensor.shape and value.stride() != tensor.stride() and tensor.layout == torch.strided:
        try:
            strided = torch.empty_strided(tensor.shape, tensor.stride(), dtype=value.dtype, device=value.device)
            value = strided.copy_(value)
        except RuntimeError:  # an expanded tensor, whose elements share memory
            pass
    return value.detach().clone(memory_format=torch.preserve_format).requires_grad_(tensor.requires_grad)


def _permuted(tensor: torch.Tensor, draw: torch.Generator) -> torch.Tensor:
    order = torch.randperm(tensor.numel(), generator=draw).to(tensor.device)
    return tensor.reshape(-1)[order].reshape(tensor.shape)


def _in_range(tensor: torch.Tensor, draw: torch.Generator) -> torch.Tensor:
    if not tensor.numel():
        return tensor
    low, high = int(tensor.min()), int(tensor.max())
    return torch.randint(low, high + 1, tensor.shape, generator=draw).to(tensor)


INTEGERS: dict[str, Change] = {
    "integers permuted": _permuted,
    "integers drawn in their range": _in_range,
    "integers lowered": lambda tensor, _: (tensor - 1).clamp(min=tensor.min()) if tensor.numel() else tensor,
    "integers raised": lambda tensor, _: (tensor + 1).clamp(max=tensor.max()) if tensor.numel() else tensor,
    "integers all smallest": lambda tensor, _: tensor.clone().fill_(tensor.min()) if tensor.numel() else tensor,
    "integers all largest": lambda tensor, _: tensor.clone().fill_(tensor.max()) if tensor.numel() else tensor,
}
OUTSIDE: dict[str, Change] = {
    f"{BEYOND}plus 1": lambda tensor, _: tensor + 1,
    f"{BEYOND}times 2": lambda tensor, _: tensor * 2,
    f"{BEYOND}times 100": lambda tensor, _: tensor * 100,
    f"{BEYOND}negated": lambda tensor, _: -tensor,
    f"{BEYOND}minus 1": lambda tensor, _: tensor - 1,
    f"{BEYOND}all zero": lambda tensor, _: torch.zeros_like(tensor),
}
_DISCRETE = {**INTEGERS, **OUTSIDE}
BOOLS: dict[str, Change] = {
    "masks flipped": lambda tensor, _: ~tensor,
    "masks all true": lambda tensor, _: torch.ones_like(tensor),
    "masks all false": lambda tensor, _: torch.zeros_like(tensor),
    "masks drawn anew": lambda tensor, draw: (torch.rand(tensor.shape, generator=draw) > 0.5).to(tensor.device),
}


def _discrete(inputs: InputSet) -> Iterator[str]:
    tensors = [tensor for _, tensor in inputs.tensors()]
    if any(tensor.dtype == torch.bool for tensor in tensors):
        yield from BOOLS
    if any(map(_is_integer, tensors)):
        yield from INTEGERS
    kinds = {type(value) for value in _scalars(inputs)}
    if bool in kinds:
        yield "Python flags flipped"
    if float in kinds:
        yield from ("Python floats negated", "Python floats zero", "Python floats times 100")


def _is_integer(tensor: torch.Tensor) -> bool:
    return not tensor.is_floating_point() and not tensor.is_complex() and tensor.dtype != torch.bool


def _scalars(inputs: InputSet) -> Iterator[Any]:
    yield from (value for value in (*inputs.args, *inputs.kwargs.values()) if isinstance(value, (bool, float)))


def _with_scalars(inputs: InputSet, name: str) -> InputSet:
    def of(value: Any) -> Any:
        if isinstance(value, bool):
            return not value if name == "Python flags flipped" else value
        if isinstance(value, float) and name.startswith("Python floats"):
            return {"negated": -value, "zero": 0.0, "times 100": value * 100}[name.removeprefix("Python floats ")]
        return value

    return InputSet(tuple(map(of, inputs.args)), {key: of(value) for key, value in inputs.kwargs.items()})


def _resizes(inputs: InputSet, state_sizes: frozenset[int] = frozenset()) -> Iterator[str]:
    """Other sizes for the dimensions that the inputs have, those in front first: all of equal size change together."""
    shapes = [tuple(tensor.shape) for _, tensor in inputs.tensors() if tensor.dim()]
    if not shapes:
        return
    seen: Counter[int] = Counter()
    for depth in range(max(map(len, shapes))):
        for shape in shapes:
            if depth < len(shape) and (not depth or shape[depth] not in state_sizes):
                seen[shape[depth]] += 0
    for size in list(seen)[:_SIZES]:
        for new in dict.fromkeys((size + 1, 1, 0, size + 2, 2 * size, size + 3)):
            if new != size:
                yield f"size {size} to {new}"


def _resized(tensor: torch.Tensor, old: int, new: int) -> torch.Tensor:
    changed = tensor.detach()
    if changed.layout != torch.strided or not old:
        return tensor
    for dim, size in enumerate(changed.shape):
        if size == old:
            changed = changed.index_select(dim, torch.arange(new, device=changed.device) % old)
    return changed.clone().requires_grad_(tensor.requires_grad)


def _cast(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    other = tensor.detach().to(dtype) if tensor.is_floating_point() else tensor.detach()
    return other.requires_grad_(tensor.requires_grad) if other.is_floating_point() else other


def _requiring(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().requires_grad_() if tensor.is_floating_point() else tensor
