// Unit tests of what needs no editor.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forTerminal } from "../src/lines";
import { presentation } from "../src/presentation";
import { coalesced } from "../src/queue";
import { versionProblem } from "../src/version";

void test("a terminal gets one carriage return a line", () => {
  assert.equal(forTerminal("a\nb\r\nc"), "a\r\nb\r\nc");
});

void test("old and strange interpreters are refused with a reason", () => {
  assert.equal(versionProblem("py", "3 11\n"), undefined);
  assert.match(versionProblem("py", "3 9\n") ?? "", /3\.9.*3\.10/);
  assert.match(versionProblem("py", "hello") ?? "", /does not answer/);
});

void test("a missing interpreter shows as a problem, work as busy", () => {
  assert.equal(presentation({ state: "unavailable", detail: "" }).problem, true);
  assert.equal(presentation({ state: "busy", detail: "" }).busy, true);
  assert.equal(presentation({ state: "ready", detail: "" }).busy, false);
});

void test("restarts never overlap, and waiting ones become one", async () => {
  let active = 0;
  let runs = 0;
  const job = coalesced(async () => {
    active += 1;
    assert.equal(active, 1);
    await Promise.resolve();
    runs += 1;
    active -= 1;
  });
  await Promise.all([job(), job(), job()]);
  assert.equal(runs, 2);
});
