#!/usr/bin/env bash
# The editor scenarios: prepares the editor, packs the bridge, runs the tests. Needs dist/torchsleuth.vsix.
# Usage: tests/editor/run.sh [NODE TEST OPTIONS…], such as --test-name-pattern=hover
set -euo pipefail
cd "$(dirname "$0")/../.."
TORCHSLEUTH_EDITOR_CACHE="$(tests/editor/prepare.sh)"
export TORCHSLEUTH_EDITOR_CACHE
export TORCHSLEUTH_TEST_PYTHON="${TORCHSLEUTH_TEST_PYTHON:-$PWD/.venv/bin/python}"
rm -rf tests/editor/screenshots
(cd tests/editor/bridge && ../../../node_modules/.bin/vsce package --no-dependencies --skip-license --out ../../../dist/torchsleuth-bridge.vsix >/dev/null)
exec "$TORCHSLEUTH_EDITOR_CACHE/node_modules/node-linux/bin/node" --test --test-reporter=spec "$@" tests/editor/scenarios.mjs
