"""What a reader meets first: nothing twice, nothing that hardly runs, and reasons that say what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent, indent

import pytest

from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.fixing.engine import run
from compilefix.reporting.told_twice import told_once
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

HEAD = "import warnings\n\nimport torch\nfrom torch import nn\n\n"


def told(*texts: str) -> Sequence[Finding]:
    """What is found in a file, with all rules, and in others beside it."""
    names = ("program", *(f"other{number}" for number in range(1, len(texts))))
    files = [SourceFile(Path(f"/nowhere/{name}.py"), name, text) for name, text in zip(names, texts, strict=True)]
    return told_once(run(files, Config(Path("/")), rules=list(registry.load().values()), rewrite=False).findings)


def quiet(text: str, word: str) -> list[bool]:
    """Whether the findings in the lines with a word are told behind the rest."""
    return [f.minor for f in told(text) if word in f.source_line]


def module(body: str, made: str = "self.kept = None", more: str = "") -> str:
    """A module whose `forward` has this body."""
    init = indent(dedent(made), " " * 8)
    forward = indent(dedent(body).strip("\n"), " " * 8)
    methods = indent(dedent(more), " " * 4)
    return (
        f"{HEAD}KEPT = {{}}\n\n\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"{init}\n\n    def forward(self, x: torch.Tensor, old=None):\n{forward}\n        return x\n{methods}"
    )


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("if self.kept is None:\n    print('table')\n    self.kept = 1", True),
        ("if not self.kept:\n    print('table')\n    self.kept = True", True),
        ("if self.kept is False:\n    print('table')\n    self.build()", True),
        ("if not hasattr(self, 'kept'):\n    print('table')\n    self.register_buffer('kept', x)", True),
        ("if 'a' not in self.kept:\n    print('table')\n    self.kept['a'] = 1", True),
        ("if 'a' not in KEPT:\n    print('table')\n    KEPT['a'] = 1", True),
        ("if self.kept is None or len(self.kept) < 3:\n    print('table')\n    self.kept = [1]", True),
        ("make = self.kept is None or len(self.kept) < 3\nif make:\n    print('table')\n    self.kept = [1]", True),
        ("make = self.kept is None or old\nif make:\n    print('table')\n    self.kept = [1]", False),
        ("if self.kept:\n    print('table')\n    self.kept = False", True),
        ("if self.training and self.kept:\n    print('table')\n    self.kept = False", True),
        ("if self.training or self.kept:\n    print('table')\n    self.kept = False", False),
        ("self.kept = True\nif self.kept:\n    print('table')\n    self.kept = False", False),
        ("self.start()\nif self.kept:\n    print('table')\n    self.kept = False", False),
        ("if self.kept == 0:\n    print('table')\n    self.kept = 1", True),
        ("if Model.kept == 0:\n    print('table')\n    Model.kept = 1", True),
        ("if self.kept == 1:\n    print('table')\n    self.kept = 2", False),
        ("if self.kept is None:\n    print('table')", False),
        ("if self.kept is None:\n    print('table')\n    self.kept = 1\nself.kept = None", False),
        ("if old is None:\n    print('table')\n    old = 1", False),
        ("if self.kept:\n    print('table')\n    self.kept = 1", False),
        ("if self.kept is None or self.training:\n    print('table')\n    self.kept = 1", False),
    ],
)
def test_what_the_first_call_sets_up_is_told_behind_the_rest(body: str, first: bool) -> None:
    text = module(body, more="\ndef build(self):\n    self.kept = 1\n\ndef start(self):\n    self.kept = True\n")
    assert quiet(text, "'table'") == [first]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("return results(x, old)", True),
        ("found = results(x, old)\nkept = {'a': found}\nreturn kept, x", True),
        ("found = []\nfound.append(results(x, old))\nreturn found", True),
        ("found = results(x, old)\nfound = (found, 1)\nreturn found", True),
        ("found = results(x, old)\nfound = (found, 1)\nx = x * found[0][0].sum()", False),
        ("x = x + torch.tensor(results(x, old)[0])", False),
        ("found = results(x, old)\nx = x * found[0].sum()", False),
    ],
)
def test_arrays_that_are_only_handed_on_are_told_behind_the_rest(use: str, expected: bool) -> None:
    more = (
        "\n\ndef results(boxes, labels):\n    boxes = boxes.cpu().numpy()\n    labels = labels.cpu().numpy()\n"
        "    return [boxes[labels == i] for i in range(3)]\n"
    )
    assert set(quiet(module(use) + more, "boxes[labels")) == {expected}


@pytest.mark.parametrize(("emptied", "expected"), [("None", [False]), ("x", [True])])
def test_what_each_call_empties_is_not_set_up_once(emptied: str, expected: list[bool]) -> None:
    body = "if self.kept is None:\n    print('table')\n    self.kept = 1\nself.reset(x)"
    assert quiet(module(body, more=f"\ndef reset(self, x):\n    self.kept = {emptied}\n"), "table") == expected


def test_an_error_that_is_caught_is_no_end() -> None:
    body = "try:\n    print('table')\n    raise KeyError\nexcept KeyError:\n    x = x + 1"
    assert quiet(module(body), "table") == [False]


@pytest.mark.parametrize("asked", ["hasattr()", "hasattr(self)", "hasattr(*names)", "hasattr(self, 'kept', 1)"])
def test_a_question_that_python_refuses_is_none_for_something_missing(asked: str) -> None:
    assert quiet(module(f"if not {asked}:\n    print('table')\n    self.kept = 1"), "'table'") == [False]


def test_what_is_called_where_something_is_missing_is_told_behind_the_rest() -> None:
    more = "\ndef build_table(self):\n    print('table')\n    self.kept = 1\n"
    assert quiet(module("if self.kept is None:\n    self.build_table()", more=more), "'table'") == [True]
    assert quiet(module("self.build_table()", more=more), "'table'") == [False]


@pytest.mark.parametrize(
    ("body", "word", "expected"),
    [
        ("if old is not None:\n    warnings.warn('gone', FutureWarning)", "gone", [True]),
        ("if old is not None:\n    warnings.warn('`old` is deprecated')", "deprecated", [True]),
        ("warnings.warn('this is deprecated')", "deprecated", [False]),
        ("if old is not None:\n    warnings.warn('too long')", "too long", [False]),
        ("if x.dim() != 2:\n    print('shape', x.shape)\n    raise ValueError('shape')", "print", [True]),
        ("if x.dim() != 2:\n    print('shape', x.shape)", "print", [False]),
        ("if x.dim() == 2:\n    print('shape')\n    return x\nraise ValueError('shape')", "print", [False]),
        ("if x.dim() != 2:\n    if old:\n        print('shape')\n    raise ValueError('shape')", "print", [True]),
        ("try:\n    x = x + 1\nexcept ValueError:\n    print('failed')\n    x = x + 2", "print", [True]),
        ("print('a')\nprint('b')\nx = x + 1\nprint('c')", "print", [False, True, False]),
    ],
)
def test_lines_that_cost_little_are_told_behind_the_rest(body: str, word: str, expected: list[bool]) -> None:
    assert quiet(module(body), word) == expected


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("self.onnx", True),
        ("self.for_export and old", True),
        ("not self.onnx", False),
        ("self.exponent", False),
        ("self.export_attention", False),
    ],
)
def test_what_is_for_exporters_is_told_behind_the_rest(test: str, expected: bool) -> None:
    body = f"if {test}:\n    x = x[x > 0]"
    assert expected is all(quiet(module(body), "x[x > 0]"))


def test_messages_between_processes_are_told_behind_the_rest() -> None:
    body = "torch.distributed.isend(x, 1)\nif x.sum() > 0:\n    self.kept = x.tolist()"
    assert set(quiet(module(body), "x.sum()")) == {True}


CALLED = """
def scaled(x: torch.Tensor, times):
    if isinstance(times, torch.Tensor):
        first = times[0] == 0
        if first:
            times = torch.cat((times.new_ones(1), times))
    else:
        first = False
    if first:
        x = x[1:].clone()
        print("first")
    return x * 2


class Model(nn.Module):
    def forward(self, x):
        return scaled(x, {})
"""


@pytest.mark.parametrize(("given", "expected"), [("times=2", True), ("2", True), ("x", False), ("x.sum()", False)])
def test_what_nobody_passes_a_tensor_for_is_told_behind_the_rest(given: str, expected: bool) -> None:
    assert set(quiet(HEAD + CALLED.format(given), "if first")) == {expected}


GATHERED = """
def gathered(x: torch.Tensor, mask=None):
    if mask is not None:
        mask = mask > 0
        x = x[mask]
    return x * 2


