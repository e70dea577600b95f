#!/usr/bin/env bash
# The orders' whole story: a producer in Python and one in JavaScript put orders on a queue, the one
# by the message queue interface, the other over AMQP; a COBOL program gets them, changes a database
# and puts confirmations, in one unit of work; it is killed in the middle, and so is the system. In
# the end each order is in the database once and was confirmed once.
# usage: apps/orders/run.sh [ORDERS [WORK]]
#   ORDERS  how many there are; 4000
#   WORK    a folder for the system and the output, removed first; without it a temporary one
# HOLDFAST names the command to use if it is neither in PATH nor built here, HOLDFAST_MQM the
# library libmqm_r.so, HOLDFAST_AMQP a folder for the client of AMQP, which is fetched with npm if it
# is not there; where there is no JavaScript the producer in Python puts all orders.
set -euo pipefail

orders=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
count=${1:-4000}
work=${2:-}

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "error: $*"
    exit 1
}

target=${CARGO_TARGET_DIR:-$orders/../../target}
find_command() {
    local place
    command -v holdfast && return
    for place in "$target/release/holdfast" "$target/debug/holdfast"; do
        [[ -x $place ]] && echo "$place" && return
    done
    fail "there is no holdfast command: cargo build --release -p holdfast"
}
find_library() {
    local place
    for place in "$target"/{release,debug}/{,deps/}libmqm_r.so; do
        [[ -e $place ]] && echo "$place" && return
    done
    fail "there is no libmqm_r.so: cargo build --release -p holdfast-mqm"
}

holdfast=${HOLDFAST:-$(find_command)}
library=${HOLDFAST_MQM:-$(find_library)}
clients=${HOLDFAST_AMQP:-$target/tools/amqp}
export HOLDFAST_PASSPHRASE=${HOLDFAST_PASSPHRASE:-'orders are taken by heart'}
started=
ends=()
trap 'clean' EXIT
clean() {
    [[ -z $started ]] || kill -9 "$started" 2>/dev/null || true
    for end in "${ends[@]}"; do rm -rf "$end"; done
}
if [[ -z $work ]]; then
    work=$(mktemp -d)
    ends+=("$work")
else
    [[ ! -e $work || -e $work/system ]] || fail "$work exists and is none of mine; name another"
    rm -rf "$work"
    mkdir -p "$work"
fi
system=$work/system
export HOLDFAST_SYSTEM=$system

start() {
    rm -f "$work/start.out"
    "$holdfast" start -s "$system" >"$work/start.out" 2>"$work/start.err" &
    started=$!
    for _ in {1..600}; do
        grep -qs '^amqp at ' "$work/start.out" && return
        kill -0 "$started" 2>/dev/null || break
        sleep 0.05
    done
    cat "$work/start.err" >&2
    fail "the system did not start"
}

# usage: depth QUEUE
depth() {
    echo "DISPLAY QLOCAL($1) CURDEPTH" >"$work/depth.mqsc"
    "$holdfast" mqsc -s "$system" -f "$work/depth.mqsc" | sed -n 's/.*CURDEPTH(\([0-9]*\)).*/\1/p'
}

# Waits until so many orders are confirmed.
wait_for() {
    for _ in {1..3000}; do
        [[ $(depth CONFIRMS) -ge $1 ]] && return
        sleep 0.02
    done
    fail "fewer than $1 orders were confirmed in time"
}

# usage: batch TYPE PROGRAM OPTIONS...
batch() {
    local type=$1 program=$2
    shift 2
    "$holdfast" batch -s "$system" --type "$type" --psb "$program" \
        --program "$orders/cobol/$program.cbl" -I "$orders/copy" \
        -I "$orders/../../crates/messages/mqm/include/cobol" "$@"
}

# Processes orders in the background, in a process group of its own, so that the program goes with
# the command, as with a machine that stops.
process() {
    set -m
    batch bmp ORDPROC --dd SYSIN="$work/process.cards" >"$work/process-$1.log" 2>&1 &
    processing=$!
    set +m
}

