#!/usr/bin/env bash
# The bank's online side: starts the system, drives it with terminals over TCP, kills it with
# SIGKILL under load, restarts it, and proves with the terminals' own records that no confirmed
# transaction is lost or doubled. It leaves the system running.
# usage: apps/bank/online.sh SYSTEM DATA [TERMINALS [SECONDS]]
#        apps/bank/online.sh --stop SYSTEM
#   SYSTEM  a system with the bank's definitions and its data, stopped
#   DATA    the folder that the data was loaded from
# HOLDFAST names the command to use if it is neither in PATH nor built here. PORT is 9999 if not set.
set -euo pipefail

bank=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export HOLDFAST_PASSPHRASE=${HOLDFAST_PASSPHRASE:-'a bank of paper and ink'}

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "error: $*"
    exit 1
}

find_command() {
    local target=${CARGO_TARGET_DIR:-$bank/../../target} place
    command -v holdfast && return
    for place in "$target/release/holdfast" "$target/debug/holdfast"; do
        [[ -x $place ]] && echo "$place" && return
    done
    fail "there is no holdfast command: cargo build --release -p holdfast"
}

holdfast=${HOLDFAST:-$(find_command)}
if [[ ${1:-} == --stop ]]; then
    exec "$holdfast" stop -s "${2:?SYSTEM}"
fi
system=${1:?SYSTEM} data=${2:?DATA} terminals=${3:-200} seconds=${4:-20}
port=${PORT:-9999}
work=$system.online
rm -rf "$work"
mkdir -p "$work"

# Accounts of active customers, and branches, as lists that terminals pick from.
lists() {
    LC_ALL=C fold -b -w 160 "$data/custin.dat" | LC_ALL=C grep -aE '^.{150}A' | cut -c1-8 \
        >"$work/active"
    LC_ALL=C grep -aoE '[0-9]{10}(CA|SA|DP)GBP' "$data/acctin.dat" | cut -c1-10 >"$work/all"
    LC_ALL=C awk 'NR == FNR { active[$1]; next } substr($1, 1, 8) in active' \
        "$work/active" "$work/all" >"$work/accounts.txt"
    LC_ALL=C fold -b -w 100 "$data/branin.dat" | cut -c1-4 >"$work/branches.txt"
    [[ -s $work/accounts.txt && -s $work/branches.txt ]] || fail "no accounts in $data"
    sed 's|data/||g' "$bank/tellers.toml" >"$work/tellers.toml"
}

# usage: set_option NAME VALUE    in the section [online], where nobody has set it
set_option() { sed -i "s|^#: $1 = .*|$1 = $2|" "$system/holdfast.toml"; }

configure() {
    set_option ims_connect "[\"127.0.0.1:$port\"]"
    set_option programs "[\"$bank/cobol\"]"
    set_option include "[\"$bank/copy\"]"
    "$holdfast" define -s "$system" "$bank/online.defs" >&2
}

start() {
    : >"$work/start.log"
    "$holdfast" start -s "$system" >"$work/start.log" 2>&1 &
    pid=$!
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        grep -q ims_connect "$work/start.log" && return
        kill -0 $pid 2>/dev/null || fail "the system did not start: $(cat "$work/start.log")"
        sleep 0.1
    done
    fail "the system did not start in a minute: see $work/start.log"
}

# usage: drive NAME FROM SECONDS
drive() {
    "$holdfast" drive --connect "127.0.0.1:$port" --terminals "$terminals" --time "$3" \
        --warm-up 2 --patience 10 --from "$2" --ledger "$work/$1.json" --html "$work/$1.html" \
        --threads 2 "$work/tellers.toml" >"$work/$1.txt" 2>&1
}

# The numbers of a ledger, one a line.
# usage: numbers LEDGER confirmed|unknown
numbers() {
    sed -E "s/.*\"$2\":\[([^]]*)\].*/\1/" "$work/$1.json" | tr ',' '\n' | grep -E '^[0-9]+$' || true
}

# Every confirmed number once in both databases, every unknown one in both or in neither.
prove() {
    local database
    for database in BANKHIST BANKCUST; do
        rm -f "$work/$database"
        "$holdfast" unload -s "$system" "$database" "$work/$database" >/dev/null
        LC_ALL=C grep -aoE '19960401[0-9]{9}' "$work/$database" | cut -c9- |
            sed -E 's/^0+([0-9])/\1/' | sort | uniq -c | awk '{ print $2, $1 }' >"$work/$database.n"
    done
    for ledger in first second; do
        numbers $ledger confirmed | sed 's/$/ c/'
        numbers $ledger unknown | sed 's/$/ u/'
    done | awk -v history="$work/BANKHIST.n" -v customers="$work/BANKCUST.n" '
        BEGIN {
            while ((getline line < history) > 0) { split(line, f, " "); h[f[1]] = f[2] }
            while ((getline line < customers) > 0) { split(line, f, " "); c[f[1]] = f[2] }
        }
        $2 == "c" { confirmed++; if (h[$1] != 1 || c[$1] != 1) { print "confirmed, wrong:", $1; bad++ } }
        $2 == "u" {
            unknown++; done += h[$1]
            if (h[$1] + 0 != c[$1] + 0 || h[$1] > 1) { print "half there:", $1; bad++ }
        }
        END {
            printf "%d confirmed transactions are there exactly once; of %d that nobody answered " \
                "%d are there, whole\n", confirmed, unknown, done
            exit bad > 0 || confirmed == 0
        }' >&2
}

lists
configure
say "== holdfast start, $terminals terminals over TCP for $seconds seconds"
start
# The first transaction waits until its program is compiled.
drive warm 900000000 10 || true
drive first 100000000 "$seconds" &
driver=$!
sleep $((seconds * 2 / 3))
say "== kill -9 of the system, under load"
kill -9 $pid
wait $pid 2>/dev/null || true
wait $driver || true
say "== holdfast start again: it restarts by itself"
start
drive second 500000000 "$seconds" || fail "terminals saw wrong replies: $(cat "$work/second.txt")"
cat "$work/second.txt" >&2
"$holdfast" stop -s "$system" >&2
say "== the proof"
prove || fail "transactions are lost or doubled"
start
disown $pid
say "== the system runs as process $pid; try"
say "  $holdfast cmd -s $system '/DIS TRAN ALL'"
say "  $holdfast drive --connect 127.0.0.1:$port --terminals 50 $work/tellers.toml"
say "  $0 --stop $system"