class Model(nn.Module):
    def forward(self, x):
        return gathered({})
"""


@pytest.mark.parametrize(("given", "expected"), [("x", True), ("x, None", True), ("x, x > 0", False)])
def test_what_nobody_passes_a_mask_for_is_told_behind_the_rest(given: str, expected: bool) -> None:
    assert set(quiet(HEAD + GATHERED.format(given), "x[mask]")) == {expected}


def test_a_list_of_numbers_for_each_row_is_told_behind_the_rest() -> None:
    assert quiet(module("rows = [[-1] for _ in range(x.shape[0])]\nself.use(rows)"), "range") == [True]
    assert quiet(module("rows = [[] for _ in range(x.shape[0])]\nself.use(rows)"), "range") == [True]
    assert quiet(module("rows = [x[i] + 1 for i in range(x.shape[0])]\nself.use(rows)"), "range") == [False]


def test_a_flag_that_would_not_do_is_told_with_the_place() -> None:
    found = told(module("y = x[x > 0]\nself.use(y, torch.unique(x).tolist())"))
    there = [f for f in found if "x[x > 0]" in f.source_line]
    assert [f.code for f in there] == ["CF501"]
    assert "`capture_dynamic_output_shape_ops` would not do for" in (there[0].declined or "")
    assert not [f for f in found if "set `torch._dynamo.config.capture_dynamic" in (f.declined or "")]


def test_advice_to_set_a_flag_is_not_told_beside_the_fix_that_sets_it() -> None:
    found = told(module("y = x[x > 0]\nself.use(y)"))
    assert [(f.code, f.fix is None) for f in found] == [("CF506", False)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("n = x.argmax().item()\nself.use(['a', 'b'][n])", "number in `['a', 'b'][n]`, which takes no tensor; pass"),
        ("n = x.sum().int().item()\nself.use([-1] * n)", "used as a Python number in `[-1] * n`"),
        ("n = x.argmax().item()\nself.use(n in self.kept.values())", "which takes no tensor; pass the number in"),
        ("y = x.topk(k=x.sum().int().item())", ", which takes no tensor; pass the number in"),
        ("n = x.argmax().item()\nself.use(old[n])", "an index of `old`, which is not known to be a tensor; keep it"),
    ],
)
def test_a_reason_says_what_needs_the_number(body: str, reason: str) -> None:
    assert any(reason in (f.declined or "") for f in told(module(body)) if f.code == "CF201")


def test_what_sets_up_logging_is_named() -> None:
    text = module("if x.sum() > 50:\n    log = logger()\n    log.warning('large')")
    text += "\n\ndef logger():\n    found = logging.getLogger('a')\n    found.addHandler(logging.StreamHandler())\n"
    text += "    return found\n"
    reasons = [f.declined or "" for f in told("import logging\n" + text)]
    assert any("call `logger`, which does that, before the compiled code" in reason for reason in reasons)


def test_a_size_that_python_knows_breaks_only_where_it_is_dynamic() -> None:
    messages = [
        f.message for f in told(module("k = torch.div(x.shape[1], 2, rounding_mode='trunc')\nx = x.view(2, k)"))
    ]
    assert [m.endswith("breaks the graph, where shapes are dynamic") for m in messages] == [True]
    messages = [f.message for f in told(module("k = torch.tensor(x.shape[1])\nx = x[:, :k]"))]
    assert [m.endswith("reading it as a number breaks the graph") for m in messages] == [True]


def test_a_switch_in_the_code_is_off() -> None:
    assert not told(module("debug = False\nif debug and x.dim() > 2:\n    x = x[x > 0]"))
    assert told(module("debug = False\nif old:\n    debug = True\nif debug:\n    x = x[x > 0]"))
    assert told(module("global debug\ndebug = False\nself.use(x)\nif debug:\n    x = x[x > 0]"))
    read = "\nif debug:\n    x = x[x > 0]"
    for binding in (
        "try:\n    x = x + 1\nexcept ValueError as debug:\n    pass",
        "import os.path as debug",
        "def debug():\n    pass",
        "match x.dim():\n    case debug:\n        pass",
        "def mark():\n    nonlocal debug\n    debug = True\nmark()",
    ):
        assert told(module(f"debug = False\n{binding}{read}"))


@pytest.mark.parametrize(
    ("test", "runs"),
    [
        ("torch.__version__ < '1.8'", False),
        ("Version(torch.__version__) < Version('1.8.0')", False),
        ("not Version(torch.__version__) >= Version('1.8.0')", False),
        ("tuple(int(n) for n in torch.__version__.split('.')[:2]) < (1, 8)", False),
        ("int(torch.__version__.split('.')[0]) == 1", False),
        ("(1, 8) > TORCH", False),
        ("OLD", False),
        ("MAJOR < 2", False),
        ("MAJOR == 2", True),
        ("int(torch.__version__[:1]) == 2", True),
        ("int(torch.__version__[0]) == 2", True),
        ("tuple(map(int, torch.__version__.split('.')[:1])) == (2,)", True),
        ("Version(torch.__version__[:3]) < Version('2.4')", True),
        ("Version(torch.__version__[:3]) < Version('1.8')", False),
        ("Version(str(torch.__version__)[:3]) < Version('2.4')", True),
        ("int(torch.__version__[2:4]) < 1", True),
        ("torch.__version__ < '2.12'", True),
        ("torch.__version__.split('+')[0] < '2.2'", True),
        ("int(torch.__version__.split('.')[1]) < 8", True),
        ("Version(old) < Version('1.8')", True),
        ("old < (1, 8)", True),
        ("torch.version.cuda < '10.1'", True),
        ("TORCH[0] <= 2", True),
        ("int(torch.__version__[2:3]) < 1", True),
        ("Version(torch.__version__[:3]) < Version('2.2')", True),
        ("[int(n) % 2 for n in torch.__version__.split('.')] < [1]", True),
        ("tuple(map(float, torch.__version__.split('.')[:2])) < (1, 8)", True),
        ("AGAIN", True),
    ],
)
def test_what_runs_with_versions_that_do_not_compile_is_not_told(test: str, runs: bool) -> None:
    head = (
        "TORCH = tuple(map(int, torch.__version__.split('.')[:2]))\nOLD = Version(torch.__version__) < Version('1.8')\n"
        "MAJOR = int(torch.__version__.split('.')[0])\n"
        "try:\n    from there import AGAIN\nexcept ImportError:\n    AGAIN = torch.__version__ < '1.8'\n"
    )
    text = module(f"if {test}:\n    x = x[x > 0]").replace(
        "KEPT = ", f"from packaging.version import Version\n{head}KEPT = "
    )
    assert runs is any("x[x > 0]" in f.source_line for f in told(text))


def test_a_name_of_the_function_is_not_that_of_the_file() -> None:
    text = module("OLD = self.kept\nif OLD:\n    x = x[x > 0]").replace(
        "KEPT = ", "OLD = torch.__version__ < '1.8'\nKEPT = "
    )
    assert any("x[x > 0]" in f.source_line for f in told(text))


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("self.debug", True),
        ("debug_scale is not None", True),
        ("self.training and self.debug_mode", True),
        ("self.training or self.debug_mode", False),
        ("not self.debug", False),
        ("debug_scale is None", False),
        ("self.debugger", False),
        ("not self.show_mask == False", True),
        ("self.show_mask is True", True),
        ("self.show_mask == False", False),
        ("self.show_always", False),
        ("self.show_by_default", False),
        ("self.show_when_asked", True),
        ("debug_level", False),
        ("self.draw_samples", False),
        ("self.verbose", True),
        ("verbose", True),
        ("timing", True),
        ("not self.verbose", False),
        ("self.verbose_by_default", False),
        ("self.unknown.verbose", False),
        ("self.mode == 'debug'", True),
        ("self.mode == 'fast'", False),
        ("self.mode != 'debug'", False),
    ],
)
def test_what_looks_for_mistakes_is_told_behind_the_rest(test: str, expected: bool) -> None:
    body = f"if {test}:\n    x = x[x > 0]"
    text = module(body, made="self.show_always = True\nself.show_by_default = show\nself.show_when_asked = quiet")
    text = text.replace("self.show_always = ", "self.verbose = quiet\n        self.show_always = ")
    text = text.replace("__init__(self)", "__init__(self, show=True, quiet=False)")
    text = text.replace("old=None", "debug_scale=None, debug_level=1, verbose=False, timing=False")
    assert expected is all(quiet(text, "x[x > 0]"))


@pytest.mark.parametrize(
    ("declared", "before", "called", "expected"),
    [
        ("verbose=False", "", "", True),
        ("verbose=False", "verbose = verbose or x.ndim > 2", "", False),
        ("verbose=False", "", "self.inner(x, verbose=True)", False),
        ("verbose=False", "", "self.inner(x, verbose=False)", True),
        ("timing=0", "", "", False),
    ],
)
def test_an_argument_that_something_sets_is_no_flag_that_is_off(
    declared: str, before: str, called: str, expected: bool
) -> None:
    name = declared.partition("=")[0]
    text = module(f"{before}\nif {name}:\n    x = x[x > 0]").replace("old=None", declared)
    if called:
        text += f"\n\nclass Outer(nn.Module):\n    def forward(self, x: torch.Tensor):\n        return {called}\n"
    assert expected is all(quiet(text, "x[x > 0]"))


@pytest.mark.parametrize(("flag", "expected"), [("self.verbose", True), ("self.debug", True), ("self.training", False)])
def test_what_is_only_called_to_look_for_mistakes_is_told_behind_the_rest(flag: str, expected: bool) -> None:
    more = "\n\ndef memory(x):\n    import gc\n    gc.collect()\n    print(x.sum().item())\n"
    text = module(f"if {flag}:\n    memory(x)", made="self.verbose = False") + more
    assert quiet(text, "gc.collect") == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if name in KEPT:\n    return KEPT[name]\nprint('table')\nKEPT[name] = 1", True),
        ("if KEPT.get(name):\n    return KEPT[name]\nprint('table')\nKEPT[name] = 1", False),
        ("if name in KEPT:\n    return KEPT[name]\nprint('table')", False),
        ("if name not in KEPT:\n    return None\nprint('table')\nKEPT[name] = 1", False),
        ("print('table')\nif name in KEPT:\n    return KEPT[name]\nKEPT[name] = 1", False),
    ],
)
def test_what_is_made_where_it_was_not_found_is_told_behind_the_rest(body: str, expected: bool) -> None:
    more = f"\n\ndef plugin(name, x):\n{indent(body, '    ')}\n    return x\n"
    assert quiet(module("plugin('a', x)") + more, "'table'") == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("global _ready\nif not _ready:\n    _ready = True\n    find(x)", True),
        ("global _ready\nif _ready:\n    _ready = False\n    find(x)", False),
        ("_ready = None\nif not _ready:\n    _ready = True\n    find(x)", False),
        ("global _ready\nif not _ready:\n    _ready = True\nfind(x)", False),
    ],
)
def test_what_a_flag_of_the_file_lets_run_once_is_told_behind_the_rest(body: str, expected: bool) -> None:
    more = f"\n\n_ready = False\n\n\ndef begin(x):\n{indent(body, '    ')}\n\n\n"
    more += "def find(x):\n    deeper(x)\n\n\ndef deeper(x):\n    print('table')\n"
    assert quiet(module("begin(x)") + more, "'table'") == [expected]


def test_a_gradient_is_told_once_where_a_flag_keeps_it() -> None:
    two = "a = torch.autograd.grad((x * x).sum(), x)\nb = torch.autograd.grad((x * x * x).sum(), x)\nx = a[0] + b[0]"
    text = (
        module(two).replace("old=None", "").replace("class Model", "run = torch.compile(lambda x: x)\n\n\nclass Model")
    )
    found = [f for f in told(text) if "autograd" in f.source_line]
    assert [f.code for f in found] == ["CF717", "CF712"]
    assert (found[1].declined or "").endswith("; the flag of line 18 keeps it in the graph")


def test_a_number_that_one_statement_reads_often_is_told_once_there() -> None:
    pairs = "for i in torch.cartesian_prod(torch.arange(2), torch.arange(2)):\n"
    many = f"{pairs}    self.use(x[:, i[0]],\n        x[:, i[0]])\n    self.use(x[:, i[0]])"
    found = [f for f in told(module(many)) if f.code == "CF202" and "i[0]" in f.message]
    assert [f.span.line for f in found] == [16, 18]


def test_the_items_of_a_tensor_that_one_line_reads_are_told_once() -> None:
    body = "box = x[0].long()\nfor _ in range(2):\n    self.use(x[:, box[0]:box[1]])\n    self.use(x[box[3]:])"
    found = [f for f in told(module(body)) if f.code == "CF202"]
    assert [(f.span.line, f.message.partition(" ")[0]) for f in found if f.fix is None] == [
        (17, "`box[0]`"),
        (18, "`box[3]`"),
    ]


def test_the_items_of_an_array_that_one_line_reads_are_told_once() -> None:
    last = "self.use(x[box[3]:])"
    body = f"import numpy\nbox = numpy.array(old)\nself.use(x[:, box[0]:box[1]])\n{last}\n{last}"
    found = [f for f in told(module(body)) if f.code == "CF401"]
    assert [(f.span.line, f.message.partition(" ")[0]) for f in found if f.fix is None] == [
        (17, "`box[0]`"),
        (18, "`box[3]`"),
    ]


@pytest.mark.parametrize(("copied", "code"), [("x", "CF701"), ("old", "CF708"), ("{'a': x}", "CF708")])
def test_a_copy_is_told_once_and_called_that_of_a_tensor_where_it_is_one(copied: str, code: str) -> None:
    body = f"import copy\nkept = copy.copy({copied})\nx = x + kept['a']"
    text = module(body).replace("old=None", "old").replace("return x", "old.flatten()\n        return x")
    assert [f.code for f in told(text) if "copy" in f.source_line] == [code]


def test_a_rewrite_of_selected_elements_is_told_once() -> None:
    text = module("y = x.masked_select(x > 0)\nx = y.sum() / y.numel()")
    assert [f.code for f in told(text) if "masked_select" in f.source_line] == ["CF503"]


def test_a_condition_by_itself_mixes_with_nothing() -> None:
    head = "p = 3\nif old:\n    p = x.sum()\n"
    for test, mixes in (("p <= 0", False), ("x.min() > 0 and p <= 0", True)):
        found = told(module(f"{head}if {test}:\n    x = x + 1\n    self.use(x)"))
        reasons = [f.declined or "" for f in found if f.code == "CF101"]
        assert all((" mixes with " in reason) <= mixes for reason in reasons)


@pytest.mark.parametrize(
    ("size", "expected"), [("x.shape[-1]", True), ("x.size(-1)", True), ("x.size(1)", False), ("x.shape[1]", False)]
)
def test_a_size_of_the_last_dimension_seldom_changes(size: str, expected: bool) -> None:
    text = module(f"x = x * np.sqrt({size})").replace("import torch\n", "import numpy as np\nimport torch\n")
    assert quiet(text, "np.sqrt") == [expected]


@pytest.mark.parametrize(
    ("scaled", "expected"),
    [
        ("x / np.sqrt(x.shape[1])", True),
        ("x[: int(np.sqrt(x.shape[1]))]", False),
        *((f"x / np.sqrt({rows})", False) for rows in ("x.shape[0]", "x.size(0)", "len(x)", "x.numel()")),
    ],
)
def test_the_number_of_features_by_which_a_tensor_is_scaled_seldom_changes(scaled: str, expected: bool) -> None:
    text = module(f"x = {scaled}").replace("import torch\n", "import numpy as np\nimport torch\n", 1)
    assert {f.minor for f in told(text) if f.code == "CF401"} == {expected}


@pytest.mark.parametrize(
    ("made", "breaks"),
    [("math.floor(np.sqrt(x.shape[1]))", True), ("math.sqrt(np.sqrt(x.shape[1]))", False)],
)
def test_what_makes_an_integer_of_a_numpy_number_reads_it(made: str, breaks: bool) -> None:
    text = module(f"x = x * {made}").replace("import torch\n", "import math\nimport numpy as np\nimport torch\n")
    assert [f.effect == "break" for f in told(text) if f.code == "CF401"] == [breaks]


def test_a_buffer_requires_no_gradient() -> None:
    text = module("x = x + self.kept[:, : x.size(1)].requires_grad_(False)", made="self.register_buffer('kept', y)")
    assert not told(text)


PRINTED = """
def adjusted(x: torch.Tensor, loud=False):
    if loud:
        print(x.mean())
    return x * 2


