"""What the README shows is what happens: its commands are run and its examples loaded."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from compilefix.codemods import registry
from compilefix.codemods.assumptions import ASSUMPTIONS
from compilefix.source.config import load

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = sorted((ROOT / "docs").glob("*.md"))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the README's commands look at, so that none of them can change the repository."""
    shutil.copytree(ROOT / "fixtures" / "models", tmp_path / "fixtures" / "models")
    return tmp_path


@pytest.mark.parametrize("block", blocks(README, "console"), ids=lambda block: block.splitlines()[0][2:60])
def test_a_console_block_shows_what_the_command_prints(block: str, tree: Path) -> None:
    command, _, shown = block.partition("\n")
    assert command.startswith("$ compilefix ")
    words = [sys.executable, "-m", "compilefix", *shlex.split(command.partition(">")[0])[2:]]
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout
    if ">" in command:
        assert not shown
        return
    parts = [re.escape(part) for part in shown.split("...\n")]
    assert re.fullmatch(".*".join(parts), done.stdout, re.DOTALL), done.stdout


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", "\n".join(blocks(README, "sh")), re.MULTILINE)
    assert set(targets) == {"demo", "test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_the_workload_example_is_a_workload() -> None:
    torch = pytest.importorskip("torch", reason="the example makes tensors")
    source = blocks(README, "python")[0]
    names = {"torch": torch, "Model": lambda: torch.nn.Linear(128, 2)}
    exec(textwrap.dedent(source), names)
    model, inputs = names["workload"]("cpu")
    assert [model(*args).shape for args in inputs] == [(8, 2), (8, 2)]


def test_the_configuration_example_is_valid(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(blocks(README, "toml")[0], encoding="utf-8")
    config = load([tmp_path])
    assert config.ignore
    assert set(config.ignore) <= set(registry.load())
    assert all((ROOT / spec.rpartition(":")[0]).is_file() for spec in config.workloads.values())
    assert config.assume
    assert set(config.assume) <= set(ASSUMPTIONS)


def test_the_hooks_of_the_example_exist() -> None:
    shown = re.findall(r"- id: ([\w-]+)", blocks(README, "yaml")[0])
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert shown
    assert all(f"- id: {name}\n" in hooks for name in shown)


@pytest.mark.parametrize("page", [ROOT / "README.md", *DOCS], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))  # code has brackets too
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def test_the_page_on_safety_lists_every_assumption() -> None:
    listed = re.findall(
        r"^\| `([\w-]+)` \| (.*) \|$", (ROOT / "docs" / "safety.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert dict(listed) == dict(ASSUMPTIONS)
