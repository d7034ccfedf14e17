// Bundles the extension, or with the argument "tests" its unit tests.
import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const shared = { bundle: true, platform: "node", format: "cjs", target: "node20", external: ["vscode"] };

if (process.argv[2] === "tests") {
  const outdir = "extension/out/tests";
  rmSync(outdir, { recursive: true, force: true }); // a test that is gone must not be run again
  const entryPoints = readdirSync("extension/tests").map((name) => `extension/tests/${name}`);
  await build({ ...shared, entryPoints, outdir });
} else {
  const outfile = "extension/out/extension.js";
  await build({ ...shared, entryPoints: ["extension/src/extension.ts"], outfile, minify: true });
}
