"""`compilefix explain` and the table of graph-break ids."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from compilefix.analysis import graph_breaks
from compilefix.cli.app import app
from compilefix.codemods import registry
from compilefix.reporting.break_coverage import coverage, remedy

ROOT = Path(__file__).parent.parent


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_graph_breaks", ROOT / "scripts" / "build_graph_breaks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def explain(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["explain", *words], prog_name="compilefix")
    return result.exit_code, result.stdout, result.stderr


def test_table_and_page_are_current(script: ModuleType) -> None:
    known = graph_breaks.shipped()
    remake = "run `python scripts/build_graph_breaks.py`"
    written = script.TABLE.read_text(encoding="utf-8")
    assert written == script.table(known.torch, known.breaks), remake
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), remake


def test_the_page_accounts_for_every_id() -> None:
    rows = re.findall(
        r"^\| (GB\d{4}) \| .+ \| (\w+) \| ([\w, ]*) \| .*\|$",
        (ROOT / "docs" / "graph_breaks.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert [name for name, _, _ in rows] == sorted(graph_breaks.shipped().breaks)
    for name, kind, codes in rows:
        assert codes == ", ".join(code for code, rule in registry.load().items() if name in rule.gb)
        assert (kind == "none") == (codes == "")


def test_every_id_that_a_rule_names_exists() -> None:
    named = {name for rule in registry.load().values() for name in rule.gb}
    assert named <= set(graph_breaks.shipped().breaks)


@pytest.mark.skipif(not graph_breaks.installed(), reason="no torch with a registry is installed")
def test_the_registry_of_the_installed_torch_is_known_without_importing_it() -> None:
    code = (
        "import sys; from compilefix.analysis import graph_breaks as g; from compilefix.codemods import registry;"
        "from compilefix.reporting.break_coverage import explanation;"
        "assert all(explanation(b, registry.load()) for b in g.known().breaks.values());"
        "assert set(g.installed()) <= set(g.known().breaks); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "capture_scalar_outputs" in graph_breaks.installed()["GB0124"].explanation


def test_what_a_rule_offers_is_what_its_fixtures_show() -> None:
    for code, rule in registry.load().items():
        pairs = list((ROOT / "fixtures" / "rules" / code).glob("*.before.py"))
        assert (remedy(rule) == "advice") == (not pairs), code
        if rule.gb and remedy(rule) == "assumption":
            assert all(path.read_text(encoding="utf-8").startswith("# assume:") for path in pairs), code


@pytest.mark.parametrize(
    "asked", ["GB0170", "gb170", "170", "https://example.org/gb/gb0170.html", "Data-dependent branching"]
)
def test_an_id_is_explained(asked: str) -> None:
    code, out, _ = explain(asked)
    assert code == 0
    assert out.startswith("# GB0170 Data-dependent branching\n")
    assert "PyTorch is unlikely ever to trace such code" in out
    assert "- CF101 tensor-if (fix, may need the assumptions " in out


def test_the_json_says_the_same() -> None:
    document = json.loads(explain("GB0291", "--output-format", "json")[1])
    assert (document["version"], document["id"], document["remedy"]) == (1, "GB0291", "assumption")
    assert [(rule["code"], rule["assumptions"]) for rule in document["rules"]] == [
        ("CF302", ["log-late", "text-order", "gradient-text", "log-dropped", "caller-place"])
    ]


def test_an_id_without_a_rule_says_so() -> None:
    code, out, _ = explain("GB0003")
    assert code == 0
    assert "No rule covers this id" in out
    assert coverage("GB0003", registry.load()).remedy == "none"


def test_all_ids_are_listed() -> None:
    lines = explain()[1].splitlines()
    assert [line[:6] for line in lines] == list(graph_breaks.known().breaks)
    assert any(re.fullmatch(r"GB0170  fix +Data-dependent branching  \(.*CF101.*\)", line) for line in lines)


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("GB017", None),
        ("GB9998", r"; did you mean 'GB\d{4}'\?"),
        ("Data-dependent branchin", "; did you mean 'Data-dependent branching'?"),
        ("!", ""),
    ],
)
def test_an_unknown_id_is_refused_with_the_nearest(asked: str, hint: str | None) -> None:
    code, out, err = explain(asked)
    if hint is None:
        assert (code, out.split()[1]) == (0, "GB0017")
        return
    assert (code, out) == (2, "")
    expected = hint if hint.startswith("; did you mean 'GB") else re.escape(hint)
    assert re.fullmatch(rf"compilefix: unknown graph-break id '{re.escape(asked)}'{expected} .*\n", err)


def test_who_asks_for_a_rule_is_told_where_it_is_explained() -> None:
    code, out, err = explain("cf605")
    assert (code, out) == (2, "")
    assert "see `compilefix rule CF605`" in err


def test_a_broken_registry_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "torch"
    (package / "_dynamo").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (package / "_dynamo" / "graph_break_registry.json").write_text('{"GB0001": [')
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from compilefix.analysis import graph_breaks as g;"
        "assert g.installed() == {}; assert g.known().breaks == g.shipped().breaks"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
