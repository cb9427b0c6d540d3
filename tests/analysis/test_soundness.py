"""Random programs are run, and each thing that the analysis says of them is compared with what happens.

Kinds, dtypes, ranks, sameness of shape and dtype, constants, lengths of containers, memory that may be shared, tensors
that get a gradient, and the effects of each statement: random numbers, writes, output, and whether it may fail.
"""

from __future__ import annotations

import math
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from compilefix.analysis.effects import PURE
from compilefix.analysis.infer import Inference

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))
import programs  # noqa: E402
import test_infer  # noqa: E402
import watching  # noqa: E402

settings.register_profile("soundness-ci", max_examples=30, derandomize=True)
settings.register_profile("soundness-nightly", max_examples=2000)
PROFILE = settings.get_profile(
    "soundness-nightly" if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else "soundness-ci"
)

NAMES = ("x", "y", "s", "m", "n", "flag", "k", "o", "u")
SHAPES = ((), (1,), (2,), (2, 2), (2, 1, 2), (0,), (3,), (3, 2))
# An argument that begins to record gradients in the middle of a function is not followed.
EXTRA = [e for e in test_infer.CASES if "requires_grad_" not in e]

_TAKES_TENSOR = re.compile(r"\b(F|torch)\.(?!is_tensor)\w+\(u\b")


def arguments(random: Random, text: str = "") -> tuple[Any, ...]:
    """Arguments for `forward`: tensors of one shape or of several, with and without gradients.

    `u` is a number too, but where the text gives it to a function of torch that takes tensors alone: the analysis takes
    that for a promise of the callers, which a number breaks also where the call is not reached.
    """

    def tensor(shape: tuple[int, ...], dtype: Any, grad: bool) -> Any:
        value = ((torch.arange(math.prod(shape)).reshape(shape) % 3) - 0.5).to(dtype)
        return value.requires_grad_() if grad and dtype.is_floating_point else value

    shape, grad = random.choice(SHAPES), random.random() < 0.5
    floats = [torch.float32] * 4 + [torch.float16, torch.float64]
    dtype = random.choice([*floats, torch.int64, torch.uint8, torch.bool])
    other = random.choice([shape, shape, (), (2, *shape), (2,)])
    return (
        tensor(shape, dtype, grad),
        tensor(other, random.choice([dtype, dtype, torch.float64, torch.float16, torch.int64]), grad),
        tensor((), random.choice([torch.float32, torch.float64, torch.int64]), grad),
        torch.ones(shape, dtype=torch.bool),
        tuple(shape),
        random.random() < 0.5,
        random.choice([2, 1, 3]),
        random.choice([None, tensor(shape, dtype, False)]),
        random.choice([None, tensor(shape, dtype, False), None if _TAKES_TENSOR.search(text) else 1.5]),
    )


def watched(text: str, inputs: list[tuple[Any, ...]]) -> tuple[list[str], int | None, int]:
    """What contradicts a claim, the line that made the first run fail, and how many runs came to an end."""
    program = watching.Program(text)
    failed: int | None = None
    ended = 0
    for index, given_ in enumerate(inputs):
        torch.manual_seed(0)
        watcher = watching.Watcher(program)
        model = watcher.space["Program"](watcher.space["Config"]())
        ended += watcher.run(model, *given_, names=NAMES)
        if watcher.found:
            return watcher.found, failed, ended
        if index == 0 and watcher.failed is not None:
            failed = watcher.failed.lineno
    return [], failed, ended


