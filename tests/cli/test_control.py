"""What decides which findings are reported: comments, the baseline, revisions, the standard input."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from compilefix.codemods import registry

if TYPE_CHECKING:
    from conftest import Cli

MODEL = "import torch\n\n\n@torch.compile\ndef forward(x):\n    x = slow(x)\n    x = risky(x)\n    return never(x)\n"


def codes(cli: Cli, *arguments: str, stdin: bytes = b"") -> list[str]:
    result = cli("check", "--output-format", "json", *arguments, stdin=stdin)
    return [finding["code"] for finding in json.loads(result.out)["findings"]]


def test_a_comment_on_the_def_line_silences_the_function(cli: Cli) -> None:
    text = (
        "import torch\n\n\n@torch.compile\ndef forward(  # compilefix: ignore[CF901]\n    x,\n):\n"
        "    # compilefix: ignore\n    x = slow(x)\n    return never(x)\n\n\n"
        "@torch.compile\ndef other(x):\n    return slow(x)\n"
    )
    cli.write("model.py", text)
    assert codes(cli) == ["CF911", "CF901"]
    cli.write("model.py", text.replace("    x,\n):\n", "    x,\n):  # compilefix: ignore[CF911]\n"))
    assert codes(cli) == ["CF901"]
    cli.write(
        "model.py",
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):  # compilefix: ignore\n"
        "        def inner(y):\n            return slow(y)\n\n        return inner(slow(x))\n",
    )
    assert codes(cli) == []


def test_a_silenced_function_stays_as_it_is_while_others_are_fixed(cli: Cli) -> None:
    text = (
        "import torch\n\n\n@torch.compile\ndef forward(x):\n    return slow(slow(x))\n\n\n"
        "@torch.compile\ndef other(x):  # compilefix: ignore\n    return slow(x)\n"
    )
    path = cli.write("model.py", text)
    assert cli("apply").out == "2 fixes applied in 1 file.\n"
    assert path.read_text() == text.replace("slow(slow(x))", "fast(fast(x))")


def test_unused_suppressions_are_reported_where_everything_was_looked_at(cli: Cli) -> None:
    cli.write(
        "model.py",
        "import torch\n\n\n@torch.compile\ndef forward(x):  # compilefix: ignore[CF902]\n"
        "    x = slow(x)  # compilefix: ignore[CF901, CF911]\n"
        "    # compilefix: ignore\n"
        "    x = x + 1  # compilefix: ignore\n"
        "    return never(x)  # compilefix: ignore\n",
    )
    cli.write("generated.py", "# compilefix: ignore-file\nx = 1\n")
    result = cli("check", ".")
    assert result.code == 0
    assert result.err.splitlines() == [
        "model.py:5: unused suppression: CF902 silences nothing here",
        "model.py:6: unused suppression: CF911 silences nothing here",
        "model.py:7: unused suppression: it silences nothing here",
        "model.py:8: unused suppression: it silences nothing here",
    ]
    content = json.loads(cli("check", "--output-format", "json").out)
    assert content["unused_suppressions"][0] == {"path": "model.py", "line": 5, "codes": ["CF902"], "cell": None}
    # Alone, a file does not show what other files compile; and a rule that did not run found nothing.
    assert cli("check", "model.py").err == ""
    assert cli("check", "--select", "CF901").err == ""
    assert cli("check", "-q").err == ""


def test_a_configured_root_is_compiled_and_one_that_is_not_there_refused(cli: Cli) -> None:
    cli.write("pkg/__init__.py", "")
    cli.write("pkg/model.py", "import torch\n\n\nclass Model:\n    def step(self, x):\n        return slow(x)\n")
    assert codes(cli) == []
    cli.write("pyproject.toml", "[tool.compilefix]\n\nroots = ['pkg.model:Model.step']\n")
    assert codes(cli) == ["CF901"]
    cli.write("pyproject.toml", "[tool.compilefix]\n\nroots = ['pkg.model:Modle.step']\n")
    result = cli("check")
    assert (result.code, result.err) == (2, "compilefix: pyproject.toml:3: 'roots': pkg/model.py has no Modle\n")


def test_a_root_whose_module_is_not_there_is_named(cli: Cli) -> None:
    cli.write("pyproject.toml", "[tool.compilefix]\nroots = ['nets.model:f', 'nets.models:f']\n")
    cli.write("nets/model.py", "def f(x):\n    return x\n")
    assert cli("check").err == "pyproject.toml:2: 'roots': there is no module nets.models\n"
    assert cli("check", "nets").err == ""
    cli.write("nets/models.py", "def g(x):\n    return x\n")
    assert cli("check").err == "compilefix: pyproject.toml:2: 'roots': nets/models.py has no f\n"


def test_a_file_that_is_not_python_may_have_comments(cli: Cli) -> None:
    cli.write("broken.py", "def f(:  # compilefix: ignore\n'''\n")
    result = cli("check", ".")
    assert result.code == 2
    assert len(result.err.splitlines()) == 1


def test_a_baseline_leaves_out_what_was_there_wherever_it_moves(cli: Cli) -> None:
    path = cli.write("pkg/model.py", MODEL)
    cli.write("pyproject.toml", "[tool.compilefix]\n")
    written = cli("check", "--write-baseline", "known.json")
    assert (written.code, written.out) == (0, "3 findings written to known.json.\n")
    first = (cli.folder / "known.json").read_bytes()
    result = cli("check", "--baseline", "known.json")
    assert (result.code, result.err) == (0, "")
    assert result.out == "3 findings in the baseline not shown.\nNo new findings in 1 file.\n"
    path.write_text('"""Moved."""\n\n\n' + MODEL.replace("x = slow(x)", "x  =  slow(x)"))
    assert codes(cli, "--baseline", "known.json") == []
    assert codes(cli, "--baseline", "known.json", str(path)) == []
    path.write_text(MODEL.replace("    return", "    x = slow(x)\n    x = slow(x + 1)\n    return"))
    assert codes(cli, "--baseline", "known.json") == ["CF901", "CF901"]
    path.write_text("x = 1\n")
    assert cli("check", "--baseline", "known.json").err == "3 findings in known.json not found any more\n"
    path.write_text(MODEL)
    cli("check", "--write-baseline", "known.json", str(path))
    assert (cli.folder / "known.json").read_bytes() == first


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "known.json: cannot be read: No such file"),
        ("[", "known.json: is not a baseline: "),
        ('{"version": 7}', "known.json: is not a baseline of version 1"),
        ('{"version": 1, "findings": ["x"]}', "known.json: is not a baseline: its findings"),
    ],
)
def test_a_bad_baseline_gets_one_line(cli: Cli, content: str | None, message: str) -> None:
    cli.write("model.py")
    if content is not None:
        cli.write("known.json", content)
    result = cli("check", "--baseline", "known.json")
    assert (result.code, result.out, len(result.err.splitlines())) == (2, "", 1)
    assert result.err.startswith("compilefix: " + message)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_since_looks_at_what_changed(cli: Cli) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=cli.folder, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for name in ("same.py", "changed.py", "gone.py", "on_main.py"):
        cli.write(name)
    git("add", ".")
    git("commit", "-q", "-m", "first")
    git("checkout", "-q", "-b", "topic")
    cli.write("committed.py")
    git("add", ".")
    git("commit", "-q", "-m", "second")
    git("checkout", "-q", "main")
    cli.write("on_main.py", MODEL + "\n")
    git("commit", "-q", "-a", "-m", "third")
    git("checkout", "-q", "topic")
    cli.write("changed.py", MODEL + "\n")
    cli.write("new folder/untracked.py")
    (cli.folder / "gone.py").unlink()

    def looked_at(*arguments: str) -> set[str]:
        found = json.loads(cli("check", "--output-format", "json", *arguments).out)["findings"]
        return {finding["path"] for finding in found}

    assert looked_at("--since", "HEAD") == {"changed.py", "new folder/untracked.py"}
    assert looked_at("--since", "main") == {"changed.py", "committed.py", "new folder/untracked.py"}
    assert looked_at("--since", "main", "same.py", "changed.py") == {"changed.py"}
    assert cli("apply", "--since", "HEAD", "-q").code == 0
    assert "slow" in (cli.folder / "same.py").read_text()
    assert "slow" not in (cli.folder / "changed.py").read_text()
    result = cli("check", "--since", "mian")
    assert (result.code, result.out) == (2, "")
    assert "--since: 'mian' is no revision" in result.err


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_since_outside_a_repository(cli: Cli) -> None:
    cli.write("model.py")
    result = cli("check", "--since", "HEAD")
    assert (result.code, len(result.err.splitlines())) == (2, 1)
    assert "not a git repository" in result.err


def test_the_standard_input(cli: Cli) -> None:
    source = MODEL.encode()
    result = cli("check", "-", "--output-format", "concise", "-q", stdin=source)
    assert result.code == 1
    assert result.out.startswith("<stdin>:6:9: CF901")
    cli.write("pyproject.toml", "[tool.compilefix]\nexclude = ['gen']\nper-file-ignores = { 'old.py' = ['CF9'] }\n")
    named = cli("check", "-", "--stdin-filename", "pkg/model.py", "--output-format", "concise", "-q", stdin=source)
    assert named.out.startswith("pkg/model.py:6:9: CF901")
    assert codes(cli, "-", "--stdin-filename", "old.py", stdin=source) == []
    assert len(codes(cli, "-", "--stdin-filename", "gen/model.py", stdin=source)) == 3
    assert codes(cli, "-", "--stdin-filename", "gen/model.py", "--force-exclude", stdin=source) == []
    broken = cli("check", "-", "--stdin-filename", "model.py", stdin=b"def f(:\n")
    assert broken.code == 2
    assert broken.err.startswith("model.py:1: syntax error")


@pytest.mark.parametrize(
    "content", [MODEL.encode(), MODEL.replace("\n", "\r\n").encode(), b"# coding: latin-1\n# \xe9\n" + MODEL.encode()]
)
def test_apply_writes_the_fixed_standard_input_to_the_standard_output(cli: Cli, content: bytes) -> None:
    fixed = content.replace(b"slow", b"fast")
    result = cli("apply", "-", stdin=content)
    assert (result.code, result.data) == (0, fixed)
    assert cli("apply", "-", stdin=fixed).data == fixed
    diff = cli("apply", "--diff", "-", "--stdin-filename", "pkg/model.py", stdin=content)
    assert diff.code == 1
    assert diff.data.startswith(b"diff --git a/pkg/model.py b/pkg/model.py\n")
    cli.write("pyproject.toml", "[tool.compilefix]\nexclude = ['gen']\n")
    kept = cli("apply", "-", "--stdin-filename", "gen/a.py", "--force-exclude", stdin=content)
    assert (kept.code, kept.data) == (0, content)
    broken = cli("apply", "-", stdin=b"def f(:\n")
    assert (broken.code, broken.data) == (2, b"")
    assert [path.name for path in cli.folder.iterdir()] == ["pyproject.toml"]


@pytest.mark.parametrize(
    "arguments", [["-", "model.py"], ["-", "--since", "HEAD"], ["model.py", "--stdin-filename", "x.py"]]
)
def test_the_standard_input_goes_with_nothing_else(cli: Cli, arguments: list[str]) -> None:
    result = cli("check", *arguments)
    assert (result.code, result.out, len(result.err.splitlines())) == (2, "", 1)


@pytest.mark.parametrize(("target", "codes"), [("2.11", {"CF901", "CF902", "CF911"}), ("2.12", {"CF902", "CF911"})])
def test_a_rule_is_silent_for_a_torch_that_its_pattern_does_not_break(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, target: str, codes: set[str]
) -> None:
    monkeypatch.setattr(registry.load()["CF901"], "torch", ">=2.6,<2.12")
    cli.write("model.py")
    cli.write("pyproject.toml", f'[tool.compilefix]\ntarget-torch = "{target}"\nassume = ["log-late"]\n')
    found = json.loads(cli("check", "--output-format", "json").out)["findings"]
    assert {finding["code"] for finding in found} == codes
    assert ("fast(x)" in cli("apply", "--diff").out) == ("CF901" in codes)
