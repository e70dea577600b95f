#!/usr/bin/env bash
# The bank's whole story: a system, definitions, load, teller run with an abend and a restart,
# proof, interest, statements, inquiries. Every figure that the programs print is compared with
# what the data's maker says it must be.
# usage: apps/bank/run.sh [DATA [WORK]]
#   DATA  a folder that holdfast-bank-data wrote; without it the small bank in apps/bank/data
#   WORK  a folder for the system and the output, removed first; without it a temporary one
# ENGINE, if it is set, is the address of the engine that the databases are to be on.
# HOLDFAST names the command to use if it is neither in PATH nor built here.
set -euo pipefail

bank=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
data=$(cd "${1:-$bank/data}" && pwd)
work=${2:-}

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
export HOLDFAST_PASSPHRASE=${HOLDFAST_PASSPHRASE:-'a bank of paper and ink'}
if [[ -z $work ]]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
else
    [[ ! -e $work || -e $work/system ]] || fail "$work exists and is none of mine; name another"
    rm -rf "$work"
    mkdir -p "$work"
fi
system=$work/system
checks=0

# What the maker of the data says.
total() { sed -n "s/^$1 //p" "$data/totals.txt"; }

# Runs a program; its output goes to a log, the end of it to the terminal.
# usage: batch LOG CODE PROGRAM OPTIONS...    CODE is what the command must end with
batch() {
    local log=$work/$1.log code=$2 program=$3 ended=0
    shift 3
    say
    say "== holdfast batch --psb $program $*"
    "$holdfast" batch -s "$system" --psb "$program" --program "$bank/cobol/$program.cbl" \
        -I "$bank/copy" "$@" >"$log" 2>&1 || ended=$?
    tail -n 20 "$log" >&2
    [[ $ended -eq $code ]] || fail "$program ended with $ended, not with $code"
}

