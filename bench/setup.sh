#!/bin/sh
# Installs the peers that `holdfast-bench` measures beside Holdfast, from Debian's packages.
# Safe to run again: what is there stays as it is. Nothing is started and no server is left running.
#
#   PostgreSQL   postgresql      the server; started by the benchmark in a folder of its own
#                libpq5          its client library
#   RocksDB      librocksdb7.8   shared library with the C interface (8.9 and 9.10 in later Debians)
#   SQLite       libsqlite3-0    shared library
#   LMDB         liblmdb0        shared library
#   redb         a Rust crate    built with `--features redb`
#   GnuPG, sq, RNP  gnupg sq rnp programs
#   OpenSSL      libssl3         shared libraries (libssl3t64 in later Debians)
#   ISA-L        libisal2        what Holdfast compresses OpenPGP messages with where it is there
set -eu

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
fi
install() {
    if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
        echo "setup.sh: these packages are missing: $*" >&2
        echo "  Install them as root, or install sudo and run this again." >&2
        exit 1
    fi
    echo "installing: $*"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends "$@" >/dev/null
}
installed() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'
}
# The newest package whose name matches: versions differ from Debian to Debian.
newest() {
    apt-cache search --names-only "$1" | cut -d' ' -f1 | sort -V | tail -n 1
}

if [ -z "$(newest '^libpq5$')" ]; then
    echo "reading Debian's list of packages"
    $as_root apt-get update -qq
fi
server=$(newest '^postgresql-[0-9]+$')
rocksdb=$(newest '^librocksdb[0-9.]+$')
openssl=$(newest '^libssl3(t64)?$')

missing=""
for package in libpq5 libsqlite3-0 liblmdb0 gnupg sq rnp libisal2 \
    "${rocksdb:-librocksdb7.8}" "${openssl:-libssl3}"; do
    if installed "$package"; then
        echo "already installed: $package"
    else
        missing="$missing $package"
    fi
done
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086  # a list of words
    install $missing
fi

if ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then
    echo "already installed: a PostgreSQL server"
else
    # Debian's server package creates and starts a cluster of its own unless told not to.
    install postgresql-common
    $as_root sed -i 's/^#* *create_main_cluster *=.*/create_main_cluster = false/' \
        /etc/postgresql-common/createcluster.conf
    install "${server:-postgresql-15}"
fi
echo "every peer is installed"
