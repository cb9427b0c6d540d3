"""Text of whole programs: eager as written against compiled as rewritten, byte for byte."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
testing = pytest.importorskip("torch._dynamo.testing")

PROGRAM = """\
import functools
import logging
import sys
import time
import warnings

import torch
from torch import nn

logger = logging.getLogger("compilefix.log_programs")
logger.setLevel(logging.INFO)
own = logging.getLogger("compilefix.log_programs.own")


@functools.lru_cache(maxsize=None)
def info_once(text):
    logger.info("once: %s", text)


def report(tag: str, value: torch.Tensor, *rest):
    print(tag, f"{value.mean().item():.3f}", *rest)
    sys.stdout.write("<{}>\\n".format(tag))


class Block(nn.Module):
    def __init__(self, index: int):
        super().__init__()
        self.index = index
        self.linear = nn.Linear(4, 4)
        with torch.no_grad():  # numbers without rounding, whatever the order of a sum
            self.linear.weight.copy_(torch.eye(4) * 0.5 + 0.25)
            self.linear.bias.fill_(0.5)
        self.last = 0.0

    def forward(self, x: torch.Tensor, fail: bool):
        start = time.perf_counter()
        info_once(f"block {self.index}")
        logger.debug("never %s", x.sum().item())
        x = self.linear(x) + 0.5
        logger.info("%d in %.4f", self.index, x.mean().item())
        report("mid", x, tuple(x.shape))
        seen = x.detach()
        print("before", seen, file=sys.stdout)
        own.warning("after %s of %s", seen.max().item(), seen)
        seen.mul_(0.5)
        warnings.warn(f"rank {x.dim()} of {self.index}", UserWarning)
        if fail and self.index == 1:
            print("about to stop")
            raise ValueError(f"stopped in {self.index}")
        self.last = x.sum().item()
        elapsed = time.perf_counter() - start
        return x * 1.0


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(0), Block(1), Block(2)])

    def forward(self, x: torch.Tensor, fail: bool = False):
        print("begin", x.shape[0])
        for block in self.blocks:
            x = block(x, fail)
        logger.info(f"end {x.sum().item():.5f}")
        return x
