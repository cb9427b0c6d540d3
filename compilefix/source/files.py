"""Reading source files without losing anything of them."""

from __future__ import annotations

import ast
import codecs
import io
import re
import stat
import tokenize
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from compilefix.source.annotated import as_assignments

NOTEBOOK_SUFFIX = ".ipynb"
_ANNOTATED = re.compile(r"Tensor\s*=(?!=)")
_DEEPEST = 3
"""How many folders without `__init__.py` may stand between a file and the package that it belongs to."""
_DEEPEST_IN_PROJECT = 6
_OF_PROJECTS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
"""What stands in the folder of a project, at most so many folders above a file."""
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class SourceError:
    """A file that could not be read, parsed or written: what is wrong, and where."""

    path: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}"


@dataclass(frozen=True)
class SourceFile:
    """A file that was read. `text` keeps the file's own newlines; `bom` says that the file began with one."""

    path: Path
    module: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False

    @cached_property
    def packages(self) -> tuple[str, ...]:
        """The folders from that of the project to the file: those of `module`, and others without `__init__.py`."""
        folder = self.path.absolute().parent
        while (folder / "__init__.py").is_file() and folder != folder.parent:
            folder = folder.parent
        return (*_folders_round(folder), *self.module.split(".")[:-1])

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree, kept with the file; an empty one where the text is not Python, as `parsed` says."""
        tree = self.parsed()
        return ast.Module([], []) if isinstance(tree, SourceError) else tree

    def parsed(self) -> ast.Module | SourceError:
        """A new syntax tree, or why there is none."""
        return syntax_tree(self.text, display_path(self.path))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their newlines, split where Python's own tokenizer splits them."""
        return tuple(_NEWLINE.split(self.text) if "\r" in self.text else self.text.split("\n"))

    def span(self, node: ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword) -> tuple[int, int, int, int]:
        """Where `node` stands: line, column, end line and end column, with columns in code points from 0.

        `ast` counts columns in UTF-8 bytes; the numbers here are those of LibCST and of `Span`.
        """
        end_line = node.lineno if node.end_lineno is None else node.end_lineno
        end_offset = node.col_offset if node.end_col_offset is None else node.end_col_offset
        return (
            node.lineno,
            self._column(node.lineno, node.col_offset),
            end_line,
            self._column(end_line, end_offset),
        )

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of `node`, with the file's own newlines."""
        line, column, end_line, end_column = self.span(node)
        return self.text[self._starts[line - 1] + column : self._starts[end_line - 1] + end_column]

    def position(self, line: int, offset: int) -> int:
        """Where a place that `ast` gives, with an offset in UTF-8 bytes, stands in `text`."""
        return self._starts[line - 1] + self._column(line, offset)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return (0, *(match.end() for match in _NEWLINE.finditer(self.text)))

    def encoded(self, text: str) -> bytes:
        """`text` as the bytes of this file: its encoding, and its byte order mark. Raises UnicodeEncodeError."""
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))


def display_path(path: Path | str) -> str:
    """The path as messages show it: relative to the working directory when it lies below, else absolute."""
    absolute = Path(path).absolute()
    try:
        return absolute.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return absolute.as_posix()


def module_name(path: Path) -> str:
    """The dotted name under which the file is imported: its packages are the folders above that have `__init__.py`."""
    absolute = path.absolute()
    parts = [] if absolute.name == "__init__.py" else [absolute.stem]
    folder = absolute.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or absolute.parent.name


def _folders_round(folder: Path) -> tuple[str, ...]:
    """The names of the folders round a file, or round its outermost package, that a module's name does not hold.

    Those without `__init__.py` up to the package that they belong to; or up to the folder of a project, which what
    stands there shows: many a repository has no package at all, or has packages in folders such as `tests`.
    """
    around = (folder, *folder.parents)
    for depth, above in enumerate(around[: _DEEPEST + 1]):
        if depth and (above / "__init__.py").is_file():
            return (*module_name(above / "__init__.py").split("."), *_names(around, depth))
    for depth, above in enumerate(around[: _DEEPEST_IN_PROJECT + 1]):
        if any((above / name).exists() for name in _OF_PROJECTS):
            return _names(around, depth)
    return ()


def _names(around: tuple[Path, ...], depth: int) -> tuple[str, ...]:
    """The names of so many folders, the outermost first."""
    return tuple(folder.name for folder in reversed(around[:depth]))


def read(path: Path) -> SourceFile | SourceError:
    """Read one file, or say in one line why that is not possible. Whether it is Python shows when it is parsed."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return SourceError(display_path(path), "is not a regular file")
        data = path.read_bytes()
    except OSError as error:
        return SourceError(display_path(path), f"cannot be read: {reason(error)}")
    if path.suffix == NOTEBOOK_SUFFIX:
        from compilefix.source.notebooks import parse_notebook

        return parse_notebook(path, data)
    return parse(path, data)


def parse(path: Path, data: bytes) -> SourceFile | SourceError:
    """The Python file that `data` holds; `path` says where it stands, or would stand."""
    if b"\0" in data:
        message = "contains a null byte, so it is not Python source"
        return SourceError(display_path(path), message, _line_of(data, data.index(b"\0")))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        # The first two lines are decoded in the search for a cookie; what is wrong there is told as elsewhere.
        shown = display_path(path)
        return _not_utf8(data, shown) or SourceError(shown, f"cannot be decoded: {error.msg}", 1)
    bom = encoding == "utf-8-sig"
    encoding = "utf-8" if bom else encoding
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        return _undecodable(error, body, display_path(path))
    except (LookupError, ValueError) as error:
        return SourceError(display_path(path), f"cannot be decoded: {error}")
    if encoding != "utf-8" and not _comes_back(text, encoding, body):
        return SourceError(display_path(path), f"would not survive being read and written as {encoding}")
    return SourceFile(path=path, module=module_name(path), text=text, encoding=encoding, bom=bom)


def syntax_tree(text: str, shown: str) -> ast.Module | SourceError:
    """The tree of `text`, or why it has none; `shown` names the file in the message."""
    try:
        with warnings.catch_warnings():
            # What Python thinks of the user's string escapes is not what they asked about.
            warnings.simplefilter("ignore")
            tree = ast.parse(text, filename=shown)
            return as_assignments(tree) if _ANNOTATED.search(text) is not None else tree
    except SyntaxError as error:
        return SourceError(shown, f"syntax error: {error.msg}", error.lineno)
    except (RecursionError, MemoryError):
        return SourceError(shown, "is nested too deeply to be parsed")
    except ValueError as error:
        return SourceError(shown, f"cannot be parsed: {error}")


def _comes_back(text: str, encoding: str, body: bytes) -> bool:
    try:
        return text.encode(encoding) == body
    except UnicodeEncodeError:
        return False


def _not_utf8(data: bytes, shown: str) -> SourceError | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return _undecodable(error, data, shown)
    return None


def _undecodable(error: UnicodeDecodeError, data: bytes, shown: str) -> SourceError:
    hint = "; the first line may name another encoding: # coding: latin-1" if error.encoding == "utf-8" else ""
    return SourceError(shown, f"is not valid {error.encoding}: {error.reason}{hint}", _line_of(data, error.start))


def _line_of(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def reason(error: OSError) -> str:
    """What the operating system says of a failure, without the path."""
    return error.strerror or str(error)
