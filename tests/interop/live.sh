#!/usr/bin/env bash
# weft live with curl and weft ctl: who may change something, that both show the same counts, and that the session is
# repeated by its export.
here=$(dirname "$(realpath "$0")")
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl python3
if ! python3 -c 'import yaml' 2>/dev/null; then need python3-yaml; fi

# live ARGUMENT...: starts weft live; sets url and token
live() {
    background "$WEFT" live "$@" --listen 0 --socket live.socket >url 2>errors
    serving "$background_id" 60 grep -q token= url || { cat errors; return 1; }
    url=$(sed 's/\/#.*//' url) token=$(sed 's/.*token=//' url)
}

not() { ! "$@"; }
status_of() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
read_api() { curl -sf "$url/api/v1/$1"; }
act() { curl -sf -H "X-Weft-Token: $token" -d "$1" "$url/api/v1/actions"; }
# json FILE EXPRESSION: prints the value of a Python expression of the object `o`
json() { python3 -c 'import json,sys; o=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }
# ctl WORD...: weft ctl on the session
ctl() { WEFT_SOCKET=$work/live.socket "$WEFT" ctl "$@"; }
# counted EXPRESSION WORD...: the value of a Python expression of the answer of weft ctl
counted() { ctl --json "${@:2}" >ctl.json && json ctl.json "$1"; }
# same VALUE VALUE: both are the same text
same() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; return 1; }; }
state() { read_api state >state.json && json state.json "$1"; }

"$WEFT" topo gen kary 2 3 >tree.net
# Names that are markup, quotes and JSON.
sed -e 's/"H3"/"<script>alert(1)<\/script>"/' -e "s/\"H4\"/\"';}{\\\\\\\\u0022\"/" tree.net >hostile.net
live hostile.net --paused --load 0.001

changes_need_the_token() {
    [ "$(status_of -d do=run "$url/api/v1/actions")" = 401 ] &&
        [ "$(status_of -H 'X-Weft-Token: wrong' -d do=run "$url/api/v1/actions")" = 401 ] &&
        [ "$(status_of -H "X-Weft-Token: $token" -d do=pause "$url/api/v1/actions")" = 200 ] &&
        [ "$(state 'o["running"]')" = False ]
}
claim "changes need the token" changes_need_the_token

foreign_pages_are_refused() {
    local request
    for request in info state events; do
        [ "$(status_of -m 5 -H 'Origin: http://evil.example' "$url/api/v1/$request")" = 403 ] &&
            [ "$(status_of -m 5 -H 'Host: evil.example' "$url/api/v1/$request")" = 421 ] || return 1
    done
    [ "$(status_of -H 'Origin: http://evil.example' -H "X-Weft-Token: $token" -d do=run "$url/api/v1/actions")" = 403 ]
}
claim "foreign Origin and Host are refused" foreign_pages_are_refused

hostile_names_are_text() {
    read_api topology >topology.json
    [ "$(json topology.json '"<script>alert(1)</script>" in o["nodes"]["name"]')" = True ] &&
        curl -si "$url/api/v1/topology" | grep -qi '^content-type: application/json' &&
        curl -si "$url/" | grep -qi "^content-security-policy: default-src 'self'" &&
        ! curl -s "$url/" | grep -q 'alert(1)'
    local node
    node=$(json topology.json 'o["nodes"]["name"].index("<script>alert(1)</script>")')
    act "do=mute&node=$node" >answer && [ "$(state "[$node, 2] in o['nodes']")" = True ] && act "do=heal&node=$node"
}
claim "names of nodes are text, whatever they contain" hostile_names_are_text

no_statement_comes_with_a_name() {
    local bad
    for bad in 'do=vm-start&name=a%0Arun+1s' 'do=engine&manager=0&engine=updn%0Akill+sm+H0' 'do=statement&text=run+5s' \
        'do=statement&text=mute+L0_0%0Amute+L0_1' 'do=cut&link=99999' 'do=cut&link=-1' 'do=cut' 'do=nothing' ''; do
        [ "$(status_of -H "X-Weft-Token: $token" -d "$bad" "$url/api/v1/actions")" = 400 ] || { echo "$bad"; return 1; }
    done
    read_api export/scenario | grep -c . | grep -qx "$(read_api export/scenario | grep -c .)"
    ! read_api export/scenario | grep -q 'run 5s\|kill sm'
}
claim "requests cannot add statements" no_statement_comes_with_a_name

