// Line endings for a terminal.

/** The text with every line feed preceded by a carriage return, once. */
export function forTerminal(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}
