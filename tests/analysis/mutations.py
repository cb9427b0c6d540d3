# ruff: noqa: E501
"""Programs made from real ones by cutting, doubling and moving parts, and odd pieces of Python to put in."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]

ODD = (
    "from x import *\nfrom .y import *\nfrom . import z",
    "torch = None\nprint = torch\nlen = [1].append",
    "import torch as nn, nn as torch",
    "def f(x): return f(f(x))\ndef g(x): return h(x)\ndef h(x): return g(x)",
    "class A(B): pass\nclass B(A):\n    def forward(self, x): return super().forward(x)",
    "class C(C):\n    def forward(self, x): return self.forward(self(x))",
    "class D(torch.nn.Module):\n    def __init__(self):\n        self.x = self.x\n        self.y = self.z\n        self.z = self.y\n    def forward(self, t): return self.x(self.y(t))",
    "a = a\nb = c\nc = b\nd: d = d",
    "class E:\n    class E:\n        class E:\n            def forward(self, x): return E.E.E().forward(x)",
    "def outer(x):\n    def inner():\n        nonlocal x\n        global y\n        x = y = x\n        class Local:\n            def f(self): return x if self.f() else y\n        return Local\n    return inner",
    "async def run(x):\n    async with x as y, y as z:\n        async for i in z:\n            await i\n        return [i async for i in x if await i]",
    "def walrus(x):\n    while (n := x.sum()) > 0 and (m := (n := n - 1)): x = x[:(k := 1)]\n    return [y := 1, y**2, (lambda: (z := y))()]",
    "def matched(x):\n    match x:\n        case {'a': [1, *rest], **other} if rest: return rest\n        case torch.Size((a, b)) | [a, b]: return a\n        case str() as s: return s\n        case -1 | 1.5 | None: return x\n        case _: pass",
    "def stars(*args, a=1, **kw):\n    x, *y = args\n    *x, (y, [z, *w]) = *args, *[*x, *y]\n    return f(*x, *y, **kw, **{**kw})",
    "ünïcödé = 'ж'\ndef 数(𝔁: 'Tensor' = ünïcödé): return 𝔁.sum() if 𝔁 else f'{𝔁!r:>{10}} {数(𝔁)=}'",
    "def commented(x):\n    # type: (Tensor) -> Tensor\n    y = []  # type: List[Tensor]\n    return x",
    "@f\n@torch.compile\n@(lambda g: g)\n@a.b[0](c)\ndef decorated(x, /, y, *, z): return x if x.any() else y",
    "def generator(x):\n    y = yield x\n    yield from generator(y)\n    return (yield)",
    "def raising(x):\n    try:\n        raise\n    except (A, B) as e: del e\n    except: raise x from e\n    else: return\n    finally: assert x, e",
    "def deleted(x):\n    del x, x[0], x.y\n    return x",
    "def loops(x):\n    for x in x:\n        for x[0] in x:\n            for x.y, (z, *w) in x: break\n            else: continue\n        else: return x\n    while x: x = x\n    else: del x",
    "x = lambda *a, b=lambda: x, **c: (lambda: x)()",
    "import torch\n@torch.compile\ndef t(x):\n    if x.sum() > 0: x = x if x.any() else t\n    return t(x) if x.item() else print(x)",
    "def shadow(torch, F, self, Tensor, x: Tensor):\n    torch.sum = F\n    self = self.self\n    if torch.sum(x) > 0: x = F.relu(x)\n    return self(x)",
    "class Meta(type, metaclass=Meta):\n    __call__ = __init__ = forward = property(lambda self: self)\n    @property\n    def p(self): return self.p\n    @p.setter\n    def p(self, v): self.p = v",
    "def nested(x):\n    def a(x):\n        def b(x):\n            def c(x): return a(b(c(x)))\n            return c(x)\n        return b(x)\n    return a(x)",
    "import torch.nn as nn\nclass nn(nn.Module):\n    class Module(nn.Module): pass\n    def forward(self, x): return x",
    "if x:\n    def twice(): return 1\nelse:\n    def twice(a, b): return twice(b)",
    "def same(x, y):\n    x = y = x, y = y, x\n    x[y], y[x] = y[x], x[y]\n    x += x\n    (x) = (y)\n    return x",
    "with open(x) as a, b as (c, d), e as f.g, h as i[0]: pass",
    "def ellipsis(x=..., *, y: ... = ...) -> ...: ...",
    "class Own:\n    def __add__(self, x): return self\nKinds = (Own, Kinds)\nMore = More | Own\ndef asked(x: torch.Tensor):\n    return x + x if isinstance(x, More) or isinstance(x, Kinds) else x.item()",
    "import torch\nMAJOR = int(PARTS[0])\nPARTS = PARTS[:2]\nPARTS = torch.__version__.split('.')\nOLD = OLD\ndef old(x):\n    global OLD, PARTS\n    OLD, (PARTS, *PARTS) = MAJOR < 1, x\n    if OLD or (1, 8) > PARTS < MAJOR: return x[x > 0]",
    "def dead(x: torch.Tensor, m: torch.BoolTensor, a, b):\n    y = x[m]\n    y = y * 2\n    if a:\n        return x\n        if b: y = y + 1\n    elif b: y = y * b\n    return y.mean()",
    "global q\nq: int\ndef qq():\n    global q\n    q = q.item() if q else q",
)
NEWER = (
    "type Alias[T: (int, str), *Ts, **P] = dict[T, Alias[T]]",
    "class G[T]:\n    def forward[U](self, x: T, y: U) -> T: return x if x.any() else y",
    "def grouped(x):\n    try: x()\n    except* ValueError as e: x = e",
)
"""Syntax of Python 3.11 and 3.12."""


def parses(text: str) -> bool:
    """Whether this Python can read the text."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def sources() -> list[str]:
    """Real files to change: fixtures, models, and modules of compilefix itself."""
    paths = [
        *sorted((ROOT / "fixtures" / "rules").glob("*/*.before.py")),
        *sorted((ROOT / "fixtures" / "models").glob("*.py")),
        *sorted((ROOT / "compilefix" / "analysis").glob("*.py")),
    ]
    return [path.read_text(encoding="utf-8") for path in paths]


