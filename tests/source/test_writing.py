from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from compilefix.source import files, writing
from compilefix.source.files import SourceFile


def read(path: Path) -> SourceFile:
    result = files.read(path)
    assert isinstance(result, SourceFile), result
    return result


def test_writing_keeps_the_mode_bits_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("x = 1\n")
    path.chmod(0o750)
    assert writing.write(read(path), "x = 2\n") is None
    assert path.read_text() == "x = 2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert [p.name for p in tmp_path.iterdir()] == ["module.py"]


def test_writing_does_not_reach_through_hard_links(tmp_path: Path) -> None:
    path, other = tmp_path / "module.py", tmp_path / "cache.py"
    path.write_text("x = 1\n")
    os.link(path, other)
    assert writing.write(read(path), "x = 2\n") is None
    assert other.read_text() == "x = 1\n"


def test_a_link_inside_the_tree_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_text("x = 1\n")
    link.symlink_to(real)
    assert writing.write(read(link), "x = 2\n", root=tmp_path) is None
    assert link.is_symlink()
    assert real.read_text() == "x = 2\n"


def test_what_must_not_be_written_is_refused_and_left_alone(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside.py"
    tree.mkdir()
    outside.write_text("x = 1\n")
    (tree / "link.py").symlink_to(outside)
    error = writing.write(read(tree / "link.py"), "x = 2\n", root=tree)
    assert error is not None
    assert "link" in error.message

    locked = tree / "locked.py"
    locked.write_text("x = 1\n")
    locked.chmod(0o444)
    error = writing.write(read(locked), "x = 2\n", root=tree)
    assert error is not None
    assert "read-only" in error.message

    moving = tree / "moving.py"
    moving.write_text("x = 1\n")
    source = read(moving)
    moving.write_text("x = 3\n")
    error = writing.write(source, "x = 2\n", root=tree)
    assert error is not None
    assert "changed" in error.message

    assert [p.read_text() for p in (outside, locked, moving)] == ["x = 1\n", "x = 1\n", "x = 3\n"]


def test_text_that_does_not_parse_or_does_not_fit_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_bytes(b"# coding: latin-1\nx = 1\n")
    source = read(path)
    broken = writing.write(source, "def f(:\n")
    unfit = writing.write(source, "x = '日本'\n")
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
    error = writing.write(read(path), "x = 2\n")
    assert error is not None
    assert "No space left" in error.message
    assert path.read_text() == "x = 1\n"
    assert [p.name for p in tmp_path.iterdir()] == ["module.py"]


def test_a_new_file_is_created_but_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "helper.py"
    assert writing.write(path, "x = 1\n") is None
    error = writing.write(path, "x = 2\n")
    assert error is not None
    assert "exists" in error.message
    assert path.read_text() == "x = 1\n"


@pytest.mark.skipif(os.name != "posix", reason="needs file locks")
def test_a_file_that_another_program_keeps_locked_is_waited_for_but_not_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr(writing, "_LONGEST_WAIT_S", 0.05)
    path = tmp_path / "module.py"
    path.write_text("x = 1\n")
    source = read(path)
    with path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert writing.write(source, "x = 2\n") is None
    assert path.read_text() == "x = 2\n"