claim "every answer is as docs/api/openapi.yaml describes it" \
    python3 "$here/api_check.py" "$here/../../docs/api/openapi.yaml" "$url" "$token"

counts_are_those_of_the_network() {
    "$WEFT" topo info hostile.net --json >info.json
    read_api topology >topology.json
    [ "$(json topology.json 'o["nodes"]["kind"].count(2)')" = "$(json info.json 'o["switches"]')" ] &&
        [ "$(json topology.json 'o["nodes"]["kind"].count(1)')" = "$(json info.json 'o["adapters"]')" ]
}
claim "there are as many nodes as in the network" counts_are_those_of_the_network

a_cut_link_is_seen() {
    local link
    read_api topology >topology.json
    link=$(json topology.json '[i for i,(a,b) in enumerate(zip(o["links"]["a"],o["links"]["b"])) if o["nodes"]["kind"][a]==o["nodes"]["kind"][b]==2][0]')
    act "do=cut&link=$link" >answer && [ "$(json answer 'len(o["statements"])')" = 1 ] &&
        act 'do=step&ns=20000000' >answer &&
        [ "$(state "[$link, 1] in o['links']")" = True ] &&
        [ "$(json state.json 'o["changes"][-1]["finished"] and o["changes"][-1]["fault"] is not None')" = True ] &&
        [ "$(json state.json 'o["traffic"]["delivered"] > 0')" = True ]
}
claim "a cut link is seen, and the change that it caused" a_cut_link_is_seen

# The page and weft ctl count the same; links are counted as topology has them.
ctl_counts_the_same() {
    read_api topology >topology.json
    same "$(counted 'o["switches"]' status)" "$(json topology.json 'o["nodes"]["kind"].count(2)')" &&
        same "$(counted 'o["adapters"]' status)" "$(json topology.json 'o["nodes"]["kind"].count(1)')" &&
        same "$(counted 'o["links_up"]+o["links_down"]+o["links_idle"]' status)" "$(json topology.json 'len(o["links"]["a"])')" &&
        same "$(counted 'o["links_down"]' status)" "$(state 'len([1 for _,s in o["links"] if s in (1,2)])')" &&
        same "$(counted 'o["trace"]' status)" "$(json state.json 'o["hash"]')" &&
        same "$(counted 'o["network_ps"]//1000' status)" "$(json state.json 'o["t"]')" &&
        same "$(counted 'o["smps_sent"]' status)" "$(json state.json 'o["smps"]')" &&
        same "$(counted 'o["traffic"]["delivered"],o["traffic"]["made"],o["traffic"]["lost"]' status)" \
            "$(json state.json 'o["traffic"]["delivered"],o["traffic"]["made"],sum(o["traffic"]["lost"].values())')" &&
        same "$(counted '[m["state"] for m in o]' managers)" "$(json state.json '[m["state"] for m in o["managers"]]')" &&
        same "$(counted '[(c["gets"],c["sets"],c["blocks"]) for c in o]' changes)" \
            "$(json state.json '[(c["gets"],c["sets"],c["blocks"]) for c in o["changes"]]')" &&
        same "$(counted '[p["text"] for p in o]' problems)" "$(json state.json '[p["text"] for p in o["problems"]]')" &&
        same "$(counted 'len(o["problems"]),o["state"]' --manager status)" "$(json state.json '(len(o["problems"]),"master")')"
}
claim "weft ctl and the API show the same counts while the page is paused, with a cut link" ctl_counts_the_same

