// What goes to a terminal, and what is typed in it.

/** The text with every line feed preceded by a carriage return, once. */
export function forTerminal(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** Control characters, halves of characters, and what is not seen or turns the order of writing around. */
const STEERING =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;

/** A name or a message on one line, in which nothing steers a terminal, and nothing is a link where one is shown. */
export function visible(text: string): string {
  return text
    .replace(STEERING, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    .replaceAll("](", "] (");
}

/** What typing led to: the `line` so far, what the terminal has to show, lines that were finished, Ctrl-C. */
export interface Typed {
  line: string;
  echo: string;
  finished: string;
  interrupted: boolean;
}

const INTERRUPT = "\x03";
const BACKSPACES = ["\x7f", "\b"];
/** Cursor keys and the like: there is no cursor to move. */
// eslint-disable-next-line no-control-regex
const ESCAPE_SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?/g;
/** Characters that take two cells of a terminal. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]|\p{Emoji_Presentation}/u;

/** One step of a line editor: `keys` are typed behind `line`. A terminal without a shell has to echo by itself. */
export function typeKeys(line: string, keys: string): Typed {
  const typed: Typed = { line, echo: "", finished: "", interrupted: false };
  for (const key of characters(keys.replace(ESCAPE_SEQUENCE, "").replace(/\r\n?/g, "\n"))) {
    if (key === INTERRUPT) {
      typed.interrupted = true;
      typed.echo += "^C\r\n";
      typed.line = "";
    } else if (key === "\n") {
      typed.finished += `${typed.line}\n`;
      typed.echo += "\r\n";
      typed.line = "";
    } else if (BACKSPACES.includes(key)) {
      const last = characters(typed.line).at(-1) ?? "";
      typed.echo += "\b \b".repeat(cells(last));
      typed.line = typed.line.slice(0, typed.line.length - last.length);
    } else if (key >= " " || key === "\t") {
      typed.echo += key;
      typed.line += key;
    }
  }
  return typed;
}

/** What a reader takes for one character, which may be several code points. */
function characters(text: string): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

function cells(character: string): number {
  return character === "" ? 0 : WIDE.test(character) ? 2 : 1;
}
