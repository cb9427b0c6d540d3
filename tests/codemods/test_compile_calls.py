"""Which uses of torch.compile are reported and which are not, and what the reported ones cost."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods import registry  # noqa: E402
from compilefix.codemods.finding import Finding  # noqa: E402
from compilefix.fixing.engine import run  # noqa: E402
from compilefix.source.config import Config  # noqa: E402
from compilefix.source.files import SourceFile  # noqa: E402

_HEAD = "import torch\nimport torch._dynamo\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n"


def found(code: str, path: str = "/nowhere/program.py", *more: SourceFile) -> list[Finding]:
    file = SourceFile(Path(path), "program", _HEAD + textwrap.dedent(code))
    rules = [rule for name, rule in registry.load().items() if name.startswith("CF8")]
    return list(run([file, *more], Config(root=Path("/nowhere")), rules=rules, rewrite=False).findings)


def codes(code: str, path: str = "/nowhere/program.py", *more: SourceFile) -> list[str]:
    return [finding.code for finding in found(code, path, *more)]


def graphs(text: str, **names: Any) -> int:
    """How many graphs a program compiles; it may use `count` as its backend."""
    made = 0

    def count(module: Any, _: Any) -> Any:
        nonlocal made
        made += 1
        return module.forward

    torch._dynamo.reset()
    exec(compile(textwrap.dedent(text), "<program>", "exec"), {"torch": torch, "count": count, **names})
    torch._dynamo.reset()
    return made


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        ("def main(model):\n    torch.compile(model)\n    model(1)\n", True),
        ("def main(pipe):\n    torch.compile(pipe.unet, mode='default')\n", True),
        ("def main(model):\n    fast = torch.compile(model)\n    return model(1)\n", True),
        ("def main(model):\n    fast = torch.compile(model)\n    return lambda x: fast(x)\n", False),
        ("def main(model):\n    global fast\n    fast = torch.compile(model)\n", False),
        ("def main(model):\n    fast = torch.compile(model)\n    return locals()\n", False),
        ("def main(model):\n    model = torch.compile(model)\n    model(1)\n", False),
        ("def main(model):\n    try:\n        torch.compile(model)\n    except RuntimeError:\n        pass\n", False),
        ("def main(model, raises):\n    with raises(ValueError):\n        torch.compile(model)\n", False),
        ("def main(model):\n    model.compile()\n", False),
        ("def main(model):\n    torch.compile(model)(1)\n", False),
        ("fast = torch.compile(torch.sin)\n", False),
    ],
)
def test_a_result_that_is_not_used(code: str, reported: bool) -> None:
    assert codes(code) == ["CF801"] * reported


def test_an_unused_result_compiles_nothing() -> None:
    program = "model = torch.nn.Linear(2, 2)\n{}model(torch.ones(2))\n"
    assert graphs(program.format("torch.compile(model, backend=count)\n")) == 0
    assert graphs(program.format("model = torch.compile(model, backend=count)\n")) == 1


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("for x in xs:\n    torch.compile(model)(x)\n", True),
        ("while True:\n    step = torch.compile(model)\n    step(1)\n", True),
        ("for x in xs:\n    with torch.no_grad():\n        torch.compile(model.part, mode=mode)(x)\n", True),
        ("for block in xs:\n    block.forward = torch.compile(block.forward)\n", False),
        ("for i, block in enumerate(xs):\n    xs[i] = torch.compile(block)\n", False),
        ("for mode in ('default', 'max-autotune'):\n    torch.compile(model, mode=mode)(1)\n", False),
        ("for x in xs:\n    if x is None:\n        fast = torch.compile(model)\n    fast(x)\n", False),
        ("for x in xs:\n    torch._dynamo.reset()\n    torch.compile(model)(x)\n", False),
        ("for x in xs:\n    model = torch.nn.Linear(x, x)\n    torch.compile(model)(x)\n", False),
        ("for x in xs:\n    torch.compile(make(x))(x)\n", False),
        ("for x in xs:\n    model.part = x\n    torch.compile(model.part)(x)\n", False),
        ("for x in xs:\n    fast = torch.compile(model)\n    break\n", False),
        ("for x in xs:\n    try:\n        torch.compile(model)(x)\n    except RuntimeError:\n        pass\n", False),
        ("for x in xs:\n    def later():\n        return torch.compile(model)\n    later\n", False),
        ("[torch.compile(model)(x) for x in xs]\n", False),
    ],
)
def test_compiled_in_each_turn(body: str, reported: bool) -> None:
    code = f"def main(model, xs, mode, make):\n{textwrap.indent(body, '    ')}"
    assert [name for name in codes(code) if name == "CF802"] == ["CF802"] * reported


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("return torch.compile(self.part)(x)", True),
        ("if self.fast is None:\n    self.fast = torch.compile(self.part)\nreturn self.fast(x)", False),
        ("if self.fast is not None:\n    return self.fast(x)\nself.fast = torch.compile(self.part)\n", False),
    ],
)
def test_compiled_in_forward(body: str, reported: bool) -> None:
    code = f"class Model(torch.nn.Module):\n    def forward(self, x):\n{textwrap.indent(body, '        ')}\n"
    assert codes(code) == ["CF802"] * reported


@pytest.mark.parametrize(("backend", "effect"), [("count", "slow"), ("lambda m, i: count(m, i)", "recompile")])
def test_what_compiling_in_a_loop_costs(backend: str, effect: str) -> None:
    loop = f"for _ in range(4):\n    torch.compile(torch.nn.functional.gelu, backend={backend})(x)\n"
    (finding,) = found(f"def main(x, count):\n{textwrap.indent(loop, '    ')}")
    assert (finding.code, finding.effect) == ("CF802", effect)
    assert graphs(loop.replace("torch.nn.functional.gelu", "f"), f=lambda x: x * 2, x=torch.ones(2)) == (
        4 if effect == "recompile" else 1
    )


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ("mode='max_autotune'", RuntimeError, "write 'max-autotune'"),
        ("mode='fastest'", RuntimeError, "known are default"),
        ("mode='default', options={'max_autotune': True}", RuntimeError, "give the options of the mode too"),
        ("options={'fullgraph': True}", RuntimeError, "pass `fullgraph=`"),
        ("dynamic='auto'", AssertionError, "leave it out"),
        ("backend='inducktor'", Exception, "write 'inductor'"),
        ("backend='aot_eager', mode='reduce-overhead'", None, "leave `backend` out"),
        ("mode='reduce-overhead', dynamic=True", None, "max-autotune-no-cudagraphs"),
        ("mode='lite', dynamic=False", None, None),
        ("mode=None, options=None", None, None),
        ("mode='default', options=None, dynamic=None", None, None),
        ("backend='inductor', mode='max-autotune'", None, None),
        ("backend='eager', mode='default'", None, None),
        ("options={'max_autotune': True}", None, None),
    ],
)
def test_options_are_reported_where_torch_refuses_or_ignores_them(
    options: str, error: type[Exception] | None, words: str | None
) -> None:
    call = f"torch.compile(torch.sin, {options})"
    assert [words in str(finding.declined) for finding in found(f"fast = {call}\n")] == [True] * (words is not None)
    if error is None:
        eval(call)
    else:
        with pytest.raises(error):
            eval(call)


@pytest.mark.parametrize("name", ["my_backend", "hpu_backend", "openvino", "torch_tensorrt", "neuron"])
def test_a_backend_of_another_package_is_not_reported(name: str) -> None:
    assert codes(f"fast = torch.compile(torch.sin, backend={name!r})\n") == []


@pytest.mark.parametrize(
    ("statement", "reported"),
    [
        ("torch._dynamo.config.cache_size_limit = 64", ["CF804"]),
        ("torch._dynamo.config.recompile_limit = 8", []),
        ("torch._dynamo.config.accumulated_recompile_limit = 256", []),
        ("torch._dynamo.config.accumulated_cache_size_limit = 1024", ["CF804"]),
        ("torch._dynamo.config.recompile_limit = max(32, torch._dynamo.config.recompile_limit)", ["CF804"]),
        ("torch._dynamo.config.recompile_limit = options.limit", []),
        ("settings.recompile_limit = 64", []),
        ("torch._dynamo.config.suppress_errors = True", ["CF805"]),
        ("torch._dynamo.config.suppress_errors = False", []),
    ],
)
def test_settings(statement: str, reported: list[str]) -> None:
    assert codes(f"{statement}\n") == reported


@pytest.mark.parametrize("path", ["/nowhere/tests/test_program.py", "/nowhere/benchmarks/program.py"])
def test_a_limit_is_raised_on_purpose_in_tests_and_benchmarks(path: str) -> None:
    assert codes("torch._dynamo.config.cache_size_limit = 64\n", path) == []


_SAVE = "def main(model, file):\n    model = torch.compile(model)\n    torch.save({}, file)\n"


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        (_SAVE.format("model.state_dict()"), True),
        (_SAVE.format("{'model': model.state_dict(), 'step': 1}"), True),
        (_SAVE.replace("    torch.save", "    kept = model\n    torch.save").format("kept.state_dict()"), False),
        (_SAVE.replace("model = torch", "fast = torch").format("model.state_dict()"), False),
        (_SAVE.format("optimizer.state_dict()"), False),
        ("def main(model):\n    model = torch.compile(model)\n    return model.state_dict()\n", False),
        ("def main(model, f):\n    model = torch.compile(model)\n    model = make(model)\n"
         "    torch.save(model.state_dict(), f)\n", False),
    ],
)  # fmt: skip
def test_saved_state(code: str, reported: bool) -> None:
    assert [name for name in codes(code) if name == "CF806"] == ["CF806"] * reported


def test_a_program_that_knows_the_prefix_is_left_alone() -> None:
    other = SourceFile(Path("/nowhere/load.py"), "load", "PREFIX = '_orig_mod.'\n")
    assert codes(_SAVE.format("model.state_dict()"), "/nowhere/program.py", other) == []


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        ("def main(model):\n    return torch.compile(DDP(model))\n", True),
        ("def main(model):\n    model = DDP(model)\n    model = torch.compile(model)\n    return model\n", True),
        ("def main(model):\n    model.compile()\n    return DDP(model)\n", False),
        ("def main(model):\n    wrapped = DDP(model)\n    return torch.compile(wrapped.module)\n", False),
        ("def main(model):\n    model = DDP(torch.compile(model))\n    return model\n", False),
    ],
)
def test_wrappers(code: str, reported: bool) -> None:
    assert codes(code) == ["CF807"] * reported


_BREAKS = "def part(x: torch.Tensor):\n    print(x)\n    return x\n"
_CLEAN = "def part(x: torch.Tensor):\n    return x\n"


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        (_BREAKS + "fast = torch.compile(part, fullgraph=False)\n", True),
        (_BREAKS + "@torch.compile(fullgraph=False)\ndef whole(x: torch.Tensor):\n    return part(x)\n", True),
        (_BREAKS + "fast = torch.compile(part)\n", False),
        (_BREAKS + "fast = torch.compile(part, fullgraph=True)\n", False),
        (_BREAKS + "fast = torch.compile(part, fullgraph=options.whole)\n", False),
        (_CLEAN + "fast = torch.compile(part, fullgraph=False)\n", False),
    ],
)
def test_breaks_that_fullgraph_hides(code: str, reported: bool) -> None:
    assert codes(code) == ["CF808"] * reported
    for finding in found(code):
        assert finding.source_line[finding.span.column : finding.span.end_column] == "fullgraph=False"
        assert "what 1 finding says" in finding.message


_SERVER = """
from fastapi import FastAPI

