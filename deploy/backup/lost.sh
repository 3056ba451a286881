#!/bin/sh
# The end of a log is lost for good, and the house goes on from what is left: puts the seals that go
# beyond it aside, where auditors find them, so that workers seal again. See README.md before.
#
# Usage: lost.sh SEALS HOUSE HEAD, where HEAD is the position at which the log ends now
set -eu

directory=$1/$2 head=$3
aside=$directory/lost-after-$head
last=
for seal in "$directory"/[0-9]*.seal; do
    [ -e "$seal" ] || continue
    if [ "$(basename "$seal" .seal | sed 's/^0*//')" -gt "$head" ]; then
        mkdir -p "$aside"
        mv "$seal" "$aside"
    else
        last=$seal
    fi
done
[ -d "$aside" ] || { echo "Nothing was sealed beyond $head; nothing is to be done." && exit; }
mv "$directory/latest.seal" "$aside"
[ -z "$last" ] || cp "$last" "$directory/latest.seal"
echo "$aside has the seals of what is lost; the log goes on from ${last:-its beginning}."
