// Which interpreters are accepted, and what those that are not are told.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { isAbsolute } from "node:path";
import { test } from "node:test";
import { expandVariables } from "../src/variables";
import { QUESTION, readAnswer } from "../src/version";

void test("an interpreter is known by the name it gives itself", () => {
  assert.deepEqual(readAnswer("python3", '[3, 11, "/opt/python/bin/python3.11"]\n'), {
    path: "/opt/python/bin/python3.11",
    version: "3.11",
  });
});

void test("the question is one that a Python answers", () => {
  const answer = readAnswer("python3", execFileSync("python3", ["-c", QUESTION], { encoding: "utf8" }));
  assert.ok("path" in answer && isAbsolute(answer.path), JSON.stringify(answer));
});

void test("noise before the answer does no harm", () => {
  assert.deepEqual(readAnswer("py", 'site says hello\n[3, 13, ""]\r\n'), { path: "py", version: "3.13" });
});

void test("an old Python is refused with both versions", () => {
  assert.deepEqual(readAnswer("py", '[3, 9, "/usr/bin/python3"]'), {
    problem: "py is Python 3.9; TorchSleuth needs 3.10 or newer.",
  });
  assert.ok("problem" in readAnswer("py", '[2, 7, "/usr/bin/python"]'));
});

void test("what is no Python is refused", () => {
  for (const output of ["", "hello", "[]", '["3", "11"]', "{}"]) {
    assert.deepEqual(readAnswer("node", output), { problem: "node does not answer like Python." }, output);
  }
});

void test("a path in the settings may name the home, the workspace and the environment", () => {
  const surroundings = { home: "/home/ada", workspaceFolder: "/work/net", environment: { VENV: "/venv" } };
  const expand = (text: string): string => expandVariables(text, surroundings);
  assert.equal(expand("~/venv/bin/python"), "/home/ada/venv/bin/python");
  assert.equal(expand("${workspaceFolder}/.venv/bin/python"), "/work/net/.venv/bin/python");
  assert.equal(expand("${env:VENV}/bin/python"), "/venv/bin/python");
  assert.equal(expand("${env:NONE}python"), "python");
  assert.equal(expand("/a~/python"), "/a~/python");
});
