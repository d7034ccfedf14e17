// Packs the built extension as one VSIX for every platform, and says what it weighs.
import { mkdirSync, statSync } from "node:fs";
import { createVSIX } from "@vscode/vsce";

const packagePath = "dist/torchsleuth.vsix";
mkdirSync("dist", { recursive: true });
await createVSIX({ packagePath, dependencies: false }); // esbuild has bundled them
console.log(`${packagePath}: ${Math.round(statSync(packagePath).size / 1024)} KiB`);
