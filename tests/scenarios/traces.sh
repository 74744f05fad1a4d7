#!/bin/sh
# traces.sh WEFT OTHER: every scenario has the same trace hash when it is run twice, the second time in the other
# build if there is one, and another hash with another seed where the scenario uses random numbers.
set -u
weft=$(realpath "$1")
other=$2
[ -x "$other" ] || other=$weft
cd "$(dirname "$0")" || exit 1
failed=0

# trace PROGRAM FILE OPTION...: prints the trace hash
trace() {
    program=$1
    shift
    "$program" sim "$@" --quiet 2>&1 | sed -n 's/.*, trace //p'
}

claim() {
    if test "$2" "$3" "$4"; then
        echo "ok: $1"
    else
        echo "FAILED: $1: $2 $3 $4"
        failed=1
    fi
}

for scenario in *.weft; do
    first=$(trace "$weft" "$scenario")
    claim "$scenario leaves a trace" "$first" != ""
    claim "$scenario leaves the same trace twice" "$first" = "$(trace "$other" "$scenario")"
done
claim 'another seed loses other SMPs' "$(trace "$weft" loss.weft)" != "$(trace "$weft" loss.weft --seed 77)"
claim 'another seed makes other packets' "$(trace "$weft" traffic-light.weft)" != "$(trace "$weft" traffic-light.weft --seed 77)"
exit $failed
