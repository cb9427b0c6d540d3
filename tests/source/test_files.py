from __future__ import annotations

import ast
import os
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
    if isinstance(result, SourceFile):
        parsed = result.parsed()
        assert isinstance(parsed, SourceError)
        result = parsed
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
    assert source.encoded(source.text) == data


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


def test_the_module_name_follows_the_packages(tmp_path: Path) -> None:
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").touch()
    (inner / "__init__.py").touch()
    assert files.module_name(inner / "module.py") == "package.inner.module"
    assert files.module_name(inner / "__init__.py") == "package.inner"
    assert files.module_name(tmp_path / "script.py") == "script"
