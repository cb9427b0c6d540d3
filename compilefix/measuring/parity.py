"""Compares what two arms did, call by call: is the patched code still the same program?

Outputs, gradients, state, inputs, exceptions and text are judged apart. "equal" is bit for bit (NaN equals NaN),
"close" is within the tolerance of the dtype, or as exact as the original against a run in float64. Types, dtypes,
shapes, whether a gradient exists and which memory an output shares always count.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from compilefix.measuring import surroundings as around
from compilefix.measuring.beginning import beginning, given
from compilefix.measuring.exactness import Exactness
from compilefix.measuring.leaves import TOLERANCES, Leaf, by_place, compared, kinds
from compilefix.measuring.request import BEYOND, STRIDED, ArmResult, Options, Variant
from compilefix.measuring.snapshot import Node, dtypes_in, without_strides
from compilefix.measuring.texts import Rounding, said
from compilefix.measuring.verdict_model import Difference, Parity, worst

Record = Mapping[str, Any]

# Compiling alone may round differently. Where the original itself differs when compiled, the patched code may differ
# from eager by this many times as much, since another fusion rounds at other places.
YARDSTICK = 2.0

COMPILED_SLACK = 10.0
"""How many times the tolerance compiled code may differ on varied inputs, where compiled originals are not at hand."""

ASPECTS = ("outputs", "gradients", "state", "inputs", "exceptions", "text")
_NARROW = 1e-5
"""The tolerance in float64 of what the original itself computes in float32 there."""
_MISSING = "not implemented for"
_PLACES = {"gradients": "gradient of ", "state": "", "inputs": "after the call: "}


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Comparisons are many small operations, which threads make slower.

    With 64 threads, and three other measurements on the same 64 cores, they took minutes; with one thread, seconds.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class Rules:
    """How two arms are compared.

    `eager` says that both run uncompiled: then shared memory and the random state count too. `variant` is what was
    changed in the inputs, None for the workload's own. `assumptions` are those that the fixes were allowed.
    """

    options: Options
    eager: bool = False
    variant: Variant | None = None
    assumptions: frozenset[str] = frozenset()

    @property
    def zeros_for_none(self) -> bool:
        """Whether a gradient of zeros may stand for none: where allowed, or where the workload asks for no gradient."""
        asked = self.variant is None or self.variant.mode not in ("other mode", "input gradients")
        return "gradient-zeros" in self.assumptions or not asked

    @property
    def halved(self) -> bool:
        """Whether a workload in another precision was run in half: its rounding is nobody's promise, its types are."""
        return self.variant is not None and self.variant.mode == "bfloat16"

    @property
    def lenient(self) -> bool:
        """Whether other sizes, indices or strides may make either version fail, somewhere."""
        return self.variant is not None and (self.variant.resized or self.variant.name.startswith((BEYOND, STRIDED)))


@dataclass(frozen=True)
class Pair:
    """One call in both arms; the unpatched code in the same form, and the original in float64, where there are such."""

    left: Record
    right: Record
    base: Record | None = None
    wide: Record | None = None


@one_thread()
def compare(reference: ArmResult, arm: ArmResult, baseline: ArmResult | None, options: Options, **rules: Any) -> Parity:
    """How `arm` compares with `reference` on the inputs of the workload.

    `baseline` is the unpatched code in the same form as `arm` (compiled): its own distance from the reference is the
    yardstick for values that are not within the plain tolerance. `wide` (a file) is the reference in float64; the other
    keywords are those of Rules. An arm without observations compares as "error".
    """
    wide: Path | None = rules.pop("wide", None)
    if reference.observations is None:
        return Parity.all("not-run")
    if arm.observations is None:
        return Parity.all("error")
    wanted, got = load_records(reference.observations), load_records(arm.observations)
    base = None if baseline is None or baseline.observations is None else load_records(baseline.observations)
    exact = None if wide is None else load_records(wide)
    pairs = [
        Pair(left, right, None if base is None else base[index], None if exact is None else exact[index])
        for index, (left, right) in enumerate(zip(wanted, got, strict=True))
    ]
    return compare_calls(pairs, Rules(options, **rules))


