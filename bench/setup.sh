#!/bin/sh
# Installs the peers that `holdfast-bench` measures beside Holdfast: from Debian's packages, and
# what is none of these into target/tools.
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
#   RabbitMQ     rabbitmq-server a node that the benchmark starts in a folder of its own
#   NATS         target/tools    built by Go, where there is a Go
#   Artemis      target/tools    fetched by Maven, where there is one; it needs a Java
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
# Debian starts a server that it installs, unless a policy forbids it.
quietly() {
    policy=/usr/sbin/policy-rc.d
    if [ -e "$policy" ]; then
        install "$@"
        return
    fi
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
    $as_root chmod 755 "$policy"
    trap '$as_root rm -f "$policy"' EXIT
    install "$@"
    $as_root rm -f "$policy"
    trap - EXIT
}

if installed rabbitmq-server; then
    echo "already installed: rabbitmq-server"
else
    quietly rabbitmq-server
fi

# The rest is left out where it cannot be had: the report names what is missing.
here=$(cd "$(dirname "$0")/.." && pwd)
tools=${CARGO_TARGET_DIR:-${HOLDFAST_CACHE:+$HOLDFAST_CACHE/target}}
tools=${tools:-$here/target}/tools
mkdir -p "$tools/bin"

nats=v2.10.29
go=$(command -v go || echo /usr/local/go/bin/go)
if [ -x "$tools/bin/nats-server" ]; then
    echo "already installed: nats-server"
elif [ -x "$go" ]; then
    echo "building: nats-server $nats"
    GOBIN=$tools/bin "$go" install "github.com/nats-io/nats-server/v2@$nats" ||
        echo "setup.sh: nats-server could not be built; it is left out" >&2
else
    echo "setup.sh: there is no Go to build nats-server with; it is left out" >&2
fi

artemis=2.33.0
sum=b4a04358c34e3fd575b420feec61cc72f8037873cac44654c691df9589cc2f76
artifact=org.apache.activemq:apache-artemis:$artemis:tar.gz:bin
if [ -x "$tools/artemis/bin/artemis" ]; then
    echo "already installed: Artemis"
elif command -v mvn >/dev/null; then
    echo "fetching: Artemis $artemis"
    archive=$tools/apache-artemis-$artemis-bin.tar.gz
    if mvn -q -B dependency:copy "-Dartifact=$artifact" "-DoutputDirectory=$tools" >/dev/null &&
        echo "$sum  $archive" | sha256sum -c --quiet; then
        mkdir -p "$tools/artemis"
        tar xzf "$archive" -C "$tools/artemis" --strip-components=1
    else
        echo "setup.sh: Artemis could not be fetched; it is left out" >&2
    fi
    rm -f "$archive"
else
    echo "setup.sh: there is no Maven to fetch Artemis with; it is left out" >&2
fi
command -v java >/dev/null || echo "setup.sh: Artemis needs a Java, and there is none" >&2
echo "every peer that can be had is installed"
