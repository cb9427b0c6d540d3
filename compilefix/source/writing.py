"""Replacing source files: the old file or the new one is there at every moment, never a part of one."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compilefix.source.files import SourceError, SourceFile, display_path, reason, syntax_tree

if os.name == "posix":
    import fcntl

_LONGEST_WAIT_S = 3.0


def write(target: SourceFile | Path, text: str, *, root: Path | None = None) -> SourceError | None:
    """Replace a file that was read, or create the file at a path, in one step; None when that worked.

    The complete text goes to a temporary file in the same folder, which then takes the place of the old file, so the
    old text or the new one is there at every moment, never a part. Encoding, byte order mark and mode bits stay.

    Nothing is written when the text does not parse, the file is read-only, it has changed since it was read, it is
    reached through a link that leaves `root` (by default the file's own folder), or, for a path, it exists already.
    """
    path = target.path if isinstance(target, SourceFile) else target
    shown = display_path(path)
    parsed = syntax_tree(text, shown)
    if isinstance(parsed, SourceError):
        return SourceError(shown, f"not written, because the new text does not parse: {parsed.message}", parsed.line)
    try:
        if isinstance(target, SourceFile):
            return _replace(target, text, root)
        return _create(target, text)
    except UnicodeEncodeError as error:
        return SourceError(shown, f"not written: the new text does not fit its encoding: {error}")
    except (OSError, ValueError) as error:
        return SourceError(shown, f"not written: {reason(error) if isinstance(error, OSError) else error}")


def _replace(source: SourceFile, text: str, root: Path | None) -> SourceError | None:
    shown = display_path(source.path)
    real = source.path.resolve(strict=True)
    if _leaves(source.path, real, root):
        return SourceError(shown, f"not written: it is a link to a file elsewhere, {real}")
    with _alone(real):
        status = real.stat()
        if not status.st_mode & 0o222 or not os.access(real, os.W_OK):
            return SourceError(shown, "not written: the file is read-only")
        current, data = real.read_bytes(), source.encoded(text)
        if current == data:
            # Another run has done the same in the meantime.
            return None
        if current != source.encoded(source.text):
            return SourceError(shown, "not written: the file has changed since it was read")
        _put(real, data, status)
    return None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other runs of compilefix from replacing the file between the look at what it holds and the replacement.

    Where the file system knows no locks, or another program keeps the file locked, a change in that moment is not seen.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if os.name == "posix":
            _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    end = time.monotonic() + _LONGEST_WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return
            time.sleep(0.02)
        except OSError:
            return
        else:
            return


def _create(path: Path, text: str) -> SourceError | None:
    data = text.encode()
    try:
        _put(path, data, None)
    except FileExistsError:
        # Two runs write the same helper module.
        if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
            return None
        return SourceError(display_path(path), "not written: the file exists already")
    return None


def _leaves(path: Path, real: Path, root: Path | None) -> bool:
    """Whether a link on the way to the file leads out of the tree that the user named."""
    absolute = Path(os.path.normpath(path.absolute()))
    tree = absolute.parent if root is None else root.absolute()
    if not absolute.is_relative_to(tree):
        tree = absolute.parent
    return not real.is_relative_to(tree.resolve())


def _put(path: Path, data: bytes, status: os.stat_result | None) -> None:
    """Put a complete file at `path`: in the place of the one with `status`, or where None is. Raises OSError."""
    if status is None and (path.exists() or path.is_symlink()):
        raise FileExistsError(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if status is None:
            temporary.chmod(0o666 & ~_umask())
            _put_new(temporary, path)
        else:
            _take_over(path, status, temporary)
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _put_new(temporary: Path, path: Path) -> None:
    try:
        # Unlike a rename, a link never takes the place of a file that has come in the meantime.
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system has hard links.
        temporary.replace(path)
    else:
        temporary.unlink()


def _take_over(path: Path, status: os.stat_result, temporary: Path) -> None:
    """Give the new file the owner, the mode bits and the extended attributes (access lists too) of the old one."""
    if hasattr(os, "chown"):
        # Only root may give a file away; anybody else becomes the owner of what they write, as with any editor.
        with contextlib.suppress(PermissionError):
            os.chown(temporary, status.st_uid, status.st_gid)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(path):
                with contextlib.suppress(OSError):
                    os.setxattr(temporary, name, os.getxattr(path, name))
    # Last, because a change of the owner takes bits away.
    temporary.chmod(stat.S_IMODE(status.st_mode))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
