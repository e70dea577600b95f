#!/usr/bin/env bash
# Everything that must hold before a change is taken. Prints the time of each stage, and at the
# end how many tests passed.
# usage: scripts/test.sh [lint]    with "lint": only what needs no test to run
set -euo pipefail
. "$(dirname "$0")/common.sh"
choose_toolchain

export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
# A build from nothing gains nothing from incremental compilation, and a failed assertion says its
# line without what debuggers need.
[[ -n "${CI:-}" ]] && export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false
# Most scenarios wait for disks and for processes, so that more of them fit beside each other.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))}
log=$(mktemp)
times=$(mktemp)
# Where test binaries that run beside each other leave what they say.
runs=$(mktemp -d)
end() {
    cat "$runs"/*.pid 2>/dev/null | xargs -r kill 2>/dev/null || true
    rm -rf "$log" "$times" "$runs"
}
trap end EXIT

# A stage that fails does not keep the others from telling what they find.
failed=()
stage() {
    local name=$1 begin=$SECONDS
    shift
    say
    say "== $name: $*"
    "$@" 2>&1 | tee -a "$log" || failed+=("$name")
    printf '%-28s %5d s\n' "$name" $((SECONDS - begin)) >>"$times"
}

# The other side of the tests of RFC 9580, if `make setup` could build it.
sqop=$(realpath -m "$target_dir")/tools/bin/sqop
[[ -x $sqop ]] && export HOLDFAST_SQOP=${HOLDFAST_SQOP:-$sqop}

# The flags are the same in every stage that compiles for tests, so that nothing is built twice.
workspace=(--workspace --locked)

build_tests() { cargo test "${workspace[@]}" --no-run; }

# Begins the tests, to run while lints and documents are looked at: three binaries at a time, since
# most of them wait for disks and for processes.
begin_tests() {
    touch "$runs/slot1" "$runs/slot2" "$runs/slot3"
    RUNS=$runs cargo --config 'target."cfg(all())".runner = "scripts/beside.sh"' \
        test "${workspace[@]}" --tests --no-fail-fast \
        >"$runs/cargo.log" 2>&1 &
    tests=$!
    # Cargo locks what it builds until the first of them runs.
    until compgen -G "$runs/*.out" >/dev/null || ! kill -0 "$tests" 2>/dev/null; do sleep 0.2; done
}

# What the tests said, when all have ended.
end_tests() {
    [[ $tests_code == 0 ]] || cat "$runs/cargo.log"
    RUNS=$runs scripts/beside.sh --wait && [[ $tests_code == 0 ]]
}

run_examples() { cargo test "${workspace[@]}" --doc --no-fail-fast; }

# The log's ring is the one place where threads meet without a lock; loom tries every order.
run_loom() {
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="$target_dir/loom" \
        cargo test --locked -p holdfast-log-ring --lib
}

# Miri needs a nightly toolchain; without one the unsafe modules have their notes, loom and tests.
run_miri() {
    if ! cargo +nightly miri --version >/dev/null 2>&1; then
        echo "skipped: there is no Miri here (rustup +nightly component add miri)"
        return 0
    fi
    CARGO_TARGET_DIR="$target_dir/miri" MIRIFLAGS="-Zmiri-disable-isolation" \
        cargo +nightly miri test --locked -p holdfast-seam --lib mem
}

check_format() { cargo fmt --all --check && cargo fmt --manifest-path fuzz/Cargo.toml --check; }

# In tests an unwrap is an assertion, and they say so; in the product it is a panic that somebody
# will meet. One pass looks at both.
check_lints() {
    cargo clippy "${workspace[@]}" --all-targets -- -D warnings -D clippy::unwrap_used
}

document() { RUSTDOCFLAGS="-D warnings" cargo doc "${workspace[@]}" --no-deps; }

begin=$SECONDS
stage "format" check_format
if [[ "${1:-}" == lint ]]; then
    stage "lints" check_lints
    stage "tidiness and licences" cargo test --locked -p holdfast-tests \
        --test the_tree_is_tidy --test crates_depend_only_downwards \
        --test every_dependency_has_a_licence_and_a_reason \
        --test every_link_in_the_documents_leads_somewhere \
        --test the_command_is_built_without_simulator_and_planted_bugs
else
    stage "build of the tests" build_tests
    ((${#failed[@]} == 0)) || fail "${failed[*]} failed"
    begin_tests
    stage "lints" check_lints
    stage "documentation" document
    stage "examples" run_examples
    stage "loom" run_loom
    stage "miri" run_miri
    tests_code=0
    wait "$tests" || tests_code=$?
    stage "tests" end_tests
fi

say
cat "$times" >&2
printf '%-28s %5d s\n' "all" $((SECONDS - begin)) >&2
# Where the time of the tests goes, by binary: whoever looks for what to shorten begins here.
awk '/^ +Running / { name = $0; sub(/^ +Running /, "", name); sub(/ \(.*/, "", name) }
     /^ +Doc-tests / { name = "examples of " $2 }
     /^test result: / && match($0, /finished in [0-9.]+/) {
         printf "%8.1f s  %s\n", substr($0, RSTART + 12, RLENGTH - 12), name
     }' "$log" | sort -rn | head -30 >&2
# Both runners close with lines that say how many tests there were.
awk '/^test result: / { passed += $4; failed += $6 }
     /Summary .* tests? run: / { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^passed/) passed += $i }
     END { printf "tests: %d passed, %d failed\n", passed, failed }' "$log"
((${#failed[@]} == 0)) || fail "failed: ${failed[*]}"
