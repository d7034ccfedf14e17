// Bundles the extension, or with the argument "tests" its unit tests.
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const shared = { bundle: true, platform: "node", format: "cjs", target: "node20", external: ["vscode"] };
if (process.argv[2] === "tests") {
  const entryPoints = readdirSync("extension/tests").map((name) => `extension/tests/${name}`);
  await build({ ...shared, entryPoints, outdir: "extension/out/tests" });
} else {
  const output = { outfile: "extension/out/extension.js", minify: true };
  await build({ ...shared, ...output, entryPoints: ["extension/src/extension.ts"] });
}
