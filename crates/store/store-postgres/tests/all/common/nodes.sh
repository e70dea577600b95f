# Three PostgreSQL nodes under Patroni with a synchronous standby, for tests: made in a folder of
# its own, on loopback addresses, gone with whoever started it. Needs Debian's packages etcd-server
# and patroni; the nodes are configured as deploy/three-nodes has it, whose patroni.yml.in is in the
# variable HOLDFAST_PATRONI. Commands come by stdin, a line each; each is answered by a line on stdout; the end of
# stdin is the end. Whoever is root has the servers run as user postgres, who may not be root.
# usage: sh nodes.sh BIN PORT
#
#   leader    answers the number of the node that leads, 0 while none does
#   kill N    node N dies with all its processes
#   freeze N  the processes of node N stop where they are; thaw N lets them go on
#   start N   a node that died comes back
#   sound     answers whether this Patroni keeps a leader that was frozen replaced
#   standbys  answers how many nodes follow the leader: those it waits for, and all
set -eu
bin=$1 port=$2
home=$(mktemp -d /tmp/holdfast-ha-XXXXXX)
as=
if [ "$(id -u)" = 0 ]; then
    chown postgres "$home"
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
fi
cd "$home"

# Each node is a session of its own, so that all of it can be killed at once.
node() {
    printf '%s\n' "127.0.0.1$1"
}
configure() {
    mkdir -p "n$1"
    printf '%s\n' "$HOLDFAST_PATRONI" | sed \
        -e "s|%NAME%|n$1|; s|%ADDRESS%|$(node "$1")|g; s|%PORT%|$port|g; s|%REST_PORT%|$((port + 1))|g" \
        -e "s|%ETCD_HOSTS%|127.0.0.10:$((port + 2))|; s|%HOME%|$home/n$1|; s|%DATA%|$home/n$1/data|" \
        -e "s|%BIN%|$bin|; s|%SUPERUSER%|holdfast|g; s|%SUPERUSER_PASSWORD%|only-a-test|g" \
        -e 's|%REPLICATOR_PASSWORD%|only-a-test|; s|%WATCHDOG%|"off"|' \
        -e 's|%HBA%|["local all all trust", "host all all 127.0.0.0/8 trust", "host replication all 127.0.0.0/8 trust"]|' \
        -e "s|%PARAMETERS%|{ unix_socket_directories: \"$home/n$1\", shared_buffers: 32MB }|" \
        >"n$1/patroni.yml"
    [ -z "$as" ] || chown -R postgres "n$1"
}
start() {
    $as setsid patroni "n$1/patroni.yml" >>"n$1/log" 2>&1 </dev/null &
    echo $! >"n$1.pid"
}
# Every process of a node: its Patroni, and the server with all that it has begun.
processes() {
    pid=$(cat "n$1.pid")
    main=$(head -n 1 "n$1/data/postmaster.pid" 2>/dev/null || true)
    echo "$pid" $(pgrep -s "$pid" || true) $main $([ -z "$main" ] || pgrep -P "$main" || true)
}
signal() {
    kill "-$2" $(processes "$1") 2>/dev/null || true
}
asked() {
    # What Patroni answers of a node: 200 where it is what is asked for.
    python3 - "$1" "$2" "$((port + 1))" <<'END'
import sys, urllib.request
try:
    url = f"http://127.0.0.1{sys.argv[1]}:{sys.argv[3]}/{sys.argv[2]}"
    print(urllib.request.urlopen(url, timeout=2).status)
except Exception:
    print(0)
END
}
count() {
    found=0
    for each in 1 2 3; do
        [ "$(asked $each "$1")" = 200 ] && found=$((found + 1))
    done
    echo $found
}
leader() {
    for each in 1 2 3; do
        [ "$(asked $each leader)" = 200 ] && echo $each && return
    done
    echo 0
}
# Since 3.0.3: before, such a leader writes its key over the one of who replaced it.
sound() {
    version=$($as patroni --version)
    printf '%s\n' "patroni 3.0.3" "$version" | sort -V -C && echo yes || echo no
}
leads() {
    [ "$(leader)" = "$1" ]
}
follow() {
    [ "$(count sync)" = 1 ] && [ "$(count replica)" = 2 ]
}
within() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || { tail -n 20 etcd.log n*/log >&2; exit 1; }
        sleep 0.5
    done
}
finish() {
    for each in 1 2 3; do signal $each KILL; done
    kill -KILL "$etcd" 2>/dev/null || true
    rm -rf "$home"
}
etcd=
trap finish EXIT
trap : INT TERM
mkdir etcd
[ -z "$as" ] || chown postgres etcd
$as etcd --data-dir "$home/etcd" --name e --listen-client-urls "http://127.0.0.10:$((port + 2))" \
    --advertise-client-urls "http://127.0.0.10:$((port + 2))" \
    --listen-peer-urls "http://127.0.0.10:$((port + 3))" \
    --initial-advertise-peer-urls "http://127.0.0.10:$((port + 3))" \
    --initial-cluster "e=http://127.0.0.10:$((port + 3))" >etcd.log 2>&1 </dev/null &
etcd=$!
for each in 1 2 3; do
    configure $each
    start $each
    # The first one makes the cluster that the others copy.
    [ $each != 1 ] || within leads 1
done
within follow
echo "ready $home"
while read -r command number; do
    case $command in
        leader) leader ;;
        sound) sound ;;
        standbys) echo "$(count sync) $(count replica)" ;;
        kill) signal "$number" KILL; echo "done" ;;
        freeze) signal "$number" STOP; echo "done" ;;
        thaw) signal "$number" CONT; echo "done" ;;
        start) start "$number"; echo "done" ;;
        *) echo "unknown" ;;
    esac
done
