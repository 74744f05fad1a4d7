#!/usr/bin/env bash
# The live page of weft fabric and of weft sm, with curl: the same API as that of weft live.
here=$(dirname "$(realpath "$0")")
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl python3
if ! python3 -c 'import yaml' 2>/dev/null; then need python3-yaml; fi

"$WEFT" topo gen kary 2 3 >tree.net
background "$WEFT" fabric tree.net --web 0 --socket "$work/socket" >fabric.out 2>&1
serving "$background_id" 30 grep -q token= fabric.out
export WEFT_SOCKET=$work/socket
background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --web 0 --log sm.log --control none
serving "$background_id" 30 grep -q 'subnet up' sm.log

# of fabric.out|sm.log: sets url and token
of() { url=$(grep -o 'http[^ ]*/#' "$1" | sed 's/\/#//') token=$(sed -n 's/.*token=//p' "$1"); }
status_of() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
act() { curl -sf -H "X-Weft-Token: $token" -d "$1" "$url/api/v1/actions"; }
# value PATH EXPRESSION: of the object `o` that the API answers
value() { curl -sf "$url/api/v1/$1" | python3 -c 'import json,sys; o=json.load(sys.stdin); print(eval(sys.argv[1]))' "$2"; }
is() { [ "$(value "$1" "$2")" = "$3" ]; }

as_described() {
    of "$1"
    python3 "$here/api_check.py" "$here/../../docs/api/openapi.yaml" "$url" "$token"
}
claim "the API of weft fabric is as docs/api/openapi.yaml describes it" as_described fabric.out
claim "the API of weft sm is as docs/api/openapi.yaml describes it" as_described sm.log

needs_the_token() {
    of "$1"
    [ "$(status_of -d do=reroute "$url/api/v1/actions")" = 401 ] &&
        [ "$(status_of -H 'Origin: http://evil.example' "$url/api/v1/state")" = 403 ] &&
        curl -sf "$url/" | grep -q '<html'
}
claim "changes of a fabric need the token" needs_the_token fabric.out
claim "changes of a manager need the token" needs_the_token sm.log

counts_agree() {
    of fabric.out
    local nodes links
    nodes=$(value topology 'len(o["nodes"]["name"])') links=$(value topology 'len(o["links"]["a"])')
    of sm.log
    is topology 'len(o["nodes"]["name"])' "$nodes" && is topology 'len(o["links"]["a"])' "$links" &&
        is state 'o["managers"][0]["nodes"]' "$nodes" && is state 'o["managers"][0]["state"]' master
}
claim "fabric and manager show as many nodes and links" counts_agree

# switch_link: the first link between two switches
switch_link() { value topology '[i for i,(a,b) in enumerate(zip(o["links"]["a"],o["links"]["b"])) if o["nodes"]["kind"][a]==o["nodes"]["kind"][b]==2][0]'; }

a_cut_link_is_seen_by_both() {
    of fabric.out
    act "do=cut&link=$(switch_link)" && is state '[s for l,s in o["links"]]' '[1]' &&
        "$WEFT" ctl status | grep -q 'the cable is disconnected' || return 1
    of sm.log
    wait_until 30 is state '[s for l,s in o["links"]]' '[2]' || return 1
    of fabric.out
    act "do=restore&link=$(switch_link)" && of sm.log && wait_until 30 is state 'o["links"]' '[]'
}
claim "a link that is cut on the page of the fabric is seen on that of the manager" a_cut_link_is_seen_by_both

a_link_is_disabled() {
    local disabled='"disabled port" in [p["kind"] for p in o["problems"]]'
    of sm.log
    act "do=cut&link=$(switch_link)" && wait_until 30 is state "$disabled" True &&
        act "do=restore&link=$(switch_link)" && wait_until 30 is state "$disabled" False &&
        wait_until 30 is state 'o["links"]' '[]'
}
claim "a link is disabled and enabled on the page of the manager" a_link_is_disabled
