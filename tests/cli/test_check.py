from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cli

CLEAN = "def forward(x):\n    return slow(x)\n"


def test_text_shows_the_code_and_the_way_out(cli: Cli) -> None:
    cli.write("model.py")
    result = cli("check", "model.py")
    assert result.code == 1
    assert result.err == ""
    assert result.out == (
        "model.py:6:9: CF901 `slow` is slow\n"
        "    6 |     x = slow(x)\n"
        "      |         ^^^^^^^\n"
        "    in: forward, reached by @torch.compile forward\n"
        "    fix: safe\n"
        "\n"
        "model.py:7:9: CF902 `risky` is risky\n"
        "    7 |     x = risky(x)\n"
        "      |         ^^^^^^^^\n"
        "    in: forward, reached by @torch.compile forward\n"
        "    fix with: assumption log-late\n"
        "\n"
        "model.py:8:12: CF911 `never` breaks the graph\n"
        "    8 |     return never(x)\n"
        "      |            ^^^^^^^^\n"
        "    in: forward, reached by @torch.compile forward\n"
        "    no fix: nothing takes its place\n"
        "\n"
        "3 findings in 1 file: 1 fixable with `compilefix apply`, 1 with assumptions, 1 without a fix.\n"
        "1 hidden fix: allow with --assume log-late or --unsafe-fixes "
        "(`compilefix rules --assumptions` says what they mean).\n"
    )


def test_concise_and_quiet(cli: Cli) -> None:
    cli.write("model.py")
    result = cli("check", "--output-format", "concise", "-q", "--assume", "log-late")
    assert result.out.splitlines() == [
        "model.py:6:9: CF901 [*] `slow` is slow",
        "model.py:7:9: CF902 [*] `risky` is risky",
        "model.py:8:12: CF911 `never` breaks the graph",
    ]


def test_json_has_every_field_of_version_1(cli: Cli) -> None:
    cli.write("model.py")
    cli.write("broken.py", "x = 1\ndef f(:\n")
    result = cli("check", "--output-format", "json", "--statistics")
    content = json.loads(result.out)
    assert result.code == 2
    assert content["version"] == 1
    first, second, third = content["findings"]
    assert first == {
        "code": "CF901",
        "name": "slow-call",
        "path": "model.py",
        "cell": None,
        "line": 6,
        "column": 9,
        "end_line": 6,
        "end_column": 16,
        "message": "`slow` is slow",
        "function": "forward",
        "reached_by": first["reached_by"],
        "gb": ["GB0001"],
        "effect": "break",
        "fix": {"applicability": "safe", "assumptions": []},
        "declined": None,
        "confirmed": None,
        "apart": False,
        "minor": False,
        "conditional": False,
        "fingerprint": first["fingerprint"],
    }
    assert isinstance(first["reached_by"], list)
    assert second["fix"] == {"applicability": "unsafe", "assumptions": ["log-late"]}
    assert (third["fix"], third["declined"]) == (None, "nothing takes its place")
    assert content["errors"] == [{"path": "broken.py", "line": 2, "message": content["errors"][0]["message"]}]
    assert content["statistics"][0] == {"code": "CF901", "name": "slow-call", "count": 1, "fixable": 1}
    assert result.err.startswith("broken.py:2: syntax error")


def test_github_annotations_are_escaped(cli: Cli) -> None:
    cli.write("a,b.py")
    cli.write("broken.py", b"\xff")
    result = cli("check", "--output-format", "github", "--select", "CF901")
    assert result.out.splitlines() == [
        "::warning file=a%2Cb.py,line=6,endLine=6,col=9,endColumn=16,title=CF901 (slow-call)::CF901 `slow` is slow",
        "::error file=broken.py,line=1::" + result.out.splitlines()[1].split("::")[2],
    ]


def test_statistics_count_by_rule(cli: Cli) -> None:
    cli.write("model.py", MODEL_TWICE)
    result = cli("check", "--statistics")
    assert result.out.splitlines()[:2] == ["2  CF911  never-call", "1  CF901  slow-call  (1 fixable)"]


