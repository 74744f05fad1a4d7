#!/usr/bin/env bash
# Commands on the control socket of weft sm.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover python3

"$WEFT" topo gen irregular switches=16 hosts=14 speed=SDR --seed 1 >irregular.net || exit
weft_start irregular.net || exit
background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --control "$work/sm.socket" >"$work/sm.log" 2>&1
first_id=$background_id
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
# A manager without rules writes no partition tables; the path in the tables is that of the fabric.
memberships() {
    prints 'no partition tables' partitions && control --json partitions && [ "$(cat control.out)" = '[]' ] &&
        prints 'none|members' groups && "$WEFT" ctl path H0 H13 >path.out && contains 'H0 to H13: LID [1-9]' path.out &&
        lacks 'no route|not pass' path.out && "$WEFT" ctl deadlock | grep -q none
}
reroutes() {
    local before
    before=$(grep -c 'subnet up' sm.log)
    control reroute && wait_until 10 more_than "$before"
}
more_than() { [ "$(grep -c 'subnet up' sm.log)" -gt "$1" ]; }
# Each line is an object; the loss of a link has its node and port. The client ends with the manager's connection.
follows() {
    local id
    background "$WEFT" ctl --socket "$work/sm.socket" --json events --follow >followed 2>&1
    id=$background_id
    wait_until 10 triggers_event && "$WEFT" ctl link down S3 1 && wait_until 10 grep -q '"text":"link down: ' followed &&
        "$WEFT" ctl link up S3 1 && wait_until 10 grep -q '"text":"link up: ' followed || { cat followed && return 1; }
    stop "$id"
    python3 - <<'END'
import json
events = [json.loads(line) for line in open("followed")]
down = next(e for e in events if e["text"].startswith("link down: "))
assert down["port"] >= 1 and down["guid"].startswith("0x") and down["node"] in down["text"], down
assert any(e["event"] == "up" and e["figures"]["NodeInfo"] >= 0 for e in events), events
assert all(e["time"] and e["event"] for e in events)
END
}
triggers_event() { control reroute && [ -s followed ]; }
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
json_tables() {
    control --json routes && python3 -c '
import json
switches = json.load(open("control.out"))
assert len(switches) == 16 and all(len(s["entries"]) == 30 for s in switches), switches
assert all(set(e) == {"lid", "port"} for s in switches for e in s["entries"])'
}
# Opens more connections than the manager keeps, and sends nothing.
idle_clients() {
    exec python3 -c '
import os, socket, time
kept = []
for i in range(100):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["work"] + "/sm.socket")
    kept.append(s)
print("connected", flush=True)
kept[-1].settimeout(20)
assert kept[-1].recv(1) == b""
print("closed", flush=True)
time.sleep(60)'
}
not_locked_out() {
    local status=0
    background idle_clients >idle.out 2>&1
    wait_until 10 grep -q connected idle.out && prints 'state +master' status &&
        wait_until 20 grep -q closed idle.out || { cat idle.out && status=1; }
    stop "$background_id"
    return $status
}
# The mode of the socket would admit it; the manager does not.
foreign_user() {
    chmod 666 sm.socket && chmod 755 "$work"
    exits_with 2 setpriv --reuid=65534 --regid=65534 --clear-groups "$WEFT" ctl --socket "$work/sm.socket" status >foreign.out 2>&1 &&
        contains 'closed the connection' foreign.out || { cat foreign.out && chmod 600 sm.socket && return 1; }
    chmod 600 sm.socket && prints 'state +master' status
}
claim "partitions, groups and paths are printed" memberships
claim "status prints the master state" prints 'state +master' status
claim "status --json has the number of switches" json
claim "topology lists every end port" lists
claim "routes prints the LFT of every switch" tables
claim "routes --json prints them as JSON" json_tables
claim "events prints the bring-up" prints 'subnet up' events
claim "events --follow --json prints an object for each new event, with its place" follows
claim "reroute computes all routes" reroutes
claim "handover without a standby is refused" refuses handover
claim "an unknown command is refused" refuses nonsense
claim "only the owner can access the socket" private
claim "random packets on the socket are ignored" random_packets
claim "a hundred idle connections lock nobody out, and are closed" not_locked_out
if [ "$(id -u)" -eq 0 ]; then
    claim "another user gets no answer" foreign_user
else
    skip "another user gets no answer" "only root can become one"
fi
claim "weft sm does not replace a regular file by its socket" keeps_file

# A second manager is standby, until the first hands over to it.
background env WEFT_ATTACH=H5 LD_PRELOAD="$PRELOAD" "$WEFT" sm --control "$work/second.socket" --log "$work/second.log"
wait_until 20 grep -q 'with a copy' second.log || { cat second.log && exit 1; }
hands_over() {
    control handover && contains 'handed over to the manager at S[0-9]+ port [0-9]+ <-> H5 port 1; this manager is standby' control.out &&
        contains 'master \(the master handed over\)' second.log && prints 'state +standby' status
}
says_why_not() { # the only standby is stopped
    kill -STOP "$first_id"
    exits_with 1 "$WEFT" ctl --socket "$work/second.socket" handover --timeout 300ms >control.out 2>&1
    local status=$?
    kill -CONT "$first_id"
    [ "$status" = 0 ] && contains 'not handed over yet: (no standby has answered|waiting for|the manager at)' control.out
}
claim "handover returns when it is done" hands_over
claim "handover names the reason if it is not done in time" says_why_not
# A manager without options listens beside the socket of its fabric.
background env WEFT_ATTACH=H9 LD_PRELOAD="$PRELOAD" "$WEFT" sm --log "$work/third.log"
wait_until 20 grep -q 'with a copy' third.log || { cat third.log && exit 1; }
without_options() { "$WEFT" ctl problems >control.out 2>&1 && contains '^problems: none$' control.out; }
claim "weft ctl finds the manager of the fabric without options" without_options
