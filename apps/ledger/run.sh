#!/usr/bin/env bash
# The ledger's whole story: clusters and a database, a load, postings that are killed in the middle
# and restarted, a report that proves that files and database agree, and the journal's archive.
# usage: apps/ledger/run.sh [POSTINGS [WORK]]
#   POSTINGS  how many there are to post; 40000
#   WORK      a folder for the system and the output, removed first; without it a temporary one
# KILL_AFTER says after how many seconds the step is killed; 1.
# HOLDFAST names the command to use if it is neither in PATH nor built here.
set -euo pipefail

ledger=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
count=${1:-40000}
work=${2:-}
accounts=600

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "error: $*"
    exit 1
}

find_command() {
    local target=${CARGO_TARGET_DIR:-$ledger/../../target} place
    command -v holdfast && return
    for place in "$target/release/holdfast" "$target/debug/holdfast"; do
        [[ -x $place ]] && echo "$place" && return
    done
    fail "there is no holdfast command: cargo build --release -p holdfast"
}

holdfast=${HOLDFAST:-$(find_command)}
export HOLDFAST_PASSPHRASE=${HOLDFAST_PASSPHRASE:-'a ledger of paper and ink'}
if [[ -z $work ]]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
else
    [[ ! -e $work || -e $work/system ]] || fail "$work exists and is none of mine; name another"
    rm -rf "$work"
    mkdir -p "$work"
fi
system=$work/system

# usage: ams LOG CONTROL OPTIONS...
ams() {
    local log=$work/$1.log control=$ledger/control/$2
    shift 2
    say
    say "== holdfast idcams < control/${control##*/}"
    "$holdfast" idcams -s "$system" "$@" <"$control" >"$log" 2>&1 || {
        cat "$log" >&2
        fail "the control statements of $control failed"
    }
    grep -E 'IDC0001I|IDC0002I|IDC0005I' "$log" >&2 || true
}

# usage: batch PROGRAM OPTIONS...
batch() {
    local program=$1
    shift
    "$holdfast" batch -s "$system" --psb "$program" --program "$ledger/cobol/$program.cbl" \
        -I "$ledger/copy" "$@"
}

accounts_dds=(--dd 'ACCTS=//LEDGER.ACCOUNT' --dd 'ACCTS1=//LEDGER.BYOWNER'
    --dd 'ACCTS2=//LEDGER.BYCARD')

# Postings that fall on all accounts and on nine branches: the same ones each time.
postings() {
    awk -v count="$count" -v accounts="$accounts" 'BEGIN {
        for (n = 1; n <= count; n++) {
            seed = (seed * 1103515245 + 12345) % 2147483648
            account = int(seed / 65536) % accounts + 1
            amount = int(seed / 256) % 90000 + 1
            sign = seed % 3 == 0 ? "-" : "+"
            printf "%08dA0%06dB%03d%s%011d        ", n, account, n % 9 + 1, sign, amount
        }
    }' >"$work/postings.dat"
}

say "== holdfast init, gen"
"$holdfast" init "$system" >&2
"$holdfast" gen -s "$system" "$ledger/dbd" "$ledger/psb" >&2
ams define define.ams

say
say "== holdfast batch --psb LEDGLOAD: $accounts accounts"
printf '%06d\n' "$accounts" >"$work/load.cards"
batch LEDGLOAD --dd 'ACCTS=//LEDGER.ACCOUNT' --dd SYSIN="$work/load.cards" >&2
ams index index.ams

say
say "== holdfast batch --psb LEDGPOST: $count postings, and kill -9 in the middle"
postings
printf '%06d\n' 100 >"$work/post.cards"
post=("${accounts_dds[@]}" --dd 'JRNL=//LEDGER.JOURNAL' --dd "POSTIN=$work/postings.dat"
    --dd "SYSIN=$work/post.cards")
# Without postings first, so that it is compiled when the time is taken.
: >"$work/none.dat"
batch LEDGPOST "${accounts_dds[@]}" --dd 'JRNL=//LEDGER.JOURNAL' --dd "POSTIN=$work/none.dat" \
    --dd "SYSIN=$work/post.cards" >"$work/post-0.log" 2>&1 || {
    cat "$work/post-0.log" >&2
    fail "the first step failed"
}
# Its own process group, so that the program goes with the command, as with a machine that stops.
setsid "$holdfast" batch -s "$system" --psb LEDGPOST --program "$ledger/cobol/LEDGPOST.cbl" \
    -I "$ledger/copy" "${post[@]}" >"$work/post-1.log" 2>&1 &
pid=$!
sleep "${KILL_AFTER:-1}"
if kill -9 -- -$pid 2>/dev/null; then
    say "killed"
else
    say "it had ended already: give more postings"
fi
wait $pid 2>/dev/null || true

say
say "== the same step once more, from its last checkpoint"
batch LEDGPOST "${post[@]}" --ckptid LAST >"$work/post-2.log" 2>&1 || {
    cat "$work/post-2.log" >&2
    fail "the restart failed: if it was killed before its first checkpoint, give KILL_AFTER=2"
}
cat "$work/post-2.log" >&2
grep -q "POSTINGS .*$count" "$work/post-2.log" || fail "not all postings were posted"

say
say "== holdfast batch --psb LEDGRPT: the proof"
batch LEDGRPT "${accounts_dds[@]}" --dd 'JRNL=//LEDGER.JOURNAL' >"$work/report.log" 2>&1 || {
    cat "$work/report.log" >&2
    fail "files and database do not agree"
}
cat "$work/report.log" >&2
grep -q "THE JOURNAL  *$count " "$work/report.log" || fail "the journal has not $count records"

ams archive archive.ams --dd "ARCHIVE=$work/journal.dat"
[[ $(stat -c %s "$work/journal.dat") -eq $((count * 40)) ]] ||
    fail "the archive has not $count records of 40 bytes"
say
say "files and database agree after a kill: $count postings, each once"
