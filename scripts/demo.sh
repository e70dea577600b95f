#!/usr/bin/env bash
# The main job, from nothing: a sealed system, an application's sources, its data, its programs in
# batch and online; kills in the middle, restarts, and the proofs that nothing was lost and nothing
# done twice. It leaves the system running.
# usage: scripts/demo.sh [CUSTOMERS [TRANSACTIONS]]
#        scripts/demo.sh --stop
# TERMINALS (200), SECONDS_ONLINE (20) and PORT (9999) say how the online side is driven.
set -euo pipefail
. "$(dirname "$0")/common.sh"

stop=''
[[ ${1:-} == --stop ]] && stop=yes && shift
customers=${1:-100000}
transactions=${2:-100000}
bin=$target_dir/release
work=$target_dir/demo
bank=apps/bank
export HOLDFAST_PASSPHRASE=${HOLDFAST_PASSPHRASE:-'a bank of paper and ink'}

# Says what is run, and runs it; what it prints goes to a log and, if it fails, to the terminal.
run() {
    local log=$work/$1.log
    shift
    local shown=${*//$work\//}
    say "  \$ ${shown//$bin\//}"
    "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        fail "that failed"
    }
}

step() { printf '\n== %s\n' "$*" >&2; }
holdfast() { "$bin/holdfast" "$@"; }
now() { date +%s.%N; }
total() { sed -n "s/^$1 //p" "$work/data/totals.txt"; }

# Runs a program of the bank.
# usage: program LOG SYSTEM NAME OPTIONS...
program() {
    local log=$1 system=$2 name=$3
    shift 3
    run "$log" "$bin/holdfast" batch -s "$work/$system" --psb "$name" \
        --program "$bank/cobol/$name.cbl" -I "$bank/copy" "$@"
}

# Draws how much of its input the loader has read, until it ends.
# usage: watch_load PID BYTES
watch_load() {
    local pid=$1 bytes=$2 read=0 width=40 filled one
    while kill -0 "$pid" 2>/dev/null; do
        read=0
        for one in $pid $(pgrep -P "$pid" || true); do
            read=$((read + $(sed -n 's/^rchar: //p' "/proc/$one/io" 2>/dev/null || echo 0)))
        done
        filled=$((read < bytes ? read * width / bytes : width))
        [[ -t 2 ]] && printf '\r  [%-*s] %3d %%' $width "$(printf '%*s' $filled '' | tr ' ' '#')" \
            $((filled * 100 / width)) >&2
        sleep 0.2
    done
    [[ -t 2 ]] && printf '\r%*s\r' 60 '' >&2
    return 0
}

make_system() {
    run "init-$1" "$bin/holdfast" init "$work/$1"
    cat "$bank/holdfast.toml.part" >>"$work/$1/holdfast.toml"
    if [[ $1 == plain ]]; then
        printf '\n[database.%s]\nplain = true\n' BANKCUST BANKBRAN BANKCNX \
            >>"$work/$1/holdfast.toml"
        sed -i '/^\[database.BANKHIST\]/a plain = true' "$work/$1/holdfast.toml"
        # A system is sealed until somebody with the passphrase wants less.
        run "protect-$1" "$bin/holdfast" protect --accept -s "$work/$1"
    fi
    run "gen-$1" "$bin/holdfast" gen -s "$work/$1" "$bank/dbd" "$bank/psb"
}

