#!/usr/bin/env bash
# The live page of weft fabric and of weft sm, with curl: the same API as that of weft live.
here=$(dirname "$(realpath "$0")")
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl python3
if ! python3 -c 'import yaml' 2>/dev/null; then need python3-yaml; fi

"$WEFT" topo gen kary 2 3 >tree.net
background "$WEFT" fabric --web tree.net --metrics --socket "$work/socket" >fabric.out 2>&1
serving "$background_id" 30 grep -q token= fabric.out
export WEFT_SOCKET=$work/socket
background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --web 0 --log sm.log >sm.out 2>&1
serving "$background_id" 30 grep -q 'subnet up' sm.log
"$WEFT" ctl page >sm.url || exit

# of fabric.out|sm.url: sets url and token
of() { url=$(grep -o 'http[^ ]*/#' "$1" | sed 's/\/#//') token=$(sed -n 's/.*token=//p' "$1"); }
status_of() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
serves() { curl -sf "$1" >served.out && contains "$2" served.out; } # URL PATTERN
act() { curl -sf -H "X-Weft-Token: $token" -d "$1" "$url/api/v1/actions"; }
# value PATH EXPRESSION: of the object `o` that the API answers
value() { curl -sf "$url/api/v1/$1" | python3 -c 'import json,sys; o=json.load(sys.stdin); print(eval(sys.argv[1]))' "$2"; }
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
    of sm.url
    wait_until 30 is state '[s for l,s in o["links"]]' '[2]' || return 1
    of fabric.out
    act "do=restore&link=$(switch_link)" && of sm.url && wait_until 30 is state 'o["links"]' '[]'
}
claim "a link that is cut on the page of the fabric is seen on that of the manager" a_cut_link_is_seen_by_both

a_link_is_disabled() {
    local disabled='"disabled port" in [p["kind"] for p in o["problems"]]'
    of sm.url
    act "do=cut&link=$(switch_link)" && wait_until 30 is state "$disabled" True &&
        act "do=restore&link=$(switch_link)" && wait_until 30 is state "$disabled" False &&
        wait_until 30 is state 'o["links"]' '[]'
}
claim "a link is disabled and enabled on the page of the manager" a_link_is_disabled

# Other managers, on a fabric of their own. A free port is one that a program has just closed.
free_port() { python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
another_fabric() {
    background "$WEFT" fabric tree.net --socket "$work/second" >second.out 2>&1
    export WEFT_SOCKET=$work/second
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
no_page() { second_starts && exits_with 2 "$WEFT" ctl page >page.out 2>&1 && contains 'no page: start it with --web' page.out && stop "$second"; }

# default_of OPTION...: the addresses of the configuration with these options
default_of() { "$WEFT" sm "$@" --print-config >config.out 2>&1 && sed -nE 's/^(web|metrics) //p' config.out | sort -u | tr '\n' ' '; }
values_are_optional() {
    [ "$(default_of --web --metrics)" = '9933 ' ] && [ "$(default_of --metrics 9934 --web)" = '9933 9934 ' ] &&
        [ "$(default_of --web=[::1]:80 --metrics unix:/run/weft.http)" = '[::1]:80 unix:/run/weft.http ' ] &&
        [ "$(default_of --web none)" = 'none ' ] && exits_with 2 "$WEFT" sm --web 9933x >config.out 2>&1 && contains 'web: .9933x' config.out &&
        [ "$(grep -o 'http://[^/]*' fabric.out | sort -u | wc -l)" = 1 ]
}
claim "the addresses of page and metrics have defaults" values_are_optional

another_fabric || exit
claim "a page and metrics at the same address have one listener" one_address
claim "metrics at an address of their own: nothing else is served there" two_addresses
claim "an address in use does not stop the manager, which serves its page there later" busy_address
claim "the token may come from a file that only its owner can read" token_of_a_file
claim "a manager without a page says so" no_page
