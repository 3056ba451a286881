#!/bin/sh
# The restore drill: brings the newest backup back beside everything that runs, and says whether it
# holds. For every house the log is exported and verified (every hash, card, decision and chip, against
# the last seal too), and every view is made anew and compared. A backup that was never restored is a hope.
#
# Usage: drill.sh BACKUPS [TIME]      see restore.sh
#
# Needs the programs of Postgres and `croupier` in the PATH, room for the database and its export beside
# each other in TMPDIR, and CROUPIER_SEALS to hold the log against its seals. PGUSER (postgres) and
# PGDATABASE (croupier) name the owner of the schema and the database. Not root: Postgres refuses to be.
#
# Ends with 0 when all holds, with 1 when something does not, or when events are missing at the end.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
backups=$1 time=${2:-}
user=${PGUSER:-postgres} database=${PGDATABASE:-croupier} seals=${CROUPIER_SEALS:-}
unset PGHOST PGPORT PGUSER PGDATABASE

work=$(mktemp -d)
postgres=
# shellcheck disable=SC2329 # called by the trap
stop() {
    [ -z "$postgres" ] || { kill -INT "$postgres" && wait "$postgres"; } || true
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

sh "$here/restore.sh" "$backups" "$work/data" "$time"

# By a socket in our own directory alone, so nobody else gets in, and without the settings of the lost one.
echo 'local all all trust' >"$work/hba"
echo 'hot_standby = off' >"$work/conf"
postgres -D "$work/data" -c config_file="$work/conf" -c hba_file="$work/hba" \
    -c listen_addresses= -c unix_socket_directories="$work" -c port=5432 >"$work/log" 2>&1 &
postgres=$!
until pg_isready --quiet --host="$work" --username="$user" --dbname="$database"; do
    kill -0 "$postgres" 2>/dev/null || { postgres= && tail -n 20 "$work/log" >&2 && exit 1; }
    sleep 0.2
done
ask() { psql --no-psqlrc --host="$work" --username="$user" --dbname="$database" -At -F ' ' -c "$1"; }

export DATABASE_URL="postgresql://$user@/$database?host=$work"
unset CROUPIER_REPLICA_URL CROUPIER_REPLICA_URL_FILE
held=0
ask 'SELECT house, position FROM log_head ORDER BY house' >"$work/houses"
while read -r house head; do
    echo "The log of $house ends at $head."
    set --
    last=0
    for seal in "$seals/$house"/[0-9]*.seal; do
        [ -e "$seal" ] || continue
        size=$(basename "$seal" .seal | sed 's/^0*//')
        if [ "$size" -le "$head" ]; then
            set -- --seal "$seal" --public-key "$seals/$house/public.keys"
        fi
        last=$size
    done
    if [ "$last" -gt "$head" ]; then
        echo "It was sealed up to $last: $((last - head)) events are missing at its end."
        [ -n "$time" ] || held=1
    fi
    if [ "$head" -gt 0 ]; then
        croupier export "$work/export" --house "$house"
        croupier verify "$work/export" "$@" || held=1
        rm -rf "$work/export"
        croupier rebuild all --house "$house" --strict || held=1
    fi
done <"$work/houses"
[ $held = 0 ] && echo "All of it holds." || echo "Not all of it holds."
exit $held
