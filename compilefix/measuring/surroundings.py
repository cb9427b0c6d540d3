"""Compares what a call leaves around it: shared memory, random state, settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from compilefix.measuring.leaves import Leaf


def memory(
    left: Mapping[str, list[str]], right: Mapping[str, list[str]], gone: Callable[[str], bool]
) -> Iterator[Leaf]:
    """With what each output shares its memory; `gone` says of the original's state that it counts no more."""
    for place in sorted({*left, *right}):
        held = [name for name in left.get(place, ()) if not gone(name)]
        if held != right.get(place, []):
            one, two = (" and ".join(names or ["nothing else"]) for names in (held, right.get(place)))
            text = f"shares memory with {one} in the original, with {two} in the patched code"
            yield Leaf(place, "different", text=text)


def settings(left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[Leaf]:
    """What holds after the call for all code that runs then."""
    for name in left:
        if left[name] != right.get(name, left[name]):
            text = f"{left[name] or 'none'} after the call of the original, {right[name] or 'none'} after the patched"
            yield Leaf(name, "different", text=text)


def random(left: Mapping[str, str] | None, right: Mapping[str, str] | None) -> Iterator[Leaf]:
    """What sources of random numbers that all code uses have drawn."""
    for name in left or ():
        if left is None or right is None:
            return
        # A library that only one of the two has imported was seeded by nobody.
        if name in right and left[name] != right[name]:
            yield Leaf(f"random state of {name}", "different", text="other random numbers were drawn, or not as many")
