#!/usr/bin/env bash
# Searches seeds in the crash simulator for a while, kills real processes, spoils files, and fuzzes
# the decoders. A seed that fails is printed with the command that repeats it. Every part runs,
# whatever others find.
# usage: scripts/soak.sh MINUTES KILLS    0 leaves a part out
set -euo pipefail
. "$(dirname "$0")/common.sh"
choose_toolchain

minutes=$1 kills=$2 failed=()
[[ "$minutes$kills" =~ ^[0-9]+$ ]] || fail "MINUTES and KILLS are numbers, 0 to leave a part out"

if ((minutes > 0)); then
    say "== simulated crashes for $minutes minutes"
    cargo run --release -p holdfast-sim --bin soak -- --minutes "$minutes" ||
        failed+=("the crash simulator")
fi
if ((minutes > 0)); then
    say "== recovery to 1,000 random points"
    cargo run --release -p holdfast-sim --bin soak -- --points 1000 --from "$RANDOM" ||
        failed+=("recovery to points")
fi
if ((kills > 0)); then
    say "== a real process, killed $kills times (a second each, about)"
    HOLDFAST_KILLS=$kills cargo test --release -p holdfast \
        --test all a_killed_process_loses_nothing -- --nocapture || failed+=("killing a process")
fi
if ((minutes > 0)); then
    say "== terminals, regions and the system killed under load, for $minutes minutes"
    HOLDFAST_ONLINE_SECONDS=$((minutes * 60)) cargo test --release -p holdfast --test all \
        clients_regions_and_the_system_are_killed -- --nocapture || failed+=("killing online")
fi
if ((minutes > 0)); then
    say "== leaders of three PostgreSQL nodes lost under load, about one a minute"
    patroni=$(realpath -m "$target_dir")/tools/patroni/bin
    PATH=$patroni:$PATH HOLDFAST_FAILOVERS=$minutes cargo test --release -p holdfast-store-postgres --test all \
        leaders_are_lost_under_load -- --nocapture || failed+=("losing leaders")
fi
if ((minutes > 0)); then
    say "== files spoilt at random and repaired, for $minutes minutes"
    HOLDFAST_DAMAGE=$((minutes * 20)) HOLDFAST_SECONDS=$((minutes * 60)) \
        cargo test --release -p holdfast --test all the_bank_survives_damage -- --nocapture ||
        failed+=("damage")
fi
# Half of the time is for what comes from outside as files: OpenPGP's packets, armor, keys, texts.
foreign=(agent_answers facility_text foreign_keys keystore openpgp_message)
if ((minutes > 0)); then
    say "== decoders fuzzed for $minutes minutes with files from outside, and $minutes with the rest"
    mapfile -t own < <(ls fuzz/fuzz_targets | sed 's/\.rs$//' | grep -vxFf <(printf '%s\n' "${foreign[@]}"))
    scripts/fuzz.sh $((minutes * 60 / ${#foreign[@]} + 1)) "${foreign[@]}" || failed+=("fuzzing files")
    scripts/fuzz.sh $((minutes * 60 / ${#own[@]} + 1)) "${own[@]}" || failed+=("fuzzing")
fi
((${#failed[@]} == 0)) || fail "failed: $(printf '%s; ' "${failed[@]}")see above"
