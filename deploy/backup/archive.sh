#!/bin/sh
# Keeps a finished segment of the write-ahead log, whole or not at all. For postgresql.conf:
#
#   archive_mode = on
#   archive_timeout = 60
#   archive_command = 'sh /where/it/is/archive.sh %p %f /mnt/backup/wal'
#
# Postgres asks again until it ends with 0. A segment that is there already stays as it is.
set -eu

segment=$1 kept=$3/$2
[ -e "$kept" ] && exec cmp -s "$segment" "$kept"

unfinished=$3/.$2.unfinished
cp "$segment" "$unfinished"
sync "$unfinished"
mv "$unfinished" "$kept"
sync "$3"
