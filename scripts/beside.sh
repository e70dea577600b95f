#!/usr/bin/env bash
# Runs a test binary beside others: Cargo calls it as its runner, and goes on while the binary runs.
# A binary that waits for disks or processes leaves the processors to the next one.
# usage: scripts/beside.sh BINARY [ARGUMENT]...   with RUNS, a folder: BINARY's output and its
#            exit code come there; as many run at once as there are files RUNS/slot*
#        scripts/beside.sh --wait                 waits for all, prints what they said, and fails
#            if one has failed
set -euo pipefail
: "${RUNS:?a folder}"

# A slot is taken by who holds its lock, and free when that process has ended.
if [[ $1 == --wait ]]; then
    for slot in "$RUNS"/slot*; do
        exec 9<"$slot"
        flock 9
    done
    failed=()
    for output in "$RUNS"/*.out; do
        code=$(cat "${output%.out}.code" 2>/dev/null || echo "no exit code")
        cat "$output"
        [[ $code == 0 ]] || failed+=("$(head -n 1 "$output"): $code")
    done
    ((${#failed[@]} == 0)) && exit
    printf 'error: tests failed: %s\n' "${failed[@]}"
    exit 1
fi

while true; do
    for slot in "$RUNS"/slot*; do
        exec 9<"$slot"
        flock --nonblock 9 && break 2
    done
    sleep 0.1
done
run=$(mktemp "$RUNS/XXXXXXXX")
binary=$(basename "$1")
(
    # Cargo's folder of libraries is part of the environment; its terminal is not wanted. The shell
    # has signals of the keyboard ignored in what it starts so, and tests would inherit that.
    code=0
    {
        printf '     Running %s of %s\n' "${binary%-*}" "${CARGO_PKG_NAME:-}"
        env --default-signal=INT,QUIT "$@" 9<&- &
        echo $! >"$run.pid"
        wait $!
    } >"$run.out" 2>&1 </dev/null || code=$?
    rm -f "$run.pid"
    echo "$code" >"$run.code"
) >/dev/null 2>&1 &
