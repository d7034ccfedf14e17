// What launch.json and the settings of runs mean.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isPython, launch, moduleName } from "../src/configurations";
import { expandVariables } from "../src/variables";

const surroundings = {
  home: "/home/me",
  workspaceFolder: "/work",
  environment: { DATA: "/data" },
  file: "/work/models/net.py",
};
const noFile = (): string => {
  throw new Error("there is none");
};

void test("variables are those of the editor", () => {
  const expanded = {
    "~/x": "/home/me/x",
    "a~": "a~",
    "${workspaceFolder}/x": "/work/x",
    "${env:DATA}${env:MISSING}": "/data",
    "${fileDirname}": "/work/models",
    "${relativeFile} ${fileBasenameNoExtension}${fileExtname}": "models/net.py net.py",
    "${command:pickArgs} ${unheardOf}": "${command:pickArgs} ${unheardOf}",
  };
  for (const [text, value] of Object.entries(expanded)) {
    assert.equal(expandVariables(text, surroundings), value);
  }
});

void test("a value of the environment is no pattern and is not expanded again", () => {
  const odd = { ...surroundings, environment: { ODD: "$& ${env:DATA}" } };
  assert.equal(expandVariables("${env:ODD}", odd), "$& ${env:DATA}");
});

void test("only launches of Python files are offered", () => {
  assert.ok(isPython({ type: "debugpy", request: "launch", program: "a.py" }));
  assert.ok(isPython({ type: "python", program: "a.py" }));
  assert.ok(!isPython({ type: "debugpy", request: "attach", program: "a.py" }));
  assert.ok(!isPython({ type: "debugpy", request: "launch" }));
  assert.ok(!isPython({ type: "node", program: "a.js" }));
});

void test("a configuration gives program, arguments, folder and environment", () => {
  const configuration = {
    program: "${workspaceFolder}/train.py",
    args: ["--data", "${env:DATA}", 3],
    cwd: "runs",
    envFile: "${workspaceFolder}/.env",
    env: { SEED: 1, TOKEN: null },
  };
  const read = (path: string): string =>
    path === "/work/.env" ? "# shared\nexport SEED=0\nNAME='a b'\n" : noFile();
  assert.deepEqual(launch(configuration, surroundings, read), {
    program: "/work/train.py",
    options: {
      args: ["--data", "/data", "3"],
      cwd: "/work/runs",
      env: { SEED: "1", NAME: "a b", TOKEN: null },
    },
  });
  assert.deepEqual(launch({ program: "${file}", args: "--n 'a b'" }, surroundings, noFile), {
    program: "/work/models/net.py",
    options: { args: "--n 'a b'" },
  });
});

void test("a module runs by its name", () => {
  assert.ok(isPython({ type: "debugpy", request: "launch", module: "pkg.train" }));
  assert.deepEqual(launch({ module: "pkg.train", args: ["-x"] }, surroundings, noFile), {
    options: { args: ["-x"], module: "pkg.train" },
  });
  assert.equal(moduleName("pkg/train.py"), "pkg.train");
  assert.equal(moduleName("pkg\\sub\\__main__.py"), "pkg.sub");
});

void test("what only a debugger knows is said", () => {
  const found = launch({ program: "a.py", args: ["${command:pickArgs}"] }, surroundings, noFile);
  assert.deepEqual(found, { problem: "only the debugger can fill in ${command:pickArgs}" });
  assert.ok("problem" in launch({ program: "a.py", envFile: ".env" }, surroundings, noFile));
});