MODEL_TWICE = "import torch\n\n\n@torch.compile\ndef forward(x):\n    return never(never(slow(x)))\n"


def test_nothing_found(cli: Cli) -> None:
    cli.write("model.py", CLEAN)
    result = cli("check")
    assert (result.code, result.out) == (0, "No findings in 1 file.\n")


def test_exit_zero_only_covers_findings(cli: Cli) -> None:
    cli.write("model.py")
    assert cli("check", "--exit-zero").code == 0
    cli.write("broken.py", "def f(:\n")
    assert cli("check", "--exit-zero").code == 2


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (["--select", "CF90"], ["CF901", "CF902"]),
        (["--select", "CF901,CF911"], ["CF901", "CF911"]),
        (["--select", "CF901", "--select", "CF902"], ["CF901", "CF902"]),
        (["--ignore", "CF90"], ["CF911"]),
        (["--select", "CF901", "--extend-select", "CF911"], ["CF901", "CF911"]),
    ],
)
def test_rules_are_chosen(cli: Cli, options: list[str], codes: list[str]) -> None:
    cli.write("model.py")
    result = cli("check", "--output-format", "json", *options)
    assert [finding["code"] for finding in json.loads(result.out)["findings"]] == codes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "CF903"], "unknown rule 'CF903'; did you mean"),
        (["--assume", "log-lat"], "unknown assumption 'log-lat'; did you mean 'log-late'?"),
        (["--config", "none.toml"], "none.toml: cannot be read"),
        (["--statistics", "--output-format", "github"], "--statistics"),
    ],
)
def test_bad_options_get_one_line(cli: Cli, arguments: list[str], message: str) -> None:
    cli.write("model.py")
    result = cli("check", *arguments)
    assert result.code == 2
    assert result.out == ""
    assert len(result.err.splitlines()) == 1
    assert message in result.err


def test_a_bad_format_is_refused(cli: Cli) -> None:
    result = cli("check", "--output-format", "xml")
    assert result.code == 2
    assert "concise" in result.err


def test_the_configuration_counts(cli: Cli) -> None:
    cli.write("model.py")
    cli.write("old/model.py")
    cli.write("gen/model.py")
    cli.write(
        "pyproject.toml",
        '[tool.compilefix]\nignore = ["CF911"]\nexclude = ["gen"]\nassume = ["log-late"]\n'
        'per-file-ignores = { "old/**" = ["CF902"] }\n',
    )
    result = cli("check", "--output-format", "concise", "-q")
    assert [line.split(" `")[0] for line in result.out.splitlines()] == [
        "model.py:6:9: CF901 [*]",
        "model.py:7:9: CF902 [*]",
        "old/model.py:6:9: CF901 [*]",
    ]
    cli.write("pyproject.toml", "[tool.compilefix]\nasume = []\n")
    result = cli("check")
    assert (result.code, result.err) == (
        2,
        "compilefix: pyproject.toml:2: unknown key 'asume'; did you mean 'assume'?\n",
    )


def test_a_wrong_value_in_the_configuration_is_named_with_its_place(cli: Cli) -> None:
    cli.write("model.py")
    cli.write("pyproject.toml", '[tool.compilefix]\nexclude = []\nassume = ["log-lat"]\n')
    assert cli("check").err.startswith(
        "compilefix: pyproject.toml:3: 'assume': unknown assumption 'log-lat'; did you mean 'log-late'?"
    )
    cli.write("pyproject.toml", '[tool.compilefix]\nignore = ["CF8"]\n')
    result = cli("check")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("compilefix: pyproject.toml:2: 'ignore': unknown rule 'CF8'")


