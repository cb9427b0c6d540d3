"""The language server as an editor meets it: its own process, spoken to by a client over pipes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the language server is an extra")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        "𝄞"; x = x.clamp(-9.0, 9.0) if x.abs().max() > 9.0 else x
        print(x.detach().sum())
        return x
"""
Script = Callable[["Editor"], Awaitable[None]]


class Editor(LanguageClient):
    """A client that remembers the diagnostics, and applies edits as an editor would."""

    def __init__(self, folder: Path) -> None:
        super().__init__("test", "1")
        self.folder = folder
        self.arrived: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: list[str] = []
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.arrived.put_nowait(params))
        self.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self.messages.append(params.message))

    def uri(self, name: str = "model.py") -> str:
        return (self.folder / name).as_uri()

    async def diagnostics(self) -> list[types.Diagnostic]:
        return list((await asyncio.wait_for(self.arrived.get(), 60)).diagnostics)

    async def open(self, text: str, name: str = "model.py") -> list[types.Diagnostic]:
        item = types.TextDocumentItem(self.uri(name), "python", 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics()

    async def actions(self, place: types.Range, only: list[str] | None = None) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=only)  # type: ignore[arg-type]
        parameters = types.CodeActionParams(types.TextDocumentIdentifier(self.uri()), place, context)
        found = await asyncio.wait_for(self.text_document_code_action_async(parameters), 60)
        return [action for action in found or [] if isinstance(action, types.CodeAction)]