def load_records(path: Path) -> list[dict[str, Any]]:
    """The records of an arm's calls."""
    records: list[dict[str, Any]] = torch.load(path, weights_only=True, map_location="cpu")
    return records


def compare_calls(pairs: Sequence[Pair], rules: Rules, exactness: Exactness | None = None) -> Parity:
    """How the calls of two arms compare, aspect by aspect.

    What is beyond the tolerance but not worse than rounding is left to `exactness`, where one is given, for a judgement
    over several variants.
    """
    leaves: dict[str, list[Leaf]] = {aspect: [] for aspect in ASPECTS}
    beyond: dict[str, list[tuple[Leaf, Leaf]]] = {aspect: [] for aspect in ASPECTS}
    exactness = exactness or Exactness()
    for pair in pairs:
        left = pair.left
        what = _inputs_text(left, rules)
        for aspect in ASPECTS:
            for leaf in _judged(aspect, pair, rules, beyond[aspect], exactness, pairs):
                leaves[aspect].append(dataclasses.replace(leaf, place=f"call {left['call'] + 1}, {what}, {leaf.place}"))
    statuses = {aspect: worst(leaf.status for leaf in found) for aspect, found in leaves.items()}
    everything = [(aspect, leaf) for aspect in ASPECTS for leaf in leaves[aspect]]
    wrong = ((aspect, leaf) for aspect, leaf in everything if leaf.status in ("different", "error"))
    # Whether a call came back says more than what it gave.
    first = min(wrong, key=lambda item: item[0] != "exceptions", default=None)
    return Parity(
        **statuses,
        max_abs_error=max((leaf.error for _, leaf in everything), default=0.0),
        first_difference=None if first is None else Difference(first[0], first[1].place, first[1].text),
        notes=tuple(_note(aspect, found) for aspect, found in beyond.items() if found),
    )


def _inputs_text(record: Record, rules: Rules) -> str:
    compiled = "" if rules.eager or rules.variant is None else ", compiled"
    if rules.variant is None:
        return f"input set {record['set'] + 1}"
    after = ""
    if record["call"]:
        after = ", then negated" if rules.variant.resized else ", then drawn anew"
    return f"{rules.variant.label}{after}{compiled}"


def _note(aspect: str, pairs: Sequence[tuple[Leaf, Leaf]]) -> str:
    here, there = max(leaf.error for leaf, _ in pairs), max(own.error for _, own in pairs)
    places = ", ".join(dict.fromkeys(leaf.place for leaf, _ in pairs[:3]))
    return (
        f"{aspect}: beyond the tolerance of the dtype, but so is the original when compiled "
        f"(up to {there:.3g} there, {here:.3g} here): {places}{' and others' if len(pairs) > 3 else ''}"
    )