def test_comments_silence_lines_and_files(cli: Cli) -> None:
    text = (
        "import torch\n\n\n@torch.compile\ndef forward(x):\n"
        "    x = slow(x)  # compilefix: ignore[CF901]\n"
        "    x = risky(  # compilefix: ignore[CF901]\n        x\n    )\n"
        "    return never(\n        x,\n    )  # compilefix: ignore\n"
    )
    cli.write("model.py", text)
    result = cli("check", "--output-format", "concise", "-q")
    assert [line.split()[1] for line in result.out.splitlines()] == ["CF902"]
    cli.write("model.py", "# compilefix: ignore-file\n" + text)
    assert cli("check").code == 0


def test_a_comment_on_the_body_does_not_silence_the_head(cli: Cli) -> None:
    cli.write(
        "model.py",
        "import torch\n\n\n@torch.compile\ndef forward(x):\n"
        "    if slow(x):\n        x = x + 1  # compilefix: ignore\n    return x\n",
    )
    assert cli("check").code == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("broken.py", b"def f(:\n", "broken.py:1: syntax error"),
        ("binary.py", b"\x7fELF\x00\x01", "binary.py:1: contains a null byte"),
        ("latin.py", b"x = '\xe9'\n", "latin.py:1: is not valid utf-8"),
    ],
)
def test_bad_files_are_named_and_the_rest_goes_on(cli: Cli, name: str, content: bytes, message: str) -> None:
    cli.write("model.py")
    cli.write(name, content)
    result = cli("check", "--output-format", "concise", "-q")
    assert result.code == 2
    assert len(result.out.splitlines()) == 3
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith(message)


def test_missing_paths_and_empty_folders(cli: Cli) -> None:
    (cli.folder / "empty").mkdir()
    (cli.folder / "folder.py").mkdir()
    assert cli("check", "missing").err == "missing: no such file or folder\n"
    assert cli("check", "missing").code == 2
    assert cli("check", "empty").err == "empty: no Python files found\n"
    assert cli("check", "empty").code == 0
    assert cli("check", "folder.py").err == "folder.py: no Python files found\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + (b"import torch\n@torch.compile\ndef forward(x):\n    return slow(x)"),
        b"import torch\r\n@torch.compile\r\ndef forward(x):\r\n    return slow(x)\r\n",
        b"# coding: latin-1\n# \xe9\nimport torch\n@torch.compile\ndef forward(x):\n    return slow(x)\n",
    ],
)
def test_every_kind_of_text_file_is_read(cli: Cli, content: bytes) -> None:
    cli.write("model.py", content)
    result = cli("check", "--output-format", "concise", "-q")
    assert (result.code, result.err) == (1, "")
    assert ":12: CF901" in result.out


def test_control_characters_of_the_source_do_not_reach_the_terminal(cli: Cli) -> None:
    cli.write("model.py", "import torch\n@torch.compile\ndef forward(x):\n    return slow('\x1b[31m')\n")
    result = cli("check")
    assert "\x1b" not in result.out


def test_the_end_says_how_many_stand_in_functions_that_nothing_was_seen_to_compile(cli: Cli) -> None:
    """A reader agreed with nearly all to which a `forward` led, and with a third to a half of the others."""
    alone = "import torch\n\n\ndef scaled(x: torch.Tensor):\n    return slow(x) * 2\n"
    model = "\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        return slow(x)\n"
    cli.write("alone.py", alone + model)
    lines = cli("check", "alone.py").out.splitlines()
    assert lines[-2].startswith("2 findings in 1 file: ")
    assert lines[-1].startswith("1 finding in functions to which no `forward` and no torch.compile was seen to lead")
    heads = [line for line in lines[:-2] if line and not line.startswith(" ")]
    assert heads == [
        "alone.py:10:16: CF901 `slow` is slow",
        "Not seen to run compiled:",
        "alone.py:5:12: CF901 `slow` is slow",
    ]
    concise = cli("check", "alone.py", "--output-format", "concise", "-q").out.splitlines()
    assert [line.partition(": ")[0] for line in concise] == ["alone.py:10:16", "alone.py:5:12"]
    cli.write("alone.py", alone + "\n\ndouble = torch.compile(scaled)\n")
    assert cli("check", "alone.py").out.splitlines()[-1].startswith("1 finding in 1 file: ")


