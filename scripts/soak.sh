#!/usr/bin/env bash
# Searches seeds in the crash simulator for a while. A seed that fails is printed with the command
# that repeats it.
# usage: scripts/soak.sh MINUTES
set -euo pipefail
. "$(dirname "$0")/common.sh"
choose_toolchain
exec cargo run --release -p holdfast-sim --bin soak -- --minutes "$1"
