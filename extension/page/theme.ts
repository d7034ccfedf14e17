// Light, dark or high contrast: that of the editor where the page is shown in it, else that of the system.

const listeners = new Set<() => void>();
const dark = matchMedia("(prefers-color-scheme: dark)");
const forced = matchMedia("(forced-colors: active)");

function current(): string {
  const names = document.body.classList;
  if (names.contains("vscode-high-contrast-light")) {
    return "contrast-light";
  }
  if (names.contains("vscode-high-contrast")) {
    return "contrast-dark";
  }
  if (names.contains("vscode-dark") || names.contains("vscode-light")) {
    return names.contains("vscode-dark") ? "dark" : "light";
  }
  return dark.matches ? "dark" : "light";
}

export function watchTheme(): void {
  const apply = () => {
    document.documentElement.dataset["theme"] = current();
    listeners.forEach((listener) => {
      listener();
    });
  };
  apply();
  dark.addEventListener("change", apply);
  forced.addEventListener("change", apply);
  new MutationObserver(apply).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

/** Calls `listener` whenever colours have changed. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The value of a custom property of the style sheet, such as `--ink`. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
