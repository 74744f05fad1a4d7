#!/bin/sh
# threads.sh WEFT FILE THREADS...: the run of the scenario has the same trace and the same figures on so many threads
# as on one, and they have work.
set -u
weft=$1 file=$2
shift 2

one=$("$weft" sim "$file" --json) || exit 1
for threads; do
    several=$("$weft" sim "$file" --json -j "$threads") || exit 1
    if [ "$one" != "$several" ]; then
        echo "the results of $threads threads differ from those of one"
        exit 1
    fi
    "$weft" sim "$file" -j "$threads" | grep "^$threads threads: [5-9][0-9]" || {
        echo "$threads threads: less than half of the events in parallel"
        exit 1
    }
done
