"""The language server, on pygls."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from compilefix import __version__
from compilefix.cli.documents import Document, needs_helper, open_document
from compilefix.codemods import registry
from compilefix.codemods.finding import Finding, Span
from compilefix.fixing.patchset import PatchSet
from compilefix.reporting.rule_page import page
from compilefix.source.errors import InputError
from compilefix.source.files import SourceFile

_FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.compilefix"
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_PAUSE_S = 0.2
_WARNED_OF = ("break", "recompile")


class Server(LanguageServer):
    """The server with what it knows of the open documents, by URI and version."""

    def __init__(self) -> None:
        super().__init__("compilefix", __version__)
        self._known: dict[str, tuple[str, Document]] = {}
        self._said: set[str] = set()

    def document(self, uri: str) -> Document | None:
        """The document as it is now; None where it is no file or its configuration is wrong, which is said once."""
        path = uris.to_fs_path(uri)
        if path is None:
            return None
        try:
            text = self.workspace.get_text_document(uri).source
        except (OSError, UnicodeDecodeError):  # asked for what is not open, and not on disk either
            return None
        known = self._known.get(uri)
        if known is not None and known[0] == text:
            return known[1]
        try:
            document = open_document(Path(path), text)
        except InputError as error:
            if str(error) not in self._said:
                self._said.add(str(error))
                message = types.ShowMessageParams(types.MessageType.Error, f"compilefix: {error}")
                self.window_show_message(message)
            return None
        self._known[uri] = (text, document)
        return document

    def forget(self, uri: str | None = None) -> None:
        """Forget a document, or all of them: the configuration may have changed."""
        if uri is None:
            self._known.clear()
            self._said.clear()
        else:
            self._known.pop(uri, None)

    def publish(self, uri: str) -> None:
        """Send the diagnostics of a document."""
        document = self.document(uri)
        found = [] if document is None else [self.diagnostic(document, finding) for finding in document.findings]
        version = self.workspace.get_text_document(uri).version
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def diagnostic(self, document: Document, finding: Finding) -> types.Diagnostic:
        """A finding as a diagnostic."""
        way_out = f"no fix: {finding.declined}"
        if finding.fix is not None:
            way_out = "fix: safe" if finding.fix.safe else f"fix, assuming {', '.join(finding.fix.assumptions)}"
        return types.Diagnostic(
            range=self.range(document, finding.span),
            message=f"{finding.message} ({way_out})",
            severity=_severity(finding),
            code=finding.code,
            source="compilefix",
        )

    def range(self, document: Document, span: Span) -> types.Range:
        """A place in the columns that the client counts."""
        file = document.file
        lines = () if file is None else file.lines
        return types.Range(
            types.Position(span.line - 1, self.column(lines, span.line, span.column)),
            types.Position(span.end_line - 1, self.column(lines, span.end_line, span.end_column)),
        )

    def column(self, lines: Sequence[str], line: int, column: int) -> int:
        """A column in code points, in the units that the client counts."""
        text = lines[line - 1][:column] if line <= len(lines) else ""
        encoding = self.workspace.position_encoding
        if encoding == types.PositionEncodingKind.Utf32:
            return len(text)
        if encoding == types.PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    @property
    def can_create_files(self) -> bool:
        """Whether the client takes an edit that creates a file."""
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace is not None else None
        operations = (edits.resource_operations if edits is not None else None) or ()
        return types.ResourceOperationKind.Create in operations


def build() -> LanguageServer:
    """The server with its features."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(parameters: types.DidOpenTextDocumentParams) -> None:
        server.publish(parameters.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_: types.DidSaveTextDocumentParams) -> None:
        # What was saved may be the configuration.
        server.forget()
        for uri in list(server.workspace.text_documents):
            server.publish(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(parameters: types.DidChangeTextDocumentParams) -> None:
        uri, version = parameters.text_document.uri, parameters.text_document.version
        await asyncio.sleep(_PAUSE_S)
        # Somebody who goes on typing gets the diagnostics of the last change only.
        if uri in server.workspace.text_documents and server.workspace.get_text_document(uri).version == version:
            server.publish(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(parameters: types.DidCloseTextDocumentParams) -> None:
        server.forget(parameters.text_document.uri)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(parameters.text_document.uri, []))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(parameters: types.HoverParams) -> types.Hover | None:
        document = server.document(parameters.text_document.uri)
        at = types.Range(parameters.position, parameters.position)
        for finding in _within(server, document, at):
            rule = registry.load().get(finding.code)
            if rule is not None and document is not None:
                content = types.MarkupContent(types.MarkupKind.Markdown, page(rule))
                return types.Hover(content, server.range(document, finding.span))
        return None

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, _FIX_ALL]),
    )
    def actions(parameters: types.CodeActionParams) -> list[types.CodeAction]:
        uri = parameters.text_document.uri
        document = server.document(uri)
        if document is None or document.file is None:
            return []
        asked = [getattr(kind, "value", kind) for kind in parameters.context.only or ["quickfix"]]
        found: list[types.CodeAction] = []
        if any(kind.startswith("quickfix") for kind in asked):
            for finding in _within(server, document, parameters.range):
                found.extend(_quick_fixes(server, uri, document, finding))
        if any(_FIX_ALL.startswith(kind) for kind in asked):
            patchset = document.fixed(helper=server.can_create_files)
            if patchset:
                edit = _workspace_edit(server, uri, document.file, patchset)
                found.append(types.CodeAction("Fix all that compilefix may fix", kind=_FIX_ALL, edit=edit))
        return found

    return server


