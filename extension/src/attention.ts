// Whether the user has gone on to something else while we were busy.
import * as vscode from "vscode";

export interface Attention {
  /** Whether the user has moved the cursor, typed, or gone to another editor since. */
  moved(this: void): boolean;
  dispose(this: void): void;
}

export function watchAttention(): Attention {
  let moved = false;
  const turn = (): void => {
    moved = true;
  };
  const watching = vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(turn),
    vscode.window.onDidChangeTextEditorSelection(({ kind }) => {
      if (kind !== undefined) {
        turn();
      }
    }),
  );
  return {
    moved: () => moved,
    dispose: () => {
      watching.dispose();
    },
  };
}