@settings(PROFILE, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_no_claim_about_a_random_program_is_contradicted(seed: int) -> None:
    random = Random(seed)
    text = programs.program(random, EXTRA)
    inputs = Random(seed + 1)
    for _ in range(6):
        found, failed, _ = watched(text, [arguments(inputs, text), arguments(inputs, text)])
        if found:
            note(text)
        assert not found, found[0]
        # A statement that fails at once goes, so that those after it run.
        shorter = None if failed is None else programs.without(text, failed)
        if shorter is None:
            return
        text = shorter


REGRESSIONS = {
    "a comparison before a search among texts": "v = s < s in ('a', 'b')\nw = s in ('a', 'b')\nreturn v, w",
    "a declared name shares memory": "v: Tensor = x if u is None else u\nw = v\nw.mul_(2)\nreturn v",
    "a dict made by a call": "box = dict(a=y)\nother = box.get('a')\nreturn other",
    "items of a dict are its keys": "box = {'a': x}\nkeys = [v for v in box]\nreturn keys",
    "a list of a dict": "box = dict(a=y)\nkeys = list(box)\nreturn keys",
    "max of a bool and an int": "k1 = max(True, k)\nreturn k1",
    "max of two tensors is one of them": "v = max(s, x.sum())\nw = s + x.sum()\nreturn w",
    "sum of bools": "k1 = sum([True, True])\nreturn k1",
    "minus a bool": "k1 = ~(x.ndim > 0)\nk2 = -flag\nk3 = +(k > 1)\nreturn k1, k2, k3",
    "abs of a bool": "k1 = abs(flag)\nreturn k1",
    "abs of a complex tensor": "v = x * 1j\nw = abs(v)\nreturn w",
    "abs of a tensor that may be complex": "v = y * (1j if flag else 1)\nw = v.abs()\nreturn w",
    "an argument changed by a nested function": "def f():\n    nonlocal x\n    x = y\nf()\nv = x\nreturn v",
    "a nested function returns what is round it": "def f(a: Tensor):\n    return s.expand(1)\nv = f(x)\nreturn v",
    "a name is given again after a lambda": "v = x.sum()\nf = lambda: v * 2\nv = x\nw = f()\nreturn w",
    "a name is given again after a function": "v = s\ndef f():\n    return v * 2\nv = x\nw = f()\nreturn w",
    "all values of a name come before a function": (
        "v = s\nif flag:\n    v = x\ndef f():\n    return v * 2\nw = f()\nreturn w"
    ),
    "an argument is given again before a function": "x = x.sum()\ndef f():\n    return x * 2\nw = f()\nreturn w",
    "a function of an earlier turn": (
        "kept = []\nv = s\nfor i in range(2):\n    v = x if i else s\n    v = v * 2\n"
        "    def f():\n        return v + 1\n"
        "    kept.append(f)\nw = kept[0]()\nreturn w"
    ),
    "another function changes the name": (
        "v = s\nv = v * 2\ndef g():\n    nonlocal v\n    v = x\ndef f():\n    return v * 2\ng()\nw = f()\nreturn w"
    ),
    "unique with inverse and counts": (
        "v = torch.unique(x, return_inverse=True, return_counts=True)\na, b, c = v\nw = torch.unique(x)\n"
        "d = x.unique_consecutive(return_counts=True)\nreturn v"
    ),
    "indices of what is true": (
        "v = torch.where(m)\nw = m.nonzero(as_tuple=True)\na = torch.nonzero(m)\n"
        "for i in v:\n    b = i[:1]\nreturn v, w"
    ),
    "values and indices": (
        "v, i = x.sort(-1)\nw = x.flatten().topk(1)\na, b = x.flatten().sort()\nc = x.flatten()[b]\nd = b[0]\n"
        "return v, w"
    ),
    "a guard on the dimensions": (
        "if x.ndim != 1 and len(y.shape) == 0:\n    return None\nv = x[0]\nif y.dim() != 0:\n    return v\n"
        "w = y + 1\nreturn w"
    ),
    "no list": "u = [x] if flag else x\nif isinstance(u, (list, tuple)):\n    v = u\nelse:\n    w = u\nreturn u",
    "a dict and a list hold their items": (
        "v = y * 2\nbox = {'a': v}\nother = [t for t in (v, x)]\nmore = {c: v for c in 'ab'}\nreturn box, other, more"
    ),
    "a function of a number": "i = len(n)\nif flag:\n    v = torch.full_like(i, 3)\nreturn x",
    "items of tuples that differ": (
        "for i, j in [(torch.ones(1), 1), (s.sum(), 2)]:\n    v = i\nbox = (s * 2,) if flag else (torch.ones(()),)\n"
        "w = box[0]\nreturn v, w"
    ),
    "max of what may be no number": (
        "v = s\ntry:\n    v = y\nexcept RuntimeError:\n    pass\nw = torch.max(s, v if flag else s)\nreturn w"
    ),
    "an item or what is given instead": (
        "box = {'k': k}\nv = box.get('a', x)\nw = box.pop('b', y)\nu = box.setdefault('c', s)\nreturn v, w, u"
    ),
    "a copied list under two names grows in a loop": (
        "*a, b = x, y.sum()\nfor i in self.blocks:\n    box = list(a)\n    other = box\n    other.append(s)\n"
        "    v = box[0]\nreturn v"
    ),
    "a mask that is a number": "if flag:\n    return x\nv = x.masked_fill(s.dim() > 0, 1)\nreturn v",
    "to a number on some turns": (
        "for i in (1, 2):\n    v = s.to(y)\n    if flag:\n        return v\n    y = k\nreturn v"
    ),
    "out of another shape": "s = y * 1\ntorch.add(x.detach(), 1, out=s)\nw = s\nreturn w",
    "a list under two names": "box = [x, x]\nother = box\nother.append(None)\nv = box[-1]\nreturn v",
    "a list grows at the front": "box = [k, k]\nbox.insert(0, x)\nv = box[0]\nreturn v",
    "an item is deleted": "box = [k, x]\ndel box[0]\nv = box[0]\nreturn v",
    "a list is multiplied in place": "box = [x]\nbox *= 2\nv = len(box)\nw = box[1]\nreturn w",
    "a function changes a list": "box = [x]\ndef f(b):\n    b.append(1)\nf(box)\nv = box[-1]\nreturn v",
    "a nested function changes a list": "box = [x]\ndef f():\n    box.append(1)\nf()\nv = box[-1]\nreturn v",
    "a list in an attribute": "self.items.append(x)\nv = self.items[0]\nreturn v",
    "an attribute that two methods assign": "v = self.cache\nself.remember(x)\nw = self.cache\nw.mul_(2)\nreturn w",
    "an attribute assigned in a loop": "for block in self.blocks:\n    v = self.cache\n    self.cache = x\nreturn v",
    "in place by a keyword": "v = F.relu(x * 1, inplace=True)\nw = v\nreturn w",
    "in place by position": "v = x.detach().clone()\nw = F.relu(v, True)\nw.mul_(2)\nreturn v",
    "out": "v = y.detach().clone()\nw = torch.add(v, 1, out=v)\nreturn w",
    "data of another": "v = x.clone()\nv.data = y.data\nw = v\nreturn w",
    "set_": "v = x.detach().clone()\nv.set_(y.detach())\nw = v\nreturn w",
    "a parameter of another module": "v = x.sum() * self.sub.w\nw = x.sum() * self.blocks[0].w\nreturn v + w",
    "a property of another module": "v = self.sub.twice\nw = v * 2\nreturn w",
    "an item of a list that differ": "for i, j in zip([x, torch.tensor(2.0)], (1, 2)):\n    v = i\nw = x\nreturn v",
    "an activation of integers": "v = self.act(torch.arange(3))\nreturn v",
    "no gradients": "with torch.no_grad():\n    v = x[None]\nw = x[None]\nreturn w",
    "after an exception": "v = x\ntry:\n    v = y\n    v = y.view(7, 7, 7)\nexcept RuntimeError:\n    pass\nreturn v",
    "finally after an exception": (
        "v = x\ntry:\n    try:\n        v = y.view(7, 7, 7)\n        v = None\n    finally:\n        w = v\n"
        "except RuntimeError:\n    pass\nreturn v"
    ),
    "gather from a tensor without dimensions": "v = torch.tensor(1).gather(0, torch.zeros(2).long())\nreturn v",
    "in place on what may be a number": "for i in (1, x.detach().clone()):\n    v = i\n    i *= 2\n    w = i\nreturn w",
    "getattr": "v = getattr(self, 'b')\nv.mul_(2)\nreturn v",
    "every turn ends early": "i = 0\nwhile i < 3:\n    i += 1\n    continue\nv = i\nreturn v",
    "the else of a loop with a break": (
        "for v in [s, s]:\n    if flag:\n        break\nelse:\n    v = s * 2\nw = v\nreturn w"
    ),
    "the rest of what is unpacked": "a, *rest = x, s\nrest += rest\nv = rest[0]\nreturn v",
    "a list takes the items of a tensor": "a, *rest = x, s\nrest += torch.ones(2)\nreturn rest",
    "a number that is read on one way": (
        "k1 = min(s.tolist() if s.dim() == 0 else 1, 1)\nk2 = (s.tolist() if s.dim() == 0 else 1) * k\n"
        "k3 = (s.tolist() if s.dim() == 0 else 1) > 0\nk4 = not (s.tolist() if s.dim() == 0 else 1)\nreturn k1, k2"
    ),
    "other memory before an exception": (
        "try:\n    s.data = x.flatten()[0]\n    y.view(7, 7, 7)\nexcept (RuntimeError, IndexError):\n    w = s\n"
        "    v = w * 2\nreturn x"
    ),
    "another shape before an exception": (
        "v = y + 1\ntry:\n    y.resize_(1)\n    y.view(7, 7, 7)\nexcept RuntimeError:\n    w = y\n    v = w * 2\n"
        "return v"
    ),
    "another shape under two names": "v = x.clone()\nw = v\nz = v + 1\nw.unsqueeze_(0)\na = v\nreturn z",
    "other memory under two names": "v = x.detach()\nw = v\nw.set_(y.detach())\na = v\nreturn a",
    "results with and without gradients": "with torch.no_grad():\n    a, b = pair(x)\nw = a\nreturn w, b",
    "results of a function of which one is detached": (
        "def f(t: Tensor):\n    return t * 2, t.detach()\na, b = f(x)\nw = a\nreturn w, b"
    ),
    "memory read as integers": "v = s.float().view(torch.int32)\nw = v.to(torch.float32)\nz = s * 2\nreturn w",
    "in double precision": "v = torch.arange(3).float_power(2)\nw = x.float_power(2)\nreturn v",
    "a list of tensors of at least one dimension": (
        "*v, w = x.flatten().float().topk(1)\na = torch.atleast_1d(v)\nreturn a"
    ),
    "a nested function writes into what is round it": (
        "v = s.detach()\ndef f(t: Tensor):\n    v.add_(1)\n    return t\nw = f(x)\nreturn w"
    ),
    "what a nested function changes is like nothing": (
        "v = torch.ones_like(y)\ndef f(a: Tensor):\n    nonlocal y\n    y = a[None]\n    return a\nw = f(x)\nz = v\n"
        "return z"
    ),
    "a name that is None or a number": "v = 2.0 if flag else None\nw = v if v is not None else x\nreturn w",
    "an error ends a block that keeps it to itself": (
        "import contextlib\nz = 3\nwith contextlib.suppress(ValueError):\n    z = x\n    if flag:\n"
        "        raise ValueError\n    z = s.sum()\nw = z\nreturn w"
    ),
    "what is behind a block that keeps errors to itself runs": (
        "import contextlib\nwith contextlib.suppress(ValueError):\n    if flag:\n        raise ValueError\n"
        "    return x\nx.detach().add_(0)\nreturn y"
    ),
    "a declared name keeps its value": "z = 3\nz: Tensor\nw = z\nreturn w",
    "a pattern binds where its guard fails": (
        "z = 3\nmatch k:\n    case z if z > 9:\n        w = z\n    case _:\n        w = x\nv = z\nreturn v"
    ),
    "a finally on the way to the next turn": (
        "z = 3\nfor i in range(2):\n    try:\n        if flag:\n            continue\n        z = x\n    finally:\n"
        "        z = s\n    z = None\nw = z\nreturn w"
    ),
    "a finally on the way out of a loop": (
        "z = None\nfor i in range(3):\n    try:\n        z = x\n        if flag:\n            break\n        z = 3\n"
        "    finally:\n        z = s\nw = z\nreturn w"
    ),
    "a lambda gives its default": "g = lambda a=x: a\nw = g()\nreturn w",
    "a nested function gives its default": "def g(a=x, *, b=s):\n    return a, b\nw, v = g()\nreturn w",
    "a default is made once": (
        "def g(a, seen=[]):\n    seen.append(a)\n    return seen\nv = g(x)\nw = g(y)[0]\nreturn w"
    ),
    "real numbers of complex ones": (
        "v = torch.complex(x.float(), x.float())\na = v.abs()\nb = abs(v)\nc = v.real\nd = torch.exp(v)\n"
        "e = v.angle()\nf = torch.sqrt(v)\ng = d.abs()\nh = v.std()\nreturn a"
    ),
    "a gradient may be None": "v = self.p.grad\nw = v\nreturn w",
    "a power below zero": "a = k ** -1\nb = pow(k, -1)\nc = 2 ** -k\nreturn a",
    "bits of bools": "a = flag & (k > 1)\nb = flag | flag\nc = flag ^ True\nreturn a",
    "a text that shows a shape": "a = '%s' % x.shape[0:1]\nb = '%s' % x\nreturn a",
}

MAY_FAIL = (
    "self.stack(y)",
    "bool(x)",
    "float(x)",
    "list(x)",
    "x.split(1)[0]",
    "x.chunk(2)",
    "x.unbind(0)",
    "x[..., :1]",
    "x[:1]",
    "x.shape[0]",
    "x or y",
    "x and y",
    "not x",
    "x.mT",
    "self.lin(x)",
    "self.norm(x)",
    "torch.cat([x, y])",
    "F.pad(x, (0, 1))",
    "x.softmax(1)",
    "x.cumsum(2)",
    "halved(x + y)",
    "x.bitwise_not()",
    "x & x",
    "torch.maximum(n, x)",
    "[v for v in x]",
    "list(x.shape)[1]",
    "max(x, y)",
    "u * 2",
    "o + 1",
    "sum([x, y])",
    "self.drop(x.mT)",
    "added(x, y)",
    "x.max()",
    "x.mean()",
    "-x",
    "1 < x < 2",
    "{'a': x}['b']",
    "x.shape * 0.5",
    "x.shape > s",
    "self.sub > 0",
    "x.type_as(flag)",
    "(x if flag else 2).bitwise_not()",
    "(x if flag else 2).abs()",
)


def body(text: str) -> str:
    """A program whose `forward` has this body."""
    return programs.HEAD + "".join(f"        {line}\n" for line in text.splitlines())


OWN_CLASSES = {
    "an object says what an operator does": (
        "class Own:\n    def __add__(self, o):\n        return o\n    def __iadd__(self, o):\n        return 3\n"
        "    def __getitem__(self, i):\n        return i\n    def __lt__(self, o):\n        return o\n",
        "a = Own()\nw = a[x]\nv = a + s\nu1 = a < x\na += x\nb = a\nreturn w",
    ),
    "an attribute hides a method": (
        "class Own:\n    def __init__(self):\n        self.f = lambda t: 3\n    def f(self, t):\n        return t\n",
        "w = Own().f(x)\nreturn w",
    ),
    "a class makes something else": (
        "class Own:\n    def __new__(cls, t):\n        return t\n",
        "w = Own(x)\nreturn w",
    ),
    "two classes inherit a third": (
        "class A:\n    def f(self, t):\n        return t\nclass B(A):\n    pass\nclass C(A):\n"
        "    def f(self, t):\n        return 3\nclass Own(B, C):\n    pass\n",
        "w = Own().f(x)\nreturn w",
    ),
    "a context manager keeps errors to itself": (
        "class Own:\n    def __enter__(self):\n        return self\n    def __exit__(self, *a):\n        return True\n",
        "z = 2\nwith Own():\n    z = x\n    if flag:\n        raise ValueError\n    z = s.sum()\nw = z\nreturn w",
    ),
    "a generator keeps errors to itself": (
        "import contextlib\n@contextlib.contextmanager\ndef own():\n    try:\n        yield\n    except ValueError:\n"
        "        pass\n",
        "z = 2\nwith own():\n    z = x\n    if flag:\n        raise ValueError\n    z = s.sum()\nw = z\nreturn w",
    ),
    "a number is set from outside": (
        "class Own:\n    def __init__(self):\n        self.scale = 2\n\n\ndef change(own, t):\n    own.scale = t\n",
        "own = Own()\nchange(own, 0.5)\nw = own.scale\nreturn w",
    ),
    "a declared attribute may be None": (
        "@dataclasses.dataclass\nclass Own:\n    a: Tensor = None\n",
        "w = Own().a\nv = Own(x).a\nreturn w",
    ),
}


@pytest.mark.parametrize("name", OWN_CLASSES)
def test_a_claim_about_classes_of_the_project_holds(name: str) -> None:
    classes, lines = OWN_CLASSES[name]
    text = body(lines).replace("\n\nclass Sub(", f"\n\n{classes}\n\nclass Sub(", 1)
    found, _, ended = watched(text, [arguments(Random(seed)) for seed in range(12)])
    assert not found, found[0]
    assert ended > 0, "it never came to an end"


@pytest.mark.parametrize("name", REGRESSIONS)
def test_a_claim_that_was_wrong_once_holds(name: str) -> None:
    found, _, ended = watched(body(REGRESSIONS[name]), [arguments(Random(seed)) for seed in range(12)])
    assert not found, found[0]
    assert ended > 0, "it never came to an end"


@pytest.mark.parametrize("expression", MAY_FAIL)
def test_what_fails_for_some_tensors_is_not_said_to_be_safe_to_evaluate(expression: str) -> None:
    text = body(f"v = {expression}\nreturn v").replace(
        "def halved", "def added(t: Tensor, w: Tensor):\n    return t + w\n\n\ndef halved", 1
    )
    program = watching.Program(text)
    facts = next(f for f in program.facts.values() if f.function.qualname == "Program.forward")
    statement = facts.function.node.body[0]
    assert list(program.legality.both_evaluated([statement.value], facts))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "expression", ["x * 2.0", "x + 1", "torch.zeros_like(x)", "x.sum()", "halved(x)", "x.detach()"]
)
def test_what_cannot_fail_is_said_so(expression: str) -> None:
    program = watching.Program(body(f"v = {expression}\nreturn v"))
    facts = next(f for f in program.facts.values() if f.function.qualname == "Program.forward")
    statement = facts.function.node.body[0]
    assert not list(program.legality.both_evaluated([statement.value], facts))  # type: ignore[attr-defined]


