// Builds the page of a run's report into the Python package, where it is kept, so that no installation needs Node.
// With the argument "check", it only says whether what is kept is what would be built.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const target = "server/torchsleuth/report";
const libraries = ["preact", "uplot"];

const options = { bundle: true, minify: true, write: false, charset: "ascii", legalComments: "none" };
const browsers = { target: ["es2022", "chrome110", "firefox110", "safari16"] };
const jsx = { jsx: "automatic", jsxImportSource: "preact" };
const script = await build({
  ...options,
  ...browsers,
  ...jsx,
  entryPoints: ["extension/page/main.tsx"],
  format: "iife",
});
const style = await build({ ...options, ...browsers, stdin: styleSheet() });
const built = {
  "page.js": script.outputFiles[0].text,
  "page.css": style.outputFiles[0].text,
  LICENSES: libraries.map(licence).join("\n"),
};

if (process.argv[2] === "check") {
  const stale = Object.keys(built).filter((name) => kept(name) !== built[name]);
  if (stale.length > 0) {
    console.error(`${stale.join(", ")} in ${target}: not what extension/page says; run "npm run page"`);
    process.exit(1);
  }
} else {
  for (const [name, text] of Object.entries(built)) {
    writeFileSync(join(target, name), text);
    console.log(`${join(target, name)}: ${Math.round(text.length / 1024)} KiB`);
  }
}

function styleSheet() {
  const contents = '@import "uplot/dist/uPlot.min.css";\n@import "./page.css";\n';
  return { contents, loader: "css", resolveDir: "extension/page" };
}

/** The licence of a library that is in the page. */
function licence(name) {
  const folder = join("node_modules", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
}

function kept(name) {
  try {
    return readFileSync(join(target, name), "utf8");
  } catch {
    return undefined;
  }
}