produce() {
    python3 "$orders/python/producer.py" "$library" "$1" "$2" "$work/ledger"
}

# The same over AMQP.
produce_over_amqp() {
    local address
    address=$(sed -n 's/^amqp at //p' "$work/start.out")
    NODE_PATH=$clients/rhea/node_modules node "$orders/javascript/producer.js" \
        "${address%:*}" "${address##*:}" "$1" "$2" "$work/ledger"
}

# Fetches the client of AMQP.
over_amqp=produce_over_amqp
"$orders/../../scripts/amqp-clients.sh" "$clients" rhea || {
    [[ $? -eq 3 ]] || fail "the client of AMQP cannot be fetched"
    say "the producer in Python puts all orders"
    over_amqp=produce
}

say "== holdfast init, gen, start, mqsc"
"$holdfast" init "$system" >&2
"$holdfast" gen -s "$system" "$orders/dbd" "$orders/psb" >&2
sed -i '/^\[amqp\]$/a listen = ["127.0.0.1:0"]' "$system/holdfast.toml"
start
"$holdfast" mqsc -s "$system" -f "$orders/queues.mqsc" >"$work/define.log" || {
    cat "$work/define.log" >&2
    fail "the queues could not be defined"
}
# A checkpoint for each two orders; the end when none has come for a while.
printf '%06d\n' 2 1500 >"$work/process.cards"

say
say "== $count orders: the second half is put over AMQP while the first is processed"
produce 1 $((count / 2))
process 1
$over_amqp $((count / 2 + 1)) "$count" &
producer=$!
wait_for $((count / 8))
kill -9 -- "-$processing" 2>/dev/null || fail "the program had ended before it was to be killed"
wait "$processing" 2>/dev/null || true
say "killed the program: $(depth CONFIRMS) orders are confirmed"
wait "$producer" || fail "the producer failed"

say
say "== the program once more, and kill -9 of the system"
process 2
wait_for $((count / 3))
confirmed=$(depth CONFIRMS)
[[ $confirmed -lt $count ]] || fail "the program had ended before the kill: give more orders"
kill -9 "$started"
wait "$started" 2>/dev/null || true
started=
wait "$processing" 2>/dev/null || true
say "killed the system: at least $confirmed orders were confirmed"

say
say "== the system and two programs once more"
start
process 3
first=$processing
process 4
for number in "$first" "$processing"; do
    wait "$number" || {
        cat "$work"/process-[34].log >&2
        fail "a program failed"
    }
done
cat "$work"/process-[34].log >&2
[[ $(depth ORDERS) -eq 0 ]] || fail "not all orders were processed"

say
say "== a hundred more, by the program alone with the stopped system (type dli)"
$over_amqp $((count + 1)) $((count + 100))
count=$((count + 100))
"$holdfast" stop -s "$system" >&2
wait "$started" || fail "the system did not end well"
started=
batch dli ORDPROC --dd SYSIN="$work/process.cards" >"$work/process-5.log" 2>&1 || {
    cat "$work/process-5.log" >&2
    fail "the program failed"
}
cat "$work/process-5.log" >&2
start

say
say "== the proof"
batch bmp ORDRPT >"$work/report.log" 2>&1 || {
    cat "$work/report.log" >&2
    fail "customers' totals and orders do not agree"
}
cat "$work/report.log" >&2
python3 "$orders/python/confirmed.py" "$library" "$work/ledger" >"$work/confirmed.log" || {
    cat "$work/confirmed.log" >&2
    fail "what was ordered and what was confirmed are not the same"
}
cat "$work/confirmed.log" >&2
amount=$(sed -n 's/^ORDERED .* AMOUNTS //p' "$work/confirmed.log")
grep -q "ORDERS 0*$count  *AMOUNTS  *$amount" "$work/report.log" ||
    fail "the database has other orders than the ledger"
"$holdfast" stop -s "$system" >&2
started=
say
say "queues and database agree after two kills: $count orders, each once"