# The names of the first host and of a trunk link are in the topology.
ctl_finds_the_same_path() {
    read_api topology >topology.json
    read_api 'path?from=0&to=2' >path.json
    local from to
    from=$(json topology.json 'o["nodes"]["name"][0]') to=$(json topology.json 'o["nodes"]["name"][2]')
    same "$(counted '[(h["port"],h["vl"]) for h in o["hops"]],o["sl"],o["dlid"]' path "$from" "$to")" \
        "$(json path.json '[(h["port"],h["vl"]) for h in o["hops"]],o["sl"],o["dlid"]')"
}
claim "weft ctl path shows the hops, SL and VLs of the API" ctl_finds_the_same_path

ctl_actions_are_statements() {
    local down before
    down=$(counted 'o["links_down"]' status)
    before=$(counted 'o["session"]["actions"]' status)
    ctl link down L1_0 1 && same "$(counted 'o["links_down"]' status)" $((down + 1)) &&
        same "$(state 'len([1 for _,s in o["links"] if s in (1,2)])')" $((down + 1)) &&
        read_api export/scenario | grep -q 'fail link L1_0 1' &&
        ctl act restore link L1_0 1 && ctl drop 1% attribute PortInfo && ctl drop 0% attribute PortInfo &&
        exits_with 2 ctl link down nobody 1 && exits_with 2 ctl act run 5s && exits_with 2 ctl sweep &&
        same "$(counted 'o["session"]["actions"]' status)" $((before + 4))
}
claim "actions of weft ctl are statements of the session" ctl_actions_are_statements

# Garbage, packets that are too long, connections that say nothing, and answers that nobody reads.
hostile_clients_do_no_harm() {
    local memory
    memory=$(awk '/VmRSS/ { print $2 }' "/proc/${started[0]}/status")
    python3 - "$work/live.socket" <<'END' || return 1
import os, socket, sys
def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    return s
idle = [connect() for _ in range(100)]
for i in range(300):
    with connect() as s:
        try:
            s.send(os.urandom(1 + 700 * i % 60000))
        except OSError:
            pass
words = b"counters\0\0"
request = bytearray(1024 + 4 * 4 + 192 + 3 * 4 + 24)
request[0:12] = (0x77656674).to_bytes(4, "little") + (1).to_bytes(4, "little") + (7).to_bytes(4, "little")
request[-1024:-1024 + len(words)] = words
slow = []
for i in range(64):
    s = connect()
    assert s.send(request) == len(request)
    slow.append(s)
one = connect()
one.send(request)
assert len(one.recv(65536)) > 8
END
    same "$(counted 'o["session"]["running"]' status)" False &&
        [ "$(awk '/VmRSS/ { print $2 }' "/proc/${started[0]}/status")" -lt $((memory + 20000)) ]
}
claim "hostile clients of the control socket do no harm" hostile_clients_do_no_harm

a_standby_takes_over() {
    act 'do=kill-manager&manager=0' >answer && [ "$(state 'o["managers"][0]["state"]')" = dead ] || return 1
    same "$(state '[p["kind"] for p in o["problems"] if p["severity"] == 0]')" "['no master']" || return 1
    local i
    for i in $(seq 100); do
        act 'do=step&ns=100000000' >answer && [ "$(state 'o["managers"][1]["state"]')" = master ] &&
            same "$(counted '[m["state"] for m in o]' managers)" "['dead', 'master']" && return
    done
    return 1
}
claim "the standby takes over from a dead master" a_standby_takes_over

the_export_gives_the_same_hash() {
    act 'do=start-manager&manager=0' >answer && act 'do=step&ns=3000000' >answer &&
        read_api export/scenario >session.weft && read_api state >state.json &&
        "$WEFT" sim session.weft --quiet | tee out | grep -q "trace $(json state.json 'o["hash"]')\$" || { cat session.weft out; return 1; }
}
claim "weft sim repeats the session with the same hash" the_export_gives_the_same_hash