def _judged(
    aspect: str,
    pair: Pair,
    rules: Rules,
    beyond: list[tuple[Leaf, Leaf]],
    exactness: Exactness,
    pairs: Sequence[Pair],
) -> Iterator[Leaf]:
    left, right = pair.left, pair.right
    if rules.halved:
        yield from _in_half(aspect, left, right)
    elif aspect == "exceptions":
        yield _exception(left, right, rules)
    elif _outside(left, rules) or (aspect == "gradients" and rules.variant is not None and not rules.variant.finite):
        return  # what is left of a gradient where an input is NaN or infinite is no program's promise
    elif aspect == "text":
        yield from said(left["text"], right["text"], _rounding(left, rules), compiling=right["compiled"])
    elif aspect == "outputs":
        if left["exception"] is None and right["exception"] is None:
            yield from _measured(aspect, "outputs", "output", pair, rules, beyond, exactness)
            if rules.eager and "no-aliasing" not in rules.assumptions:
                yield from around.memory(left.get("shared", {}), right.get("shared", {}), _given_up(right, pairs))
        elif (left["exception"] is None) != (right["exception"] is None):
            yield Leaf("output", "error", text="only one of the two returned")
    else:
        if aspect == "state":
            yield from beginning(left.get("start"), right.get("start"), (pair.base or {}).get("start"))
            yield from around.settings(left.get("settings", {}), right.get("settings", {}))
            if rules.eager and "rng-stream" not in rules.assumptions:
                yield from around.random(left.get("random"), right.get("random"))
        elif aspect == "inputs":
            yield from given(left.get("start"), right.get("start"))
        for name in sorted({*left[aspect], *right[aspect]}):
            place = _PLACES[aspect] + name
            if name not in left[aspect] or name not in right[aspect]:
                if aspect != "state" or not _of_its_own(name, pairs):
                    verb = "has a gradient" if aspect == "gradients" else "changed"
                    who = "original" if name in left[aspect] else "patched code"
                    yield Leaf(place, "different", text=f"{verb} only in the {who}")
                continue
            if aspect == "state" and (kept := _as_kept(left[aspect][name], right[aspect][name], name, pairs)):
                yield from compared(*kept, place, rules.options)
            else:
                yield from _measured(aspect, name, place, pair, rules, beyond, exactness)


def _rounding(left: Record, rules: Rules) -> Rounding:
    """Compiled code may print another last digit, and what is computed in half precision is off like its outputs."""
    if rules.eager:
        return Rounding()
    narrow = [TOLERANCES[dtype][0] for dtype in dtypes_in(left["outputs"]) if dtype in (torch.float16, torch.bfloat16)]
    return Rounding(last_digit=True, relative=YARDSTICK * max(narrow, default=0.0))


def _measured(
    aspect: str,
    name: str,
    place: str,
    pair: Pair,
    rules: Rules,
    beyond: list[tuple[Leaf, Leaf]],
    exactness: Exactness,
) -> Iterator[Leaf]:
    """The leaves of one value, judged by the tolerance, by the original when compiled, or by float64."""

    def of(record: Record | None) -> Any:
        if record is None:
            return None
        return record["outputs"] if aspect == "outputs" else record[aspect].get(name)

    one, two, base, wide = of(pair.left), of(pair.right), of(pair.base), of(pair.wide)
    if rules.variant is not None and rules.variant.name == STRIDED:
        one = without_strides(one)  # strides that go in may come out
    own = {} if base is None else by_place(compared(one, base, place, rules.options))
    options = rules.options
    if pair.left.get("narrow") and options.rtol is None:
        options = dataclasses.replace(options, rtol=_NARROW, atol=_NARROW)
    for leaf in compared(one, two, place, options):
        yardstick = own.get(leaf.place)
        if yardstick is not None and _within(leaf, yardstick):
            beyond.append((leaf, yardstick))
            yield dataclasses.replace(leaf, status="close")
        elif leaf.status != "different" or _is_missing_zero(leaf, rules):
            yield dataclasses.replace(leaf, status="close") if leaf.status == "different" else leaf
        elif _compiled_rounding(leaf, rules):
            yield dataclasses.replace(leaf, status="close")
        elif wide is not None and leaf.pair is not None and rules.options.rtol is None:
            where = aspect if aspect == "outputs" else f"{aspect}[{name!r}]"
            yield exactness.judged(leaf, where, leaf.place[len(place) :], wide, rules.variant)
        else:
            yield leaf


def _within(leaf: Leaf, yardstick: Leaf) -> bool:
    return leaf.status == "different" and 1.0 < leaf.excess <= YARDSTICK * yardstick.excess < float("inf")


def _compiled_rounding(leaf: Leaf, rules: Rules) -> bool:
    varied = not rules.eager and rules.variant is not None
    return varied and leaf.pair is not None and leaf.excess <= COMPILED_SLACK


