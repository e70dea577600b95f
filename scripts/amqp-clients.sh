#!/usr/bin/env bash
# Fetches clients of AMQP, each from its registry, for the tests of the AMQP door.
# usage: scripts/amqp-clients.sh FOLDER proton|rhea|jms|go...
# Exit code 3: the language of that client is not on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
clients=$here/crates/doors/amqp/tests/all/clients
folder=$1
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

absent() {
    echo "$1 is not on this machine" >&2
    exit 3
}

fail() {
    echo "$1" >&2
    exit 1
}

fetch_proton() {
    "$folder/proton/bin/python" -c 'import proton' 2>/dev/null && return
    command -v python3 >/dev/null || absent python3
    python3 -m venv "$folder/proton"
    "$folder/proton/bin/pip" install -q python-qpid-proton==0.40.0
}

fetch_rhea() {
    [[ -e $folder/rhea/node_modules/rhea/package.json ]] && return
    command -v node >/dev/null || absent node
    command -v npm >/dev/null || absent npm
    mkdir -p "$folder/rhea"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder/rhea" rhea@3.0.5
}

fetch_jms() {
    command -v javac >/dev/null || absent javac
    if ! compgen -G "$folder/jms/qpid-jms-client-*.jar" >/dev/null; then
        command -v mvn >/dev/null || absent mvn
        # Downloaded beside, so that a download that was cut short is not taken for a whole one.
        rm -rf "$folder/jms.part"
        mvn -q -B -f "$clients/pom.xml" dependency:copy-dependencies \
            -DoutputDirectory="$folder/jms.part" >&2 || fail "Qpid JMS cannot be had"
        mv -T "$folder/jms.part" "$folder/jms"
    fi
    [[ $folder/jms-scenarios/Jms.class -nt $clients/Jms.java ]] && return
    javac -nowarn -cp "$folder/jms/*" -d "$folder/jms-scenarios" "$clients/Jms.java"
}

fetch_go() {
    PATH=$PATH:/usr/local/go/bin
    command -v go >/dev/null || absent go
    local has
    has=$(GOTOOLCHAIN=local go env GOVERSION)
    [[ $(printf '%s\n' go1.23 "$has" | sort -V | head -1) == go1.23 ]] || absent "go 1.23 or newer"
    (cd "$clients/go" && GOTOOLCHAIN=local go build -o "$folder/go-client" .)
}

for what in "$@"; do
    case $what in
        proton | rhea | jms | go) "fetch_$what" ;;
        *) fail "no client is called $what" ;;
    esac
done
