// Answers questions about the editor over HTTP on the loopback: what its API knows, exactly.
const http = require("node:http");
const vscode = require("vscode");

const place = (range) => [range.start.line, range.start.character, range.end.line, range.end.character];
const execute = (name, ...args) => vscode.commands.executeCommand(name, ...args);
const at = ({ line, column }) => new vscode.Position(line, column);

/** An open document. It is not opened here: that would keep it open after the user has closed it. */
function opened({ path }) {
  const document = vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === path);
  if (document === undefined) {
    throw new Error(`${path} is not open`);
  }
  return document;
}

/** The quick fixes at a position, as the lightbulb there would offer them. */
async function quickFixes(where) {
  const document = opened(where);
  const range = new vscode.Range(at(where), at(where));
  const resolved = 50; // edits are made when they are asked for
  const found = await execute("vscode.executeCodeActionProvider", document.uri, range, "quickfix", resolved);
  return found.filter((action) => action.edit !== undefined);
}

const operations = {
  /** Shows a file with the cursor at a place (its beginning by default), as if the user had gone there. */
  show: async ({ path, line = 0, column = 0 }) => {
    const selection = new vscode.Range(at({ line, column }), at({ line, column }));
    await execute("vscode.open", vscode.Uri.file(path), { preview: false, selection });
  },
  /** The folders of the workspace. */
  folders: () => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath),
  text: (where) => opened(where).getText(),
  /** Where the cursor is: [path, line, column]. */
  cursor: () => {
    const editor = vscode.window.activeTextEditor;
    return (
      editor && [editor.document.uri.fsPath, editor.selection.active.line, editor.selection.active.character]
    );
  },
  isDirty: (where) => opened(where).isDirty,
  replace: async ({ before, after, ...where }) => {
    const document = opened(where);
    const offset = document.getText().indexOf(before);
    const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + before.length));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, range, after);
    return offset >= 0 && (await vscode.workspace.applyEdit(edit));
  },
  diagnostics: ({ path }) =>
    vscode.languages.getDiagnostics(vscode.Uri.file(path)).map((item) => ({
      code: item.code?.value ?? item.code,
      page: item.code?.target?.toString(),
      message: item.message,
      severity: vscode.DiagnosticSeverity[item.severity],
      range: place(item.range),
      related: (item.relatedInformation ?? []).map((entry) => [
        entry.location.range.start.line,
        entry.message,
      ]),
    })),
  hover: async (where) => {
    const found = await execute("vscode.executeHoverProvider", vscode.Uri.file(where.path), at(where));
    return found.flatMap((hover) => hover.contents.map((content) => content.value ?? content)).join("\n");
  },
  hints: async (where) => {
    const document = opened(where);
    const whole = new vscode.Range(
      at({ line: 0, column: 0 }),
      document.lineAt(document.lineCount - 1).range.end,
    );
    const found = await execute("vscode.executeInlayHintProvider", document.uri, whole);
    return found.map((hint) => [hint.position.line, hint.position.character, hint.label]);
  },
  fixes: async (where) => (await quickFixes(where)).map((action) => action.title),
  applyFix: async ({ title, ...where }) => {
    const action = (await quickFixes(where)).find((item) => item.title === title);
    const applied = action !== undefined && (await vscode.workspace.applyEdit(action.edit));
    if (applied && action.command !== undefined) {
      await execute(action.command.command, ...(action.command.arguments ?? []));
    }
    return applied;
  },
  lenses: async ({ path }) => {
    const found = await execute("vscode.executeCodeLensProvider", vscode.Uri.file(path), 100);
    return found.map((lens) => [lens.range.start.line, lens.command?.title]);
  },
  configure: async ({ name, value, target: where = "Global" }) => {
    const target = vscode.ConfigurationTarget[where];
    await vscode.workspace.getConfiguration().update(name, value, target);
  },
  /** Runs a command and waits for its end. */
  command: async ({ id, args = [] }) => execute(id, ...args),
  /** Runs a command that may wait for the user. */
  start: ({ id, args = [] }) => void execute(id, ...args),
  /** Nothing unsaved, nothing open: where each scenario begins. */
  reset: async () => {
    for (const document of vscode.workspace.textDocuments.filter((item) => item.isDirty)) {
      await vscode.window.showTextDocument(document);
      await execute("workbench.action.files.revert");
    }
    await execute("workbench.action.closeAllEditors");
    for (const terminal of vscode.window.terminals) {
      terminal.dispose();
    }
    await execute("workbench.action.closePanel");
    await execute("notifications.clearAll");
  },
};

exports.activate = () => {
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) {
      body += chunk;
    }
    try {
      const { operation, ...args } = JSON.parse(body);
      response.end(JSON.stringify({ result: (await operations[operation](args)) ?? null }));
    } catch (error) {
      response.end(JSON.stringify({ error: `${body}: ${error?.stack ?? error}` }));
    }
  });
  // Where another workspace is opened, the bridge of the one before may still hold the port.
  const listen = () => server.listen(Number(process.env.TORCHSLEUTH_BRIDGE_PORT), "127.0.0.1");
  server.on("error", () => setTimeout(listen, 100));
  listen();
};
