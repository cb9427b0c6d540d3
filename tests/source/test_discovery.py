from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.source.discovery import Discovery, discover
from compilefix.source.errors import InputError


def tree(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def names(found: Discovery, root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in found.files]


def test_folders_are_walked_in_order_without_what_is_no_source(tmp_path: Path) -> None:
    tree(
        tmp_path,
        *("b.py", "a.py", "notes.txt", "pkg/z.py", "pkg/stub.pyi"),
        *(
            "pkg/__pycache__/z.py",
            ".venv/lib/x.py",
            "node_modules/x.py",
            "build/lib/x.py",
            "env/pyvenv.cfg",
            "env/x.py",
        ),
    )
    assert names(discover([tmp_path], tmp_path), tmp_path) == ["a.py", "b.py", "pkg/z.py"]


def test_a_package_may_be_called_build(tmp_path: Path) -> None:
    tree(tmp_path, "pkg/build/__init__.py", "pkg/build/x.py")
    assert names(discover([tmp_path], tmp_path), tmp_path) == ["pkg/build/__init__.py", "pkg/build/x.py"]


def test_a_named_file_is_taken_unless_exclusions_are_forced(tmp_path: Path) -> None:
    tree(tmp_path, "script", "build/x.py", "generated/y.py")
    paths = [tmp_path / "script", tmp_path / "build/x.py", tmp_path / "generated/y.py"]
    taken = discover(paths, tmp_path, exclude=["generated"])
    assert names(taken, tmp_path) == ["build/x.py", "generated/y.py", "script"]
    forced = discover(paths, tmp_path, exclude=["generated"], force_exclude=True)
    assert names(forced, tmp_path) == ["script"]


def test_exclude_takes_patterns_from_the_root(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "gen/b.py", "pkg/gen/c.py", "pkg/d_pb2.py")
    found = discover([tmp_path], tmp_path, exclude=["/gen", "*_pb2.py"])
    assert names(found, tmp_path) == ["a.py", "pkg/gen/c.py"]


def test_a_bad_pattern_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exclude"):
        discover([tmp_path], tmp_path, exclude=["!"])


def test_gitignore_counts_inside_a_repository(tmp_path: Path) -> None:
    tree(tmp_path, ".git/HEAD", "a.py", "gen/b.py", "pkg/local.py", "pkg/kept.py", "pkg/gen/c.py")
    (tmp_path / ".gitignore").write_text("gen/\nlocal.py\n*.tmp\nkept.py\n")
    (tmp_path / "pkg" / ".gitignore").write_text("!kept.py\n")
    assert names(discover([tmp_path], tmp_path), tmp_path) == ["a.py", "pkg/kept.py"]
    assert names(discover([tmp_path / "pkg"], tmp_path), tmp_path) == ["pkg/kept.py"]


def test_gitignore_does_not_count_outside_a_repository(tmp_path: Path) -> None:
    tree(tmp_path, "pkg/a.py")
    (tmp_path / ".gitignore").write_text("*\n")
    assert names(discover([tmp_path], tmp_path), tmp_path) == ["pkg/a.py"]


def test_an_installed_package_that_is_named_is_walked(tmp_path: Path) -> None:
    tree(tmp_path, ".git/HEAD", ".venv/lib/python3/site-packages/pkg/a.py")
    (tmp_path / ".gitignore").write_text(".venv\n")
    (tmp_path / ".venv" / ".gitignore").write_text("*\n")
    package = tmp_path / ".venv/lib/python3/site-packages/pkg"
    assert discover([tmp_path], tmp_path).files == ()
    assert discover([package], tmp_path).files == (package / "a.py",)


def test_each_file_comes_once(tmp_path: Path) -> None:
    tree(tmp_path, "pkg/a.py")
    (tmp_path / "pkg" / "link.py").symlink_to(tmp_path / "pkg" / "a.py")
    found = discover([tmp_path / "pkg" / "a.py", tmp_path / "pkg", tmp_path], tmp_path)
    assert names(found, tmp_path) == ["pkg/a.py"]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, "pkg/a.py")
    (tmp_path / "pkg" / "loop").symlink_to(tmp_path / "pkg")
    assert names(discover([tmp_path], tmp_path), tmp_path) == ["pkg/a.py"]


def test_missing_paths_and_empty_folders_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = discover([tmp_path / "missing", tmp_path / "empty"], tmp_path)
    assert found.files == ()
    assert [error.message for error in found.errors] == ["no such file or folder"]
    assert found.empty == (tmp_path / "empty",)
