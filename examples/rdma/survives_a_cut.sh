#!/bin/sh
# A failure test of an application: PROGRAM runs at two hosts of a ring (server at H0, client at H2, which gets the name of the server as
# its last argument) while the cable between two switches on its path is cut. The manager routes around it: the program
# must end well.
#
#     examples/rdma/survives_a_cut.sh [PROGRAM ARGUMENT ...]
set -e
[ $# -gt 0 ] || set -- ib_write_bw -D 4 -u 18
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
weft=${WEFT:-weft}
"$weft" topo gen ring 4 >net
"$weft" fabric net -- sh -c '
    weft=$0
    "$weft" sm >sm.log 2>&1 & manager=$!
    until grep -q "subnet up" sm.log; do sleep 0.1; done
    WEFT_ATTACH=H0 "$@" >server.out 2>&1 & server=$!
    sleep 1
    WEFT_ATTACH=H2 "$@" localhost >client.out 2>&1 & client=$!
    sleep 2
    "$weft" ctl fail link S1 2
    wait $client && wait $server && echo "the program has survived the cut" || { cat client.out server.out; kill $manager; exit 1; }
    kill $manager' "$weft" "$@"