"""
ALLOWED = ("log-late", "state-late")
INPUTS = [torch.arange(-4.0, 4.0).reshape(2, 4) * n for n in range(1, 4)]


@pytest.fixture
def programs(project: Any) -> tuple[Any, Any, Any]:
    return project(PROGRAM, ALLOWED)  # type: ignore[no-any-return]


def text_of(called: Callable[..., Any], fail: bool = False) -> str:
    """What three calls print, log and warn in one stream, and how each ended."""

    def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        print(category.__name__, message)

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as stream:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", message="rank")
        warnings.showwarning = show
        for x in INPUTS:
            try:
                called(x.clone(), fail)
            except ValueError as error:
                print("raised", error)
    return stream.getvalue()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("fail", [False, True])
def test_prints_logs_and_warnings_in_one_stream(backend: str, fail: bool, programs: Any) -> None:
    old, new, boundary = programs
    expected = text_of(old.Model(), fail)
    assert expected.count("before") == (6 if fail else 9)
    assert expected.count("once:") == (2 if fail else 3)
    assert ("raised stopped in 1" in expected) is fail
    assert text_of(new.Model(), fail) == expected, "and without compiling"
    new.info_once.cache_clear()
    counter = testing.CompileCounterWithBackend(backend)
    # Where compiled code raises itself, Dynamo compiles nothing.
    compiled = boundary(torch.compile(new.Model(), backend=counter))
    assert text_of(compiled, fail) == expected
    if not fail:
        assert counter.frame_count == 1
        assert not torch._dynamo.utils.counters["graph_break"]


def test_an_exception_in_the_middle_loses_nothing(programs: Any) -> None:
    old, new, boundary = programs
    compiled = boundary(torch.compile(new.Model(), backend="eager"))
    assert text_of(compiled, True) == text_of(old.Model(), True)
    new.info_once.cache_clear()
    old.info_once.cache_clear()
    assert text_of(compiled, False) == text_of(old.Model(), False), "and what comes after it"


def test_fifty_calls_run_one_graph(programs: Any) -> None:
    _, new, boundary = programs
    counter = testing.CompileCounter()
    compiled = boundary(torch.compile(new.Model(), backend=counter))
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lengths = []
        for number in range(50):
            before = sys.stdout.tell()
            compiled(INPUTS[0] + number)
            lengths.append(sys.stdout.tell() - before)
    assert counter.frame_count == 1
    assert not torch._dynamo.utils.counters["graph_break"]
    assert min(lengths) > 100


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_fifty_calls_on_a_gpu_give_the_text_of_eager(mode: str, programs: Any) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    old, new, boundary = programs
    plain, compiled = old.Model().cuda(), boundary(torch.compile(new.Model().cuda(), mode=mode))
    counters = torch._dynamo.utils.counters

    def told(called: Any, number: int, fail: bool = False) -> str:
        return text_of(lambda x, fail: called(x.cuda() * number, fail), fail)

    with torch.no_grad():
        for number in range(1, 18):
            assert told(compiled, number) == told(plain, number)
        assert counters["stats"]["unique_graphs"] == 1
        assert not counters["graph_break"]
        assert not counters["inductor"]["cudagraph_skips"]
        assert told(compiled, 1, fail=True) == told(plain, 1, fail=True)
        assert told(compiled, 2) == told(plain, 2)
    assert mode == "default" or torch._inductor.cudagraph_trees.get_container(0).tree_manager is not None


def test_training_and_what_is_stored(programs: Any) -> None:
    old, new, boundary = programs
    models = old.Model(), new.Model()
    compiled = boundary(torch.compile(models[1], backend="aot_eager"))

    def step(called: Any) -> Callable[..., None]:
        def run(x: Any, fail: bool) -> None:
            called(x, fail).square().sum().backward()

        return run

    assert text_of(step(compiled)) == text_of(step(models[0]))
    for ours, theirs in zip(models[1].parameters(), models[0].parameters(), strict=True):
        assert torch.equal(ours.grad, theirs.grad)
    assert [b.last for b in models[1].blocks] == [b.last for b in models[0].blocks]
    assert all(isinstance(b.last, float) for b in models[1].blocks)


def test_a_region_in_another_one(programs: Any) -> None:
    old, new, boundary = programs

    def through(model: Any, inner: Callable[[Any], Any]) -> Callable[..., Any]:
        last = inner(model.blocks[2])

        def run(x: Any, fail: bool) -> Any:
            print("outer", x.shape[0])
            for block in (model.blocks[0], last):
                x = block(x, fail)
            return x

        return run

    expected = text_of(through(old.Model(), lambda block: block))
    compiled = through(new.Model(), lambda block: boundary(torch.compile(block, backend="eager")))
    assert text_of(compiled) == expected, "one region, called from code that is not compiled"
    new.info_once.cache_clear()
    model = new.Model()
    inner = boundary(torch.compile(model.blocks[2], backend="eager"))
    two = boundary(through(model, lambda block: inner))
    lines = text_of(two).splitlines()
    # `print` of the function itself, which is not compiled, comes at once.
    assert sorted(lines) == sorted(expected.splitlines())


class _ByThread(io.TextIOBase):
    """A stream that keeps the text of each thread apart."""

    def __init__(self) -> None:
        self.texts: dict[int, list[str]] = {}

    def write(self, text: str) -> int:
        self.texts.setdefault(threading.get_ident(), []).append(text)
        return len(text)


def test_two_threads_have_their_own_lines(programs: Any) -> None:
    old, new, boundary = programs
    expected: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = old.Model()
        for x in INPUTS[:2]:
            old.info_once("block 0"), old.info_once("block 1"), old.info_once("block 2")
            with contextlib.redirect_stdout(io.StringIO()) as stream:
                for _ in range(10):
                    plain(x.clone())
            expected.append(stream.getvalue())
        counter = testing.CompileCounter()
        compiled = boundary(torch.compile(new.Model(), backend=counter))
        with contextlib.redirect_stdout(io.StringIO()):
            compiled(INPUTS[0].clone())
        found: list[str] = ["", ""]
        streams = _ByThread()

        def work(place: int) -> None:
            for _ in range(10):
                compiled(INPUTS[place].clone())
            found[place] = "".join(streams.texts[threading.get_ident()])

        threads = [threading.Thread(target=work, args=(place,)) for place in (0, 1)]
        with contextlib.redirect_stdout(streams):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert found == expected
    assert counter.frame_count == 1
