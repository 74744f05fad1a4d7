#!/bin/sh
# subnets.sh WEFT: two trees of 324 hosts joined by two routers, with two managers each. All pairs of hosts reach
# one another, also after the failure of a router, a master, a link or a switch: no packet of an all-to-all
# exchange is lost, and each subnet is proved.
set -u
weft=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$weft" topo gen fattree 324 ports=37 >tree && "$weft" topo gen join tree tree routers=2 >trees || exit 1
failed=0
for action in 'fail node R0' 'kill sm a.H0' 'fail link a.L3 20' 'fail switch b.S2'; do
    cat >subnets.weft <<END
topology ./trees
sm a.H0 priority 5 subnet_prefix 0xfec0000000000001
sm a.H9 priority 2 subnet_prefix 0xfec0000000000001
sm b.H0 priority 5 subnet_prefix 0xfec0000000000002
sm b.H9 priority 2 subnet_prefix 0xfec0000000000002
traffic all-to-all load 0.5% size 256 start 7s stop 7.004s
run until settled
at 3s $action
run 7.005s
check delivered >= 420000
check lost == 0
check unroutable == 0
check reachable
check deadlock-free
check no-deadlock
END
    "$weft" sim subnets.weft --quiet >out 2>&1 || { echo "FAILED after '$action':" && cat out && failed=1; }
done
exit $failed