def test_what_each_call_meets_is_told_before_what_a_setting_decides(cli: Cli) -> None:
    """A reader agreed with nearly all of the former, and with a half of what stood behind settings and arguments."""
    init = "    def __init__(self, fast=False):\n        super().__init__()\n        self.fast = fast\n\n"
    forward = "    def forward(self, x: torch.Tensor):\n        if self.fast:\n            return slow(x)\n"
    forward += "        return slow(x)\n"
    cli.write("net.py", f"import torch\n\n\nclass Net(torch.nn.Module):\n{init}{forward}")
    lines = cli("check", "net.py").out.splitlines()
    heads = [line for line in lines[:-1] if line and not line.startswith(" ")]
    assert [head.split(" CF")[0] for head in heads if not head.startswith("2 findings")] == [
        "net.py:12:16:",
        "Where a setting, an optional argument or a size says so, on arrays in files without torch, in modules that "
        "no program here makes, or with other sizes or values than before:",
        "net.py:11:20:",
    ]
    found = json.loads(cli("check", "net.py", "--output-format", "json").out)["findings"]
    assert {finding["line"]: finding["conditional"] for finding in found} == {11: True, 12: False}


@pytest.mark.parametrize("configured", [False, True])
def test_what_nothing_was_seen_to_compile_can_be_left_out(cli: Cli, configured: bool) -> None:
    alone = "import torch\n\n\ndef scaled(x: torch.Tensor):\n    return slow(x) * 2  # compilefix: ignore[CF911]\n"
    cli.write("alone.py", alone)
    told = [finding["apart"] for finding in json.loads(cli("check", "--output-format", "json").out)["findings"]]
    assert told == [False], "somebody compiles what a file by itself defines"
    model = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x\n"
    cli.write("net.py", model)
    told = [finding["apart"] for finding in json.loads(cli("check", "--output-format", "json").out)["findings"]]
    assert told == [True]
    if configured:
        cli.write("pyproject.toml", "[tool.compilefix]\nreached = true\n")
    options = [] if configured else ["--reached"]
    result = cli("check", *options)
    assert (result.code, result.out) == (0, "No findings in 2 files.\n")
    assert cli("apply", "--diff", *options).code == 0
    assert cli("apply", "--diff").code == int(not configured)
    cli.write("alone.py", alone.replace("CF911", "CF901"))
    assert "unused" not in cli("check", *options).err


def test_what_leaves_nothing_to_do_comes_behind_the_others(
    tmp_path: Path, command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    head = "import torch\n\n\n@torch.compile\ndef f(x):\n    y = x[0, 0]\n    n_classes = x.shape[1]\n"
    head += "    n_steps = x.shape[2]\n    if x.shape[0] > 17:\n        y = y * 2\n"
    loop = "    for i in range({}):\n        y = torch.tanh(y @ x[i, i])\n"
    text = head + loop.format("n_classes") + loop.format("n_steps") + "    return y\n"
    (tmp_path / "loops.py").write_text(text, encoding="utf-8")
    lines = command(tmp_path, "check", "loops.py", "--output-format", "concise").stdout.splitlines()
    assert [(line.split(":")[1], line.split()[1]) for line in lines if "CF6" in line] == [
        ("13", "CF605"),
        ("9", "CF601"),
        ("11", "CF605"),
    ]
    found = json.loads(command(tmp_path, "check", "loops.py", "--output-format", "json").stdout)["findings"]
    assert {finding["line"]: finding["minor"] for finding in found if finding["code"].startswith("CF6")} == {
        9: True,
        11: True,
        13: False,
    }
    text = command(tmp_path, "check", "loops.py").stdout
    assert text.index("loops.py:13") < text.index("These cost little") < text.index("loops.py:9")
