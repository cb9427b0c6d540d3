"""Two reads of one container: which item an index or a loop names hangs on what happened to the container between."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import rewritten  # noqa: E402

HEAD = """
import contextlib

import torch


class Holder:
    def drop(self):
        self.l.pop(0)


def chosen(x: torch.FloatTensor, l: list[torch.FloatTensor], first: int):
"""
TWO = {
    "the first is taken out": """
    a = l[0]
    l.pop(0)
    b = l[0]
""",
    "the first is deleted": """
    a = l[0]
    del l[0]
    b = l[0]
""",
    "turned round in place": """
    a = l[0]
    l.reverse()
    b = l[0]
""",
    "turned round": """
    a = l[0]
    b = list(reversed(l))[0]
""",
    "sorted": """
    a = l[0]
    b = sorted(l, key=lambda t: -t.numel() - t.stride(0))[0] if first else list(reversed(l))[0]
""",
    "another list under the name": """
    a = l[0]
    l = l[1:]
    b = l[0]
""",
    "a part with steps": """
    a = l[0]
    b = l[::-1][0]
""",
    "parts by a number that changes": """
    a = l[first:][0]
    first = first + 1
    b = l[first:][0]
""",
    "an item is put in front": """
    a = l[0]
    l.insert(0, l[1])
    b = l[0]
""",
    "an item is put at the end": """
    a = l[-1]
    l.append(l[0])
    b = l[-1]
""",
    "an item is put over another": """
    a = l[0]
    l[0] = l[1]
    b = l[0]
""",
    "a list of the others": """
    a = l[0]
    l = [t for t in l[1:]]
    b = l[0]
""",
    "a list of some": """
    a = l[0]
    b = [t for t in l if t is not a][0]
""",
    "all of them and some": """
    a = torch.stack(l)
    b = torch.stack(l[1:])
""",
    "the last of a loop and the first of another": """
    for a in l:
        pass
    for b in l:
        break
""",
    "what a loop made of its last": """
    for t in l:
        a = t * 2
    b = [u for u in l][0] * 2
""",
    "the last turn's item": """
    for t in l:
        if t is not l[0]:
            b = t
            break
        a = t
""",
    "the last turn's item and the one before": """
    for i, t in enumerate(l):
        if i > 0:
            a = b
        b = t
""",
    "as before, from None": """
    a = b = None
    for t in l:
        a = b
        b = t
""",
    "as before, while there are more": """
    a = b = x
    while l:
        a = b
        b = l.pop()
""",
    "taken out before an exception": """
    a = l[0]
    try:
        l.pop(0)
        raise ValueError
    except ValueError:
        b = l[0]
""",
    "taken out before an exception that is passed over": """
    a = l[0]
    with contextlib.suppress(KeyError):
        l.pop(0)
        raise KeyError
    b = l[0]
""",
    "written into before an exception": """
    a = l[1] * 1
    b = a.clone()
    try:
        a.mul_(l[0])
        raise KeyError
    except KeyError:
        pass
""",
    "written into before an exception that is passed over": """
    a = l[1] * 1
    b = a.clone()
    with contextlib.suppress(KeyError):
        a.mul_(l[0])
        raise KeyError
""",
    "taken out before a finally": """
    a = l[0]
    while True:
        try:
            l.pop(0)
            break
        finally:
            l.append(a)
    b = l[0]
""",
    "taken out in a comprehension": """
    a = l[0]
    [l.pop(0) for _ in range(1)]
    b = l[0]
""",
    "taken out in a conditional expression": """
    a = l[0]
    l.pop(0) if first == 0 else None
    b = l[0]
""",
    "turned round behind or": """
    a = l[0]
    first or l.reverse()
    b = l[0]
""",
    "taken out in a chain of comparisons": """
    a = l[0]
    0 < 1 < len(l.pop(0))
    b = l[0]
""",
    "the largest by two keys": """
    a = max(l, key=lambda t: t is l[0])
    b = max(l, key=lambda t: t is l[1])
""",
    "what is kept in a dictionary": """
    kept = {'l': l}
    a = l[0]
    kept.get('l').pop(0)
    b = l[0]
""",
    "a view of a dictionary": """
    kept = {'p': l[0], 'q': l[1]}
    view = kept.values()
    a = list(view)[0]
    kept.pop('p')
    b = list(view)[0]
