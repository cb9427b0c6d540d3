from __future__ import annotations

import ast
import os
import stat
from pathlib import Path

import pytest

from compilefix.source import files
from compilefix.source.files import SourceError, SourceFile


def read(path: Path) -> SourceFile:
    result = files.read(path)
    assert isinstance(result, SourceFile), result
    return result


def refused(path: Path) -> SourceError:
    result = files.read(path)
    assert isinstance(result, SourceError)
    assert "\n" not in str(result)
    return result


@pytest.mark.parametrize(
    ("data", "encoding", "bom"),
    [
        (b"x = 1\n", "utf-8", False),
        (b"x = 1\r\ny = 2\r\n", "utf-8", False),
        (b"x = 1\r\ny = 2\n", "utf-8", False),
        (b"x = 1", "utf-8", False),
        (b"", "utf-8", False),
        (b"\xef\xbb\xbfx = 'h\xc3\xa9'\n", "utf-8", True),
        (b"# -*- coding: latin-1 -*-\nx = 'h\xe9'\n", "iso-8859-1", False),
        ("# coding: shift_jis\nx = '日本'\n".encode("shift_jis"), "shift_jis", False),
        (b"x = 1\n\x0cy = 2\n", "utf-8", False),
    ],
)
def test_a_file_comes_back_byte_for_byte(tmp_path: Path, data: bytes, encoding: str, bom: bool) -> None:
    path = tmp_path / "module.py"
    path.write_bytes(data)
    source = read(path)
    assert (source.encoding, source.bom) == (encoding, bom)
    assert not source.text.startswith("\ufeff")
    assert files.write(source, source.text) is None
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"x = 1\ndef f(:\n", "syntax error", 2),
        (b"x = 1\ny = \x00\n", "null byte", 2),
        (b"x = 1\n\ny = '\xff'\n", "not valid utf-8", 3),
        (b"# coding: no-such-codec\n", "unknown encoding", 1),
        (b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", "cannot be decoded", 1),
        (b"x = " + b"-" * 100_000 + b"1\n", "", None),
        (b"(" * 5000 + b")" * 5000, "", None),
        (b"\x7fELF\x02\x01\x01\x00\x00", "null byte", 1),
    ],
)
def test_what_is_not_python_gets_one_line_with_its_place(
    tmp_path: Path, data: bytes, message: str, line: int | None
) -> None:
    path = tmp_path / "module.py"
    path.write_bytes(data)
    error = refused(path)
    assert message in error.message
    assert line is None or error.line == line


def test_a_folder_a_missing_file_and_a_pipe_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    assert "not a regular file" in refused(tmp_path / "folder.py").message
    assert "not a regular file" in refused(tmp_path / "pipe.py").message
    assert "No such file" in refused(tmp_path / "missing.py").message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("x = 1\n")
    path.chmod(0)
    assert "cannot be read" in refused(path).message


def test_the_warnings_of_the_users_code_stay_quiet(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    path = tmp_path / "module.py"
    path.write_text("x = '\\d' is 1\n")
    read(path)
    assert not recwarn.list


def test_spans_count_code_points(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("é = '日本'; value = f(\n  '𝄞', x)\n", encoding="utf-8")
    source = read(path)
    assert isinstance(source.tree.body[1], ast.Assign)
    call = source.tree.body[1].value
    assert isinstance(call, ast.Call)
    assert source.span(call) == (1, 18, 2, 9)
    assert source.span(call.args[1]) == (2, 7, 2, 8)


def test_writing_keeps_the_mode_bits_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("x = 1\n")
    path.chmod(0o750)
    assert files.write(read(path), "x = 2\n") is None
    assert path.read_text() == "x = 2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert [p.name for p in tmp_path.iterdir()] == ["module.py"]


def test_writing_does_not_reach_through_hard_links(tmp_path: Path) -> None:
    path, other = tmp_path / "module.py", tmp_path / "cache.py"
    path.write_text("x = 1\n")
    os.link(path, other)
    assert files.write(read(path), "x = 2\n") is None
    assert other.read_text() == "x = 1\n"


def test_a_link_inside_the_tree_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_text("x = 1\n")
    link.symlink_to(real)
    assert files.write(read(link), "x = 2\n", root=tmp_path) is None
    assert link.is_symlink()
    assert real.read_text() == "x = 2\n"


def test_what_must_not_be_written_is_refused_and_left_alone(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside.py"
    tree.mkdir()
    outside.write_text("x = 1\n")
    (tree / "link.py").symlink_to(outside)
    error = files.write(read(tree / "link.py"), "x = 2\n", root=tree)
    assert error is not None
    assert "link" in error.message

    locked = tree / "locked.py"
    locked.write_text("x = 1\n")
    locked.chmod(0o444)
    error = files.write(read(locked), "x = 2\n", root=tree)
    assert error is not None
    assert "read-only" in error.message

    moving = tree / "moving.py"
    moving.write_text("x = 1\n")
    source = read(moving)
    moving.write_text("x = 3\n")
    error = files.write(source, "x = 2\n", root=tree)
    assert error is not None
    assert "changed" in error.message

    assert [p.read_text() for p in (outside, locked, moving)] == ["x = 1\n", "x = 1\n", "x = 3\n"]


def test_text_that_does_not_parse_or_does_not_fit_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_bytes(b"# coding: latin-1\nx = 1\n")
    source = read(path)
    broken = files.write(source, "def f(:\n")
    unfit = files.write(source, "x = '日本'\n")
    assert broken is not None
    assert "does not parse" in broken.message
    assert unfit is not None
    assert "encoding" in unfit.message
    assert path.read_bytes() == b"# coding: latin-1\nx = 1\n"


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "module.py"
    path.write_text("x = 1\n")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    error = files.write(read(path), "x = 2\n")
    assert error is not None
    assert "No space left" in error.message
    assert path.read_text() == "x = 1\n"
    assert [p.name for p in tmp_path.iterdir()] == ["module.py"]


def test_a_new_file_is_created_but_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "helper.py"
    assert files.write(path, "x = 1\n") is None
    error = files.write(path, "x = 2\n")
    assert error is not None
    assert "exists" in error.message
    assert path.read_text() == "x = 1\n"


def test_the_module_name_follows_the_packages(tmp_path: Path) -> None:
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").touch()
    (inner / "__init__.py").touch()
    assert files.module_name(inner / "module.py") == "package.inner.module"
    assert files.module_name(inner / "__init__.py") == "package.inner"
    assert files.module_name(tmp_path / "script.py") == "script"
