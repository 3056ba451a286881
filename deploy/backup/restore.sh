#!/bin/sh
# Brings a database back from a base backup and the archived write-ahead log: to a point in time, or
# as far as the archive goes.
#
# Usage: restore.sh BACKUPS DATA [TIME], where DATA is to be the data directory of a Postgres of the same
# major version, which is started on it afterwards, and TIME is like '2026-01-31 12:00:00Z'.
#
# Run by the user that runs Postgres. What is restored archives nothing until it is told where to, which
# must not be where the lost one did: the two have gone different ways.
set -eu

refuse() {
    echo "restore.sh: $*" >&2
    exit 2
}

[ $# -ge 2 ] || refuse "Usage: restore.sh BACKUPS DATA [TIME]"
backups=$(cd "$1" && pwd) data=$2 time=${3:-}
case $backups in *[\'\"\\%]*) refuse "$backups: a quote, a backslash or a percent sign in the path." ;; esac
[ ! -e "$data" ] || refuse "$data is there already; nothing is restored over it."

# Bases are named by the time when they were complete, so names sort as times do.
last=99999999T999999Z
[ -z "$time" ] || last=$(date -u -d "$time" +%Y%m%dT%H%M%SZ) || refuse "$time is no time."
base=
for each in "$backups"/base/*Z; do
    [ -e "$each" ] && [ "$(printf '%s\n' "${each##*/}" "$last" | sort | head -n 1)" = "${each##*/}" ] && base=$each
done
[ -n "$base" ] || refuse "$backups/base has no backup${time:+ that was complete before $time}."

mkdir -p "$data"
chmod 700 "$data"
cp -R "$base/." "$data"
{
    echo "restore_command = 'cp \"$backups/wal/%f\" \"%p\"'"
    echo "recovery_target_action = promote"
    echo "archive_mode = off"
    [ -z "$time" ] || echo "recovery_target_time = '$(date -u -d "$time" '+%Y-%m-%d %H:%M:%S.%N+00')'"
} >>"$data/postgresql.auto.conf"
touch "$data/recovery.signal"
echo "$base is in $data. Started, Postgres goes on to ${time:-the end of the archive}."
