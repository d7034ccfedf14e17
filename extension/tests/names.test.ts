// Names that are written down in more than one place agree.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { COMMANDS, RUNNING } from "../src/names";
import { presentation } from "../src/presentation";
import * as protocol from "../src/protocol";

interface Manifest {
  contributes: {
    commands: { command: string; enablement?: string }[];
    menus: Record<string, { command: string; when: string }[]>;
  };
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const serverSide = readFileSync("server/torchsleuth/lsp/protocol.py", "utf8");
const serverNames = new Set([...serverSide.matchAll(/^[A-Z_]+ = "([^"]+)"/gm)].map((match) => match[1]));

void test("every declared command is one of ours, and the other way round", () => {
  const declared = manifest.contributes.commands.map(({ command }) => command);
  assert.deepEqual(declared.sort(), Object.values<string>(COMMANDS).sort());
});

void test("menus use declared commands and our context key", () => {
  for (const { command, when } of Object.values(manifest.contributes.menus).flat()) {
    assert.ok(Object.values<string>(COMMANDS).includes(command), command);
    for (const key of when.match(/torchsleuth\.\w+/g) ?? []) {
      assert.equal(key, RUNNING);
    }
  }
});

void test("a run is offered in a trusted workspace only", () => {
  const runs = Object.values<string>(COMMANDS).filter((command) => /\.run[A-Z]/.test(command));
  assert.equal(runs.length, 5);
  for (const name of runs) {
    const run = manifest.contributes.commands.find(({ command }) => command === name);
    assert.equal(run?.enablement, "isWorkspaceTrusted");
  }
  const offers = Object.values(manifest.contributes.menus)
    .flat()
    .filter(({ command }) => runs.includes(command));
  assert.equal(offers.length, 7);
  for (const { when } of offers) {
    assert.match(when, /(^| && )isWorkspaceTrusted($| && )/);
  }
});

void test("the server knows the names that the client uses", () => {
  for (const name of Object.values(protocol)) {
    assert.ok(serverNames.has(name), name);
  }
});

void test("each state that the server may be in has words", () => {
  const states = /``torchsleuth\/status``[^;]*; state: ([a-z, ]+)/.exec(serverSide)?.[1]?.split(", ") ?? [];
  assert.ok(states.length >= 7, serverSide);
  for (const state of states) {
    const { text, busy, problem } = presentation({ state, detail: "" });
    assert.match(text, /^TorchSleuth/);
    assert.equal(busy, ["starting", "restarting", "busy"].includes(state), state);
    assert.equal(problem, ["unavailable", "restricted"].includes(state), state);
  }
});
