// What a terminal shows and what typing in it means.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forTerminal, typeKeys } from "../src/lines";

void test("a terminal gets one carriage return a line", () => {
  assert.equal(forTerminal("a\nb\r\nc"), "a\r\nb\r\nc");
});

void test("a progress bar that rewrites its line keeps its carriage returns", () => {
  assert.equal(forTerminal("10%\r20%\r\n"), "10%\r20%\r\n");
});

void test("typing shows itself and is sent at Enter", () => {
  assert.deepEqual(typeKeys("", "ab"), { line: "ab", echo: "ab", finished: "", interrupted: false });
  assert.deepEqual(typeKeys("ab", "c\r"), { line: "", echo: "c\r\n", finished: "abc\n", interrupted: false });
});

void test("several pasted lines are sent together, the rest waits", () => {
  const typed = typeKeys("", "one\r\ntwo\nthree");
  assert.equal(typed.finished, "one\ntwo\n");
  assert.equal(typed.line, "three");
});

void test("backspace takes away one character, however many code units and cells it has", () => {
  assert.deepEqual(typeKeys("ab", "\x7f"), { line: "a", echo: "\b \b", finished: "", interrupted: false });
  assert.deepEqual(typeKeys("a😋", "\x7f"), {
    line: "a",
    echo: "\b \b\b \b",
    finished: "",
    interrupted: false,
  });
  assert.deepEqual(typeKeys("中", "\x7f"), {
    line: "",
    echo: "\b \b\b \b",
    finished: "",
    interrupted: false,
  });
  assert.deepEqual(typeKeys("", "\x7f"), { line: "", echo: "", finished: "", interrupted: false });
});

void test("cursor keys are ignored, Ctrl-C drops the line and interrupts", () => {
  assert.equal(typeKeys("a", "\x1b[A\x1b[1;5Db").line, "ab");
  assert.deepEqual(typeKeys("a", "\x03"), { line: "", echo: "^C\r\n", finished: "", interrupted: true });
});
