"""Writing the comment that silences a finding."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence

_NEWLINE = re.compile(r"(\r\n|\r|\n)")
_CODES = re.compile(r"(#\s*compilefix:\s*ignore)(?![\w-])(\s*\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)


def silenced(text: str, lines: Sequence[int], code: str) -> str | None:
    """`text` with `# compilefix: ignore[CODE]` on the first of `lines` (from 1) that can hold a comment.

    A line cannot where it ends inside a string or with a backslash. A comment that silences other rules there already
    gets the code added. None where no line can.
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline=None).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    ends = {token.start[0] for token in tokens if token.type in (tokenize.NEWLINE, tokenize.NL)}
    comments = {token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT}
    # Text and line end take turns.
    parts = _NEWLINE.split(text)
    for line in lines:
        if line in ends:
            index = 2 * (line - 1)
            parts[index] = _with_comment(parts[index], comments.get(line), code)
            return "".join(parts)
    return None


def _with_comment(line: str, comment: int | None, code: str) -> str:
    if comment is not None:
        before, text = line[:comment], line[comment:]
        found = _CODES.search(text)
        if found is not None:
            codes = [part.strip() for part in (found["codes"] or "").split(",") if part.strip()]
            # Without codes it silences every rule already.
            inner = f"[{', '.join([*codes, code])}]" if codes and code not in codes else found[2] or ""
            return f"{before}{text[: found.start()]}{found[1]}{inner}{text[found.end() :]}"
    return f"{line.rstrip()}  # compilefix: ignore[{code}]"
