# A PostgreSQL for tests: made in a folder of its own, on a Unix socket only, gone with whoever
# started it. Commands come by stdin, a line each; answers go to stdout; the end of stdin is the end.
# usage: sh server.sh BIN
set -eu
bin=$1
home=$(mktemp -d /tmp/holdfast-pg-XXXXXX)
cd "$home"
pid=
start() {
    "$bin/postgres" -D "$home/data" >>"$home/log" 2>&1 </dev/null &
    pid=$!
    until "$bin/pg_isready" -q -h "$home" -U holdfast -d postgres; do
        kill -0 "$pid" 2>/dev/null || { cat "$home/log" >&2; exit 1; }
        sleep 0.05
    done
}
finish() {
    kill -QUIT "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    rm -rf "$home"
}
trap finish EXIT
trap : INT TERM
"$bin/initdb" -D "$home/data" -U holdfast -A trust -E UTF8 --locale=C -N >"$home/log" 2>&1
cat >>"$home/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$home'
max_connections = 400
fsync = off
full_page_writes = off
shared_buffers = 64MB
autovacuum_naptime = 10s
END
start
echo "ready $home"
while read -r command; do
    case $command in
        # What a crash of the machine leaves, but for what the disk had in its cache.
        crash)
            kill -QUIT "$pid"
            wait "$pid" || true
            ;;
        start) start ;;
    esac
    echo "done"
done
