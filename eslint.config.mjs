// The extension is checked with types; the scripts around it, plain JavaScript, without.
import js from "@eslint/js";
import tseslint from "typescript-eslint";

const nodeGlobals = Object.fromEntries(
  ["Buffer", "URL", "console", "exports", "fetch", "process", "require", "setTimeout"].map((name) => [
    name,
    "readonly",
  ]),
);

export default tseslint.config(
  { ignores: ["extension/out/**", "extension/bundled/**"] },
  js.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-invalid-void-type": ["error", { allowAsThisParameter: true }],
    },
  },
  { files: ["**/*.mjs", "**/*.js"], languageOptions: { globals: nodeGlobals } },
  { files: ["tests/editor/bridge/*.js"], languageOptions: { sourceType: "commonjs" } },
);