@pytest.mark.parametrize(("key", "named"), [("noting", True), ("lambda n: -n", False), ("None", False)])
def test_a_function_that_sorts_is_said_to_be_called(key: str, named: bool) -> None:
    noting = "NOTED = []\n\n\ndef noting(n):\n    NOTED.append(n)\n    return n\n\n\ndef halved"
    text = body(f"v = sorted((3, 2), key={key})\nreturn x").replace("def halved", noting, 1)
    program = watching.Program(text)
    facts = next(f for f in program.facts.values() if f.function.qualname == "Program.forward")
    statement = facts.function.node.body[0]
    found = program.legality.both_evaluated([statement.value], facts)  # type: ignore[attr-defined]
    assert any("`noting` is not known" in obstacle.reason for obstacle in found) == named


def test_facts_do_not_hang_on_the_order_in_which_they_are_asked_for() -> None:
    text = body("v = self.cache\nreturn v")
    program = watching.Program(text)
    other = watching.Program(text)
    facts = next(f for f in other.facts.values() if f.function.qualname == "Program.forward")
    backwards = Inference(other.legality.inference.project)
    again = {f.qualname: backwards.facts(f) for f in reversed(other.functions())}
    for one in program.facts.values():
        shown = {(n.lineno, n.col_offset, type(n).__name__): v for n, v in one.values.items() if hasattr(n, "lineno")}
        two = again[one.function.qualname]
        same = {(n.lineno, n.col_offset, type(n).__name__): v for n, v in two.values.items() if hasattr(n, "lineno")}
        assert shown == same
    assert facts.returns.kinds == again["Program.forward"].returns.kinds


