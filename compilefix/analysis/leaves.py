"""The tensors that a value hangs on: those to which its gradient may go.

A leaf is named by the argument or attribute that it is. A name that starts with `?` stands for something that each run
decides: alone for tensors that are not known, before the name of a leaf for whether the value hangs on that leaf. What
decides is named by its place and, where other decisions came before, by a checksum of these.
"""

from __future__ import annotations

from functools import lru_cache
from zlib import crc32

ANY_LEAF = "?"
"""Among the leaves of a value: the gradient may go to any tensor. As a decision: it is not known what decides."""
_MANY = 24


@lru_cache(maxsize=4096)
def perhaps(leaves: frozenset[str], decision: str) -> frozenset[str]:
    """The leaves of a value that hangs on these tensors or not, as `decision` (`?` and a place) turns out."""
    if decision == ANY_LEAF or ANY_LEAF in leaves:
        return _anything(leaves, frozenset())
    kept: set[str] = set()
    earlier: dict[str, list[str]] = {}
    own = f"{decision} ", f"{decision}~"
    for name in leaves:
        if name.startswith(own):
            kept.add(name)
        else:
            earlier.setdefault(leaf_of(name), []).append(name)
    for leaf, names in earlier.items():
        # One name for a leaf, or they would double where two ways meet.
        before = f"~{crc32(' '.join(sorted(names)).encode()):08x}" if names != [leaf] else ""
        kept.add(f"{decision}{before} {leaf}")
    return frozenset(kept)


@lru_cache(maxsize=4096)
def decided_again(leaves: frozenset[str], decision: str) -> frozenset[str]:
    """The leaves of a value of an earlier time: what was decided then need not be what is decided now."""
    left = settled(leaves)
    open_ones = frozenset(name for name in left if " " in name)
    return left - open_ones | perhaps(open_ones, decision)


@lru_cache(maxsize=4096)
def one_of(parts: tuple[frozenset[str], ...], decision: str) -> frozenset[str]:
    """The leaves of a value that is one of several: it hangs perhaps on those that not all of them have."""
    found = sure = parts[0].intersection(*parts[1:])
    if decision == ANY_LEAF or any(ANY_LEAF in part for part in parts):
        return settled(_anything(sure.union(*parts), sure))
    for index, part in enumerate(parts):
        if part != sure:
            # To hang on a tensor where the first is taken is not the same as to do so where the second is.
            found |= perhaps(part - sure, f"{decision}/{index}")
    return settled(found)


def _anything(leaves: frozenset[str], sure: frozenset[str]) -> frozenset[str]:
    """The leaves of a value that may hang on any tensor, and perhaps on these, besides those of which that is sure.

    What decides would tell nothing any more, nor would tensors that are not known: without them, sets that say the
    same are equal.
    """
    named = {leaf for leaf in map(leaf_of, leaves) if leaf[0] != ANY_LEAF}
    certain = sure & named
    return frozenset([ANY_LEAF, *certain, *(f"{ANY_LEAF} {leaf}" for leaf in named - certain)])


def settled(leaves: frozenset[str]) -> frozenset[str]:
    """The leaves without the decisions on those that the value hangs on in any case, and few in number.

    Where many decisions have come together, one name stands for those on tensors that are not known; with still too
    many names the value may hang on anything.
    """
    open_ones = [name for name in leaves if name[0] == ANY_LEAF and " " in name]
    done = [name for name in open_ones if leaf_of(name) in leaves]
    left = leaves.difference(done) if done else leaves
    if len(left) <= _MANY:
        return left
    unknown = {name for name in left if name[0] == ANY_LEAF and " " not in name and name != ANY_LEAF}
    if len(unknown) > 1:
        left = left - unknown | {f"{ANY_LEAF}~{crc32(' '.join(sorted(unknown)).encode()):08x}"}
    return left if len(left) <= _MANY else frozenset(name for name in left if name[0] != ANY_LEAF) | {ANY_LEAF}


def place_of_item(index: object) -> str:
    """The name of the decision that picks an item of a container: two items need not hang on the same tensors."""
    return f"[{index!r}]".replace(" ", "")


def are_same(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two values are proved to hang on the same tensors in every run."""
    return ANY_LEAF not in first and settled(first) == settled(second)


def are_sure(leaves: frozenset[str]) -> bool:
    """Whether no run decides anything about them."""
    return not any(name[0] == ANY_LEAF for name in leaves)


def leaf_of(name: str) -> str:
    """The leaf that a name speaks of, without the decision before it."""
    return name.partition(" ")[2] if name[0] == ANY_LEAF and " " in name else name
