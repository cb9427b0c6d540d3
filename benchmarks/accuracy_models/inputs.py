"""What the later groups of models share: random inputs, and models made of functions and classes by their names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from accuracy_models import Built

Draw = Callable[..., torch.Tensor]


def random_inputs(seed: int) -> tuple[Draw, Draw, Draw]:
    """Draws of one generator: normal and uniform ones of a shape, and integers below a number."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=generator)

    def integers(high: int, *shape: int) -> torch.Tensor:
        return torch.randint(0, high, shape, generator=generator)

    return normal, uniform, integers


def models_by_name(get: Callable[[str], Any]) -> tuple[Callable[..., Built], Callable[..., Built]]:
    """How a function and an object of a class become models, where `get` gives what has a dotted path."""

    def called(path: str, *inputs: Any, **options: Any) -> Built:
        function = get(path)
        return (partial(function, **options) if options else function), list(inputs)

    def made(path: str, inputs: list[Any], *given: Any, **options: Any) -> Built:
        return get(path)(*given, **options), inputs

    return called, made


def uses_by_name(get: Callable[[str], Any]) -> tuple[Callable[..., Built], Callable[..., Built]]:
    """How a use of a function or class, and a method of an object, become models."""

    def using(path: str, use: Callable[..., Any], *inputs: Any) -> Built:
        found = get(path)
        return (lambda *x: use(found, *x)), list(inputs)

    def method(path: str, name: str, inputs: list[Any], *given: Any, **options: Any) -> Built:
        return getattr(get(path)(*given, **options), name), inputs

    return using, method


class Later:
    """Models that are built when they are asked for, of what `get` gives for a dotted path.

    What is given as a partial function, as by `of`, is made then, too.
    """

    def __init__(self, get: Callable[[str], Any]) -> None:
        self._get = get
        self._call, self._made = models_by_name(get)

    def of(self, path: str, *given: Any, **options: Any) -> Any:
        """An object that another one is made of."""
        return partial(lambda: self._get(path)(*map(now, given), **{n: now(g) for n, g in options.items()}))

    def lazy(self, path: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
        """A model of a class; `given` are its arguments without a name."""
        given = options.pop("given", ())
        return lambda: self._made(path, [inputs], *map(now, given), **{n: now(g) for n, g in options.items()})

    def fun(self, path: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
        """A call of a function."""
        return lambda: self._call(path, inputs, **options)


def on(made: Any, use: Callable[..., Any], *inputs: Any) -> Callable[[], Built]:
    """A use of an object that is made once."""
    return lambda: held(made(), use, inputs)


def now(given: Any) -> Any:
    """What a partial function gives, and anything else as it is."""
    return given() if isinstance(given, partial) else given


def complex_normal(normal: Draw, *shape: int) -> torch.Tensor:
    """Complex numbers of two normal draws."""
    return torch.complex(normal(*shape), normal(*shape))


def held(made: Any, use: Callable[..., Any], *inputs: Any) -> Built:
    """A use of an object that is made once."""
    return (lambda *x: use(made, *x)), list(inputs)
