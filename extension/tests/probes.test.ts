// The probes that are offered are those that the server knows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isProbe, PROBES } from "../src/probes";

void test("the kinds are those of the server, in its order", () => {
  const session = readFileSync("server/torchsleuth/probing/session.py", "utf8");
  const steps = /STEPS[^{]*\{(.*?)\n\}/s.exec(session)?.[1] ?? "";
  assert.deepEqual(
    PROBES.map((item) => item.probe),
    [...steps.matchAll(/"(\w+)":/g)].map((match) => match[1]),
  );
});

void test("what a page posts is a kind, or nothing is started", () => {
  assert.ok(isProbe("lr"));
  assert.ok(!isProbe("rm"));
  assert.ok(!isProbe(undefined));
});
