// Starts a real editor with the packaged extension in a browser, and talks to it through the bridge.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { URLSearchParams } from "node:url";
import { descendants } from "./processes.mjs";
import { until } from "./waiting.mjs";

const root = join(import.meta.dirname, "../..");
const cache = process.env.TORCHSLEUTH_EDITOR_CACHE;
const screenshots = join(root, "tests/editor/screenshots");
const { chromium } = createRequire(join(cache, "package.json"))("playwright-core");

const BROWSER_OPTIONS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
const SERVER_OPTIONS = "--auth none --disable-telemetry --disable-update-check";

const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "chat.disableAIFeatures": true,
  // The workspace is not trusted at first: the first scenario is about that.
  "security.workspace.trust.startupPrompt": "never",
  "security.workspace.trust.banner": "never",
  "torchsleuth.trace.server": "verbose",
  "files.autoSave": "off",
  "editor.minimap.enabled": false,
  "window.commandCenter": false,
  "terminal.integrated.gpuAcceleration": "off", // so that its text is in the DOM
};

/** Paths are the business of the machine that the server runs on: for the editor in a browser, a remote one. */
const MACHINE_SETTINGS = { "torchsleuth.interpreter": process.env.TORCHSLEUTH_TEST_PYTHON };

/**
 * The editor with nothing open. Its workspace is empty but for what `example` and `write` put there, each in a folder of
 * its own, so that no scenario sees another's files.
 */
export async function startEditor() {
  const folder = mkdtempSync(join(tmpdir(), "torchsleuth-editor-"));
  const [data, extensions, work] = ["data", "extensions", "work"].map((name) => join(folder, name));
  for (const path of [join(data, "User"), join(data, "Machine"), work, screenshots]) {
    mkdirSync(path, { recursive: true });
  }
  writeFileSync(join(data, "User", "settings.json"), JSON.stringify(SETTINGS));
  writeFileSync(join(data, "Machine", "settings.json"), JSON.stringify(MACHINE_SETTINGS));
  const [port, bridgePort] = [await freePort(), await freePort()];
  const env = {
    ...process.env,
    TORCHSLEUTH_BRIDGE_PORT: String(bridgePort),
    XDG_CONFIG_HOME: join(folder, "config"),
  };
  delete env.PYTHONPATH; // the extension has to bring what it needs
  const node = join(cache, "node_modules/node-linux/bin/node");
  const entry = join(cache, "node_modules/code-server/out/node/entry.js");
  const codeServer = [entry, "--user-data-dir", data, "--extensions-dir", extensions];
  for (const name of ["torchsleuth", "torchsleuth-bridge"]) {
    const vsix = join(root, "dist", `${name}.vsix`);
    execFileSync(node, [...codeServer, "--install-extension", vsix], { env, stdio: "pipe" });
  }

  const options = [...SERVER_OPTIONS.split(" "), "--bind-addr", `127.0.0.1:${port}`];
  const server = spawn(node, [...codeServer, ...options, work], { env, stdio: "ignore", detached: true });
  let browser;
  const stop = async () => {
    await browser?.close();
    killAll(server.pid);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once("exit", () => killAll(server.pid));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, () => process.exit(1));
  }

  const ask = async (operation, values = {}) => {
    const body = JSON.stringify({ operation, ...values });
    const response = await fetch(`http://127.0.0.1:${bridgePort}/`, { method: "POST", body });
    const { result, error } = await response.json();
    if (error !== undefined) {
      throw new Error(error);
    }
    return result;
  };

  let page;
  const open = async (query) => {
    await page.goto(`http://127.0.0.1:${port}/?${new URLSearchParams(query)}`);
    // The editor sometimes starts before it has read the workspace, and then shows no folder: the page is loaded again.
    for (let attempt = 1; ; attempt += 1) {
      await page.waitForSelector(".monaco-workbench");
      await until(
        "the bridge",
        () => ask("reset"),
        () => true,
      );
      if (attempt === 3 || (await ask("folders")).length > 0) {
        return;
      }
      await page.reload();
    }
  };
  try {
    await until("the editor's server", async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
    browser = await chromium.launch({
      executablePath: process.env.TORCHSLEUTH_CHROMIUM ?? "/usr/bin/chromium",
      args: BROWSER_OPTIONS.split(" "),
    });
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(60_000);
    await open({ folder: work });
  } catch (error) {
    await stop();
    throw error;
  }

  let folders = 0;
  const newFolder = () => {
    folders += 1;
    const path = join(work, String(folders));
    mkdirSync(path);
    return path;
  };
  return {
    ask,
    page,
    stop,
    /** The folder that is the workspace. */
    work,
    /** Opens a workspace of several folders, or with nothing the one of the other scenarios. */
    open: (workspace) => open(workspace === undefined ? { folder: work } : { workspace }),
    /** A copy of one of the examples. */
    example: (name) => {
      const path = join(newFolder(), name);
      cpSync(join(root, "examples", name), path);
      return path;
    },
    /** A new file. */
    write: (name, text) => {
      const path = join(newFolder(), name);
      writeFileSync(path, text);
      return path;
    },
    screenshot: (name) => page.screenshot({ path: join(screenshots, `${name}.png`) }),
    /** Living processes of the editor whose command line contains `part`. */
    processes: (part) => descendants(server.pid, part),
    /** What the extension has logged. */
    log: () =>
      readdirSync(data, { recursive: true })
        .filter((path) => path.endsWith("TorchSleuth.log"))
        .map((path) => readFileSync(join(data, path), "utf8"))
        .join(""),
  };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A process and everything it started: runs lead process groups of their own. */
function killAll(pid) {
  for (const process_ of [...descendants(pid), { pid }]) {
    try {
      process.kill(process_.pid, "SIGKILL");
    } catch {
      // it ended by itself
    }
  }
}