def _is_missing_zero(leaf: Leaf, rules: Rules) -> bool:
    return leaf.none_for_zeros and rules.zeros_for_none


def _of_its_own(name: str, pairs: Sequence[Pair]) -> bool:
    """Whether only one of the two has this state at all, and it is nobody else's business.

    What a rewrite gives up may be private; what it brings may be a global of its own, too.
    """
    one, two = (record.get("start") for record in (pairs[0].left, pairs[0].right))
    if one is None or two is None or (name in one["names"] and name in two["names"]):
        return False
    return _private(name) or (name not in one["names"] and name.startswith(tuple(two["files"])))


def _private(name: str) -> bool:
    return any(part.startswith("_") for part in name.split("."))


def _as_kept(one: Node, two: Node, name: str, pairs: Sequence[Pair]) -> tuple[Node, Node] | None:
    """A number that has become a tensor, as two tensors, where nobody minds: it is private, or a count in a buffer."""
    start = pairs[0].right.get("start")
    if start is None or one["kind"] != "scalar" or two["kind"] != "tensor" or two["tensor"].numel() != 1:
        return None
    value = one["value"]
    counts = isinstance(value, int) and not isinstance(value, bool) and name in start["buffers"]
    if two["requires_grad"] or not isinstance(value, (bool, int, float)) or not (_private(name) or counts):
        return None
    wide = two["tensor"].double()
    return {**two, "tensor": torch.tensor(value, dtype=wide.dtype).reshape(wide.shape)}, {**two, "tensor": wide}


def _given_up(right: Record, pairs: Sequence[Pair]) -> Callable[[str], bool]:
    """Whether private state of the original is none of the patched code: what it held counts no more."""
    known = {*(pairs[0].right.get("start") or {"names": ()})["names"], *right["state"]}
    return lambda name: _private(name) and name not in known


def _outside(left: Record, rules: Rules) -> bool:
    """Whether the original refuses these inputs by an error that nobody wrote: what happens before it is nobody's."""
    return rules.variant is not None and left["exception"] is not None and not left["explicit"]


def _exception(left: Record, right: Record, rules: Rules) -> Leaf:
    one, two = left["exception"], right["exception"]
    if one == two:
        return Leaf("exception", "equal")
    text = f"{_raised(one)} in the original, {_raised(two)} in the patched code"
    # Sizes that do not fit fail somewhere, and may go on to fit. For other values only the words may change.
    if _outside(left, rules) and (rules.lenient or (two is not None and one["type"] == two["type"])):
        return Leaf("exception", "close", text=text)
    return Leaf("exception", "different", text=text)


def _in_half(aspect: str, left: Record, right: Record) -> Iterator[Leaf]:
    """What a run in half precision shows: types, and errors. Its rounding may turn any number and any branch."""
    one, two = left["exception"], right["exception"]
    if aspect == "exceptions":
        missing = (
            two is not None and _MISSING in two["text"]
        )  # an operation that this device lacks is not the rewrite's
        if missing or one == two or (one is not None and two is not None and one["type"] == two["type"]):
            yield Leaf("exception", "equal")
        else:
            text = f"{_raised(one)} in the original, {_raised(two)} in the patched code"
            yield Leaf("exception", "different", text=text)
    elif aspect == "outputs" and one is None and two is None:
        found = dict(kinds(right["outputs"], "output"))
        for place, kind in kinds(left["outputs"], "output"):
            if found.get(place, kind) != kind:
                text = f"{kind} in the original, {found[place]} in the patched code"
                yield Leaf(place, "different", text=text)


def _raised(error: Mapping[str, str] | None) -> str:
    if error is None:
        return "nothing raised"
    text = error["text"] if len(error["text"]) <= 300 else error["text"][:300] + "..."
    return f"{error['type']}: {text}" + (" (in the backward pass)" if error["phase"] == "backward" else "")
