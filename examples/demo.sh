#!/usr/bin/env bash
# The main job on real input: find the planted bugs, run one to its crash, repair a copy, and show that the copy trains.
# Usage: examples/demo.sh BIN, where BIN holds `torchsleuth`. Fails if anything expected is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
torchsleuth="$1/torchsleuth"

bold="" plain=""
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
step() { printf '\n%s$ %s%s\n' "$bold" "$*" "$plain"; }

fail() { echo "demo: $*" >&2; exit 1; }

# expect STATUS COMMAND… : shows a command and its output, which has to end with that status; the output is kept.
expect() {
  local wanted="$1" status=0
  shift
  step "${@/#$torchsleuth/torchsleuth}"
  output="$("$@" 2>&1)" || status=$?
  printf '%s\n' "$output"
  [ "$status" = "$wanted" ] || fail "exit status $status instead of $wanted"
}

shows() { [[ "$output" == *"$1"* ]] || fail "the output does not show: $1"; }

expect 1 "$torchsleuth" check examples/
for finding in \
  "error[TS102]|examples/conv_channels.py" "error[TS201]|examples/device_mismatch.py" \
  "error[TS101]|examples/linear_after_conv.py" "hint[TS510]|examples/lstm_without_clipping.py" \
  "error[TS101]|examples/matmul_shapes.py" "warning[TS501]|examples/missing_zero_grad.py" \
  "warning[TS303]|examples/softmax_cross_entropy.py" "warning[TS506]|examples/validation_without_no_grad.py" \
  "error[TS104]|examples/view_size.py"; do
  shows "${finding%|*}"
  shows "--> ${finding#*|}"
done
shows "fix: Change in_features of \`fc\` (Linear) from 8192 to 16384"
[[ "$output" != *"--> examples/good_training.py"* ]] || fail "something is reported in good_training.py"

expect 1 "$torchsleuth" run examples/linear_after_conv.py
shows "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x16384 and 8192x10)"
shows "--> examples/linear_after_conv.py:"
shows "self.fc = nn.Linear(16384, 10)"

expect 0 "$torchsleuth" fix --copy demo-output examples/linear_after_conv.py
shows "[FIXED]"
shows "Status: SUCCESS"
shows "epoch 1: loss"

step "diff examples/linear_after_conv.py demo-output/linear_after_conv.py"
diff examples/linear_after_conv.py demo-output/linear_after_conv.py && fail "the copy was not changed"
expect 0 "$1/python" demo-output/linear_after_conv.py
shows "epoch 1: loss"
printf '\nThe planted bugs were found, the crash was mapped, and the repaired copy trains.\n'
