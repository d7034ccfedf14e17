// References to lines: links that an editor follows, and messages where the page is shown in the editor itself.
import type { Place } from "./data";

interface EditorApi {
  postMessage(message: unknown): void;
}

declare function acquireVsCodeApi(): EditorApi;

const editor = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : undefined;

export const inEditor = editor !== undefined;

export function Reference({ place }: { place: Place }) {
  const path = place.path.replaceAll("\\", "/");
  const target = `vscode://file/${encodeURI(path.replace(/^\/+/, "")).replace(/[?#]/g, encodeURIComponent)}`;
  return (
    <a
      class="place"
      href={`${target}:${place.line}:${place.column}`}
      data-path={place.path}
      data-line={place.line}
      data-column={place.column}
    >
      {place.text}
    </a>
  );
}

/** In the editor, references open their line there. */
export function follow(root: HTMLElement): void {
  if (editor === undefined) {
    return;
  }
  root.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>("a.place") : null;
    if (link !== null) {
      event.preventDefault();
      const { path, line, column } = link.dataset;
      editor.postMessage({ open: { path, line: Number(line), column: Number(column) } });
    }
  });
}