def tokens(text: str) -> list[tuple[int, int]]:
    """The stretches of text that are tokens."""
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.string.strip():
                found.append((lines[token.start[0] - 1] + token.start[1], lines[token.end[0] - 1] + token.end[1]))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass
    return found


def mutated(random: Random, texts: Sequence[str]) -> str:
    """A real file with a few changes; the last change that still parses counts."""
    text = random.choice(texts)
    for _ in range(random.randint(1, 12)):
        changed = random.choice(CHANGES)(random, text)
        if changed.strip() and parses(changed):
            text = changed
    return text


def _drop_token(random: Random, text: str) -> str:
    found = tokens(text)
    if not found:
        return text
    start, end = random.choice(found)
    return text[:start] + text[end:]


def _double_token(random: Random, text: str) -> str:
    found = tokens(text)
    if not found:
        return text
    start, end = random.choice(found)
    return text[:end] + " " + text[start:end] + text[end:]


def _swap_tokens(random: Random, text: str) -> str:
    found = tokens(text)
    if len(found) < 2:
        return text
    (a, b), (c, d) = sorted(random.sample(found, 2))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _drop_line(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    del lines[random.randrange(len(lines)) : random.randrange(len(lines)) + 1]
    return "".join(lines)


def _double_line(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = random.randrange(len(lines))
    lines.insert(random.choice((at, random.randrange(len(lines)))), lines[at])
    return "".join(lines)


def _swap_lines(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return "".join(lines)


def _rename(random: Random, text: str) -> str:
    names = sorted({text[a:b] for a, b in tokens(text) if text[a:b].isidentifier()})
    if len(names) < 2:
        return text
    old, new = random.sample(names, 2)
    return "".join(_renamed(text, old, new))


def _renamed(text: str, old: str, new: str) -> list[str]:
    parts, last = [], 0
    for start, end in tokens(text):
        parts.append(text[last:start])
        parts.append(new if text[start:end] == old else text[start:end])
        last = end
    return [*parts, text[last:]]


def _odd_piece(random: Random, text: str) -> str:
    return random.choice((f"{text}\n{random.choice(ODD)}\n", f"{random.choice(ODD)}\n{text}"))


def _odd_inside(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = random.randrange(len(lines))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    piece = "".join(f"{indent}{line}\n" for line in random.choice(ODD).splitlines())
    return "".join([*lines[:at], piece, *lines[at:]])


def _deeper(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = random.randrange(len(lines))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())].rstrip("\n")
    words = ("if x.sum() > 0:", "for x in x:", "while x:", "with x:", "def f(x):", "class K:")
    depth = random.randint(1, 15)
    nested = [f"{indent}{'    ' * i}{random.choice(words)}\n" for i in range(depth)]
    return "".join([*lines[:at], *nested, indent + "    " * depth + "pass\n", *lines[at:]])


def _replaced(random: Random, text: str) -> str:
    found = [(a, b) for a, b in tokens(text) if text[a:b].isidentifier()]
    if not found:
        return text
    start, end = random.choice(found)
    new = random.choice(
        ("(x if x else y)", "x.item()", "(lambda: x)", "[x for x in x]", "(y := x)", "x[0]", "-x", "...", "ünï")
    )
    return text[:start] + new + text[end:]


CHANGES = (
    _drop_token,
    _double_token,
    _swap_tokens,
    _drop_line,
    _double_line,
    _swap_lines,
    _rename,
    _odd_piece,
    _odd_inside,
    _deeper,
    _replaced,
)
