// Answers questions about the editor over HTTP on the loopback: what the API knows, exactly.
const http = require("node:http");
const vscode = require("vscode");

const place = (range) => [range.start.line, range.start.character, range.end.line, range.end.character];
const ask = (name, ...args) => vscode.commands.executeCommand(name, ...args);
const whole = (document) =>
  new vscode.Range(new vscode.Position(0, 0), document.lineAt(document.lineCount - 1).range.end);

async function actions(document, range) {
  const found = await ask("vscode.executeCodeActionProvider", document.uri, range, "quickfix");
  return found.filter((action) => action.edit !== undefined);
}

const operations = {
  open: async ({ path }) => {
    const document = await vscode.workspace.openTextDocument(path);
    await vscode.window.showTextDocument(document, { preview: false });
  },
  cursor: async ({ path, line, column }) => {
    const document = await vscode.workspace.openTextDocument(path);
    const editor = await vscode.window.showTextDocument(document, { preview: false });
    const at = new vscode.Position(line, column);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenter);
  },
  diagnostics: async ({ path }) =>
    vscode.languages.getDiagnostics(vscode.Uri.file(path)).map((item) => ({
      code: item.code?.value ?? item.code,
      message: item.message,
      severity: item.severity,
      range: place(item.range),
      related: (item.relatedInformation ?? []).map((entry) => entry.message),
    })),
  hover: async ({ path, line, column }) => {
    const found = await ask(
      "vscode.executeHoverProvider",
      vscode.Uri.file(path),
      new vscode.Position(line, column),
    );
    return found.flatMap((hover) => hover.contents.map((content) => content.value ?? content));
  },
  hints: async ({ path }) => {
    const document = await vscode.workspace.openTextDocument(path);
    const found = await ask("vscode.executeInlayHintProvider", document.uri, whole(document));
    return found.map((hint) => [hint.position.line, hint.position.character, hint.label]);
  },
  actions: async ({ path, line, column }) => {
    const document = await vscode.workspace.openTextDocument(path);
    const at = new vscode.Position(line, column);
    return (await actions(document, new vscode.Range(at, at))).map((action) => action.title);
  },
  apply: async ({ path, line, column, title }) => {
    const document = await vscode.workspace.openTextDocument(path);
    const at = new vscode.Position(line, column);
    const action = (await actions(document, new vscode.Range(at, at))).find((item) => item.title === title);
    return action !== undefined && (await vscode.workspace.applyEdit(action.edit));
  },
  lenses: async ({ path }) => {
    const found = await ask("vscode.executeCodeLensProvider", vscode.Uri.file(path), 10);
    return found.map((lens) => [lens.range.start.line, lens.command?.title]);
  },
  text: async ({ path }) => (await vscode.workspace.openTextDocument(path)).getText(),
  command: async ({ id, args }) => (await ask(id, ...(args ?? []))) ?? null,
  start: async ({ id, args }) => void ask(id, ...(args ?? [])),
};

exports.activate = () => {
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", async () => {
      try {
        const { operation, ...args } = JSON.parse(body);
        response.end(JSON.stringify({ result: (await operations[operation](args)) ?? null }));
      } catch (error) {
        response.end(JSON.stringify({ error: String(error) }));
      }
    });
  });
  server.listen(Number(process.env.TORCHSLEUTH_BRIDGE_PORT), "127.0.0.1");
};
