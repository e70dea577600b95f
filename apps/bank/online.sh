#!/usr/bin/env bash
# The bank's online side: tellers, and the inventory, hotel and warehouse that its bureau runs for
# others. It starts the system, drives it with terminals over TCP, kills it with SIGKILL under load,
# restarts it, proves with the terminals' own records that no confirmed transaction is lost or
# doubled, prints what was measured, and leaves the system running.
# usage: apps/bank/online.sh SYSTEM DATA [TERMINALS [SECONDS [SEALED PLAIN]]]
#        apps/bank/online.sh --stop SYSTEM
#   SYSTEM  a system with the bank's definitions and its data, stopped
#   DATA    the folder that the data was loaded from
#   SEALED  another one, and
#   PLAIN   one whose data is not encrypted: what encryption costs is measured between these two
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
system=${1:?SYSTEM} data=${2:?DATA} terminals=${3:-200} seconds=${4:-20} sealed=${5:-} plain=${6:-}
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
    sed 's|data/||g' "$bank/tellers.toml" | cat - "$bank/online/mix.toml" >"$work/mix.toml"
}

# usage: set_option NAME VALUE    in the section [online], where nobody has set it
set_option() { sed -i "s|^#: $1 = .*|$1 = $2|" "$system/holdfast.toml"; }

configure() {
    set_option ims_connect "[\"127.0.0.1:$port\"]"
    set_option programs "[\"$bank/cobol\", \"$bank/online/cobol\"]"
    set_option include "[\"$bank/copy\", \"$bank/online/copy\"]"
    "$holdfast" define -s "$system" "$bank/online.defs" >>"$work/define.log"
    "$holdfast" define -s "$system" "$bank/online/bureau.defs" >>"$work/define.log"
}

# The databases of the bureau's customers, if they are not there yet.
bureau() {
    grep -q '^\[database.HOTGUEST\]' "$system/holdfast.toml" && return
    say "== the bureau's databases: definitions, and the load program"
    cat "$bank/online/holdfast.toml.part" >>"$system/holdfast.toml"
    "$holdfast" gen -s "$system" "$bank/online/dbd" "$bank/online/psb" >"$work/gen.log"
    "$holdfast" batch -s "$system" --psb BURLOAD --program "$bank/online/cobol/BURLOAD.cbl" \
        -I "$bank/online/copy" -I "$bank/copy" --dd SYSIN="$bank/online/load.card" \
        >"$work/load.log" 2>&1 || fail "the load failed: $(cat "$work/load.log")"
    grep 'SEGMENTS LOADED' "$work/load.log" >&2
}

start() {
    local tries log=$work/start-$port.log
    : >"$log"
    "$holdfast" start -s "$system" >"$log" 2>&1 &
    pid=$!
    for ((tries = 0; tries < 600; tries++)); do
        grep -q ims_connect "$log" && return
        kill -0 $pid 2>/dev/null || fail "the system did not start: $(cat "$log")"
        sleep 0.1
    done
    fail "the system did not start in a minute: see $log"
}

# usage: drive NAME FROM SECONDS
drive() {
    "$holdfast" --json drive --connect "127.0.0.1:$port" --terminals "$terminals" --time "$3" \
        --warm-up 2 --patience 10 --from "$2" --ledger "$work/$1.json" --html "$work/$1.html" \
        "$work/mix.toml" >"$work/$1.report" 2>"$work/$1.log"
}

# Processor seconds of the system and of its programs that have ended.
processor_s() {
    local ticks total
    total=$(sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 + $14 + $15 }')
    for ticks in $(pgrep -P $pid); do
        total=$((total + $(sed 's/.*) //' "/proc/$ticks/stat" 2>/dev/null |
            awk '{ n = $12 + $13 } END { print n + 0 }')))
    done
    awk -v t=$total -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", t / hz }'
}

# A number of a report.
# usage: figure REPORT NAME [WITHIN]
figure() {
    tr -d ' \n' <"$work/$1.report" | sed -E "s/.*${3:+\"$3\":\{[^\}]*}\"$2\":([0-9.]+).*/\1/"
}

# usage: table REPORT PROCESSOR-SECONDS
table() {
    local confirmed
    # Those of the warm-up cost processor time, too.
    confirmed=$(numbers "$1" confirmed | wc -l)
    printf '  %-44s %10.0f\n' >&2 \
        "transactions a second, $terminals terminals" "$(figure "$1" rate)" \
        "ITR: a second, if all processors were busy" "$(figure "$1" internal_rate)"
    printf '  %-44s %10.1f us\n' "processor time of the system for each" \
        "$(awk -v s="$2" -v n="$confirmed" 'BEGIN { print n ? s * 1e6 / n : 0 }')" >&2
    local name
    for name in p50 p90 p99 max; do
        printf '  %-44s %10.2f ms\n' "response time, $name" \
            "$(figure "$1" $name response | awk '{ print $1 / 1000 }')" >&2
    done
}

