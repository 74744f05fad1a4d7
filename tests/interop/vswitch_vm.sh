#!/usr/bin/env bash
# Virtual machines on a weft fabric under weft sm: real tools see virtual switches and functions,
# and follow a machine before and after its move.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover saquery ibtracert ibroute python3
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
running=on_running_weft

vm() { "$WEFT" ctl --socket "$work/manager.socket" "$@"; }
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

discovered() {
    on_running_weft ibnetdiscover >found || return
    [ "$(grep -c '^devid=0x7653' found)" = 16 ] && [ "$(grep -c '^Ca.*-vf' found)" = 32 ]
}
shares_lid() { # what ibnetdiscover tells of a hypervisor's two: the same LID
    [ "$(sed -n 's/^Switch.*"H3-vswitch".* lid \([0-9]*\) lmc.*/\1/p' found)" = \
        "$(sed -n 's/^\[2\].*# "H3" lid \([0-9]*\).*/\1/p' found)" ]
}
nodes_recorded() {
    on_running_weft saquery NR >nodes || return
    [ "$(grep -c 'NodeDescription.*H3' nodes)" -ge 3 ]
}
created() {
    vm --json vm create web1 --on H2 >made.json || { cat made.json && return 1; }
    lid=$(field lid <made.json)
    guid=$(field guid <made.json)
    [ "$lid" -gt 0 ]
}
again() { vm vm create web1 --on H2 | grep -q 'already' && [ "$(vm vm list | wc -l)" = 1 ]; }
is_at() { # HOST: as the manager, the administration and the tables say
    vm vm show web1 | grep -q " $1 function" || { vm vm show web1 && return 1; }
    on_running_weft saquery PR --dgid "0xfe80000000000000:${guid#0x}" >path 2>&1 ||
        on_running_weft saquery PR --sgid-to-dgid "fe80::1-fe80::${guid#0x}" >path 2>&1 || true
    on_running_weft saquery NR "$lid" >record || { cat record && return 1; }
    grep -q "NodeDescription.*$1-vf" record || { cat record && return 1; }
    on_running_weft ibtracert -n "$own" "$lid" >trace 2>&1 || { cat trace && return 1; }
    on_running_weft ibtracert "$own" "$lid" | tail -n 1 | grep -q "\"$1-vf" ||
        { on_running_weft ibtracert "$own" "$lid" && return 1; }
}
path_by_guid() { # its port GUID leads to its LID
    on_running_weft saquery PR "$own" "$lid" >path || { cat path && return 1; }
    grep -qi "dgid.*$(printf '%x' "$((guid & 0xffff))")" path &&
        grep -q "dlid\.*$lid" path || { cat path && return 1; }
}
moved() {
    vm --json vm migrate web1 --to "$1" >moved.json || { cat moved.json && return 1; }
    [ "$(field lid <moved.json)" = "$lid" ] && [ "$(field hypervisor_smps <moved.json)" = 2 ] &&
        [ "$(field rerouted <moved.json)" = False ]
}
moved_inside_leaf() {
    vm --json vm migrate web1 --to auto --mode minimal >moved.json || { cat moved.json && return 1; }
    [ "$(field switches <moved.json)" = 1 ] || { cat moved.json && return 1; }
}
kept() { # by a manager that knows nothing of it
    kill -9 "$manager_id"
    rm -f manager.socket
    manager_starts --control "$work/manager.socket" --set vswitch_lids=prepopulated || return
    vm vm show web1
}
refused() {
    local status=0
    vm vm migrate nobody --to H1 >refused.out 2>&1 || status=$?
    [ "$status" = 1 ] && grep -q 'no such machine' refused.out || { cat refused.out && return 1; }
    status=0
    vm vm create other --on nowhere >refused.out 2>&1 || status=$?
    [ "$status" = 1 ] && grep -q "no hypervisor 'nowhere'" refused.out
}
gone() { vm vm destroy web1 && vm vm destroy web1 && [ -z "$(vm vm list)" ]; }

"$WEFT" topo gen kary 4 2 --vfs 2 >cloud.net
weft_start cloud.net || exit
claim 'weft sm brings hypervisors up' manager_starts --control "$work/manager.socket"
own=$(on_running_weft saquery NR 2>/dev/null | grep -B 30 'H0$' | sed -n 's/.*LID\.*//p' | tail -n 1)
claim 'ibnetdiscover lists virtual switches and virtual functions' discovered
claim 'a virtual switch shares the LID of its physical function' shares_lid
claim 'saquery lists their records' nodes_recorded
claim 'a machine is made' created
claim 'to make it again changes nothing' again
claim 'saquery and ibtracert find it where it is' is_at H2
claim 'its path record leads to its LID' path_by_guid
claim 'it moves with its LID, by two SMPs to hypervisors' moved H14
claim 'saquery and ibtracert find it at its new place' is_at H14
claim 'its path record is the same' path_by_guid
claim 'a minimal move inside a leaf touches one switch' moved_inside_leaf
claim 'mistakes are told' refused
claim 'a manager that starts anew finds it' kept
claim 'and moves it' moved H5
claim 'saquery and ibtracert follow' is_at H5
claim 'it ends, once' gone
