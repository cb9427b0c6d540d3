"""The rules for prints, log lines and warnings: what calls become, what they refuse, and the text at run time."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.fixing.engine import Outcome, run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

torch = pytest.importorskip("torch")
testing = pytest.importorskip("torch._dynamo.testing")

sys.path.insert(0, str(Path(__file__).parent))
from boundary_programs import load, shown, written  # noqa: E402

RULES = [rule for code, rule in registry.load().items() if code in ("CF301", "CF302", "CF303", "CF304")]
MODELS = sorted((Path(__file__).resolve().parents[2] / "fixtures" / "models").glob("*.py"))
HEAD = """\
import logging
import sys
import warnings

import torch
from torch import nn

logger = logging.getLogger("compilefix.program")


class Model(nn.Module):
    def __init__(self, index: int = 4):
        super().__init__()
        self.index: int = index
        self.logger = logging.getLogger("compilefix.program.own")
        self.register_buffer("count", torch.zeros((), dtype=torch.long))
        self.names = ["a", "b"]

    def forward(self, x: torch.Tensor, verbose: bool = True):
        x = x * 2.0
        total = x.sum()
"""


def rewritten(
    body: str,
    *,
    head: str = HEAD,
    allowed: frozenset[str] | None = frozenset({"log-late"}),
    style: str = "boundary",
) -> tuple[str, Outcome]:
    """What the body of `forward` becomes, as it is written between its first lines and its end."""
    text = head + "".join(f"        {line}\n" for line in body.splitlines()) + "        return x.relu()\n"
    path = Path("/nowhere/program.py")
    outcome = run(
        [SourceFile(path, "program", text)], Config(root=path.parent, logging=style), rules=RULES, allowed=allowed
    )
    new = next((change.after for change in outcome.patchset if change.path == path), text)
    _, _, rest = new.partition("        total = x.sum()\n")
    lines = rest.removesuffix("        return x.relu()\n").splitlines()
    return "\n".join(line.removeprefix("        ") for line in lines), outcome


def only(outcome: Outcome) -> Finding:
    (finding,) = outcome.findings
    return finding


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print()", "emit(lambda: print())"),
        ("print('a', 1, flush=True)", "emit(lambda: print('a', 1, flush=True))"),
        ("print('to', file=sys.stderr)", "emit(lambda: print('to', file=sys.stderr))"),
        ("print(total.item())", "emit(lambda total: print(total.item()), total)"),
        ("print(total.detach().cpu().item())", "emit(lambda total: print(total.item()), total)"),
        ("print(x.detach().cpu().numpy())", "emit(lambda x: print(x.cpu().numpy()), x.detach())"),
        (
            "print(f'{total:.3f} {self.index:>4d}')",
            "emit(lambda total, index: print(f'{total:.3f} {index:>4d}'), total, self.index)",
        ),
        (
            'print(f"{{}} {float(total)!r:>{self.index}}")',
            'emit(lambda total, index: print(f"{{}} {float(total)!r:>{index}}"), total, self.index)',
        ),
        ("print('%.2f' % total.item())", "emit(lambda total: print('%.2f' % total.item()), total)"),
        (
            "print('{} {}'.format(total.item(), self.index))",
            "emit(lambda total, index: print('{} {}'.format(total.item(), index)), total, self.index)",
        ),
        (
            "print([round(x.max().item(), 2), {'n': 3}])",
            "emit(lambda x_max: print([round(x_max.item(), 2), {'n': 3}]), x.max())",
        ),
        (
            "print(x.mean().item() / x.shape[0] * 100)",
            "emit(lambda x_mean, x_shape_0: print(x_mean.item() / x_shape_0 * 100), x.mean(), x.shape[0])",
        ),
        ("print(x.shape, x.dtype)", "emit(lambda x_shape, x_dtype: print(x_shape, x_dtype), x.shape, x.dtype)"),
        ("print(total.item(), total.item())", "emit(lambda total: print(total.item(), total.item()), total)"),
        ("print(x > 0)", "emit(lambda value: print(value), x > 0)"),
        ("print(self.count)", "emit(lambda count: print(count), self.count)"),
        ("x = x + 1; print('late')", "x = x + 1; emit(lambda: print('late'))"),
        ("if verbose: print('v')", "if verbose: emit(lambda: print('v'))"),
        ("print('why')  # because", "emit(lambda: print('why'))  # because"),
        (
            "logger.info('%d %.1f', self.index, total)",
            "emit(lambda index, total: logger.info('%d %.1f', index, total), self.index, total)",
        ),
        ("logger.debug('x')", "emit(lambda: logger.debug('x'))"),
        ("logger.warning_once('x')", "emit(lambda: logger.warning_once('x'))"),
        (
            "self.logger.error('%s', self.index)",
            "emit(lambda self, index: self.logger.error('%s', index), self, self.index)",
        ),
        ("logging.info(f'{total.item()}')", "emit(lambda total: logging.info(f'{total.item()}'), total)"),
        (
            "logger.log(logging.INFO, 'x', extra={'a': 1})",
            "emit(lambda: logger.log(logging.INFO, 'x', extra={'a': 1}))",
        ),
        (
            "if logger.isEnabledFor(logging.DEBUG):\n    logger.debug('a')\n    logger.debug('%.3f', x.mean().item())",
            "emit(lambda: logger.debug('a'))\nemit(lambda x_mean: logger.debug('%.3f', x_mean.item()), x.mean())",
        ),
        ("warnings.warn('x')", "emit(lambda: warnings.warn('x'))"),
        ("warnings.warn('x', None, 1)", "emit(lambda: warnings.warn('x', None))"),
        ("sys.stdout.write(f'{total}')", "emit(lambda total: sys.stdout.write(f'{total}'), total)"),
        ("sys.stderr.flush()", "emit(lambda: sys.stderr.flush())"),
        ("print(f'{total.item()=:.1f}')", "emit(lambda total: print(f'total.item()={total.item():.1f}'), total)"),
        ("logging.getLogger('a').info('b')", "emit(lambda: logging.getLogger('a').info('b'))"),
        ("self.unknown_logger.info('b')", "emit(lambda unknown_logger=self.unknown_logger: unknown_logger.info('b'))"),
        (
            "self.writer.add_scalar('a', total, self.index)",
            "emit(lambda writer, total, index: writer.add_scalar('a', total, index), self.writer, total, self.index)",
        ),
        (
            "warnings.warn(f'{x.dim()}', FutureWarning, stacklevel=1)",
            "emit(lambda x_dim: warnings.warn(f'{x_dim}', FutureWarning, stacklevel=1), x.dim())",
        ),
        (
            "n = total.item()\nprint(f'{n:.2f}')",
            "n = total.detach().clone()\nemit(lambda n: print(f'{n.item():.2f}'), n)",
        ),
        (
            "low, high = x.min().item(), int(x.max())\nprint(low)\nlogger.info('%d', high)",
            "low, high = x.min(), x.max()\nemit(lambda low: print(low.item()), low)\n"
            "emit(lambda high: logger.info('%d', int(high)), high)",
        ),
    ],
)
def test_becomes(before: str, after: str) -> None:
    text, outcome = rewritten(before)
    # However the arguments are spread over lines.
    assert ast.unparse(ast.parse(text)) == ast.unparse(ast.parse(after))
    assert ("#" in text) == ("#" in after)
    assert all(f.fix is not None and f.fix.boundary and f.fix.assumptions == ("log-late",) for f in outcome.findings)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("y = print('a')", "the result of the call is used"),
        ("x = x if print('a') else x", "the result of the call is used"),
        ("print(y := total)", "an argument does more than give a value"),
        ("print(', '.join(f'{v:.1f}' for v in x.tolist()))", "in a comprehension"),
        ("print('a', file=self.stream)", "is not known to be `sys.stdout` or `sys.stderr`"),
        ("print(**self.options)", "cannot be judged"),
        ("print(self.logger)", "is an object"),
        ("emit = 3\nprint('a')", "uses the name `emit`"),
        ("logger.exception('a')", "exception that is being handled"),
        ("try:\n    print(total.item())\nexcept RuntimeError:\n    pass", "may catch the error of a read"),
        ("logger.error('a', exc_info=True)", "shows where the program is"),
        ("logger.error('a', stack_info=True)", "shows where the program is"),
        ("logger.error('a', stacklevel=self.index + 1)", "names a caller"),
        ("if logger.isEnabledFor(logging.DEBUG):\n    x = x + 1", "guards more than lines of its own"),
        ("warnings.warn('a', None, 1, self)", "ties the warning to an object"),
        ("with warnings.catch_warnings():\n    warnings.warn('a')", "redirects it"),
    ],
)
def test_declines(body: str, reason: str) -> None:
    text, outcome = rewritten(body)
    assert text == body
    assert reason in (only(outcome).declined or "")


def test_a_level_test_that_guards_other_levels_stays() -> None:
    text, outcome = rewritten("if logger.isEnabledFor(logging.DEBUG):\n    logger.info('a')")
    assert text == "if logger.isEnabledFor(logging.DEBUG):\n    emit(lambda: logger.info('a'))"
    assert [f.fix is None for f in outcome.findings] == [True, False]


def test_what_is_taken_on_trust_is_said() -> None:
    _, outcome = rewritten("print(self.unknown)")
    fix = only(outcome).fix
    assert fix is not None
    assert any("`self.unknown` is not known" in reason for reason in fix.reasons)


@pytest.mark.parametrize(
    "body",
    [
        "print(x)",
        "print(f'{x}')",
        "print([x])",
        "print(f'{total!r}')",
        "print(f'{[total]}')",
        "print('%s' % x)",
        "print('%.1f %s' % (total, x))",
        "print('{}'.format(x))",
        "print(f'{str(x)}')",
        "print(x + total.item())",
        "logger.info('%s', x)",
        "logger.info('%s' + '%s', x)",
    ],
)
def test_the_text_of_a_tensor_that_may_require_a_gradient_is_an_assumption(body: str) -> None:
    text, outcome = rewritten(body)
    assert text == body
    fix = only(outcome).fix
    assert fix is not None
    assert fix.assumptions == ("log-late", "gradient-text")
    assert any("would not show that it requires a gradient" in reason for reason in fix.reasons)
    text, _ = rewritten(body, allowed=None)
    assert text.startswith("emit(lambda")


def test_a_line_whose_text_shows_a_gradient_stays_where_that_is_not_allowed() -> None:
    """Then it comes before a line that is moved, which is `text-order`."""
    body = "print('first')\nprint(x)"
    text, outcome = rewritten(body)
    assert text == body
    assert [f.fix.assumptions for f in outcome.findings if f.fix] == [
        ("log-late", "text-order"),
        ("log-late", "gradient-text"),
    ]
    text, _ = rewritten(body, allowed=None)
    assert text.count("emit(lambda") == 2


@pytest.mark.parametrize(
    "body", ["warnings.warn('a', stacklevel=2)", "warnings.warn('a', None, 2)", "logger.error('a', stacklevel=3)"]
)
def test_a_place_that_a_caller_had_is_an_assumption(body: str) -> None:
    text, outcome = rewritten(body)
    assert text == body
    fix = only(outcome).fix
    assert fix is not None
    assert fix.assumptions == ("log-late", "caller-place")
    assert any("names a caller" in reason for reason in fix.reasons)
    text, _ = rewritten(body, allowed=None)
    assert "emit(lambda" in text
    assert "stacklevel" not in text
    assert "2" not in text


@pytest.mark.parametrize(
    ("style", "before", "after"),
    [
        ("guard", "print('a')", "if not torch.compiler.is_compiling():\n    print('a')"),
        (
            "guard",
            "n = total.item()\nlogger.info('%s', n)\nprint(n)",
            "if not torch.compiler.is_compiling():\n    n = total.item()\n"
            "if not torch.compiler.is_compiling():\n    logger.info('%s', n)\n"
            "if not torch.compiler.is_compiling():\n    print(n)",
        ),
        (
            "guard",
            "if logger.isEnabledFor(logging.DEBUG):\n    logger.debug('%.3f', x.mean().item())",
            "if not torch.compiler.is_compiling():\n    if logger.isEnabledFor(logging.DEBUG):\n"
            "        logger.debug('%.3f', x.mean().item())",
        ),
        ("guard", "if verbose: warnings.warn('v')", "if verbose: torch.compiler.is_compiling() or warnings.warn('v')"),
        ("remove", "x = x + 1\nprint('a', x)", "x = x + 1"),
        ("remove", "n = total.item()\nprint(n)", ""),
        ("remove", "if verbose:\n    print('v')", "if verbose:\n    pass"),
        ("remove", "if verbose: print('v')", "if verbose: None"),
    ],
)
def test_what_the_configuration_may_want_instead(style: str, before: str, after: str) -> None:
    text, outcome = rewritten(before, allowed=frozenset({"log-dropped"}), style=style)
    assert ast.unparse(ast.parse(text)) == ast.unparse(ast.parse(after))
    assert outcome.patchset.boundary is None
    again, _ = rewritten(text, allowed=frozenset({"log-dropped"}), style=style)
    assert again == text


@pytest.mark.parametrize("style", ["guard", "remove"])
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print(self.count.add_(1))", "writes in place"),
        ("print(torch.rand(3))", "draws random numbers"),
        ("print(self.unknown())", "is not known"),
        ("a, b = x.min().item(), x.max().item()\nprint(a, b)", "together with other names"),
        ("y = print('a')", "the result of the call is used"),
    ],
)
def test_what_may_not_be_dropped(style: str, body: str, reason: str) -> None:
    text, outcome = rewritten(body, allowed=frozenset({"log-dropped"}), style=style)
    assert text == body
    assert reason in (only(outcome).declined or "")


def test_a_line_that_stays_comes_first_and_that_is_an_assumption() -> None:
    body = "print('a')\nprint(self.logger)\nwarnings.warn('b')"
    text, outcome = rewritten(body)
    assert text == body
    assert [f.fix.assumptions if f.fix else None for f in outcome.findings] == [
        ("log-late", "text-order"),
        None,
        ("log-late", "text-order"),
    ]
    text, _ = rewritten(body, allowed=frozenset({"log-late", "text-order"}))
    assert text.count("emit(lambda") == 2


def test_is_off_by_default() -> None:
    text, outcome = rewritten("print('a')", allowed=frozenset())
    assert text == "print('a')"
    assert only(outcome).fix is not None


def test_autograd_functions_are_declined() -> None:
    head = (
        "import torch\n\n\nclass Double(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x: torch.Tensor):\n        total = x.sum()\n"
    )
    _, outcome = rewritten("print('a')", head=head)
    assert "custom derivative" in (only(outcome).declined or "")


def test_a_lambda_and_code_that_does_not_run_compiled_are_left_alone() -> None:
    _, outcome = rewritten(
        "late = lambda: print('a')\nif torch.compiler.is_compiling():\n    pass\nelse:\n    print('eager only')"
    )
    assert outcome.findings == ()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("self.sums.add_scalar('a', x)", True),
        ("return self.sums.add_scalar('a', x)", True),
        ("self.sums and self.sums.add_scalar('a', x)", True),
        ("return self.sums.add_scalar(x, 3.0)", False),
        ("return x, [self.sums.add_scalar(x, 3.0)]", False),
        ("x = self.sums.add_scalar(x, 3.0)", False),
        ("x = x + self.sums.add_scalar(x, 3.0).sum()", False),
    ],
)
def test_what_gives_a_result_is_no_writer_of_metrics(line: str, found: bool) -> None:
    _, outcome = rewritten(line)
    assert any(finding.code == "CF304" for finding in outcome.findings) is found


def test_the_ids_are_those_that_dynamo_gives(tmp_path: Path) -> None:
    from compilefix.measuring.breaks import BreakCollector

    calls = {
        "print('a')": "CF301",
        "logger.debug('a')": "CF302",
        "logger.isEnabledFor(10)": "CF302",
        "logging.info('a')": "CF302",
        "warnings.warn('a')": "CF303",
        "sys.stdout.flush()": "CF301",
    }
    for number, (call, code) in enumerate(calls.items()):
        _, outcome = rewritten(call)
        text = HEAD + f"        {call}\n        return x.relu()\n"
        module = load(written(tmp_path / f"ids{number}.py", text))
        torch._dynamo.reset()
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), BreakCollector() as collector:
            warnings.simplefilter("ignore")
            torch.compile(module.Model(), backend="eager")(torch.ones(2))
        assert only(outcome).code == code
        assert {site.gb for site in collector.break_sites} == set(only(outcome).gb) - {"GB7000"}


BODY = """\
        logger.debug("off %s", total.item())
        low, high = x.min().item(), float(x.max())
        print(f"{self.index:03d} low {low:.4f} high {high!r:>24} {x.shape} {x.dtype} {{}}")
        logger.warning("%s of %d%% in %5.1f %s", low, x.shape[0], total, x.detach())
        for name in self.names:
            print(name, x.detach(), x > 0, sep=" ~ ", end=";\\n")
            x.mul_(0.5)
        self.logger.error("sum {:>9.3f}".format(x.sum().item()))
        self.count += 1
        print("count", self.count, [round(x.mean().item(), 3), None], {"n": int(self.count)})
        warnings.warn(f"rank {x.dim()}", FutureWarning)
        return x.relu()
