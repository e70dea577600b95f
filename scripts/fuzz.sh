#!/usr/bin/env bash
# Fuzzes every decoder for a while, or those that are named. An input that breaks one stays in
# fuzz/artifacts, and the command that repeats it is printed.
# usage: scripts/fuzz.sh SECONDS [TARGET]...
set -euo pipefail
. "$(dirname "$0")/common.sh"
choose_toolchain

seconds=$1
shift
targets=("$@")
((${#targets[@]} == 0)) && mapfile -t targets < <(ls fuzz/fuzz_targets | sed 's/\.rs$//')
for target in "${targets[@]}"; do
    [[ -f fuzz/fuzz_targets/$target.rs ]] || fail "there is no target $target"
done

# The targets are safe Rust, so the address sanitizer, and with it a nightly toolchain, would add
# little; libFuzzer's coverage works with any.
built=fuzz/target
[[ -n "${CARGO_TARGET_DIR:-}" ]] && built=$CARGO_TARGET_DIR/fuzz
if ((${#targets[@]} == 1)); then which=("${targets[@]}"); else which=(); fi
cargo fuzz build --sanitizer none --target-dir "$built" "${which[@]}"

export HOLDFAST_FUZZ_CORPUS=fuzz/corpus
broken=()
for target in "${targets[@]}"; do
    corpus=fuzz/corpus/$target artifacts=fuzz/artifacts/$target
    mkdir -p "$corpus" "$artifacts"
    log=$artifacts/log
    program=$built/x86_64-unknown-linux-gnu/release/$target
    if "$program" "$corpus" -artifact_prefix="$artifacts/" -max_total_time="$seconds" \
        -max_len=8192 -timeout=20 -rss_limit_mb=4096 >"$log" 2>&1; then
        grep '^Done ' "$log" | sed "s/^Done/$target:/"
    else
        broken+=("$target")
        grep -v '^#' "$log" | tail -n 30
        input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
        say "$target is broken; to repeat it: $program $input"
    fi
done
((${#broken[@]} == 0)) || fail "broken: ${broken[*]}"
say "no target was broken"