app = FastAPI()
model = torch.compile(load())
{before}
@app.{route}("/predict")
async def predict(item):
    return model(item)
"""


@pytest.mark.parametrize(
    ("before", "route", "reported"),
    [
        ("", "post", True),
        ("", "websocket", True),
        ("", "exception_handler", False),
        ("model(torch.zeros(1))\n", "post", False),
        ("def warm():\n    model(torch.zeros(1))\n", "post", False),
        ("warm(model)\n", "post", False),
    ],
)
def test_a_server_that_compiles_in_a_request(before: str, route: str, reported: bool) -> None:
    assert codes(_SERVER.format(before=before, route=route)) == ["CF809"] * reported


def test_findings_outside_of_compiled_code_have_their_function() -> None:
    code = "class Trainer:\n    def fit(self):\n        torch.compile(self.model)\n\n\ntorch.compile(torch.sin)\n"
    assert [(f.function, f.reached_by) for f in found(code)] == [
        ("Trainer.fit", ("Trainer.fit",)),
        ("<module>", ("<module>",)),
    ]


def test_a_flag_that_is_written_to_a_longer_file_than_that_of_the_model(tmp_path: Path) -> None:
    model = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x[x > 0]\n"
    train = "import torch\n\nfrom model import Net\n\n" + "step = 0\n" * 9 + "net = torch.compile(Net())\n"
    files = []
    for name, text in (("model", model), ("train", train)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        files.append(SourceFile(tmp_path / f"{name}.py", name, text))
    found = run(files, Config(tmp_path), rules=list(registry.load().values()), rewrite=False)
    assert [(f.code, Path(f.path).name, f.span.line, f.fix is not None) for f in found.findings] == [
        ("CF501", "model.py", 6, False),
        ("CF506", "train.py", 14, True),
    ]
