#!/usr/bin/env bash
# The live page of weft fabric and of weft sm, with curl: the same API as that of weft live.
here=$(dirname "$(realpath "$0")")
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl python3 saquery sminfo
if ! python3 -c 'import yaml' 2>/dev/null; then need python3-yaml; fi

"$WEFT" topo gen kary 2 3 >tree.net
background "$WEFT" fabric --web tree.net --metrics --socket "$work/socket" >fabric.out 2>&1
serving "$background_id" 30 grep -q token= fabric.out
export WEFT_SOCKET=$work/socket
echo "counter_interval 1s" >sm.conf
background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --config sm.conf --web 0 --log sm.log >sm.out 2>&1
serving "$background_id" 30 grep -q 'subnet up' sm.log
"$WEFT" ctl page >sm.url || exit

# of fabric.out|sm.url: sets url and token
of() { url=$(grep -o 'http[^ ]*/#' "$1" | sed 's/\/#//') token=$(sed -n 's/.*token=//p' "$1"); }
status_of() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
serves() { curl -sf "$1" >served.out && contains "$2" served.out; } # URL PATTERN
act() { curl -sf -H "X-Weft-Token: $token" -d "$1" "$url/api/v1/actions"; }
# value PATH EXPRESSION: of the object `o` that the API answers
value() { curl -sf "$url/api/v1/$1" | json "$2"; }
json() { python3 -c 'import json,sys; o=json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; } # EXPRESSION
is() { [ "$(value "$1" "$2")" = "$3" ]; }

as_described() {
    of "$1"
    python3 "$here/api_check.py" "$here/../../docs/api/openapi.yaml" "$url" "$token"
}
claim "the API of weft fabric is as docs/api/openapi.yaml describes it" as_described fabric.out
claim "the API of weft sm is as docs/api/openapi.yaml describes it" as_described sm.url

needs_the_token() {
    of "$1"
    [ "$(status_of -d do=reroute "$url/api/v1/actions")" = 401 ] &&
        [ "$(status_of -H 'Origin: http://evil.example' "$url/api/v1/state")" = 403 ] &&
        serves "$url/" '<html'
}
claim "changes of a fabric need the token" needs_the_token fabric.out
claim "changes of a manager need the token" needs_the_token sm.url

the_token_is_not_logged() {
    of sm.url
    [ "${#token}" -ge 32 ] && contains "page +at $url " sm.log && ! grep -F "$token" sm.log sm.out
}
claim "the log names the page, and not its token" the_token_is_not_logged

metrics_are_at_the_page() {
    of "$1"
    curl -sf "$url/metrics" >metrics.out && contains "^$2 1" metrics.out
}
claim "the address of a fabric's page serves its metrics" metrics_are_at_the_page fabric.out 'weft_build_info{.*}'
claim "the address of a manager's page serves its metrics" metrics_are_at_the_page sm.url 'weft_sm_state{state="master"}'

counts_agree() {
    of fabric.out
    local nodes links
    nodes=$(value topology 'len(o["nodes"]["name"])') links=$(value topology 'len(o["links"]["a"])')
    of sm.url
    [ "$("$WEFT" ctl --json --manager status | json 'o["switches"] + o["adapters"]')" = "$nodes" ] &&
        [ "$("$WEFT" ctl --json --manager status | json 'o["links"]')" = "$links" ] &&
        is topology 'len(o["nodes"]["name"])' "$nodes" && is topology 'len(o["links"]["a"])' "$links" &&
        is state 'o["managers"][0]["nodes"]' "$nodes" && is state 'o["managers"][0]["state"]' master
}
claim "fabric and manager show as many nodes and links" counts_agree

offers_what_there_is() { of sm.url && is info '[c for c in ("vms", "partitions", "managers", "whatif", "time") if c in o["capabilities"]]' '[]'; }
claim "a manager without machines and partitions does not offer them" offers_what_there_is

# switch_link: the first link between two switches
switch_link() { value topology '[i for i,(a,b) in enumerate(zip(o["links"]["a"],o["links"]["b"])) if o["nodes"]["kind"][a]==o["nodes"]["kind"][b]==2][0]'; }

a_cut_link_is_seen_by_both() {
    of fabric.out
    act "do=cut&link=$(switch_link)" && is state '[s for l,s in o["links"]]' '[1]' &&
        "$WEFT" ctl status | grep -q 'faults *fail link' || return 1
    of sm.url
    wait_until 30 is state '[s for l,s in o["links"]]' '[2]' || return 1
    of fabric.out
    act "do=restore&link=$(switch_link)" && of sm.url && wait_until 30 is state 'o["links"]' '[]'
}
claim "a link that is cut on the page of the fabric is seen on that of the manager" a_cut_link_is_seen_by_both

# The errors of all links; a link that was cut has LinkDownedCounter, bit errors above the threshold an integrity error, too.
errors_of() { of "$1" && value state 'sum(n for l,n in o["errors"])'; }
errors_agree() {
    local before after live
    before=$(errors_of fabric.out) && "$WEFT" ctl errors L0_0 3 100 && after=$(errors_of fabric.out) && [ "$before" -ge 2 ] &&
        of sm.url && wait_until 30 is state 'sum(n for l,n in o["errors"])' "$after" || return
    background "$WEFT" live tree.net --load 0.5 --listen 0 --socket "$work/live.socket" >live.url 2>live.errors
    live=$background_id
    serving "$live" 60 grep -q token= live.url || { cat live.errors; return 1; }
    of live.url
    wait_until 30 is state 'o["traffic"]["delivered"] > 100' True && act "do=cut&link=$(switch_link)" &&
        wait_until 30 is state 'sum(o["traffic"]["lost"].values()) > 0' True && act do=pause &&
        WEFT_SOCKET=$work/live.socket "$WEFT" ctl errors L0_0 3 100 || return
    [ "$(errors_of live.url)" = $((after - before + 2)) ] && stop "$live"
}
claim "the errors of links are the same on the pages of fabric, manager and live session" errors_agree

a_link_is_disabled() {
    local disabled='"disabled port" in [p["kind"] for p in o["problems"]]' link
    of sm.url
    link=$(switch_link)
    act "do=cut&link=$link" && wait_until 30 is state "$disabled" True && wait_until 30 is state 'o["links"]' "[[$link, 1]]" &&
        wait_until 30 is state 'len([p for p in o["problems"] if p["since"] > 0])' "$("$WEFT" ctl --json problems | json 'len(o)')" &&
        act "do=restore&link=$link" && wait_until 30 is state "$disabled" False &&
        wait_until 30 is state 'o["links"]' '[]'
}
claim "a link is disabled and enabled on the page of the manager" a_link_is_disabled

changes_have_phases() {
    of sm.url
    local before
    before=$(value state 'o["changes"][-1]["id"]')
    act do=reroute && wait_until 30 is state "[c[\"id\"] > $before and c[\"end\"] is not None for c in o[\"changes\"][-1:]]" '[True]' &&
        is state '[c["finished"] and c["begin"] <= c["routing"] <= c["routed"] <= c["end"] for c in o["changes"][-1:]]' '[True]' &&
        is state 'o["changes"][0]["sets"] > 0 and o["changes"][0]["blocks"] > 0 and o["changes"][0]["gets"] > 0' True &&
        is state 'o["changes"][0]["cause"]' started && is state 'o["managers"][0]["change"]' None
}
claim "changes have a cause, phases and costs" changes_have_phases

tables_are_compared() {
    of sm.url
    local first last
    first=$(value tables/versions 'o["versions"][0]["id"]') last=$(value tables/versions 'o["versions"][-1]["id"]')
    [ "$first" -lt "$last" ] && is "tables/compare?a=$first&b=$first" 'o["entries"]' 0 || return
    act "do=cut&link=$(switch_link)" && wait_until 30 is tables/versions "o[\"versions\"][-1][\"id\"] > $last" True || return
    last=$(value tables/versions 'o["versions"][-1]["id"]')
    is "tables/compare?a=$first&b=$last" 'o["entries"] > 0 and len(o["switches"]) > 0 and len(o["links"]) > 0' True &&
        [ "$(value tables/versions 'o["versions"][0]["entries"]')" = "$("$WEFT" ctl --json routes | json 'sum(len(s["entries"]) for s in o)')" ] &&
        [ "$(status_of "$url/api/v1/tables/compare?a=$first&b=9999")" = 404 ] &&
        [ "$(status_of "$url/api/v1/tables/compare?a=$first")" = 400 ] &&
        act "do=restore&link=$(switch_link)" && wait_until 30 is state 'o["links"]' '[]'
}
claim "tables of two versions are compared" tables_are_compared

# The members that the client printed, and a tree that has the link of every member that receives.
groups_have_trees() {
    of sm.url
    WEFT_ATTACH=H1 timeout 30 env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" groups 3 1 >groups.out 2>&1 || { cat groups.out && return 1; }
    [ "$(value groups 'o["total"]')" = "$(LD_PRELOAD=$PRELOAD saquery -g | grep -c MGID)" ] &&
        is groups 'len(o["groups"]) == o["total"]' True &&
        [ "$(value groups 'sum(len(g["members"]) for g in o["groups"])')" = "$(cut -d ' ' -f 1,2 groups.out | sort -u | wc -l)" ] &&
        wait_until 30 trees_reach_members
}
trees_reach_members() {
    curl -sf "$url/api/v1/groups" >groups.json && curl -sf "$url/api/v1/topology" >topology.json && python3 - <<'PYTHON'
import json
topology = json.load(open("topology.json"))
ends = [{a, b} for a, b in zip(topology["links"]["a"], topology["links"]["b"])]
node_of = {int(guid, 16) + 1: node for node, guid in enumerate(topology["nodes"]["guid"])} # of the port GUID of a host
receives = {(int(mlid, 16), node_of[int(guid, 16)]) for mlid, guid, state in map(str.split, open("groups.out")) if state == "1"}
for group in json.load(open("groups.json"))["groups"]:
    members = {node for mlid, node in receives if mlid == group["mlid"]}
    assert members <= set(group["members"]), group
    assert len(members) < 2 or members <= set().union(*(ends[link] for link in group["links"])), group
assert len(receives) > 3
PYTHON
}
claim "multicast groups are those of the administration, and their trees reach the members" groups_have_trees

# 1,000 connections with half a request, half a body, or a stream that they do not read. They come from the same address
# as our requests, of which one may be refused by its limits: then it is repeated.
page_answers() {
    is state 'o["running"]' True && act "do=restore&link=$(switch_link)" && serves "$url/metrics" weft_build_info
}
slow_clients() { # fabric.out|sm.url: SMInfo is answered as before, and the page is served
    local status=0
    of "$1"
    background python3 "$here/slow_connections.py" "${url#http://}" 1000 "$token" >slow.out 2>&1
    wait_until 60 grep -q connected slow.out || { cat slow.out && return 1; }
    for _ in 1 2 3 4 5; do
        WEFT_ATTACH=H7 timeout 30 env LD_PRELOAD="$PRELOAD" sminfo >sminfo.out 2>&1 && contains SMINFO_MASTER sminfo.out &&
            wait_until 30 page_answers || status=1
    done
    stop "$background_id"
    return "$status"
}
claim "1,000 slow connections to the page of a fabric delay nothing" slow_clients fabric.out
claim "1,000 slow connections to the page of a manager delay neither SMInfo nor the page" slow_clients sm.url

limits_hold() { # fabric.out|sm.url
    of "$1"
    local head=(-H "X-Weft-Token: $token")
    head -c 70000 /dev/zero | tr '\0' x >large
    [ "$(status_of "${head[@]}" --data-binary @large "$url/api/v1/actions")" = 413 ] &&
        [ "$(status_of "${head[@]}" -H 'Host: evil.example' -d do=reroute "$url/api/v1/actions")" = 421 ] &&
        [ "$(status_of "${head[@]}" -H 'Origin: http://evil.example' -d do=reroute "$url/api/v1/actions")" = 403 ] &&
        [ "$(status_of "${head[@]}" -H 'Sec-Fetch-Site: cross-site' -d do=reroute "$url/api/v1/actions")" = 403 ] &&
        [ "$(status_of -m 5 -H 'Host: evil.example' "$url/api/v1/events")" = 421 ] &&
        [ "$(status_of -X DELETE "$url/api/v1/actions")" = 405 ]
}
claim "large and foreign requests to a fabric are refused" limits_hold fabric.out
claim "large and foreign requests to a manager are refused" limits_hold sm.url

refusals_change_nothing() {
    of sm.url
    local body
    for body in do=cut do=cut\&link=99999 do=cut\&link=-1 do=kill-manager do= x=1 do=vm-start do=vm-move\&name=x\&node=999999 \
        do=vm-move\&name=nobody do=handover "do=vm-start&name=$(printf 'n%.0s' {1..300})"; do
        case $(status_of -H "X-Weft-Token: $token" -d "$body" "$url/api/v1/actions") in
        400 | 409) ;;
        *) echo "not refused: $body" && return 1 ;;
        esac
    done
    wait_until 30 is state 'o["links"]' '[]' # a link of an earlier claim may still be training
}
claim "actions that are not possible are refused and change nothing" refusals_change_nothing