# The numbers of a ledger, one a line.
# usage: numbers LEDGER confirmed|unknown
numbers() {
    sed -E "s/.*\"$2\":\[([^]]*)\].*/\1/" "$work/$1.json" | tr ',' '\n' | grep -E '^[0-9]+$' || true
}

# Each transaction leaves its number behind: a teller's in the history and at the customer, the
# others' as a movement, a stay or an order. Every confirmed number is there once, every unknown one
# once or not at all.
prove() {
    local database
    for database in BANKHIST BANKCUST INVSTOCK HOTGUEST WHSORDER; do
        rm -f "$work/$database"
        "$holdfast" unload -s "$system" "$database" "$work/$database" >/dev/null
        LC_ALL=C grep -aoE '19960401[0-9]{9}' "$work/$database" | cut -c9- |
            sed -E 's/^0+([0-9])/\1/' >"$work/$database.n"
    done
    (cd "$work" && sort BANKHIST.n INVSTOCK.n HOTGUEST.n WHSORDER.n) | uniq -c >"$work/done.n"
    sort "$work/BANKCUST.n" | uniq -c >"$work/customers.n"
    sort "$work/BANKHIST.n" | uniq -c | cmp -s - "$work/customers.n" ||
        { say "history and customers do not agree"; return 1; }
    for ledger in first second; do
        numbers $ledger confirmed | sed 's/$/ c/'
        numbers $ledger unknown | sed 's/$/ u/'
    done | awk -v done_file="$work/done.n" '
        BEGIN { while ((getline line < done_file) > 0) { split(line, f, " "); d[f[2]] = f[1] } }
        $2 == "c" { confirmed++; if (d[$1] != 1) { print "confirmed, wrong:", $1; bad++ } }
        $2 == "u" { unknown++; there += d[$1]; if (d[$1] > 1) { print "doubled:", $1; bad++ } }
        END {
            printf "%d confirmed transactions are there exactly once; of %d that nobody answered " \
                "%d are there, whole\n", confirmed, unknown, there
            exit bad > 0 || confirmed == 0
        }' >&2
}

# Drives two systems in turns, which differ in encryption alone, and says what it adds to the processor
# time of a transaction.
encryption_cost() {
    local systems=("$sealed" "$plain") pids=() us=() ports=($((port + 1)) $((port + 2))) one round
    local system port pid before count=(0 0) spent=(0 0)
    say "== what encryption adds: two more systems, driven in turns"
    sed -i '/^\[data\]/,/^\[warn/ s|^#: format = .*|format = "plain"|' "$plain/holdfast.toml"
    "$holdfast" protect --accept -s "$plain" >"$work/protect.log"
    for one in 0 1; do
        system=${systems[one]} port=${ports[one]}
        bureau
        configure
        start
        pids[one]=$pid
        drive "cost-warm-$one" 900000000 8 || true
    done
    for round in 1 2 3; do
        for one in 0 1; do
            port=${ports[one]} pid=${pids[one]}
            before=$(processor_s)
            drive cost $((round * 100000000)) 5 || fail "wrong replies: $(cat "$work/cost.log")"
            spent[one]=$(awk -v s="${spent[one]}" -v a="$(processor_s)" -v b="$before" \
                'BEGIN { print s + a - b }')
            count[one]=$((count[one] + $(numbers cost confirmed | wc -l)))
        done
    done
    for one in 0 1; do
        "$holdfast" stop -s "${systems[one]}" >>"$work/stop.log"
        us[one]=$(awk -v s="${spent[one]}" -v n="${count[one]}" 'BEGIN { printf "%.1f", s * 1e6 / n }')
    done
    printf '  %-44s %10.1f us\n' "sealed, for each" "${us[0]}" "plain" "${us[1]}" >&2
    printf '  %-44s %+10.1f %%\n' "what encryption adds" \
        "$(awk -v s="${us[0]}" -v p="${us[1]}" 'BEGIN { print (s / p - 1) * 100 }')" >&2
    say "  (ten percent either way is the noise of so short a run; make bench ONLY=fullfunction measures it)"
}

lists
bureau
configure
say "== holdfast start, $terminals terminals over TCP for $seconds seconds"
start
# The first transactions wait until their programs are compiled.
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
before=$(processor_s)
drive second 500000000 "$seconds" || fail "terminals saw wrong replies: $(cat "$work/second.log")"
after=$(processor_s)
"$holdfast" stop -s "$system" >&2
say "== the proof"
prove || fail "transactions are lost or doubled"
say "== what $seconds seconds showed"
table second "$(awk -v a="$after" -v b="$before" 'BEGIN { print a - b }')"
[[ -n $plain ]] && encryption_cost
start
disown $pid
say "== the system runs as process $pid; try"
say "  export HOLDFAST_PASSPHRASE='$HOLDFAST_PASSPHRASE'"
say "  $holdfast cmd -s $system '/DIS TRAN ALL'"
say "  $holdfast cmd -s $system '/DIS ACTIVE'"
say "  $holdfast drive --connect 127.0.0.1:$port --terminals 50 $work/mix.toml"
say "  $holdfast status -s $system"
say "  $0 --stop $system"