load() {
    local files=() bytes=0 name dd start pid
    for name in custin acctin postin branin histin; do
        dd=${name^^}
        files+=(--dd "$dd=$work/data/$name.dat")
        bytes=$((bytes + $(stat -c %s "$work/data/$name.dat")))
    done
    start=$(now)
    program "load-$1" "$1" BANKLOAD "${files[@]}" &
    pid=$!
    watch_load $pid $bytes
    wait $pid
    loaded_s=$(awk -v a="$start" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')
}

# Runs INTEREST, which reads every customer and account and replaces most accounts; prints the
# microseconds of processor time for each call. What it takes to open and close the system and to
# find the compiled program is taken off: a dry run does the same without the calls.
# usage: cpu_us_per_call SYSTEM DATE
cpu_us_per_call() {
    local calls all empty
    echo "DATE =$2" >"$work/interest.cards"
    empty=$(cpu_s "$1" --dry-run)
    all=$(cpu_s "$1")
    calls=$(sed -n 's/.* \([0-9,]*\) calls$/\1/p' "$work/interest-$1.log" | tr -d , | tail -1)
    awk -v c="$calls" -v a="$all" -v e="$empty" 'BEGIN { printf "%.2f", (a - e) * 1e6 / c }'
}

# The processor time of INTEREST, in seconds.
cpu_s() {
    local system=$1 TIMEFORMAT='%U %S'
    shift
    { time program "interest-$system" "$system" INTEREST --dd SYSIN="$work/interest.cards" "$@" \
        2>/dev/null; } 2>&1 | awk 'END { print $1 + $2 }'
}

started=()
cleanup() { ((${#started[@]} == 0)) || kill -9 "${started[@]}" 2>/dev/null || true; }
trap cleanup EXIT

start_system() {
    say "  \$ holdfast start -s sealed &"
    rm -f "$work/start.log"
    "$bin/holdfast" start -s "$work/sealed" >"$work/start.log" 2>&1 &
    started+=($!)
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        [[ -s $work/start.log ]] && return
        kill -0 "${started[-1]}" 2>/dev/null || fail "the system did not start: $work/start.log"
        sleep 0.1
    done
    fail "the system did not start in 30 seconds: see $work/start.log"
}

# A system that an earlier run has left running.
if [[ -n $stop || -d $work/sealed ]]; then
    "$bin/holdfast" stop -s "$work/sealed" >&2 2>/dev/null && say "the system is stopped" ||
        { [[ -z $stop ]] || say "no system runs in $work/sealed"; }
    [[ -z $stop ]] || exit 0
fi
rm -rf "$work" "$work/sealed.online"
mkdir -p "$work"
begin=$(now)
step "A bank's data: $customers customers with accounts, postings and history"
run data "$bin/holdfast-bank-data" --customers "$customers" --transactions "$transactions" \
    "$work/data"
say "  $(total segments-loaded) segments to load, $(total transactions) transactions to post"

step "A sealed system, and the application's DBDs and PSBs as they are"
make_system sealed
say "  $(tail -1 "$work/gen-sealed.log")"

step "The load program, COBOL, PROCOPT=L"
load sealed
say "  $(total segments-loaded) segments in $loaded_s s"

step "The teller program posts the day's transactions; it and the system are killed with SIGKILL"
files=(--dd TRANIN="$work/data/tranin.dat" --dd REJOUT="$work/rejects.dat")
printf 'CHKPT=%06d\n' 500 >"$work/teller.cards"
files+=(--dd SYSIN="$work/teller.cards")
start_system
say "  \$ holdfast batch -s sealed --type bmp --psb TELLER --program TELLER.cbl ... &"
"$bin/holdfast" batch -s "$work/sealed" --type bmp --psb TELLER \
    --program "$bank/cobol/TELLER.cbl" -I "$bank/copy" "${files[@]}" >"$work/teller-1.log" 2>&1 &
teller=$!
before=$(stat -c %s "$work/rejects.dat" 2>/dev/null || echo 0)
wanted=$(($(total refused) * 100 / 2))
while kill -0 $teller 2>/dev/null; do
    before=$(stat -c %s "$work/rejects.dat" 2>/dev/null || echo 0)
    ((before >= wanted)) && break
    sleep 0.02
done
kill -0 $teller 2>/dev/null || fail "the teller program ended before it was killed"
say "  \$ kill -9 (the program and the system)"
kill -9 $teller "${started[@]}" $(pgrep -P $teller || true) 2>/dev/null || true
wait $teller "${started[@]}" 2>/dev/null || true
started=()

step "The system restarts and backs out; the program goes on from its last checkpoint"
restart=$(now)
start_system
say "  started again in $(awk -v a="$restart" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }') s"
posting=$(now)
program teller-2 sealed TELLER --type bmp "${files[@]}" --ckptid LAST
posted_s=$(awk -v a="$posting" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')
grep -E 'BEHIND TRANSACTION|TRANSACTIONS READ|POSTED|REFUSED' "$work/teller-2.log" | sed 's/^/  /' >&2
calls=$(sed -n 's/.* \([0-9,]*\) calls$/\1/p' "$work/teller-2.log" | tr -d , | tail -1)
say "  $calls calls in $posted_s s: $(awk -v c="$calls" -v s="$posted_s" 'BEGIN { printf "%d", c / s }') a second"
run stop "$bin/holdfast" stop -s "$work/sealed"
wait "${started[@]}" 2>/dev/null || true
started=()

step "Every posting is there exactly once"
program verify sealed VERIFY --dd TRANIN="$work/data/tranin.dat" --dd REJIN="$work/rejects.dat"
grep -E 'CUSTOMERS|ACCOUNTS|POSTINGS|TRANSACTIONS|POSTED|REFUSED|EXACTLY' "$work/verify.log" |
    sed 's/^/  /' >&2
grep -q 'EXACTLY ONCE' "$work/verify.log" || fail "something is missing or doubled"
run prove "$bin/holdfast" db verify -s "$work/sealed" BANKCUST

step "What a call costs, and what encryption adds: interest on all accounts of two new systems"
for twin in twin plain; do
    make_system $twin
    load $twin
done
sealed_us=() plain_us=()
for date in 19960331 19960430 19960531; do
    sealed_us+=("$(cpu_us_per_call twin $date)")
    plain_us+=("$(cpu_us_per_call plain $date)")
done
median() { printf '%s\n' "$@" | sort -n | sed -n 2p; }
sealed=$(median "${sealed_us[@]}") plain=$(median "${plain_us[@]}")
say "  sealed $sealed us of CPU a call, plain $plain us: $(awk -v s="$sealed" -v p="$plain" \
    'BEGIN { printf "%+.1f", (s / p - 1) * 100 }') %, COBOL and checkpoints included"
say "  (ten percent either way is the noise of so short a run; make bench ONLY=bmp measures it)"

step "The same system online: terminals over TCP, a kill, a restart, the proof"
HOLDFAST=$PWD/$bin/holdfast
[[ $bin == /* ]] && HOLDFAST=$bin/holdfast
export HOLDFAST
"$bank/online.sh" "$work/sealed" "$work/data" "${TERMINALS:-200}" "${SECONDS_ONLINE:-20}" \
    "$work/twin" "$work/plain"

say
say "All of it took $(awk -v a="$begin" -v b="$(now)" 'BEGIN { printf "%d", b - a }') s."
say "Where to look next: $bank/README.md is the application, README.md has the table from JCL,"
say "$work is what was made: try  $bin/holdfast db status -s $work/sealed BANKCUST"
say "(passphrase: $HOLDFAST_PASSPHRASE). make demo STOP=1 ends the system."