going_back_is_a_replay() {
    local t hash
    t=$(state 'o["t"]') hash=$(json state.json 'o["hash"]')
    act "do=seek&t=$((t / 2))" >answer && [ "$(state 'o["t"]')" = $((t / 2)) ] &&
        [ "$(json state.json 'o["hash"]')" != "$hash" ] &&
        act "do=seek&t=$t" >answer && [ "$(state 'o["t"]')" = "$t" ] && [ "$(json state.json 'o["hash"]')" = "$hash" ]
}
claim "going back and forth in time leads to the same hash" going_back_is_a_replay

the_capture_is_pcapng() {
    [ "$(status_of "$url/api/v1/export/pcap")" = 401 ] &&
        [ "$(status_of -H "X-Weft-Token: $token" -H 'Sec-Fetch-Site: cross-site' "$url/api/v1/export/pcap")" = 403 ] &&
        curl -sf -H "X-Weft-Token: $token" "$url/api/v1/export/pcap" >mads.pcapng && [ "$(head -c 4 mads.pcapng | od -An -tx1 | tr -d ' ')" = 0a0d0d0a ]
}
claim "the capture is a pcapng file, for those who hold the token" the_capture_is_pcapng

events_are_pushed() {
    act 'do=pace&value=0.0001' >answer && act 'do=run' >answer
    timeout 20 curl -sN "$url/api/v1/events" | grep -m 3 '^data: {"seq"' >ticks
    [ "$(wc -l <ticks)" = 3 ] && act 'do=pause' >answer &&
        sed 's/^data: //' ticks | python3 -c 'import json,sys; s=[json.loads(l)["seq"] for l in sys.stdin]; assert s==list(range(s[0],s[0]+3)), s'
}
claim "changes are pushed as events, numbered without gaps" events_are_pushed

passes_from() { local now && now=$(state 'o["t"]') && [ "$now" -gt $(($1 + $2)) ]; } # TIME NS

slow_readers_do_not_delay() {
    local i t
    act 'do=run' >answer
    for i in 1 2 3 4 5 6 7 8; do
        background curl -sN --limit-rate 1 -o /dev/null "$url/api/v1/events" >/dev/null 2>&1
    done
    t=$(state 'o["t"]')
    wait_until 60 passes_from "$t" 100000
    i=$?
    stop "${started[@]:1}"
    return $i
}
claim "readers that do not read do not delay the session" slow_readers_do_not_delay

# 1,000 connections with half a request, half a body, or a stream that they do not read.
slow_connections_do_not_delay() {
    local status=0 t
    background python3 "$here/slow_connections.py" "${url#http://}" 1000 "$token" >slow.out 2>&1
    wait_until 60 grep -q connected slow.out || { cat slow.out && return 1; }
    wait_until 30 act do=run >answer && t=$(wait_until 30 state 'o["t"]' | tail -n 1) && wait_until 60 passes_from "$t" 100000 || status=1
    stop "$background_id"
    return "$status"
}
claim "1,000 slow connections do not stop the session" slow_connections_do_not_delay

a_second_session_says_that_the_default_socket_is_taken() {
    mkdir -p runtime/weft && chmod 700 runtime/weft
    export XDG_RUNTIME_DIR=$PWD/runtime
    unset WEFT_SOCKET
    background "$WEFT" live tree.net --paused --listen 0 >first.url 2>first.errors
    serving "$background_id" 60 grep -q token= first.url || return 1
    background "$WEFT" live tree.net --paused --listen 0 >second.url 2>second.errors
    serving "$background_id" 60 grep -q token= second.url || return 1
    contains 'no control socket: .*in use' second.errors && "$WEFT" ctl --json status >status.json &&
        same "$(json status.json 'o["switches"]')" 12 && "$WEFT" ctl managers | grep -q master &&
        "$WEFT" ctl stop && wait_until 10 not kill -0 "${started[-2]}" && [ ! -e runtime/weft/live ]
    local result=$?
    stop "${started[@]:1}"
    return $result
}
claim "without an option weft ctl finds the session; a second one runs without a socket" \
    a_second_session_says_that_the_default_socket_is_taken

ends_by_a_signal() { kill -INT "$1" && wait_until 10 not kill -0 "$1"; }
claim "weft live ends by SIGINT" ends_by_a_signal "${started[0]}"