"""


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_the_text_of_eager_in_one_graph(backend: str, project: Any) -> None:
    old, new, boundary = project(HEAD + BODY)
    inputs = [(torch.arange(6.0).reshape(2, 3) - n,) for n in range(3)] + [
        (torch.tensor([[float("nan"), 1.0, -0.0]] * 2),)
    ]
    with warnings.catch_warnings(record=True) as first:
        warnings.simplefilter("always")
        expected, outputs = shown(old.Model(), inputs)
    counter = testing.CompileCounterWithBackend(backend)
    with warnings.catch_warnings(record=True) as second:
        warnings.simplefilter("always")
        found, results = shown(boundary(torch.compile(new.Model(), backend=counter)), inputs)
    assert found == expected
    assert expected.count("forward") == 24, "the records name the method"
    assert counter.frame_count == 1
    assert not torch._dynamo.utils.counters["graph_break"]
    assert all(torch.equal(a, b) or bool(a.isnan().any()) for a, b in zip(results, outputs, strict=True))
    assert [(w.category, str(w.message), Path(w.filename).name) for w in second if "rank" in str(w.message)] == [
        (w.category, str(w.message), Path(w.filename).name) for w in first
    ]
    assert shown(new.Model(), inputs)[0] == expected, "and without a boundary"


def test_gradients_and_text_in_training(project: Any) -> None:
    old, new, boundary = project(HEAD + BODY)

    def step(called: Any) -> Callable[[Any], Any]:
        def run_step(x: Any) -> Any:
            x.requires_grad_()
            called(x * 1.0).square().sum().backward()
            return x.grad

        return run_step

    inputs = [(torch.arange(6.0).reshape(2, 3) - 2,), (torch.ones(2, 3),)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, gradients = shown(step(old.Model()), inputs)
        found, ours = shown(step(boundary(torch.compile(new.Model(), backend="aot_eager"))), inputs)
    assert found == expected
    assert all(torch.equal(a, b) for a, b in zip(gradients, ours, strict=True))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_the_models_lose_their_host_effect_breaks_and_no_text(path: Path, project: Any) -> None:
    from compilefix.measuring.breaks import BreakCollector

    old, new, boundary = project(path.read_text(encoding="utf-8"))
    model, inputs = old.workload("cpu")
    expected, _ = shown(model, inputs)
    assert expected
    model, inputs = new.workload("cpu")
    with BreakCollector() as collector:
        found, _ = shown(boundary(torch.compile(model, backend="eager")), inputs)
    assert found == expected
    assert not {site.gb for site in collector.break_sites} & {"GB0059", "GB0291", "GB4841", "GB7000"}


@pytest.mark.parametrize("source", [".words", "pkg.words"])
def test_what_another_module_gives(source: str, tmp_path: Path) -> None:
    """Classes and loggers are named in the lambda, by a relative import too; a list goes on to change."""
    texts = {
        "pkg.words": "import logging\n\nclass Odd(UserWarning):\n    pass\n\n"
        "SEEN = []\nlogger = logging.getLogger('pkg')\n",
        "pkg.model": f"import warnings\n\nimport torch\nfrom torch import nn\n\n"
        f"from {source} import Odd, SEEN, logger\n\n\nclass Model(nn.Module):\n"
        "    def forward(self, x: torch.Tensor):\n"
        "        warnings.warn('odd', Odd)\n        logger.info('seen')\n        print(SEEN)\n"
        "        SEEN.append(1)\n        return x\n",
    }
    (tmp_path / "pkg").mkdir()
    files = [SourceFile(tmp_path.joinpath(*name.split(".")).with_suffix(".py"), name, t) for name, t in texts.items()]
    outcome = run(files, Config(root=tmp_path), rules=RULES, allowed=frozenset({"log-late"}))
    after = next(change.after for change in outcome.patchset if str(change.path).endswith("model.py"))
    assert "emit(lambda: warnings.warn('odd', Odd))" in after
    assert "emit(lambda: logger.info('seen'))" in after
    assert "emit(lambda SEEN: print(SEEN), SEEN)" in after
    (printed,) = (f for f in outcome.findings if f.code == "CF301")
    assert printed.fix is not None
    assert "could change until" in " ".join(printed.fix.reasons)
