#!/bin/sh
# two-parts.sh WEFT: two subnets without a router in one run. Hosts send across, which no manager has a path for. Paths
# between subnets are kept when they are looked up, so that the run stays in one thread, with the same results.
set -u
weft=$1
"$weft" topo gen irregular switches=16 ports=10 hosts=64 links=30 >part.net || exit 1
"$weft" topo gen join part.net part.net routers=1 >joined.net || exit 1
# Blocks of nodes end with a blank line; the router's goes, and the cables to it.
awk 'BEGIN { RS = ""; ORS = "\n\n" } !/\nRt/' joined.net | grep -v '"R-' >parts.net
cat >two-parts.weft <<'SCENARIO'
topology parts.net
sm a.H0 subnet_prefix 0xfec0000000000001
sm b.H0 subnet_prefix 0xfec0000000000002
traffic uniform load 0.5 size 1024 start settled stop settled+200us
run until settled
run for 400us
SCENARIO
one=$("$weft" sim two-parts.weft --json) || exit 1
several=$("$weft" sim two-parts.weft --json -j 8) || exit 1
if [ "$one" != "$several" ]; then
    echo "the results of 8 threads differ from those of one"
    exit 1
fi
"$weft" sim two-parts.weft -j 8 | grep '^8 threads: 0.0 %'
