#!/bin/sh
# A base backup, checked, in BACKUPS/base under the time when it was complete (UTC): once a day, by cron.
#
# Usage: base.sh BACKUPS [options of pg_basebackup, such as --dbname=service=croupier]
set -eu

directory=$1/base
shift
mkdir -p "$directory"
rm -rf "$directory/unfinished"
pg_basebackup --pgdata="$directory/unfinished" --checkpoint=fast --wal-method=stream "$@"
pg_verifybackup --quiet "$directory/unfinished"
made=$directory/$(date -u +%Y%m%dT%H%M%SZ)
mv "$directory/unfinished" "$made"
sync "$directory"
echo "$made"