class Model(nn.Module):
    def forward(self, x, old):
        return adjusted({})
"""


@pytest.mark.parametrize(("given", "expected"), [("x", True), ("x, False", True), ("x, loud=old", False)])
def test_what_runs_for_a_flag_that_nobody_sets_is_told_behind_the_rest(given: str, expected: bool) -> None:
    assert set(quiet(HEAD + PRINTED.format(given), "print")) == {expected}


def test_the_text_of_an_assertion_is_told_behind_the_rest() -> None:
    text = module("assert (x == old).all(), f'{x.cpu().numpy().tolist()} is another one'")
    assert {f.code: f.minor for f in told(text) if f.code in ("CF105", "CF402")} == {"CF105": False, "CF402": True}


@pytest.mark.parametrize(
    ("kept", "expected"), [("self.kept", []), ("x * 2", ["CF401"]), ("self.kept * x.sum(-1)", ["CF401"])]
)
def test_the_shape_of_a_buffer_is_one_for_good(kept: str, expected: list[str]) -> None:
    text = module(f"old = {kept}\nx = x / np.sqrt(np.prod(old.shape))", "self.register_buffer('kept', torch.ones(3))")
    text = text.replace("import torch\n", "import numpy as np\nimport torch\n", 1)
    assert [f.code for f in told(text) if f.code == "CF401"] == expected


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for i in range(len(x)):\n    y = y + self.layers[i](x[i])", []),
        ("for i, part in enumerate(x):\n    y = y + self.layers[i](part)", []),
        ("parts = [x, old]\nfor i in range(len(x)):\n    y = y + parts[i] * self.use(x[i])", [True]),
        ("for i in range(len(x)):\n    y = y + self.use(x[i])", [False]),
        ("ys = []\nfor i in range(len(x)):\n    ys.append(self.use(x[i]))\n    y = y + ys[i]", [False]),
        ("ys = [None] * len(x)\nfor i in range(len(x)):\n    ys[i] = self.use(x[i])", [False]),
        ("parts = x.unbind(0)\nfor i in range(len(x)):\n    y = self.use(parts[i] + y)", [False]),
        ("for i, p in enumerate(x):\n    y = y + (self.layers[i](p) if i < 2 else self.use(p))", [False]),
    ],
)
def test_a_loop_has_a_turn_for_each_layer_or_each_item_of_a_list(loop: str, expected: list[bool]) -> None:
    text = module(f"y = 0\n{loop}", "self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])")
    assert [f.minor for f in told(text) if f.code == "CF605"] == expected


def test_the_groups_of_an_optimizer_have_the_same_options() -> None:
    text = (
        HEAD
        + """
