from __future__ import annotations

import importlib
import importlib.resources
import importlib.util
import inspect
import linecache
import pdb
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from compilefix.fixing.overlay import Overlay, OverlayError, install

BEFORE = "def value():\n    return 'disk'\n"
AFTER = "# moved down\n\n\ndef value():\n    return 'memory'\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `overlaid` with the modules `one` and `two`, on the import path and not imported."""
    folder = tmp_path / "overlaid"
    folder.mkdir()
    (folder / "__init__.py").write_text("NAME = 'disk'\n")
    (folder / "data.txt").write_text("data\n")
    (folder / "one.py").write_text(BEFORE)
    (folder / "two.py").write_text("from overlaid.one import value\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    finders = list(sys.meta_path)
    yield folder
    sys.meta_path[:] = finders
    for name in set(sys.modules) - before:
        if name.startswith("overlaid"):
            del sys.modules[name]


def test_imports_get_the_text_from_memory_and_no_file_is_touched(package: Path) -> None:
    with install({package / "one.py": AFTER}) as overlay:
        from overlaid import one, two  # type: ignore[import-not-found]

        assert (one.value(), two.value()) == ("memory", "memory")
        assert overlay.served == {"overlaid.one"}
        assert one.__file__ == str(package / "one.py")
    assert (package / "one.py").read_text() == BEFORE
    assert not list(package.glob("__pycache__/one.*"))


def test_stale_bytecode_is_not_read(package: Path) -> None:
    importlib.import_module("overlaid.one")
    cached = list(package.glob("__pycache__/one.*"))
    stamps = [path.stat().st_mtime_ns for path in cached]
    for name in ("overlaid.one", "overlaid"):
        del sys.modules[name]
    with install({package / "one.py": AFTER}):
        assert importlib.import_module("overlaid.one").value() == "memory"
    assert [path.stat().st_mtime_ns for path in cached] == stamps


def test_source_lines_are_those_that_run(package: Path) -> None:
    with install({package / "one.py": AFTER.replace("return 'memory'", "raise ValueError('here')")}):
        one = importlib.import_module("overlaid.one")
        linecache.checkcache()
        assert inspect.getsource(one.value) == "def value():\n    raise ValueError('here')\n"
        assert inspect.getsource(one).startswith("# moved down\n")
        with pytest.raises(ValueError, match="here") as raised:
            one.value()
        text = "".join(traceback.format_exception(raised.value))
        assert "line 5, in value\n    raise ValueError('here')" in text
        assert pdb.Pdb().checkline(one.__file__, 5)


def test_line_ends_and_cookies_do_not_matter(package: Path) -> None:
    text = "# coding: latin-1\r\ndef value():\r\n    return 'é'"
    with install({package / "one.py": text}):
        one = importlib.import_module("overlaid.one")
        assert one.value() == "é"
        assert inspect.getsource(one.value) == "def value():\n    return 'é'\n"


def test_a_package_is_served_with_its_resources(package: Path) -> None:
    with install({package / "__init__.py": "NAME = 'memory'\n"}):
        overlaid = importlib.import_module("overlaid")
        assert overlaid.NAME == "memory"
        assert importlib.resources.files("overlaid").joinpath("data.txt").read_text() == "data\n"
        assert importlib.import_module("overlaid.one").value() == "disk"


def test_relative_and_linked_paths_are_the_same_file(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(package)
    (package.parent / "linked.py").symlink_to(package / "one.py")
    with install({Path("one.py"): AFTER}):
        assert importlib.import_module("overlaid.one").value() == "memory"
        assert importlib.import_module("linked").value() == "memory"
    del sys.modules["overlaid"]


def test_new_modules_have_no_file(package: Path) -> None:
    helper = package / "_helper.py"
    served = {package / "one.py": "from overlaid._helper import value\n"}
    with install(served, {"overlaid._helper": (helper, AFTER)}):
        one = importlib.import_module("overlaid.one")
        assert one.value() == "memory"
        assert "memory" in inspect.getsource(one.value)
        assert importlib.util.find_spec("overlaid._helper") is not None
    assert not helper.exists()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("overlaid._helper")


def test_a_new_module_is_found_in_a_package_of_any_name(package: Path) -> None:
    served = {package / "one.py": "from ._helper import value\n"}
    with install(served, {"_helper": (package / "_helper.py", AFTER)}):
        assert importlib.import_module("overlaid.one").value() == "memory"
        assert importlib.import_module("overlaid._helper").value() == "memory"


def test_a_module_runs_as_a_program(package: Path) -> None:
    with install({package / "one.py": "result = __name__\n"}):
        assert runpy.run_module("overlaid.one", run_name="__main__")["result"] == "__main__"


def test_a_file_is_loaded_by_its_path(package: Path) -> None:
    with install({package / "one.py": AFTER}) as overlay:
        assert overlay.load_file(package / "one.py", "overlaid_workload").value() == "memory"
        assert overlay.load_file(package / "__init__.py", "overlaid_other").NAME == "disk"
        with pytest.raises(ImportError):
            overlay.load_file(package / "data.txt", "overlaid_data")


def test_a_file_that_fails_to_load_is_forgotten(package: Path) -> None:
    with install({package / "one.py": "raise RuntimeError('no')\n"}) as overlay:
        with pytest.raises(RuntimeError):
            overlay.load_file(package / "one.py", "overlaid_broken")
        assert "overlaid_broken" not in sys.modules


def test_after_the_end_imports_come_from_disk(package: Path) -> None:
    overlay = install({package / "one.py": AFTER})
    importlib.import_module("overlaid.one")
    overlay.uninstall()
    overlay.uninstall()
    one = importlib.import_module("overlaid.one")
    assert one.value() == "disk"
    assert inspect.getsource(one.value) == BEFORE


def test_reload_gets_the_text_from_memory_too(package: Path) -> None:
    with install({package / "one.py": AFTER}):
        one = importlib.import_module("overlaid.one")
        assert importlib.reload(one).value() == "memory"


def test_modules_that_are_imported_already_are_named(package: Path) -> None:
    importlib.import_module("overlaid.two")
    finders = list(sys.meta_path)
    with pytest.raises(OverlayError, match=r"overlaid\.one"):
        install({package / "one.py": AFTER})
    assert sys.meta_path == finders


def test_finders_that_ask_again_do_not_loop(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Asking:
        def find_spec(self, name: str, path: object = None, target: object = None) -> object:
            others = [finder for finder in sys.meta_path if finder is not self]
            found = (finder.find_spec(name, path, target) for finder in others)  # type: ignore[arg-type]
            return next((spec for spec in found if spec is not None), None)

    monkeypatch.setattr(sys, "meta_path", [Asking(), *sys.meta_path])
    with install({package / "one.py": AFTER}):
        assert importlib.import_module("overlaid.one").value() == "memory"


def test_other_modules_are_left_to_the_finders_behind(package: Path) -> None:
    overlay = Overlay({package / "one.py": AFTER}, {})
    assert overlay.find_spec("json", None) is None
    assert overlay.find_spec("no_such_module_anywhere", None) is None


def test_dynamo_compiles_and_names_the_served_lines(package: Path) -> None:
    torch = pytest.importorskip("torch")
    text = (
        "import torch\n\n\n"
        "def double(x):\n    y = x + 1\n    torch._dynamo.graph_break()\n    return y * 2\n\n\n"
        "def triple(x):\n    return x * 3\n"
    )
    with install({package / "one.py": text}):
        one = importlib.import_module("overlaid.one")
        x = torch.arange(3.0)
        assert torch.equal(torch.compile(one.triple, backend="eager", fullgraph=True)(x), x * 3)
        broken = torch._dynamo.explain(one.double)(x)
        frames = [frame for reason in broken.break_reasons for frame in reason.user_stack]
        assert any(f.filename.endswith("one.py") and "graph_break()" in (f.line or "") for f in frames)
    torch._dynamo.reset()