# Compares VALUE with the word that stands alone behind TEXT in a line of LOG, commas taken out.
# usage: expect LOG TEXT VALUE
expect() {
    local found
    found=$(awk -v text="$2 " '
        at = index($0, text) {
            if (split(substr($0, at + length(text)), words, " ") == 1) value = words[1]
        }
        END { gsub(",", "", value); print value }' "$work/$1.log")
    [[ $found == "$3" ]] || fail "$1: $2: '$found', expected '$3'"
    checks=$((checks + 1))
}

# Compares the size of a file that a program wrote.
# usage: expect_records FILE LENGTH COUNT
expect_records() {
    local bytes
    bytes=$(stat -c %s "$work/$1")
    [[ $bytes -eq $(($2 * $3)) ]] || fail "$1 has $bytes bytes, not $3 records of $2"
    checks=$((checks + 1))
}

make_system() {
    say "== holdfast init, gen"
    "$holdfast" init ${ENGINE:+--engine "$ENGINE"} "$system" >&2
    cat "$bank/holdfast.toml.part" >>"$system/holdfast.toml"
    "$holdfast" gen -s "$system" "$bank/dbd" "$bank/psb" >&2
}

load() {
    batch load 0 BANKLOAD \
        --dd CUSTIN="$data/custin.dat" --dd ACCTIN="$data/acctin.dat" \
        --dd POSTIN="$data/postin.dat" --dd BRANIN="$data/branin.dat" \
        --dd HISTIN="$data/histin.dat"
    expect load 'BRANCHES' "$(total branches)"
    expect load 'CUSTOMERS' "$(total customers)"
    expect load 'ACCOUNTS' "$(total accounts)"
    expect load 'POSTINGS' "$(total postings-loaded)"
    expect load 'ACCOUNTS WITH HISTORY' "$(total history-accounts)"
    expect load 'HISTORY ENTRIES' "$(total history-loaded)"
    expect load 'SEGMENTS IN ALL' "$(total segments-loaded)"
}

# Gives up in the middle, between two checkpoints, and goes on from the last of them.
post() {
    local count every roll checkpoint files
    count=$(total transactions)
    every=$((count / 4))
    roll=$((count * 13 / 20))
    checkpoint=$(((roll - 1) / every * every))
    files=(--dd TRANIN="$data/tranin.dat" --dd REJOUT="$work/rejects.dat")
    printf 'CHKPT=%06d\nROLL =%06d\n' "$every" "$roll" >"$work/teller-1.cards"
    printf 'CHKPT=%06d\n' "$every" >"$work/teller-2.cards"
    batch teller-1 1 TELLER "${files[@]}" --dd SYSIN="$work/teller-1.cards"
    expect teller-1 'GIVING UP AS ASKED, BEHIND TRANSACTION' "$roll"
    grep -q U0778 "$work/teller-1.log" || fail "teller-1: the abend code U0778 is not reported"
    batch teller-2 0 TELLER "${files[@]}" --dd SYSIN="$work/teller-2.cards" --ckptid LAST
    expect teller-2 'BEHIND TRANSACTION' "$checkpoint"
    expect teller-2 'TRANSACTIONS READ' "$count"
    expect teller-2 'POSTED' "$(total posted)"
    expect teller-2 'REFUSED' "$(total refused)"
    expect teller-2 'DEPOSITS' "$(total deposits)"
    expect teller-2 'WITHDRAWALS' "$(total withdrawals)"
    expect_records rejects.dat 100 "$(total refused)"
}

prove() {
    batch verify 0 VERIFY --dd TRANIN="$data/tranin.dat" --dd REJIN="$work/rejects.dat"
    expect verify 'CUSTOMERS' "$(total customers)"
    expect verify 'ACCOUNTS' "$(total accounts)"
    expect verify 'POSTINGS' "$(total postings)"
    expect verify 'HISTORY ENTRIES' "$(total history)"
    expect verify 'TRANSACTIONS' "$(total transactions)"
    expect verify 'POSTED' "$(total posted)"
    expect verify 'REFUSED' "$(total refused)"
    expect verify 'BALANCES' "$(total balances)"
    expect verify 'EVERYTHING IS THERE EXACTLY' ONCE
    # A program that finds an error must be believed: without one refusal the sums differ.
    head -c -100 "$work/rejects.dat" >"$work/short.dat"
    batch verify-short 1 VERIFY --dd TRANIN="$data/tranin.dat" --dd REJIN="$work/short.dat"
    expect verify-short '*** ERRORS ***' 2
}

accrue() {
    echo 'DATE =19960331' >"$work/interest.cards"
    batch interest-1 0 INTEREST --dd SYSIN="$work/interest.cards"
    expect interest-1 'ACCOUNTS READ' "$(total accounts)"
    expect interest-1 'ACCOUNTS WITH INTEREST' "$(total accounts-with-interest)"
    expect interest-1 'ACCRUED' "$(total interest)"
    batch interest-2 0 INTEREST --dd SYSIN="$work/interest.cards"
    expect interest-2 'ACCOUNTS WITH INTEREST' 0
}

extract() {
    batch extract 0 EXTRACT --dd EXTROUT="$work/statements.dat"
    expect extract 'POSTINGS' "$(total postings)"
    expect extract 'LINES' "$(total statement-lines)"
    expect extract 'BALANCES' "$(total balances)"
    expect_records statements.dat 120 "$(total statement-lines)"
}

inquire() {
    local name number customer
    name=$(total surname)
    printf '%s\n' "$name" >"$work/inquiry-1.cards"
    batch inquiry-1 0 INQUIRY --dd SYSIN="$work/inquiry-1.cards"
    expect inquiry-1 "FOUND $name" "$(total namesakes)"
    # Nobody has the first name; the second card asks for all customers.
    printf 'NOBODY\n*\n' >"$work/inquiry-2.cards"
    batch inquiry-2 1 INQUIRY --dd SYSIN="$work/inquiry-2.cards"
    expect inquiry-2 'FOUND NOBODY' 0
    expect inquiry-2 'FOUND *' "$(total customers)"

    customer=$(head -c 8 "$data/custin.dat")
    number=$(LC_ALL=C fold -b -w 80 "$data/acctin.dat" | LC_ALL=C grep -ac "^$customer")
    printf '%s\n' "$customer" >"$work/xdinq-1.cards"
    batch xdinq-1 0 XDINQ --dd SYSIN="$work/xdinq-1.cards"
    expect xdinq-1 "ACCOUNTS OF $customer" "$number"
    printf '00000000\n%s\n' "$customer" >"$work/xdinq-2.cards"
    batch xdinq-2 1 XDINQ --dd SYSIN="$work/xdinq-2.cards"
    expect xdinq-2 'NO CUSTOMER' 00000000
}

make_system
load
post
prove
accrue
extract
inquire
say
say "== holdfast verify"
"$holdfast" verify "$system" >&2
say
say "the bank runs: $checks figures are as they must be"
