// References to lines: links that an editor follows, and messages where the page is shown in the editor itself.
import type { Place } from "./data";

interface EditorApi {
  postMessage(message: unknown): void;
}

declare function acquireVsCodeApi(): EditorApi;

const editor = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : undefined;

export function Reference({ place }: { place: Place }) {
  const where = { "data-path": place.path, "data-line": place.line, "data-column": place.column };
  if (editor !== undefined) {
    // No link: the editor would follow it, too.
    return (
      <button type="button" class="place" {...where}>
        {place.text}
      </button>
    );
  }
  const path = encodeURI(place.path.replaceAll("\\", "/").replace(/^\/+/, "")).replace(
    /[?#]/g,
    encodeURIComponent,
  );
  return (
    <a class="place" href={`vscode://file/${path}:${place.line}:${place.column}`} {...where}>
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
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>(".place") : null;
    if (link !== null) {
      const { path, line, column } = link.dataset;
      editor.postMessage({ open: { path, line: Number(line), column: Number(column) } });
    }
  });
}