# Other managers, on a fabric of their own. A free port is one that a program has just closed.
free_port() { python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
another_fabric() { # NET
    background "$WEFT" fabric "$1" --socket "$work/$1.socket" >second.out 2>&1
    export WEFT_SOCKET=$work/$1.socket
    serving "$background_id" 30 grep -q serving second.out
}
second_starts() { # OPTION...: its log is second.log
    rm -f second.log
    background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --log second.log "$@" >second.out 2>&1
    second=$background_id
    serving "$second" 30 grep -q 'subnet up' second.log || { cat second.out second.log && return 1; }
}
listeners() { # PID: TCP sockets that it listens at
    local inodes
    inodes=$(find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n')
    awk 'NR == FNR { of[$1]; next } $4 == "0A" && $10 in of' <(echo "$inodes") /proc/net/tcp | wc -l
}
one_address() {
    local port
    port=$(free_port) && second_starts --web "$port" --metrics "localhost:$port" && [ "$(listeners "$second")" = 1 ] &&
        serves "http://127.0.0.1:$port/metrics" weft_sm_state && serves "http://127.0.0.1:$port/" '<html' &&
        contains "metrics +at http://127.0.0.1:$port/metrics" second.log && stop "$second"
}
two_addresses() {
    local page metrics
    page=$(free_port) metrics=$(free_port) && second_starts --web "$page" --metrics "$metrics" && [ "$(listeners "$second")" = 2 ] &&
        serves "http://127.0.0.1:$metrics/metrics" weft_sm_state &&
        serves "http://127.0.0.1:$page/metrics" weft_sm_state &&
        [ "$(status_of "http://127.0.0.1:$metrics/api/v1/state")" = 404 ] && stop "$second"
}
busy_address() { # another program has the address of the page
    local port other
    background python3 -c 'import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
time.sleep(600)' >busy.out 2>&1
    other=$background_id
    wait_until 20 test -s busy.out && port=$(cat busy.out) && second_starts --web "$port" || return
    contains "error +no page: .*127.0.0.1:$port.* in use" second.log && exits_with 2 "$WEFT" ctl page >page.out 2>&1 &&
        contains 'not served yet' page.out && [ "$(grep -c 'no page' second.log)" = 1 ] && stop "$other" &&
        wait_until 30 grep -q "page  *at http://127.0.0.1:$port " second.log &&
        serves "http://127.0.0.1:$port/" '<html' && stop "$second"
}
token_of_a_file() {
    local port
    port=$(free_port) && (umask 077 && echo a-token-of-mine >token) && second_starts --web "$port" --token-file token || return
    url=http://127.0.0.1:$port token=a-token-of-mine
    [ "$("$WEFT" ctl page)" = "$url/#token=$token" ] && act do=reroute && token=a-token-of-mine-not && ! act do=reroute || return
    stop "$second"
    chmod 644 token && second_starts --web "$port" --token-file token && contains 'error +token: users other .* random token' second.log &&
        token=a-token-of-mine && ! act do=reroute && stop "$second"
}
# sl_of FROM TO: of the path on the page; record_sl FROM TO: of the PathRecord
sl_of() { value "path?from=$(value topology "o[\"nodes\"][\"name\"].index(\"$1\")")&to=$(value topology "o[\"nodes\"][\"name\"].index(\"$2\")")" 'o["sl"]'; }
record_sl() { LD_PRELOAD=$PRELOAD saquery -p --src-to-dst "$1:$2" >record.out 2>&1 && sed -n 's/^[[:space:]]*sl\.*0x//p' record.out | head -1; }
paths_have_the_sl_of_records() { # a policy gives packets from H1 an SL of their own
    local port
    printf '%s\n' 'level default sl 0' 'level best sl 2' 'group good name H1' 'match from good level best' >policy
    echo "qos_policy $work/policy" >qos.conf
    port=$(free_port) && second_starts --config qos.conf --web "$port" || return
    url=http://127.0.0.1:$port
    [ "$(sl_of H1 H2)" = 2 ] && [ "$(sl_of H2 H1)" = 0 ] && [ "$(record_sl H1 H2)" = 2 ] && [ "$(record_sl H2 H1)" = 0 ] && stop "$second"
}
no_page() { second_starts && exits_with 2 "$WEFT" ctl page >page.out 2>&1 && contains 'no page: start it with --web' page.out && stop "$second"; }

# default_of OPTION...: the addresses of the configuration with these options
default_of() { "$WEFT" sm "$@" --print-config >config.out 2>&1 && sed -nE 's/^(web|metrics) //p' config.out | sort -u | tr '\n' ' '; }
values_are_optional() {
    [ "$(default_of --web --metrics)" = '9933 ' ] && [ "$(default_of --metrics 9934 --web)" = '9933 9934 ' ] &&
        [ "$(default_of "--web=[::1]:80" --metrics unix:/run/weft.http)" = '[::1]:80 unix:/run/weft.http ' ] &&
        [ "$(default_of --web none)" = 'none ' ] && exits_with 2 "$WEFT" sm --web 9933x >config.out 2>&1 && contains 'web: .9933x' config.out &&
        [ "$(grep -o 'http://[^/]*' fabric.out | sort -u | wc -l)" = 1 ]
}
claim "the addresses of page and metrics have defaults" values_are_optional

another_fabric tree.net || exit
claim "a page and metrics at the same address have one listener" one_address
claim "metrics at an address of their own: nothing else is served there" two_addresses
claim "an address in use does not stop the manager, which serves its page there later" busy_address
claim "the token may come from a file that only its owner can read" token_of_a_file
claim "a path on the page of a manager has the SL of its PathRecord" paths_have_the_sl_of_records
claim "a manager without a page says so" no_page

# Names may have blanks: an event has its node as a value.
cat >blank.net <<'NET'
switchguid=0x10
Switch 2 "S-10" # "leaf 1"
[1] "H-20"[1]
[2] "H-30"[1]
caguid=0x20
Ca 1 "H-20" # "node00 mlx5_0"
[1] "S-10"[1]
caguid=0x30
Ca 1 "H-30" # "node01 mlx5_0"
[1] "S-10"[2]
NET
an_event_has_its_node() {
    second_starts --web 0 && "$WEFT" ctl page >second.url && of second.url && wait_until 30 value topology 'o["nodes"]["name"]' &&
        "$WEFT" ctl fail node 'node01 mlx5_0' && wait_until 30 names_the_node && stop "$second"
}
names_the_node() {
    curl -sf "$url/api/v1/state" >state.json && curl -sf "$url/api/v1/topology" >topology.json && python3 - <<'PYTHON'
import json
node = json.load(open("topology.json"))["nodes"]["name"].index("node01 mlx5_0")
events = [e for e in json.load(open("state.json"))["events"] if "node01 mlx5_0" in e["text"]]
assert any(e["node"] == node for e in events), events
PYTHON
}
another_fabric blank.net || exit
claim "an event about a node whose name has blanks is at that node" an_event_has_its_node

# Machines and partitions.
"$WEFT" topo gen kary 2 3 --vfs 2 >cloud.net
printf '%s\n' 'Default=0x7fff, ipoib : ALL=full;' 'storage=0x0123 : ALL=limited, SELF=full;' >partitions.conf
machines_are() { is state "[(v[\"name\"], v[\"state\"]) for v in o[\"vms\"]]" "$1"; }
machines_move() {
    local other
    is info '"vms" in o["capabilities"] and "partitions" in o["capabilities"]' True && is state 'len(o["hypervisors"])' 8 || return
    act do=vm-start\&name=web1 && wait_until 30 machines_are "[('web1', 'running')]" || return
    other=$(value state '[h for h in o["hypervisors"] if h != o["vms"][0]["node"]][-1]')
    act "do=vm-move&name=web1&node=$other" && wait_until 30 is state 'o["vms"][0]["node"]' "$other" &&
        wait_until 30 machines_are "[('web1', 'running')]" || return
    [ "$("$WEFT" ctl --json vm list | json 'len(o)')" = "$(value state 'len(o["vms"])')" ] &&
        [ "$("$WEFT" ctl --json vm show web1 | json 'o["lid"]')" = "$(value state 'o["vms"][0]["lid"]')" ] &&
        [ "$("$WEFT" ctl --json vm show web1 | json 'o["hypervisor"]')" = "$(value topology "o[\"nodes\"][\"name\"][$other]")" ] &&
        wait_until 30 is tables/versions 'any(v["changed"] and v["cause"].startswith("vm migrate web1: at ") for v in o["versions"])' True &&
        act do=vm-stop\&name=web1 && wait_until 30 machines_are '[]'
}
partitions_have_members() { # 8 hosts with 2 functions
    is partitions '[(p["pkey"], p["name"]) for p in o["partitions"]]' "[(291, 'storage'), (32767, 'Default')]" &&
        is partitions 'len(o["partitions"][0]["full"]), len(o["partitions"][0]["limited"])' '(1, 23)' &&
        is partitions 'len(o["partitions"][1]["full"])' 24
}
another_fabric cloud.net || exit
second_starts --web 0 --partitions partitions.conf || exit
"$WEFT" ctl page >second.url && of second.url
claim "the API of a manager with machines and partitions is as docs/api/openapi.yaml describes it" as_described second.url
claim "machines start, move and stop on the page" machines_move
claim "partitions have the members that the P_Key tables give" partitions_have_members
