#!/usr/bin/env bash
# Makes this machine node N of a PostgreSQL cluster of three under Patroni and etcd, for data of
# Holdfast: installs what is missing (Debian), writes /etc/holdfast-engine, enables two services.
# Run again, it writes the same files anew and keeps data and passwords.
# usage: sudo deploy/three-nodes/node.sh N ADDRESS1 ADDRESS2 ADDRESS3
#   N          1, 2 or 3: which of the addresses is this machine's
#   in front   /etc/holdfast-engine/node.crt and node.key, this node's certificate and key, in PEM
#   passwords  /etc/holdfast-engine/passwords is made by the node that has none: copy it to the others
# For a look without root and without changing the machine: ROOT=/tmp/look, a folder to write into.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

(($# == 4)) || fail "usage: node.sh N ADDRESS1 ADDRESS2 ADDRESS3"
number=$1 addresses=("$2" "$3" "$4") root=${ROOT:-}
[[ $number =~ ^[123]$ ]] || fail "\"$number\" is no node: 1, 2 or 3"
for each in "${addresses[@]}"; do
    [[ $each =~ ^[0-9A-Za-z.-]+$ ]] || fail "\"$each\" is no address: write an IPv4 address or a name"
done
address=${addresses[number - 1]}
etc=$root/etc/holdfast-engine lib=$root/usr/lib/holdfast-engine data=$root/var/lib/holdfast-engine
port=5432 rest_port=8008

if [[ -z $root ]]; then
    ((EUID == 0)) || fail "this changes the machine: run it as root"
    for file in node.crt node.key; do
        [[ -r $etc/$file ]] || fail "$etc/$file is missing: this node's certificate and its key, in PEM"
    done
    # Debian's package would make and start a cluster of its own.
    mkdir -p /etc/postgresql-common
    grep -qs '^create_main_cluster = false' /etc/postgresql-common/createcluster.conf ||
        echo 'create_main_cluster = false' >>/etc/postgresql-common/createcluster.conf
    apt-get install --yes --no-install-recommends postgresql etcd-server python3-venv kmod
    systemctl disable --now etcd.service 2>/dev/null || true
    # Patroni before 3.0.3 loses data when a leader that was frozen comes back.
    [[ -x $lib/patroni/bin/patroni ]] || {
        python3 -m venv "$lib/patroni"
        "$lib/patroni/bin/pip" install 'patroni[etcd3,psycopg2-binary]==4.1.5'
    }
fi
mkdir -p "$etc" "$data/etcd" "$root/etc/systemd/system"
if [[ ! -e $etc/passwords ]]; then
    (umask 077 && for _ in 1 2; do head -c 24 /dev/urandom | base64 | tr '+/' '-_'; done >"$etc/passwords")
    echo "made $etc/passwords: copy it to the other nodes before you run this there"
fi
{ read -r superuser_password && read -r replicator_password; } <"$etc/passwords" ||
    fail "$etc/passwords has to have two lines: the superuser's password and the replicator's"
for each in "$superuser_password" "$replicator_password"; do
    [[ $each =~ ^[0-9A-Za-z_-]+$ ]] || fail "$etc/passwords: letters, digits, - and _ alone"
done

servers=$(echo /usr/lib/postgresql/*/bin)
hba='["local all all scram-sha-256", "hostssl all all all scram-sha-256"'
initial= hosts=
for each in 1 2 3; do
    other=${addresses[each - 1]}
    initial+=${initial:+,}n$each=http://$other:2380
    hosts+=${hosts:+,}$other:2379
    [[ $other =~ ^[0-9.]+$ ]] && other+=/32
    hba+=", \"hostssl replication replicator $other scram-sha-256\""
done
hba+=']'
parameters="{ ssl: \"on\", ssl_cert_file: \"$etc/node.crt\", ssl_key_file: \"$etc/node.key\""
parameters+=', password_encryption: scram-sha-256, unix_socket_directories: "/var/run/postgresql" }'

(
    umask 077
    sed -e "s|%NAME%|n$number|; s|%ADDRESS%|$address|g; s|%PORT%|$port|g; s|%REST_PORT%|$rest_port|g" \
        -e "s|%ETCD_HOSTS%|$hosts|; s|%DATA%|$data/postgresql|; s|%HOME%|$data|" \
        -e "s|%BIN%|${servers##* }|; s|%HBA%|$hba|; s|%PARAMETERS%|$parameters|" \
        -e "s|%SUPERUSER%|postgres|g; s|%SUPERUSER_PASSWORD%|$superuser_password|g" \
        -e "s|%REPLICATOR_PASSWORD%|$replicator_password|; s|%WATCHDOG%|required|" \
        "$here/patroni.yml.in" >"$etc/patroni.yml"
)
cat >"$etc/etcd.env" <<END
ETCD_NAME=n$number
ETCD_DATA_DIR=$data/etcd
ETCD_LISTEN_PEER_URLS=http://$address:2380
ETCD_LISTEN_CLIENT_URLS=http://$address:2379,http://127.0.0.1:2379
ETCD_INITIAL_ADVERTISE_PEER_URLS=http://$address:2380
ETCD_ADVERTISE_CLIENT_URLS=http://$address:2379
ETCD_INITIAL_CLUSTER=$initial
ETCD_INITIAL_CLUSTER_TOKEN=holdfast-engine
END
cp "$here/holdfast-etcd.service" "$here/holdfast-patroni.service" "$root/etc/systemd/system/"
[[ -n $root ]] && exit

chown -R etcd: "$data/etcd"
chown postgres: "$data" "$etc/patroni.yml" "$etc/node.key" "$etc/node.crt"
chmod 600 "$etc/node.key"
systemctl daemon-reload
systemctl enable --now holdfast-etcd.service holdfast-patroni.service
echo "node n$number runs; once all three do: $lib/patroni/bin/patronictl -c $etc/patroni.yml list"
