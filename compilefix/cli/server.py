"""`compilefix server`: a language server with diagnostics, quick fixes and the rules' pages."""

from __future__ import annotations

import gc
import importlib.util

from compilefix.source.errors import InputError


def server() -> None:
    """Speak the Language Server Protocol on the standard input and output, for editors.

    Diagnostics come while you type, each with its fix and with a comment that silences it; hovering over one shows the
    rule's page. Every file is looked at alone, with the configuration that holds for it.
    """
    if importlib.util.find_spec("pygls") is None:
        raise InputError("server needs pygls: install compilefix[lsp]")
    from compilefix.cli.language_server import build

    # Other commands end before it would pay.
    gc.enable()
    build().start_io()
