#!/usr/bin/env bash
# The editor scenarios: prepares the editor, packs the bridge, runs the tests. Needs dist/torchsleuth.vsix.
set -euo pipefail
cd "$(dirname "$0")/../.."
TORCHSLEUTH_EDITOR_CACHE="$(tests/editor/prepare.sh)"
export TORCHSLEUTH_EDITOR_CACHE
export TORCHSLEUTH_TEST_PYTHON="${TORCHSLEUTH_TEST_PYTHON:-$PWD/.venv/bin/python}"
(cd tests/editor/bridge && ../../../node_modules/.bin/vsce package --no-dependencies --skip-license --out ../../../dist/torchsleuth-bridge.vsix </dev/null >/dev/null)
exec node --test tests/editor/scenarios.mjs