@torch.compile
def refined(x: torch.Tensor, steps: int):
    for _ in range(steps):
        x = x * 2
    return x


class Steps:
    def step(self):
        for group in self.{}:
            refined(group["x"], steps=group["steps"])
"""
    )
    assert [[f.code for f in told(text.format(n)) if f.code == "CF608"] for n in ("param_groups", "found")] == [
        [],
        ["CF608"],
    ]


def test_a_checkpoint_of_its_own_is_told_of_the_one_in_torch() -> None:
    text = (
        HEAD
        + """
class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, number, *given):
        ctx.run, ctx.inputs, ctx.params = run, given[:number], given[number:]
        with torch.no_grad():
            return run(*ctx.inputs)

    @staticmethod
    def backward(ctx, *given):
        with torch.enable_grad():
            out = ctx.run(*ctx.inputs)
        found = torch.autograd.grad(out, ctx.inputs + ctx.params, given, allow_unused=True)
        return (None, None) + found


class Model(nn.Module):
    def forward(self, x):
        return Checkpoint.apply(self.run, 1, x)
"""
    )
    assert ["torch.utils.checkpoint" in str(f.declined) for f in told(text) if f.code == "CF712"] == [True]


def test_a_loop_over_the_joints_of_a_body_is_told_behind_the_rest() -> None:
    text = module("num_joints = x.size(1)\nloss = 0\nfor i in range(num_joints):\n    loss = loss + self.use(x[:, i])")
    assert quiet(text, "for i") == [True]


@pytest.mark.parametrize(
    ("given", "expected"), [("x.shape[-2:]", True), ("None", True), ("x[0]", False), ("old", False), ("KEPT", True)]
)
def test_a_tensor_that_no_call_gives_is_told_behind_the_rest(given: str, expected: bool) -> None:
    more = "\n\ndef resized(x, size):\n    size = size.tolist() if torch.is_tensor(size) else size\n"
    more += "    return nn.functional.interpolate(x, size)\n"
    assert quiet(module(f"x = resized(x, {given})") + more, "tolist") == [expected]


def test_what_one_process_does_on_several_devices_is_told_behind_the_rest() -> None:
    text = module("x = torch.cuda.comm.broadcast(x, [0, 1])[0]\nif x.sum() > 0:\n    self.use(x.tolist())")
    assert quiet(text, "tolist") == [True]


def test_what_a_flag_keeps_out_is_told_behind_the_rest() -> None:
    body = "if show_mask == False:\n    return x\nelse:\n    x = x[x > 0]\n    self.use(x)"
    assert quiet(module(body).replace("old=None", "show_mask=False"), "x[x > 0]") == [True]


def test_a_selection_is_told_once_beside_the_flag_for_it() -> None:
    text = module("if mask is not None:\n    x = x[mask]\nx = torch.var(torch.log(x))").replace("old=None", "mask=None")
    assert [f.code for f in told(text) if "x[mask]" in f.source_line] == ["CF506"]


def test_what_makes_results_of_what_a_model_gave_is_told_apart() -> None:
    layer = "self.layer = nn.Linear(3, 3)"
    for name, made, apart in (("Model", "", False), ("PostProcessSegm", "", True), ("PostProcessNet", layer, False)):
        text = module("x = x[x > 0]", made=made).replace("Model", name)
        assert {f.reached_by[0].endswith(" by itself") for f in told(text)} == {apart}


def test_a_list_of_what_numpy_draws_is_told_at_the_draw() -> None:
    text = module("n = self.rng.choice(range(3), 2).tolist()\nx = x[:, n]", made="self.rng = np.random.default_rng()")
    found = told(text.replace("import torch\n", "import numpy as np\nimport torch\n"))
    assert [f.code for f in found if "choice" in f.source_line] == ["CF403"]


@pytest.mark.parametrize(("emptied", "expected"), [("None", 0), ("x", 1)])
def test_what_each_call_sets_back_is_not_filled_once(emptied: str, expected: int) -> None:
    body = "if self.kept is None:\n    self.kept = torch.ones(3)\nx = x + self.kept\nself.reset(x)"
    found = told(module(body, more=f"\ndef reset(self, x):\n    self.kept = {emptied}\n"))
    assert len([f for f in found if f.code == "CF707"]) == expected


@pytest.mark.parametrize(("name", "expected"), [("p_sample_loop", True), ("generate", True), ("resample", False)])
def test_what_shows_how_far_sampling_has_come_is_told_behind_the_rest(name: str, expected: bool) -> None:
    body = "    for t in tqdm(range(9), desc='steps'):\n        x = self.use(x, t)\n    return x\n"
    more = f"\ndef {name}(self, x):\n{body}"
    text = module(f"x = self.{name}(x)", more=more).replace("import torch\n", "import torch\nfrom tqdm import tqdm\n")
    assert quiet(text, "in tqdm") == [expected]


def test_what_is_made_of_a_parameter_is_not_said_to_belong_into_init() -> None:
    body = "if self.kept is None:\n    w = self.scale.exp()\n    self.kept = w * 2\nx = x * self.kept"
    for made, trained in (("nn.Parameter(torch.ones(3))", True), ("torch.ones(3)", False)):
        found = told(module(body, made=f"self.kept = None\nself.scale = {made}"))
        reasons = [f.declined or "" for f in found if f.code == "CF707"]
        assert [reason.startswith("it is made of `self.scale`, which training") for reason in reasons] == [trained]


def test_what_is_made_of_a_layer_is_not_said_to_belong_into_init() -> None:
    body = "w = self.conv.weight.squeeze()\nif self.kept is None:\n    w = w * 2\n    self.kept = w\nx = x * self.kept"
    found = told(module(body, made="self.kept = None\nself.conv = nn.Conv1d(3, 3, 1)"))
    reasons = [f.declined or "" for f in found if f.code == "CF707"]
    assert [reason.startswith("it is made of `self.conv.weight`") for reason in reasons] == [True]


def test_a_number_that_is_printed_is_told_with_the_text() -> None:
    assert [f.code for f in told(module("print('mean', x.mean().item())")) if f.effect == "break"] == ["CF301"]


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("beam_search", "", True),
        ("best_beams", "# until eos", True),
        ("best_beams", "# of steel", False),
        ("beamline", "# until eos", False),
    ],
)
def test_what_searches_for_a_text_is_told_behind_the_rest(name: str, words: str, expected: bool) -> None:
    more = f"\n{words}\ndef {name}(self, x: torch.Tensor):\n    return x[x > 0]\n"
    assert quiet(module(f"x = self.{name}(x)", more=more), "x[x > 0]") == [expected]


def test_what_is_looked_for_among_texts_is_no_tensor() -> None:
    text = module("task = batch['task']\nif task in ('a', 'b'):\n    x = x + 1").replace("old=None", "batch: Batch")
    head = "from typing import Dict\nfrom torch import Tensor\nBatch = Dict[str, Tensor]\n"
    assert not told(text.replace("KEPT = {}", head).replace("batch: Batch", "batch: Dict[str, Tensor]"))


@pytest.mark.parametrize(
    ("base", "method", "body"),
    [
        ("nn.DataParallel", "forward", "print('spread')"),
        ("nn.parallel.DistributedDataParallel", "forward", "print('spread')"),
        ("nn.Module", "__call__", "x = next(self._dataset)\nprint('step')"),
    ],
)
def test_what_drives_a_module_is_no_root(base: str, method: str, body: str) -> None:
    text = module(body).replace("(nn.Module)", f"({base})").replace("def forward", f"def {method}")
    text = text.replace("x: torch.Tensor", "x")
    assert not [f for f in told(text) if "print" in f.source_line]


def test_a_number_of_numpy_is_told_where_it_is_read_first() -> None:
    body = "import numpy as np\nn = np.prod(old)\nx = x.view(-1, n)\nx = x.view(n, -1)\nx = x.view(2, n)"
    assert [f.source_line.strip() for f in told(module(body)) if "NumPy number" in f.message] == ["x = x.view(n, -1)"]


def test_what_loads_a_model_is_told_behind_the_rest() -> None:
    more = "\ndef create_model(self):\n    print('made')\n    return torch.load('model.pt')\n"
    assert quiet(module("if self.training:\n    self.kept = self.create_model()", more=more), "'made'") == [True]


@pytest.mark.parametrize(
    ("name", "loading", "expected"),
    [
        ("compute", "if self.kept is None:\n        self.kept = torch.load('x.pt')", False),
        ("compute", "self.kept = torch.load('x.pt')", True),
        ("load", "if self.kept is None:\n        self.kept = torch.load('x.pt')", True),
    ],
)
def test_what_runs_beside_what_is_loaded_at_first_is_told_with_the_rest(
    name: str, loading: str, expected: bool
) -> None:
    more = f"\ndef {name}_table(self, x):\n    {loading}\n    return x[x > 0]\n"
    assert quiet(module(f"x = self.{name}_table(x)", more=more), "x[x > 0]") == [expected]


def test_what_a_loss_adds_up_is_kept_as_a_tensor() -> None:
    found = told(module("self.kept += x.sum().item()\nif self.training:\n    self.kept = 0"))
    assert any("keep a tensor, and read it elsewhere" in (f.declined or "") for f in found)


def test_what_is_made_of_a_part_is_not_said_to_come_from_the_caller() -> None:
    more = "\ndef part(self, x):\n    return x[0]\n"
    found = told(module("y = self.part(x).detach()\ny.requires_grad_()\nx = x + y", more=more))
    assert not any("comes from the caller" in (f.declined or "") for f in found)
    assert any("may be a part of what is not made here" in (f.declined or "") for f in found)


def test_a_list_with_an_item_for_each_layer_does_not_grow() -> None:
    text = module("if len(self.kept) <= old:\n    self.kept.append(x)", "self.kept = []")
    assert not [f for f in told(text) if f.code == "CF603"]
    assert [f for f in told(module("if x.dim() > 2:\n    self.kept.append(x)", "self.kept = []")) if f.code == "CF603"]


@pytest.mark.parametrize(
    ("test", "done", "expected"),
    [
        ("time.time() - begun > 10.0", "return old", [True]),
        ("time.time() - begun > 10.0", "self.show(x)", [False]),
        ("len(x) > 10", "return old", [False]),
    ],
)
def test_what_stops_by_the_clock_is_told_behind_the_rest(test: str, done: str, expected: list[bool]) -> None:
    body = f"begun = time.time()\nx = x[x > 0]  # kept\nif {test}:\n    {done}"
    assert quiet("import time\n" + module(body), "kept") == expected


@pytest.mark.parametrize("how", ["@torch.compile\n", ""])
@pytest.mark.parametrize(
    "function",
    [
        "def beam_search(x: torch.Tensor):\n    return x[x > 0]\n",
        "def kept(x: torch.Tensor):\n    x = x[x > 0]\n    if time.time() > 9:\n        return x + 1\n    return x\n",
        "def sample(x: torch.Tensor):\n    for t in tqdm(range(9)):\n        x = x[x > t]\n    return x\n",
    ],
)
def test_what_is_seen_to_be_compiled_is_told_first_whatever_its_name(function: str, how: str) -> None:
    assert set(quiet(f"import time\nfrom tqdm import tqdm\n{HEAD}{how}{function}", "x[x >")) == {not how}


@pytest.mark.parametrize(("mode", "expected"), [("fast", [True]), ("debug", [False])])
def test_a_mode_that_is_on_until_somebody_says_otherwise_is_told_with_the_rest(mode: str, expected: list[bool]) -> None:
    assert quiet(module("if self.mode == 'debug':\n    x = x[x > 0]", f"self.mode = '{mode}'"), "x > 0") == expected


def test_a_function_whose_name_speaks_of_compiling_is_not_seen_to_be_compiled() -> None:
    text = f"{HEAD}def compiled_loss(x: torch.Tensor):\n    for part in x:\n        part += 1\n    return x\n"
    assert [f.code for f in told(text)] == []
    assert [f.code for f in told(text.replace("def ", "@torch.compile\ndef "))] == ["CF605"]


def test_a_kernel_that_takes_addresses_is_an_operator_of_its_own() -> None:
    text = module("KERNELS[0](args=[x.data_ptr(), self.scale.item()])", "self.scale = nn.Parameter(torch.ones(()))")
    assert ["torch.library.custom_op" in str(f.declined) for f in told(text) if f.code == "CF201"] == [True]


@pytest.mark.parametrize(("layer", "advised"), [("nn.Conv1d(3, 3, 1)", [False]), ("nn.Linear(3, 3)", None)])
def test_a_flag_that_would_not_do_for_what_is_compiled_is_not_advised_there(
    layer: str, advised: list[bool] | None
) -> None:
    text = (
        module("x = self.layer(x[x.sum((1, 2)) > 0])", f"self.layer = {layer}") + "\n\nnet = torch.compile(Model())\n"
    )
    found = told(text)
    offered = [f.code for f in found if f.fix is not None]
    reasons = [f.declined or "" for f in found if f.code == "CF501"]
    assert offered == ([] if advised else ["CF506"])
    assert ["capture_dynamic_output_shape_ops" in reason for reason in reasons] == (advised or [True])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.rnn.flatten_parameters()\nx = self.rnn(x)[0]", ["self.rnn.flatten_parameters()"]),
        ("if self.training:\n    self.rnn.flatten_parameters()\nx = self.rnn(x)[0]", ["self.rnn(x)"]),
        ("self.rnn.flatten_parameters()", ["self.rnn.flatten_parameters()"]),
        ("self.other.flatten_parameters()\nx = self.rnn(x)[0]", ["self.other.flatten_parameters()", "self.rnn(x)"]),
    ],
)
def test_a_recurrent_layer_and_what_it_is_asked_for_are_told_once(body: str, expected: list[str]) -> None:
    found = told(module(body, "self.rnn = nn.GRU(3, 3)\nself.other = nn.GRU(3, 3)"))
    assert [f.message.split("`")[1] for f in found if f.code == "CF715"] == expected


def test_another_name_of_a_test_for_being_compiled_is_known() -> None:
    body = "if not _is_compiling():\n    print('eager')\nif _is_compiling():\n    print('compiled')"
    text = module(body).replace("KEPT = {}", "_is_compiling = torch.compiler.is_compiling")
    assert ["compiled" in f.source_line for f in told(text)] == [True]


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("print('unknown', mode)", True),
        ("print('unknown', mode)\n    return 0", True),
        ("print('unknown', mode)\n    return x", False),
        ("print('sum')\n    x = x * 2", False),
        ("print('plain', x.sum().item())", False),
    ],
)
def test_what_says_that_a_setting_is_unknown_is_told_behind_the_rest(last: str, expected: bool) -> None:
    chain = "if mode == 'mean':\n    x = x - 1\nelif mode in ('sum', 'all'):\n    x = x + 1\nelse:\n    "
    text = module(chain + last).replace("old=None", "mode='mean'")
    assert quiet(text, "print") == [expected]
    assert quiet(text.replace("if mode == 'mean'", "if self.kept"), "print") == [False]


@pytest.mark.parametrize(
    ("asked", "expected"), [("len(old)", True), ("x.ndim", True), ("x.dim()", True), ("old", False)]
)
def test_what_says_that_there_are_more_than_are_known_is_told_behind_the_rest(asked: str, expected: bool) -> None:
    chain = f"if {asked} == 1:\n    x = x - 1\nelif {asked} == 2:\n    x = x + 1\nelse:\n    print('more')"
    assert quiet(module(chain).replace("old=None", "old"), "print") == [expected]


@pytest.mark.parametrize(
    ("made", "more", "expected"),
    [
        ("self.kept = None", "", True),
        ("self.last = nn.Linear(3, 3)", "", False),
        ("self.kept, self.last = None, x", "", False),
        ("self.register_buffer('last', torch.ones(3))", "", False),
        ("for name in KEPT:\n    setattr(self, name, 1)", "", False),
        ("self.kept = None", "\n@property\ndef last(self):\n    return self.kept\n", False),
    ],
)
def test_what_reads_an_attribute_that_is_nowhere_given_is_told_behind_the_rest(
    made: str, more: str, expected: bool
) -> None:
    text = module("y = torch.autograd.grad(x.sum(), self.last)", made, more)
    assert quiet(text, "grad(") == [expected]


@pytest.mark.parametrize(("name", "apart"), [("ImageDataProcessor", True), ("DataPreprocessor", True), ("Data", False)])
def test_what_brings_the_data_to_a_model_is_told_apart(name: str, apart: bool) -> None:
    text = module("x = x[x > 0]").replace("Model", name)
    assert {f.reached_by[0].endswith(" by itself") for f in told(text)} == {apart}


@pytest.mark.parametrize(("package", "expected"), [("hivemind", True), ("math", False)])
@pytest.mark.parametrize("more", ["", "\ndef ask(self, x):\n    return asked(x)\n"])
def test_what_asks_other_machines_is_told_behind_the_rest(package: str, more: str, expected: bool) -> None:
    text = module("x = x[x > 0]" if more else "x = asked(x[x > 0])", more=more)
    text = text.replace("import warnings\n", f"from {package} import log as asked\nimport warnings\n")
    assert set(quiet(text, "x[x > 0]")) == {expected}


def test_a_model_beside_what_serves_it_is_told_with_the_rest() -> None:
    served = "\n\ndef serve(model):\n    zmq.Context().socket(zmq.REP).send_pyobj(model(torch.ones(3)))\n"
    text = module("x = x[x > 0]").replace("import warnings\n", "import warnings\n\nimport zmq\n", 1) + served
    assert quiet(text, "x[x > 0]") == [False]


def test_a_loop_over_the_heads_of_the_keys_is_told_behind_the_rest() -> None:
    text = module(
        "num_heads_kv = x.size(1)\nloss = 0\nfor i in range(num_heads_kv):\n    loss = loss + self.use(x[:, i])"
    )
    assert quiet(text, "for i") == [True]


@pytest.mark.parametrize("call", ["replicate(self.kept, [0, 1])", "parallel_apply(self.kept, x)"])
def test_what_runs_copies_of_a_layer_is_told_behind_the_rest(call: str) -> None:
    text = module(f"self.use({call})\nx = x[x > 0]")
    imported = "from torch.nn.parallel.parallel_apply import parallel_apply\nfrom torch.nn.parallel import replicate\n"
    assert quiet(text.replace("import warnings\n", f"import warnings\n{imported}"), "x[x > 0]") == [True]


@pytest.mark.parametrize(
    ("body", "code", "way"),
    [
        ("if x.sum() > 0:\n    self.use(old)", "CF101", "decide outside the compiled code"),
        ("n = x.sum().item()\nif n > 3:\n    self.kept.append(n)", "CF201", "from outside the compiled code"),
        ("y = x[x > 0]\nx = y.cumsum(0).sum()", "CF501", "outside the compiled code"),
        ("y = nn.Parameter(x * 2)\nself.use(y)", "CF702", "make it once, in `__init__`"),
        ("y = torch.ones(3).requires_grad_()\nself.use(y)", "CF702", "outside the compiled code"),
    ],
)
def test_a_reason_names_a_way_on(body: str, code: str, way: str) -> None:
    reasons = [f.declined for f in told(module(body)) if f.code == code]
    assert reasons
    assert all(way in str(reason) for reason in reasons)


def test_a_pad_that_may_be_negative_is_told_behind_the_rest_with_what_to_ask() -> None:
    body = "n = (old - x.size(1) % old) % old\nif n > 0:\n    x = nn.functional.pad(x, (0, n))"
    found = [f for f in told(module(body).replace("old=None", "old: int")) if f.code == "CF601"]
    assert [(f.minor, "ask for `n != 0`" in str(f.declined)) for f in found] == [(True, True)]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("self.p_sample(x, t)", True),
        ("self.use(x, t)", False),
        ("torch.nn.functional.grid_sample(x, t)", False),
        ("self.up_sample(x)", False),
    ],
)
def test_a_loop_that_samples_and_shows_how_far_it_has_come_is_told_behind_the_rest(turn: str, expected: bool) -> None:
    body = f"if old is not None:\n    for t in tqdm(range(9)):\n        x = {turn}\nx = x[x > 0]"
    text = module(body).replace("import torch\n", "import torch\nfrom tqdm import tqdm\n", 1)
    assert quiet(text, "in tqdm") == [expected]
    assert quiet(text, "x[x > 0]") == [False]


@pytest.mark.parametrize(
    ("call", "expected"),
    [("mask(n, x.shape[1])", True), ("mask(n)", False), ("mask(n, old)", False), ("mask(n, longest=None)", False)],
)
def test_a_default_that_no_call_leaves_is_told_behind_the_rest(call: str, expected: bool) -> None:
    text = module(f"n = (x > 0).sum(1)\nx = x * {call}").replace(
        "class Model",
        "def mask(length, longest=None):\n    if longest is None:\n        longest = length.max()\n"
        "    places = torch.arange(longest)\n    return places < length[:, None]\n\n\nclass Model",
    )
    assert quiet(text, "arange(longest)") == [expected]
    leaves = f"{HEAD}from program import mask\n\n\nclass Other(nn.Module):\n    def forward(self, x):\n        "
    for other, elsewhere in (("mask(x.sum(1))", False), ("mask(x.sum(1), x.shape[1])", expected)):
        found = told(text, f"{leaves}return {other}\n")
        assert [f.minor for f in found if "arange(longest)" in f.source_line] == [elsewhere]


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("plt.imshow(kept.numpy())", True),
        ("drawn(kept)", True),
        ("x = kept", False),
        ("x = x + self.penalty(kept)", False),
        ("plt.imshow(kept.numpy())\n    x = kept", False),
        ("plt.imshow(kept.numpy())\n    self.seen.append(kept)", False),
        ("axis = plt.gca()\n    axis.set_title('x')\n    plt.imshow(kept.numpy())", True),
        ("wandb.log({'kept': kept})", False),
    ],
)
def test_what_is_computed_to_be_shown_is_told_behind_the_rest(last: str, expected: bool) -> None:
    body = f"if old is not None:\n    kept = picked(x)\n    {last}\nx = x + 1"
    more = (
        "def picked(x: torch.Tensor):\n    return x[x > 0]\n\n\ndef drawn(x):\n    plt.imsave('x.png', x.numpy())\n\n\n"
    )
    text = module(body).replace("class Model", f"{more}class Model")
    text = text.replace("import torch\n", "import torch\nimport wandb\nfrom matplotlib import pyplot as plt\n", 1)
    assert set(quiet(text, "x[x > 0]")) == {expected}


def test_what_a_method_sets_up_where_it_is_missing_is_told_behind_the_rest() -> None:
    more = (
        "\ndef init_other(self):\n    if self.kept is None:\n        self.kept = networks(3)\n"
        "\ndef other(self):\n    if self.kept is None:\n        self.kept = networks(3)\n"
    )
    for method, expected in (("init_other", True), ("other", False)):
        text = module(f"self.{method}()\nx = x * self.kept", more=more).replace(
            "class Model", "def networks(n):\n    print('networks')\n    return n\n\n\nclass Model"
        )
        assert quiet(text, "'networks'") == [expected]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("print('wrong')\n    return None", True),
        ("print('wrong')\n    return", True),
        ("print('wrong')\n    return 0", True),
        ("print('wrong')\n    return x", False),
        ("print('wrong')\n    x = x + 1\n    return None", False),
    ],
)
def test_a_complaint_that_gives_nothing_is_told_behind_the_rest(block: str, expected: bool) -> None:
    assert quiet(module(f"if x.shape[1] != 3:\n    {block}"), "'wrong'") == [expected]


def test_what_is_said_in_evaluation_alone_is_no_complaint() -> None:
    assert quiet(module("if not self.training:\n    print('wrong')\n    return None"), "'wrong'") == [False]


def test_what_is_compiled_once_by_another_compiler_is_told_behind_the_rest() -> None:
    more = (
        "\ndef compile_kernel(self, n):\n    print('kernel')\n    return n\n"
        "\ndef kernel(self, n):\n    if n not in KEPT:\n        KEPT[n] = self.compile_kernel(n)\n    return KEPT[n]\n"
    )
    assert quiet(module("x = x * self.kernel(x.shape[0])", more=more), "'kernel'") == [True]


@pytest.mark.parametrize(
    ("given", "more", "expected"),
    [
        ("self.kept", "", True),
        ("self.kept", "\ndef grow(self, x):\n    self.kept = x\n", False),
        ("x", "", False),
        ("self.kept * 2", "", False),
    ],
)
def test_a_loop_over_a_buffer_that_is_passed_on_is_told_behind_the_rest(given: str, more: str, expected: bool) -> None:
    chain = (
        "def chain(x: torch.Tensor, parents: torch.Tensor):\n    for i in range(parents.shape[0]):\n"
        "        x = torch.tanh(x + parents[i])\n    return x\n\n\n"
        "def posed(x: torch.Tensor, parents: torch.Tensor):\n    return chain(x, parents)\n\n\n"
    )
    text = module(f"x = posed(x, {given})", "self.register_buffer('kept', torch.ones(3))", more)
    assert quiet(text.replace("class Model", f"{chain}class Model"), "for i") == [expected]


def test_a_loop_over_what_another_file_passes_is_told_with_the_rest() -> None:
    chain = (
        "def chain(x: torch.Tensor, parents: torch.Tensor):\n    for i in range(parents.shape[0]):\n"
        "        x = torch.tanh(x + parents[i])\n    return x\n\n\n"
    )
    text = module("x = chain(x, self.kept)", "self.register_buffer('kept', torch.ones(3))")
    text = text.replace("class Model", f"{chain}class Model")
    other = f"{HEAD}from program import chain\n\n\nclass Other(nn.Module):\n    def forward(self, x):\n        "
    found = told(text, f"{other}return chain(x, x)\n")
    assert [f.minor for f in found if "for i" in f.source_line] == [False]


@pytest.mark.parametrize(("name", "expected"), [("spatial_shapes", True), ("shapes_of_boxes", False)])
def test_a_loop_over_the_shapes_of_levels_is_told_behind_the_rest(name: str, expected: bool) -> None:
    text = module(f"for h, w in {name}:\n    x = x + torch.tanh(h * w)").replace("old=None", f"{name}: torch.Tensor")
    assert quiet(text, "for h") == [expected]


@pytest.mark.parametrize(("called", "expected"), [("torch.hub.download_url_to_file(old, 'x')", True), ("old()", False)])
def test_what_is_downloaded_is_told_behind_the_rest(called: str, expected: bool) -> None:
    load = f"def load_statistics(old):\n    print('looked for')\n    {called}\n    return torch.ones(3)\n\n\n"
    text = module("x = x + load_statistics(old)").replace("class Model", f"{load}class Model")
    assert quiet(text, "'looked for'") == [expected]


@pytest.mark.parametrize(("name", "expected"), [("make_or_download_table", True), ("make_load_balance", False)])
def test_what_is_called_after_a_balanced_load_loads_nothing(name: str, expected: bool) -> None:
    load = f"def {name}(old):\n    print('made')\n    return torch.load('x') if old is None else old\n\n\n"
    text = module(f"x = x + {name}(old)").replace("class Model", f"{load}class Model")
    assert quiet(text, "'made'") == [expected]


def test_a_value_of_all_that_is_passed_is_not_said_to_belong_into_init() -> None:
    body = "if self.kept is None:\n    self.kept = self.use(*args, **kwargs)\nx = self.kept(x)"
    text = module(body).replace("old=None", "*args, **kwargs")
    (reason,) = (str(f.declined) for f in told(text) if f.code == "CF707")
    assert "hangs on `args`" in reason


@pytest.mark.parametrize(("asked", "expected"), [("old + n", False), ("x.size(0)", True)])
def test_a_flag_is_not_advised_for_a_number_that_decides_in_a_sum(asked: str, expected: bool) -> None:
    body = f"n = x.argmin().item() + 1\nif {asked} == 1:\n    x = x * 2\nx = x.view(n, -1)"
    found = [f for f in told(module(body)) if f.code in ("CF201", "CF205")]
    assert [f.code == "CF205" or "capture_scalar_outputs" in str(f.declined) for f in found] == [expected]


def test_the_lines_of_a_reason_are_of_the_file_or_of_a_function_that_is_named() -> None:
    used = "import numpy\n\n\ndef used(x, times):\n    kept = [0] * 3\n    return x * kept[times]\n"
    text = module("x = used(x, x.sum().int().item())").replace(
        "import torch\n", "import torch\nfrom other1 import used\n"
    )
    (reason,) = (str(f.declined) for f in told(text, used) if f.code == "CF201")
    assert reason.startswith("`used`, line ")


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("hasattr(torch, 'nextafter')", True),
        ("hasattr(nn.functional, 'scaled_dot_product_attention')", True),
        ("hasattr(torch, 'of_tomorrow')", False),
        ("hasattr(x, 'nextafter')", False),
        ("hasattr(torch, 'nextafter', 1)", False),
    ],
)
def test_what_is_for_versions_without_a_function_is_not_told(asked: str, there: bool) -> None:
    found = [f.source_line for f in told(module(f"if {asked}:\n    print('new')\nelse:\n    print('old')"))]
    assert ["print('old')" not in "".join(found), "print('new')" in "".join(found)] == [there, True]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("print('broken')", True),
        ("n = x.isnan().sum().item()\n    print('broken', n)", True),
        ("try:\n        print('broken')\n    except ValueError:\n        pass", True),
        ("print('broken')\n    x = torch.nan_to_num(x)", False),
        ("print('broken')\n    self.kept = 1", False),
        ("print('broken')\n    self.use(x)", False),
        ("print('broken')\n    return x", False),
    ],
)
@pytest.mark.parametrize("test", ["x.isnan().any()", "torch.isinf(x).any() | x.isnan().any()", "x.max() > 1"])
def test_what_says_that_numbers_are_broken_is_told_behind_the_rest(test: str, block: str, expected: bool) -> None:
    text = module(f"if {test}:\n    {block}")
    assert set(quiet(text, "'broken'")) == {expected and "max" not in test}
    assert not any(quiet(text, f"if {test}"))


@pytest.mark.parametrize(("call", "expected"), [("metrics.structural_similarity", True), ("measure.label", False)])
def test_what_measures_pictures_is_told_behind_the_rest(call: str, expected: bool) -> None:
    text = module(f"y = {call}(x.cpu().numpy(), old)\nx = x * y")
    text = text.replace("import torch\n", "import torch\nfrom skimage import measure, metrics\n", 1)
    assert set(quiet(text, call)) == {expected}


def conditional(text: str, word: str = "'told'") -> set[bool]:
    """Whether a setting or an argument decides about the findings in the lines with a word."""
    return {f.conditional for f in told(text) if f.code == "CF301" and word in f.source_line}


SET = "self.on, self.off, self.mode = on, off, mode"
INIT = ("def __init__(self):", "def __init__(self, config=None, on=True, off=False, mode='a'):")


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("self.on", False),
        ("not self.on", True),
        ("self.off", True),
        ("self.on and not self.off", False),
        ("self.on and self.off", True),
        ("self.on or self.off", False),
        ("self.mode == 'a'", False),
        ("self.mode in ('b', 'c')", True),
        ("old is None", False),
        ("old is not None", True),
        ("x is not None", False),
        ("self.config.used", True),
        ("self.training", False),
        ("self.training and self.off", True),
        ("x.shape[0] > 3", True),
        ("x[x > 0].numel() > 0", False),
        ("x[x > 0].numel() == 0", True),
        ("x.sum() > 0", False),
    ],
)
def test_what_a_setting_or_an_argument_decides_is_told_as_such(test: str, expected: bool) -> None:
    text = module(f"if {test}:\n    print('told')", SET).replace(*INIT)
    assert conditional(text) == {expected}
    shorter = module(f"y = print('told') if {test} else None", SET).replace(*INIT)
    assert conditional(shorter) == {expected}
    called = module(f"if {test}:\n    self.say(x)", SET, "\ndef say(self, x):\n    print('told')\n").replace(*INIT)
    assert conditional(called) == {expected}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if self.off:\n    return x\nprint('told')", False),
        ("if self.on:\n    return x\nprint('told')", True),
        ("if old is None:\n    return x\nprint('told')", True),
        ("for i in range(3):\n    if i == 0:\n        print('told')", False),
        ("for i in range(3):\n    if self.off:\n        print('told')", True),
        ("y = [print('told') for i in range(3) if self.off]", True),
        ("y = [print('told') for i in range(3) if self.on]", False),
        ("if self.on:\n    pass\nelse:\n    print('told')", True),
        ("if self.off:\n    self.say(x)\nself.say(x)", False),
    ],
)
def test_ways_out_loops_and_calls_decide_as_tests_do(body: str, expected: bool) -> None:
    text = module(body, SET, "\ndef say(self, x):\n    print('told')\n").replace(*INIT)
    assert expected in conditional(text)
    assert conditional(text) == {expected} or "say" in body


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("self.config is not None and x.sum() > 0", True),
        ("self.on and x.sum() > 0", False),
        ("self.on or x.sum() > 0", True),
        ("old and x.sum() > 0", True),
    ],
)
def test_a_tensor_that_a_default_keeps_from_being_asked_is_not_met_in_each_call(test: str, expected: bool) -> None:
    text = module(f"if {test}:\n    x = x * 2", f"{SET}\nself.config = config").replace(*INIT)
    assert {f.conditional for f in told(text) if f.code == "CF101"} == {expected}


@pytest.mark.parametrize(("imported", "expected"), [("numpy as np", {True}), ("numpy as np\nimport torch", {False})])
def test_arrays_in_a_file_without_torch_are_the_host_s(imported: str, expected: set[bool]) -> None:
    library = f"import {imported}\n\n\ndef kept(a):\n    print('told')\n    return np.abs(a)\n"
    text = module("x = x + kept(x.numpy())").replace("import torch\n", "import torch\nfrom other1 import kept\n", 1)
    assert {f.conditional for f in told(text, library) if f.code == "CF301"} == expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("", False),
        ("if __name__ == '__main__':\n    print('trains')\n", True),
        ("from program import Model\n\nif __name__ == '__main__':\n    Model()\n", False),
        (
            "import program\n\n\nclass Wider(program.Model):\n    pass\n\n\nif __name__ == '__main__':\n    pass\n",
            False,
        ),
        ("MADE = 'Model'\n\nif __name__ == '__main__':\n    print(MADE)\n", False),
        ("import importlib\n\nif __name__ == '__main__':\n    importlib.import_module(input())\n", False),
    ],
)
def test_a_module_that_no_program_makes_is_not_met_in_each_call(other: str, expected: bool) -> None:
    text = module("print('told')")
    assert {f.conditional for f in told(text, other) if f.code == "CF301"} == {expected}
    for more in ("MADE = {'Model': 3}", "def make():\n    return Model()", "class Wider(Model):\n    pass"):
        found = told(f"{text}\n\n{more}\n", other)
        assert {f.conditional for f in found if f.code == "CF301"} == {False}


def test_a_name_of_a_comprehension_is_not_taken_for_another_of_that_name() -> None:
    text = module("y, _ = x, 1\nold = [old[_] for _ in x.tolist()]")
    reasons = [f.declined or "" for f in told(text) if f.code == "CF202"]
    assert len(reasons) == 1
    assert "several places" not in reasons[0]
    assert "`old`" in reasons[0] or "`old[_]`" in reasons[0]


def test_a_missing_import_is_no_reason_where_another_stands_in_the_way() -> None:
    library = "import scipy.sparse\n\n\ndef kept(entry):\n    entry['a'] = scipy.sparse.csr_matrix(entry['a'])\n"
    text = module("kept({'a': x.numpy()})").replace("import torch\n", "import torch\nfrom other1 import kept\n", 1)
    reasons = [f.declined or "" for f in told(text, library) if f.code in ("CF404", "CF405")]
    assert reasons
    assert not any("not imported" in reason for reason in reasons)


def test_a_loop_of_a_search_with_beams_is_told_behind_the_rest() -> None:
    search = "\ndef beam_search(self, x: torch.Tensor):\n    return [x[i] * 2 for i in range(x.size(0))]\n"
    text = module("x = self.beam_search(x)[0]", more=search)
    assert {f.minor for f in told(text) if f.code == "CF605"} == {True}
    assert {f.minor for f in told(text.replace("beam_search", "steps")) if f.code == "CF605"} == {False}


@pytest.mark.parametrize(("made", "expected"), [("self.kept = 1", []), ("self.other = 1", ["CF707"])])
def test_what_init_gives_is_not_said_to_be_missing(made: str, expected: list[str]) -> None:
    text = module("if not hasattr(self, 'kept'):\n    self.kept = 2", made)
    assert [f.code for f in told(text) if "hasattr" in f.source_line] == expected


@pytest.mark.parametrize("size", ["first.size(1)", "first.shape[1]"])
def test_a_flag_is_not_advised_for_a_mask_whose_size_the_code_asks(size: str) -> None:
    text = module(f"keep = x.amax(0) > 0.5\nfirst, second = x[:, keep], x[0, keep]\nif {size} == 0:\n    return second")
    text = text.replace("first, second = x[:, keep], x[0, keep]", "first = x[:, keep]\n        second = x.T[keep, :]")
    reasons = [f.declined or "" for f in told(text) if f.code == "CF501" and "keep" in f.source_line]
    assert len(reasons) == 2
    assert all("would not do" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("test", "turned", "block", "expected"),
    [
        ("n == self.n", True, "self.table = make(n)\nself.n = n", True),
        ("n == self.n and self.table.dtype == x.dtype", True, "self.table = make(n)\nself.n = n", True),
        ("n == self.n or self.table is None", True, "self.table = make(n)\nself.n = n", False),
        ("n != self.n", False, "self.table = make(n)\nself.n = n", True),
        ("self.n != n or self.table is None", False, "self.table = make(n)\nself.n = n", True),
        ("n != self.n or self.training", False, "self.table = make(n)\nself.n = n", False),
        ("n != self.n", True, "self.table = make(n)\nself.n = n", False),
        ("n != self.n", False, "self.table = make(n)\nself.n = n + 1", False),
        ("n != self.n", False, "make(n)\nself.n = n", False),
        ("n != self.n", False, "table = make(n)\nself.n = n", False),
    ],
)
def test_what_is_made_anew_for_another_size_is_told_behind_the_rest(
    test: str, turned: bool, block: str, expected: bool
) -> None:
    told_there = f"print('told')\n{block}"
    rest = indent(told_there, "    ")
    body = f"if {test}:\n    x = x * 2\nelse:\n{rest}" if turned else f"if {test}:\n{rest}"
    text = module(f"n = x.shape[1]\n{body}", "self.n, self.table = 1, None")
    text = text.replace("KEPT = {}", "def make(n):\n    print('called')\n    return torch.ones(n)")
    assert set(quiet(text, "'told'")) == {expected}
    assert set(quiet(text, "'called'")) == {expected}


def test_numbers_that_one_statement_needs_of_python_are_told_once() -> None:
    text = module("a, b, c, d = x.ceil().int()\nx = nn.functional.pad(x, pad=[a.item(), b.item(), c.item(), d.item()])")
    assert [f.code for f in told(text) if "pad=" in f.source_line] == ["CF205", "CF201"]


def test_what_is_given_to_a_library_of_the_host_is_told_with_it() -> None:
    text = module("a = x.cpu().numpy()\nx = torch.from_numpy(expi(a, dtype=a.dtype))")
    text = text.replace("import torch\n", "import torch\nfrom scipy.special import expi\n", 1)
    assert [f.code for f in told(text) if "expi(a" in f.source_line] == ["CF404"]


def test_a_gradient_that_no_flag_keeps_is_told_once() -> None:
    body = "for i in range(2):\n    y = (self.w * x).sum()\n    g = torch.autograd.grad(y, self.parameters())"
    body += "\n    y.backward()"
    text = module(body, "self.w = nn.Parameter(torch.ones(3))")
    found = [f for f in told(text) if "autograd.grad" in f.source_line]
    assert [f.code for f in found] == ["CF712"]
    assert "`trace_autograd_ops` would not do: " in (found[0].declined or "")
