#!/bin/sh
# weft live at the command line: live_test.sh PATH-OF-WEFT
# shellcheck disable=SC2317 # functions are called by claim
# shellcheck source=../claim.sh
. "$(dirname "$0")/../claim.sh"

# A browser that says what it was given: its arguments, and what it finds there.
mkdir bin runtime
cat >bin/xdg-open <<'END'
#!/bin/sh
echo "$@" >arguments
stat -c '%a' "$1" "$(dirname "$1")" >modes 2>&1
cat "$1" >content 2>&1
echo opened >opened
END
chmod +x bin/xdg-open
mkfifo opened
printf 'topology ring 3 hosts=1\nsm H0 engine lash\nrun until settled\n' >ring.weft

umask 022
PATH="$PWD/bin:$PATH" XDG_RUNTIME_DIR="$PWD/runtime" "$weft" live ring.weft --open --paused >url &
live=$!
read -r _ <opened

path=$(cat arguments)
token=$(sed -n 's/.*#token=//p' url)
no_token_in_arguments() { [ -n "$token" ] && ! grep -q "$token" arguments; }
leads_to_the_page() { grep -qF "url=$(cat url)\"" content; }
for_the_user_only() { [ "$(tr '\n' ' ' <modes)" = '600 700 ' ]; }
removed() { [ -n "$path" ] && [ ! -e "$path" ] && [ ! -e "$(dirname "$path")" ]; }

claim '--open does not show the token in arguments' no_token_in_arguments
claim '--open gives a file that leads to the page' leads_to_the_page
claim 'only the user can read that file' for_the_user_only
kill "$live"
wait "$live"
claim 'the file is removed at the end' removed

# ask NET COMMAND: what weft ctl says to a session of NET; warnings of the session are in `warnings`
ask() {
    mkfifo url.pipe
    XDG_RUNTIME_DIR="$PWD/runtime" "$weft" live "$1" --paused >url.pipe 2>warnings &
    live=$!
    read -r _ <url.pipe
    XDG_RUNTIME_DIR="$PWD/runtime" "$weft" ctl "$2"
    kill "$live"
    wait "$live"
    rm url.pipe
}
# A manager whose routes are refused never settles; the session begins all the same.
"$weft" topo gen irregular 12 hosts=10 >irregular
printf 'topology "%s"\nsm H0 engine dor\nrun until settled\n' "$PWD/irregular" >refused.weft
mkfifo refused.pipe
XDG_RUNTIME_DIR="$PWD/runtime" "$weft" live refused.weft --settled --paused >refused.pipe 2>refused &
live=$!
read -r _ <refused.pipe
now=$(XDG_RUNTIME_DIR="$PWD/runtime" "$weft" ctl status --json | sed -n 's/.*"network_ps": *\([0-9]*\).*/\1/p')
kill "$live"
wait "$live"
soon() { [ "${now:-999999999999}" -lt 1000000000000 ]; }
claim 'a network without routes is served before a second of virtual time has passed' soon
claim 'the reason is on standard error' grep -q 'no routes after .* dor: the network is not a grid' refused

# managers NET: the names of their nodes
managers() { ask "$1" managers | cut -d ' ' -f 1 | tr '\n' ' '; }

"$weft" topo gen clos 2 2 2 vfs=2 >hypervisors
two_hosts() { [ "$(managers hypervisors)" = 'H0 H3 ' ]; }
claim 'managers are on physical adapters of two hosts' two_hosts

cat >one-host <<'END'
switchguid=0x10
Switch 3 "S-10" # "leaf"
[1] "H-20"[1]
[2] "H-30"[1]
caguid=0x20
Ca 1 "H-20" # "node1 HCA-1"
[1] "S-10"[1]
caguid=0x30
Ca 1 "H-30" # "node1 HCA-2"
[1] "S-10"[2]
END
one_manager() { [ "$(managers one-host | wc -w)" = 1 ] && grep -q 'one manager only: no second host' warnings; }
claim 'a network of one host gets one manager, and a warning' one_manager

# A signal that comes while virtual time passes is not lost when the session waits afterwards.
ends_during_a_step() {
    "$weft" topo gen fattree 324 >tree.net
    mkfifo url.pipe
    XDG_RUNTIME_DIR="$PWD/runtime" "$weft" live tree.net --paused >url.pipe 2>warnings &
    live=$!
    read -r url <url.pipe
    rm url.pipe
    (sleep 20 && kill -KILL "$live") 2>/dev/null &
    limit=$!
    python3 - "$live" "$url" <<'END'
import os, signal, sys, threading, time, urllib.request
origin, token = sys.argv[2].split("/#token=")

def step():
    request = urllib.request.Request(origin + "/api/v1/actions", b"do=step&ns=2000000000", {"X-Weft-Token": token})
    try:
        urllib.request.urlopen(request).read()
    except OSError:
        pass  # the session ends meanwhile

def processor_time():
    return int(open(f"/proc/{sys.argv[1]}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()[11])

start = processor_time()
threading.Thread(target=step, daemon=True).start()
while processor_time() < start + 5:
    time.sleep(0.005)
os.kill(int(sys.argv[1]), signal.SIGTERM)
END
    wait "$live"
    status=$?
    kill "$limit" 2>/dev/null
    [ "$status" -eq 0 ]
}
claim 'a signal during a step ends the session' ends_during_a_step

# A file beside the scenario: whoever has no token does not learn where the session runs.
"$weft" topo gen ring 4 >ring.net
printf 'topology ./ring.net\nsm H0\nrun until settled\n' >beside.weft
printf 'topology "%s/ring.net"\nsm H0\nrun until settled\n' "$PWD" >absolute.weft
# exports SCENARIO [HEADER]: the exported scenario
exports() {
    mkfifo url.pipe
    XDG_RUNTIME_DIR="$PWD/runtime" "$weft" live "$1" --paused >url.pipe 2>warnings &
    live=$!
    read -r url <url.pipe
    rm url.pipe
    curl -s ${2:+-H "X-Weft-Token: ${url#*token=}"} "${url%%/#*}/api/v1/export/scenario"
    kill "$live"
    wait "$live"
}
no_path() { exports "$1" >exported && grep -q '^topology .*ring.net' exported && ! grep -qF "$PWD" exported; }
claim 'an export without the token has no absolute path' no_path beside.weft
claim 'also if the scenario has one' no_path absolute.weft
has_path() { exports beside.weft token | grep -qxF "topology \"$(realpath ring.net)\""; }
claim 'an export with the token can be stored anywhere' has_path
exit "$failed"
