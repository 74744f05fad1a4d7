#!/usr/bin/env bash
# Commands on the control socket of a running manager.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover python3

"$WEFT" topo gen irregular switches=16 hosts=14 --seed 1 >irregular.net || exit
weft_start irregular.net || exit
background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --control "$work/sm.socket" >"$work/sm.log" 2>&1
wait_until 20 grep -q 'subnet up' sm.log || { cat sm.log && exit 1; }
ask() { "$WEFT" ctl --socket "$work/sm.socket" "$@" >answer.out 2>&1; }
says() {
    local pattern=$1
    shift
    ask "$@" && contains "$pattern" answer.out
}
lists() { ask topology && [ "$(wc -l <answer.out)" -eq 30 ] && contains 'switch .*S15' answer.out; }
json() { ask --json status && python3 -c 'import json, sys; print(json.load(open("answer.out"))["switches"])' | grep -qx 16; }
tables() { ask routes && [ "$(grep -c '^Unicast lids' answer.out)" -eq 16 ]; }
reroutes() {
    local before
    before=$(grep -c 'subnet up' sm.log)
    ask reroute && wait_until 10 more_than "$before"
}
more_than() { [ "$(grep -c 'subnet up' sm.log)" -gt "$1" ]; }
private() { [ "$(stat -c %a sm.socket)" = 600 ]; }
refuses() { exits_with 2 ask "$@"; }
garbage() {
    python3 - <<'END'
import os, socket
for size in (0, 1, 100, 2000, 60000):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["work"] + "/sm.socket")
    s.send(os.urandom(size))
    s.close()
END
    says master status
}
# Files other than a stale socket are not deleted.
spares_a_file() {
    echo precious >precious.txt
    exits_with 2 env LD_PRELOAD="$PRELOAD" timeout 20 "$WEFT" sm --control "$work/precious.txt" >spared.out 2>&1 &&
        contains 'precious.txt. is in use' spared.out && contains '^precious$' precious.txt
}
claim "status says that it is master" says 'state +master' status
claim "status as JSON counts switches" json
claim "topology lists every end port" lists
claim "routes shows every switch's table" tables
claim "events tell of the bring-up" says 'subnet up' events
claim "reroute computes anew" reroutes
claim "a handover without a standby is refused" refuses handover
claim "an unknown command is refused" refuses nonsense
claim "the socket is for its owner only" private
claim "garbage on it disturbs nothing" garbage
claim "a file at the socket's place is spared" spares_a_file