WRONG = {
    "kind": lambda v: replace(v, kinds=frozenset({watching.Kind.STATIC})),
    "dtype": lambda v: replace(v, dtype="complex"),
    "rank": lambda v: replace(v, rank=7),
    "memory": lambda v: replace(v, storage=frozenset({"elsewhere"})),
    "leaves": lambda v: replace(v, leaves=frozenset({"y"})),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_claim_is_seen(what: str) -> None:
    program = watching.Program(body("v = x.view(-1)\nw = v\nreturn v"))
    inputs = (torch.ones(2, requires_grad=True), *arguments(Random(1))[1:])
    for facts in program.facts.values():
        for env in facts.env_before.values():
            if "v" in env:
                env["v"] = WRONG[what](env["v"])
    watcher = watching.Watcher(program)
    watcher.run(watcher.space["Program"](watcher.space["Config"]()), *inputs, names=NAMES)
    assert watcher.found


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("x.mul_(2)", "changed"),
        ("v = x * torch.rand(())", "random"),
        ("print(1)", "printed"),
        ("self.count = 5", "changed"),
        ("self.items.append(1)", "changed"),
    ],
)
def test_a_missing_effect_is_seen(statement: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = watching.Program(body(f"{statement}\nreturn x"))
    monkeypatch.setattr(program.legality.effects, "_of_node", lambda node, facts: PURE)
    watcher = watching.Watcher(program)
    inputs = (torch.ones(2), *arguments(Random(1))[1:])
    watcher.run(watcher.space["Program"](watcher.space["Config"]()), *inputs, names=NAMES)
    assert any(said in text for text in watcher.found)
