#!/usr/bin/env bash
# Installs what a target of the Makefile needs and is not there yet. Run again, it does nothing.
# usage: scripts/setup.sh [build|cobol|token|openpgp|engine|failover|messages|bench|fuzz]...
set -euo pipefail
. "$(dirname "$0")/common.sh"

# What compresses OpenPGP messages several times faster. Without it they are as small, and take
# longer.
setup_isal() {
    (need_packages libisal2) ||
        say "ISA-L is not here: \`holdfast pgp\` compresses with what is built in, which is slower"
}

# A compiler for the cipher's C and assembler, and the Rust toolchain.
setup_build() {
    command -v gcc >/dev/null || need_packages gcc libc6-dev
    if ! command -v cargo >/dev/null && ! command -v rustup >/dev/null; then
        need_packages curl ca-certificates
        say "There is no cargo here. Installing Rust for this user with rustup's own installer"
        say "(https://sh.rustup.rs, into ~/.cargo and ~/.rustup)."
        curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
            sh -s -- -y --no-modify-path --profile minimal --default-toolchain none ||
            fail "rustup could not be installed; install Rust 1.95 or newer by other means"
        PATH="$HOME/.cargo/bin:$PATH"
        say "Rust is installed. To use it by hand: . ~/.cargo/env"
    fi
    has_library libisal.so.2 || setup_isal
    choose_toolchain
    cargo fetch --quiet --target x86_64-unknown-linux-gnu
}

# The compiler of the programs that run on Holdfast.
setup_cobol() {
    command -v cobc >/dev/null || need_packages gnucobol3
}

# A PKCS#11 token in software, for the tests of tokens.
setup_token() {
    command -v softhsm2-util >/dev/null || need_packages softhsm2
}

# What Sequoia's program is built from: its ciphers in Rust, so that nothing has to be installed.
sqop_features=cli,crypto-rust,sequoia-openpgp/allow-experimental-crypto
sqop_features+=,sequoia-openpgp/allow-variable-time-crypto

# The other side of the tests of OpenPGP.
setup_openpgp() {
    command -v gpg >/dev/null || need_packages gnupg
    command -v rnp >/dev/null || need_packages rnp
    command -v sq >/dev/null || need_packages sq
    command -v sqop >/dev/null || need_packages sqop
    # Debian's programs know RFC 4880. Sequoia's own newer one, which nothing here is linked with,
    # knows RFC 9580; without it that part of the tests has nobody to talk to, and says so.
    # It reads and writes small messages: what it is built for is a short build.
    [[ -x $target_dir/tools/bin/sqop ]] ||
        CARGO_PROFILE_RELEASE_OPT_LEVEL=1 cargo install --locked --quiet \
            sequoia-sop --version 0.38.0 --no-default-features \
            --features "$sqop_features" --root "$target_dir/tools" ||
        say "sqop of RFC 9580 could not be built; it is left out of the tests"
}

# The engine that the tests of `store-postgres` start themselves. No server of Debian's own is made.
setup_engine() {
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && return
    if ! has_package postgresql-common; then
        need_packages postgresql-common
        sed -i 's/^#*create_main_cluster.*/create_main_cluster = false/' \
            /etc/postgresql-common/createcluster.conf 2>/dev/null || true
    fi
    need_packages postgresql
}

# What keeps three nodes of that engine under one leader. Debian starts no service of it here.
setup_failover() {
    setup_engine
    command -v etcd >/dev/null && command -v patroni >/dev/null ||
        need_packages etcd-server patroni python3-psycopg2
    # Debian 12 has Patroni 3.0.2, whose leader takes its place back after it was frozen, and loses
    # what another one has confirmed meanwhile. Servers that root starts run as another user, who
    # has to be able to read it.
    patroni_is_sound patroni && return
    has_package python3-venv || need_packages python3-venv
    local place=$(realpath -m "$target_dir")/tools/patroni
    [[ -x $place/bin/patroni ]] || {
        /usr/bin/python3 -m venv "$place" &&
            "$place/bin/pip" install --quiet 'patroni[etcd3,psycopg2-binary]==4.1.5' &&
            chmod -R a+rX "$place"
    } || say "Patroni 4 is not to be had: the trial freezes no leader"
}

# A client of the message queue interface that runs on our library as it is. Its install script
# would fetch another vendor's library: neither that nor what only that needs is installed.
setup_messages() {
    command -v node >/dev/null || need_packages nodejs npm
    python3 -c 'import ensurepip, venv' 2>/dev/null || need_packages python3 python3-venv
    command -v java >/dev/null || need_packages default-jdk-headless
    command -v mvn >/dev/null || need_packages maven
    local client
    for client in proton rhea jms go; do
        # A client whose language is not here is passed over by the tests, which say so.
        scripts/amqp-clients.sh "$target_dir/tools/amqp" "$client" ||
            say "the AMQP client $client is not here; the tests leave it out or fetch it"
    done
    local modules="$target_dir/tools/mq/node_modules" package file
    mkdir -p "$modules"
    for package in node-gyp-build@4.8.4 ibmmq@2.1.9; do
        [[ -e $modules/${package%@*}/package.json ]] && continue
        file=$(cd "$modules" && npm pack --silent "$package") ||
            fail "the npm package $package cannot be had; the tests of the message queue interface need it"
        mkdir -p "$modules/${package%@*}"
        tar xzf "$modules/$file" -C "$modules/${package%@*}" --strip-components=1
        rm "$modules/$file"
    done
}

# The peers that the benchmarks run beside. One that cannot be had is reported as missing.
setup_bench() {
    setup_build
    bench/setup.sh >&2 || say "some peers are missing; the benchmarks will say so"
}

# libFuzzer is C++ and is built from the crate that brings it.
setup_fuzz() {
    setup_build
    command -v g++ >/dev/null || need_packages g++
    command -v cargo-fuzz >/dev/null || cargo install --locked --quiet cargo-fuzz
}

(($# == 0)) && set -- build
for what in "$@"; do
    case $what in
        build | cobol | token | openpgp | engine | failover | messages | bench | fuzz) "setup_$what" ;;
        *) fail "nothing is called \"$what\"; there are build, cobol, token, openpgp, engine, failover, messages, bench and fuzz" ;;
    esac
done
