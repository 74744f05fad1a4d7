#!/usr/bin/env bash
# Commands on the control socket of weft sm.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover python3

"$WEFT" topo gen irregular switches=16 hosts=14 speed=SDR --seed 1 >irregular.net || exit
weft_start irregular.net || exit
background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --control "$work/sm.socket" >"$work/sm.log" 2>&1
wait_until 20 grep -q 'subnet up' sm.log || { cat sm.log && exit 1; }
control() { "$WEFT" ctl --socket "$work/sm.socket" "$@" >control.out 2>&1; }
prints() {
    local pattern=$1
    shift
    control "$@" && contains "$pattern" control.out
}
lists() { control topology && [ "$(wc -l <control.out)" -eq 30 ] && contains 'switch .*S15' control.out; }
json() { control --json status && python3 -c 'import json, sys; print(json.load(open("control.out"))["switches"])' | grep -qx 16; }
tables() { control routes && [ "$(grep -c '^Unicast lids' control.out)" -eq 16 ]; }
reroutes() {
    local before
    before=$(grep -c 'subnet up' sm.log)
    control reroute && wait_until 10 more_than "$before"
}
more_than() { [ "$(grep -c 'subnet up' sm.log)" -gt "$1" ]; }
private() { [ "$(stat -c %a sm.socket)" = 600 ]; }
refuses() { exits_with 2 control "$@"; }
random_packets() {
    python3 - <<'END'
import os, socket
for size in (0, 1, 100, 2000, 60000):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["work"] + "/sm.socket")
    s.send(os.urandom(size))
    s.close()
END
    prints master status
}
# weft sm deletes no file other than a stale socket.
keeps_file() {
    echo precious >precious.txt
    exits_with 2 env LD_PRELOAD="$PRELOAD" timeout 20 "$WEFT" sm --control "$work/precious.txt" >spared.out 2>&1 &&
        contains 'precious.txt. is in use' spared.out && contains '^precious$' precious.txt
}
claim "status prints the master state" prints 'state +master' status
claim "status --json has the number of switches" json
claim "topology lists every end port" lists
claim "routes prints the LFT of every switch" tables
claim "events prints the bring-up" prints 'subnet up' events
claim "reroute computes all routes" reroutes
claim "handover without a standby is refused" refuses handover
claim "an unknown command is refused" refuses nonsense
claim "only the owner can access the socket" private
claim "random packets on the socket are ignored" random_packets
claim "weft sm does not replace a regular file by its socket" keeps_file