def applied(text: str, edits: list[Any]) -> str:
    """`text` (without characters that count twice on the edited lines) after an editor's edits."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:index])) for index in range(len(lines) + 1)]
    for edit in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
        assert edit.range.start.character == edit.range.end.character == 0
        text = text[: starts[edit.range.start.line]] + edit.new_text + text[starts[edit.range.end.line] :]
    return text


@pytest.fixture
def session(tmp_path: Path) -> Callable[..., None]:
    def run(script: Script, *, create: bool = True, encodings: list[types.PositionEncodingKind] | None = None) -> None:
        async def talk() -> None:
            editor = Editor(tmp_path)
            await editor.start_io(sys.executable, "-m", "compilefix", "server", cwd=tmp_path)
            operations = [types.ResourceOperationKind.Create] if create else []
            edits = types.WorkspaceEditClientCapabilities(document_changes=True, resource_operations=operations)
            capabilities = types.ClientCapabilities(
                workspace=types.WorkspaceClientCapabilities(workspace_edit=edits),
                general=types.GeneralClientCapabilities(position_encodings=encodings),
            )
            parameters = types.InitializeParams(capabilities, root_uri=tmp_path.as_uri())
            await asyncio.wait_for(editor.initialize_async(parameters), 60)
            editor.initialized(types.InitializedParams())
            try:
                await script(editor)
            finally:
                await asyncio.wait_for(editor.shutdown_async(None), 60)
                editor.exit(None)
                await editor.stop()

        asyncio.run(talk())

    return run


def test_diagnostics_come_with_opening_and_typing(session: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        first, second = await editor.open(MODEL)
        assert (first.code, second.code, first.source) == ("CF102", "CF301", "compilefix")
        # The clef counts as two.
        assert first.range.start == types.Position(11, MODEL.splitlines()[11].index("x.clamp") + 1)
        assert second.severity == types.DiagnosticSeverity.Warning
        for version, text in ((2, MODEL + "x = 1\n"), (3, "import torch\n")):
            identifier = types.VersionedTextDocumentIdentifier(version, editor.uri())
            change = types.TextDocumentContentChangeWholeDocument(text)
            editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        # What stood between may be looked at too, where the machine is busy between the two changes.
        found = await editor.diagnostics()
        assert (found and await editor.diagnostics()) == []
        assert editor.arrived.empty()

    session(script)


@pytest.mark.parametrize(
    ("encoding", "more"), [(types.PositionEncodingKind.Utf32, 0), (types.PositionEncodingKind.Utf8, 3)]
)
def test_columns_count_as_the_client_asks(
    session: Callable[..., None], encoding: types.PositionEncodingKind, more: int
) -> None:
    async def script(editor: Editor) -> None:
        first, _ = await editor.open(MODEL)
        assert first.range.start.character == MODEL.splitlines()[11].index("x.clamp") + more

    session(script, encodings=[encoding])


def test_quick_fixes_fix_or_silence_one_finding(session: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        first, second = await editor.open(MODEL)
        fix, silence = await editor.actions(first.range)
        assert fix.title.startswith("Fix CF102")
        assert fix.edit is not None
        assert fix.edit.changes is not None
        text = applied(MODEL, list(fix.edit.changes[editor.uri()]))
        assert "torch.where(x.abs().max() > 9.0, x.clamp(-9.0, 9.0), x)" in text
        assert "print(x.detach().sum())" in text
        assert silence.title == "Silence CF102 here"
        assert silence.edit is not None
        assert silence.edit.changes is not None
        text = applied(MODEL, list(silence.edit.changes[editor.uri()]))
        assert "else x  # compilefix: ignore[CF102]\n" in text
        assert [d.code for d in await editor.open(text)] == ["CF301"]
        # Printing moves to a helper module, which comes as a new file.
        (helped,) = [a for a in await editor.actions(second.range) if a.title.startswith("Fix CF301")]
        assert "assuming log-late" in helped.title
        assert helped.edit is not None
        created, content, edit = helped.edit.document_changes or ()
        assert isinstance(created, types.CreateFile)
        assert created.uri == editor.uri("_compile_boundary.py")
        assert isinstance(content, types.TextDocumentEdit)
        assert "def emit(" in content.edits[0].new_text  # type: ignore[union-attr]
        assert isinstance(edit, types.TextDocumentEdit)
        assert edit.text_document.uri == editor.uri()

    session(script)


def test_a_client_that_cannot_create_files_is_not_offered_them(session: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        _, second = await editor.open(MODEL)
        assert [action.title for action in await editor.actions(second.range)] == ["Silence CF301 here"]

    session(script, create=False)


def test_fix_all_makes_what_apply_makes(session: Callable[..., None], tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        (tmp_path / "pyproject.toml").write_text("[tool.compilefix]\nassume = ['branches-total', 'no-aliasing']\n")
        await editor.open(MODEL)
        nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
        (action,) = await editor.actions(nowhere, only=["source.fixAll"])
        assert action.edit is not None
        assert action.edit.changes is not None
        text = applied(MODEL, list(action.edit.changes[editor.uri()]))
        assert "torch.where(" in text
        assert "print(x.detach().sum())" in text

    session(script)


def test_hovering_shows_the_page_of_the_rule(session: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        first, _ = await editor.open(MODEL)
        identifier = types.TextDocumentIdentifier(editor.uri())
        found = await editor.text_document_hover_async(types.HoverParams(identifier, first.range.start))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        assert found.contents.value.startswith("# CF102 ")
        assert found.range == first.range
        elsewhere = types.HoverParams(identifier, types.Position(0, 0))
        assert await editor.text_document_hover_async(elsewhere) is None

    session(script)


def test_a_wrong_configuration_is_said_and_a_broken_file_is_quiet(session: Callable[..., None], tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        assert await editor.open("def f(:\n", "broken.py") == []
        (tmp_path / "pyproject.toml").write_text("[tool.compilefix]\nselct = []\n")
        assert await editor.open(MODEL) == []
        assert len(editor.messages) == 1
        assert "unknown key 'selct'" in editor.messages[0]
        (tmp_path / "pyproject.toml").write_text("[tool.compilefix]\nignore = ['CF3']\n")
        editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(editor.uri())))
        by_name = {}
        for _ in range(2):
            arrived = await asyncio.wait_for(editor.arrived.get(), 60)
            by_name[arrived.uri.rpartition("/")[2]] = [d.code for d in arrived.diagnostics]
        assert by_name == {"broken.py": [], "model.py": ["CF102"]}

    session(script)


def test_a_document_that_is_not_there_has_no_actions(session: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        assert await editor.actions(types.Range(types.Position(0, 0), types.Position(1, 0))) == []

    session(script)


def test_the_server_ends_without_a_word(tmp_path: Path) -> None:
    """Its output is closed by then."""
    messages = (
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    )
    said = b""
    for message in messages:
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        said += b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
    command = [sys.executable, "-m", "compilefix", "server"]
    done = subprocess.run(command, input=said, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
