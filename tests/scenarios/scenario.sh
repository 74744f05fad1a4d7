#!/bin/sh
# scenario.sh WEFT OTHER FILE [OPTION...]: all checks of the scenario hold, and it leaves the same trace and the same
# status when it is run again: by OTHER, which may be another build; by WEFT if there is no such program.
set -u
weft=$1 other=$2
shift 2
[ -x "$other" ] || other=$weft

output=$("$weft" sim "$@" --quiet 2>&1)
status=$?
printf '%s\n' "$output"
trace=$(printf '%s\n' "$output" | sed -n 's/.*, trace //p')
again=$("$other" sim "$@" --quiet 2>&1)
again_status=$?
again=$(printf '%s\n' "$again" | sed -n 's/.*, trace //p')
if [ -z "$trace" ] || [ "$trace" != "$again" ] || [ "$status" != "$again_status" ]; then
    echo "the trace is '$trace', that of $other '$again'; status $status and $again_status"
    exit 1
fi
exit $status
