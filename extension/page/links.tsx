// References to lines: links that an editor follows, and messages where the page is shown in the editor itself.
import { useState } from "preact/hooks";
import type { Offer, Place } from "./data";

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

/** A button that starts a probe; where no editor shows the page, the command to copy. */
export function Ask({ offer, labels }: { offer: Offer; labels: Record<string, string> }) {
  const [copied, setCopied] = useState(false);
  if (editor !== undefined) {
    return (
      <li>
        <button type="button" class="ask" data-probe={offer.kind}>
          {offer.name}
        </button>
      </li>
    );
  }
  const copy = async () => {
    await navigator.clipboard.writeText(offer.command);
    setCopied(true);
  };
  return (
    <li>
      <span class="name">{offer.name}</span> <code>{offer.command}</code>{" "}
      <button type="button" class="ask" onClick={() => void copy().catch(() => undefined)}>
        {copied ? labels["copied"] : labels["copy"]}
      </button>
    </li>
  );
}

/** In the editor, references open their line there, and buttons start their probe. */
export function follow(root: HTMLElement): void {
  if (editor === undefined) {
    return;
  }
  root.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const link = target?.closest<HTMLElement>(".place") ?? null;
    const asked = target?.closest<HTMLElement>(".ask")?.dataset["probe"];
    if (asked !== undefined) {
      editor.postMessage({ probe: asked });
    }
    if (link !== null) {
      const { path, line, column } = link.dataset;
      editor.postMessage({ open: { path, line: Number(line), column: Number(column) } });
    }
  });
}
