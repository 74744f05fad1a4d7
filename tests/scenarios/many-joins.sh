#!/bin/sh
# many-joins.sh WEFT: hosts that join groups and leave them, 300 times a second, make the master announce few changes to its
# standby: it stays within the requests for SMInfo that the standby accepts of a port.
set -u
weft=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
awk 'BEGIN {
    print "topology fattree m=4,4 w=1,4\nsm H0 priority 5\nsm H9 priority 2\nrun until settled limit 20s\nrun for 2s"
    for (i = 0; i < 2500; i++)
        printf "%s H%d ff12:a01b::%x\nrun for 3ms\n", i % 2 ? "leave" : "join", i / 2 % 7 + 1, i / 2 % 7 + 1
    print "run for 1s\ncheck master H0"
}' > "$work/joins.weft"
"$weft" sim "$work/joins.weft" > "$work/output" 2>&1 || { sed 's/^/# /' "$work/output" && exit 1; }
if grep -E 'too many|does not answer' "$work/output"; then
    echo 'not ok - a standby accepts all requests of its master' && exit 1
fi
echo 'ok - a standby accepts all requests of its master'