def _within(server: Server, document: Document | None, asked: types.Range) -> Iterator[Finding]:
    """The findings that a range touches."""
    if document is None:
        return
    for finding in document.findings:
        place = server.range(document, finding.span)
        if place.start <= asked.end and asked.start <= place.end:
            yield finding


def _quick_fixes(server: Server, uri: str, document: Document, finding: Finding) -> Iterator[types.CodeAction]:
    file = document.file
    assert file is not None
    diagnostics = [server.diagnostic(document, finding)]
    kind = types.CodeActionKind.QuickFix
    if finding.fix is not None and (server.can_create_files or not needs_helper(finding)):
        patchset = document.fixed_only(finding)
        if patchset:
            title = f"Fix {finding.code} ({finding.name})"
            if not finding.fix.safe:
                title += f", assuming {', '.join(finding.fix.assumptions)}"
            edit = _workspace_edit(server, uri, file, patchset)
            yield types.CodeAction(title, kind, diagnostics, is_preferred=finding.fix.safe, edit=edit)
    text = document.silenced(finding)
    if text is not None:
        edits = _text_edits(server, file, text)
        yield types.CodeAction(
            f"Silence {finding.code} here", kind, diagnostics, edit=types.WorkspaceEdit(changes={uri: edits})
        )


def _workspace_edit(server: Server, uri: str, file: SourceFile, patchset: PatchSet) -> types.WorkspaceEdit:
    """The edit of the document, and the helper module as a new file where the fixes need one."""
    edits: dict[str, list[types.TextEdit]] = {}
    created: list[types.CreateFile | types.TextDocumentEdit | types.RenameFile | types.DeleteFile] = []
    for change in patchset:
        if change.path == file.path:
            edits[uri] = _text_edits(server, file, change.after)
        elif change.before is None:
            other = uris.from_fs_path(str(change.path.absolute()))
            assert other is not None
            created.append(types.CreateFile(other, options=types.CreateFileOptions(ignore_if_exists=True)))
            created.append(_whole(other, change.after))
    if not created:
        return types.WorkspaceEdit(changes=edits)
    version = server.workspace.get_text_document(uri).version
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri, version)
    return types.WorkspaceEdit(
        document_changes=[*created, types.TextDocumentEdit(identifier, list(edits.get(uri, [])))],
    )


def _whole(uri: str, text: str) -> types.TextDocumentEdit:
    start = types.Position(0, 0)
    edit = types.TextEdit(types.Range(start, start), text)
    return types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri), [edit])


def _text_edits(server: Server, file: SourceFile, after: str) -> list[types.TextEdit]:
    """The lines that differ, so that the cursor and the marks elsewhere in the editor stay."""
    old, new = _LINES.findall(file.text), _LINES.findall(after)
    edits = []
    for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            place = types.Range(_line_start(server, old, start), _line_start(server, old, end))
            edits.append(types.TextEdit(place, "".join(new[first:last])))
    return edits


def _line_start(server: Server, lines: Sequence[str], index: int) -> types.Position:
    """The beginning of a line; after a last line without a newline, its end."""
    if index < len(lines) or not lines or lines[-1].endswith(("\n", "\r")):
        return types.Position(index, 0)
    return types.Position(index - 1, server.column(lines, index, len(lines[-1])))


def _severity(finding: Finding) -> types.DiagnosticSeverity:
    """How loud a diagnostic is: what nothing is seen to compile is told without a warning."""
    warned = finding.effect in _WARNED_OF and not finding.is_quiet
    return types.DiagnosticSeverity.Warning if warned else types.DiagnosticSeverity.Information