""",
    "a view of pairs": """
    kept = {'p': l[0], 'q': l[1]}
    view = kept.items()
    a = list(view)[0][1]
    kept.pop('p')
    b = list(view)[0][1]
""",
    "counted later": """
    counted = enumerate(l)
    a = l[0]
    l.pop(0)
    b = list(counted)[0][1]
""",
    "an attribute of another object": """
    holder = Holder()
    holder.l = l
    a = l[0]
    holder.drop()
    b = l[0]
""",
    "an item of an attribute of another object": """
    holder = Holder()
    holder.l = l
    a = l[0]
    holder.l[0] = l[1]
    b = l[0]
""",
    "an attribute of another object grows": """
    holder = Holder()
    holder.l = l
    a = l[-1]
    holder.l += l[:1]
    b = l[-1]
""",
    "an attribute of an object made here": """
    class Own:
        pass

    holder = Own()
    holder.l = l
    a = l[0]
    holder.l.pop(0)
    b = l[0]
""",
    "a nested function puts an item": """
    def put():
        kept[0] = l[1]

    kept = [l[0], l[1]]
    a = kept[0]
    put()
    b = kept[0]
""",
    "a lambda turns it round": """
    kept = [l[0], l[1]]
    a = kept[0]
    turn = lambda: kept.reverse()
    turn()
    b = kept[0]
""",
}
IN_PLACE = {
    "a loop behind a loop": """
    for a in l:
        pass
    for b in l:
        if x.sum() > 0:
            x = x * a.sum()
        else:
            x = x * b.sum()
        break
    return x
""",
    "two loops of one comprehension": """
    return [x * a.sum() if x.sum() > 0 else x * b.sum() for a in l for b in l][1]
""",
    "a comprehension in a loop": """
    for a in l:
        made = [x * a.sum() if x.sum() > 0 else x * b.sum() for b in l]
        break
    return made[1]
""",
}
END = """
    if x.sum() > 0:
        x = x * a.sum()
    else:
        x = x * b.sum()
    return x
"""
SAME = {
    "an item": "    return x * l[0].sum() if x.sum() > 0 else x + l[0].sum()\n",
    "the last": "    return x * l[-1].sum() if x.sum() > 0 else x + l[-1].sum()\n",
    "a part": "    return x * torch.stack(l[1:]).sum() if x.sum() > 0 else x + torch.stack(l[1:]).sum()\n",
    "a copy": "    a = l[0]\n    l = l[:]\n    return x * l[0].sum() if x.sum() > 0 else x + a.sum()\n",
    "a loop's item": "    for a in l:\n        x = x * a.sum() if x.sum() > 0 else x + a.sum()\n    return x\n",
    "all": "    return x * torch.stack(l).sum() if x.sum() > 0 else x + sum(t.sum() for t in l)\n",
}


def _gradients(text: str, sign: float) -> list[bool]:
    """Which items have a gradient."""
    program: dict[str, object] = {"__name__": "program"}
    exec(text, program)
    items = [torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)]
    program["chosen"](sign * torch.ones(3), list(items), 0).sum().backward()  # type: ignore[operator]
    return [item.grad is not None for item in items]


def _asks(text: str) -> list[bool]:
    found = rewritten(Path("/nowhere/program.py"), text, None).findings
    conditions = [finding for finding in found if finding.code in ("CF101", "CF102")]
    return [one.fix is not None and "gradient-zeros" not in one.fix.assumptions for one in conditions]


@pytest.mark.parametrize("body", [*(part + END for part in TWO.values()), *IN_PLACE.values()], ids=[*TWO, *IN_PLACE])
def test_a_fix_does_not_give_the_other_item_a_gradient_unasked(body: str) -> None:
    assert _gradients(HEAD + body, 1.0) != _gradients(HEAD + body, -1.0)
    assert _asks(HEAD + body) == [False]


@pytest.mark.parametrize("body", SAME.values(), ids=SAME)
def test_the_same_items_on_both_sides_ask_for_nothing(body: str) -> None:
    assert _gradients(HEAD + body, 1.0) == _gradients(HEAD + body, -1.0)
    assert _asks(HEAD + body) == [True]
