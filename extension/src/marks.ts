// What runs left beside the lines: where one failed and with which tensors, the calls that led there, values, and which lines
// were reached.
import * as vscode from "vscode";
import { MARKS, type Mark, type Marks } from "./protocol";
import type { Server } from "./server";
import { runSettings } from "./settings";

const MAX_TEXT = 220;

const icon = (colour: string, path: string): vscode.Uri =>
  vscode.Uri.parse(
    `data:image/svg+xml;utf8,${encodeURIComponent(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="none" stroke="${colour}" stroke-width="2" d="${path}"/></svg>`,
    )}`,
  );
const CROSS = "M4 4 L12 12 M12 4 L4 12";
const ARROW = "M3 8 H12 M8 4 L12 8 L8 12";

const BAR = "M3 0 V16";
const GAPS = "M3 1 V4 M3 6.5 V9.5 M3 12 V15";

type Look = Mark["kind"] | "stale";

const LOOKS: Readonly<Record<Look, vscode.DecorationRenderOptions>> = {
  failed: {
    gutterIconPath: icon("#e51400", CROSS),
    gutterIconSize: "80%",
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.errorForeground"),
    after: { margin: "0 0 0 3ch", color: new vscode.ThemeColor("editorError.foreground") },
  },
  called: {
    gutterIconPath: icon("#e5a000", ARROW),
    gutterIconSize: "80%",
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.warningForeground"),
  },
  value: {
    after: { margin: "0 0 0 3ch", color: new vscode.ThemeColor("editorCodeLens.foreground") },
  },
  reached: { gutterIconPath: icon("#2e8b5799", BAR), gutterIconSize: "contain" },
  missed: { gutterIconPath: icon("#8a8a8a99", GAPS), gutterIconSize: "contain" },
  stale: {
    after: { margin: "0 0 0 3ch", color: new vscode.ThemeColor("disabledForeground"), fontStyle: "italic" },
  },
};

/** Shows the marks in the editors that are seen, and again whenever they have changed. */
export function createMarks(server: Server): vscode.Disposable {
  const looks = Object.entries(LOOKS).map(
    ([look, options]) => [look as Look, vscode.window.createTextEditorDecorationType(options)] as const,
  );

  const show = async (editor: vscode.TextEditor): Promise<void> => {
    const { document } = editor;
    if (document.languageId !== "python") {
      return;
    }
    const version = document.version;
    const found = await ask(server, document.uri);
    if (found === undefined || document.isClosed || document.version !== version) {
      return; // what was typed meanwhile moves them, and the server says so where it matters
    }
    const { values, lines } = runSettings(document.uri);
    const wanted: Readonly<Record<Mark["kind"], boolean>> = {
      failed: true,
      called: true,
      value: values,
      reached: lines,
      missed: lines,
    };
    const marks = found.marks.filter(({ kind }) => wanted[kind]);
    for (const [look, type] of looks) {
      editor.setDecorations(
        type,
        marks.filter((mark) => lookOf(mark) === look).map((mark) => decoration(mark, document)),
      );
    }
  };

  const changed = server.onMarksChanged((uri) => {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.toString() === vscode.Uri.parse(uri).toString()) {
        void show(editor);
      }
    }
  });
  const seen = vscode.window.onDidChangeVisibleTextEditors((editors) => {
    editors.forEach((editor) => void show(editor));
  });
  const configured = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration("torchsleuth.run")) {
      vscode.window.visibleTextEditors.forEach((editor) => void show(editor));
    }
  });
  return vscode.Disposable.from(changed, seen, configured, ...looks.map(([, type]) => type));
}

async function ask(server: Server, uri: vscode.Uri): Promise<Marks | undefined> {
  try {
    return await server.request<Marks>(MARKS, { uri: uri.toString() });
  } catch {
    return undefined; // the server has ended; the next one has no marks
  }
}

function lookOf({ kind, stale }: Mark): Look {
  return stale ? "stale" : kind;
}

function decoration(mark: Mark, document: vscode.TextDocument): vscode.DecorationOptions {
  if (mark.kind === "reached" || mark.kind === "missed") {
    const { start, end } = mark.range;
    return { range: new vscode.Range(start.line, start.character, end.line, end.character) };
  }
  const line = document.lineAt(Math.min(mark.range.start.line, document.lineCount - 1));
  const text = mark.text.length > MAX_TEXT ? `${mark.text.slice(0, MAX_TEXT)}…` : mark.text;
  return {
    range: line.range,
    hoverMessage: new vscode.MarkdownString(mark.details),
    renderOptions: text === "" ? {} : { after: { contentText: text } },
  };
}
