#!/usr/bin/env bash
# Virtual machines on a weft fabric under weft sm: real tools see virtual switches and functions,
# and follow a machine before and after its move.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover saquery ibtracert ibroute python3
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

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
    [ "$(lid)" -gt 0 ]
}
lid() { field lid <made.json; } # claims are made in subshells: nothing stays but files
guid() { field guid <made.json; }
again() { vm vm create web1 --on H2 | grep -q 'already' && [ "$(vm vm list | wc -l)" = 1 ]; }
is_at() { # HOST: as the manager, the administration and the tables say
    vm vm show web1 | grep -q " $1 function" || { vm vm show web1 && return 1; }
    on_running_weft saquery NR "$(lid)" >record || { cat record && return 1; }
    grep -q "NodeDescription.*$1-vf" record || { cat record && return 1; }
    on_running_weft ibtracert "$own" "$(lid)" >trace || { cat trace && return 1; }
    grep -q "^To ca.*\"$1-vf" trace || { cat trace && return 1; }
}
path_by_guid() { # its port GUID leads to its LID
    local gid
    gid=$(python3 -c 'import ipaddress, sys; print(ipaddress.IPv6Address(0xfe80 << 112 | int(sys.argv[1], 16)))' "$(guid)")
    on_running_weft saquery PR --src-to-dst "$own:$(lid)" >path || { cat path && return 1; }
    grep -q "dgid\.*$gid" path && grep -q "dlid\.*$(lid)$" path || { cat path && return 1; }
}
moved() {
    vm --json vm migrate web1 --to "$1" >moved.json || { cat moved.json && return 1; }
    [ "$(field lid <moved.json)" = "$(lid)" ] && [ "$(field hypervisor_smps <moved.json)" = 2 ] &&
        [ "$(field rerouted <moved.json)" = False ]
}
moved_inside_leaf() {
    vm --json vm migrate web1 --to auto --mode minimal >moved.json || { cat moved.json && return 1; }
    [ "$(field switches <moved.json)" = 1 ] || { cat moved.json && return 1; }
}
kept() { vm vm show web1 | grep -q 'running'; }
refused() {
    local status=0
    vm vm migrate nobody --to H1 >refused.out 2>&1 || status=$?
    [ "$status" = 1 ] && grep -q 'no such machine' refused.out || { cat refused.out && return 1; }
    status=0
    vm vm create other --on nowhere >refused.out 2>&1 || status=$?
    [ "$status" = 1 ] && grep -q "no hypervisor 'nowhere'" refused.out
}
gone() { vm vm destroy web1 && vm vm destroy web1 && [ -z "$(vm vm list)" ]; }

# The sample hook for libvirt, as the hosts of a machine call it.
hook() { # HOST OPERATION PHASE
    WEFT_HOOK_HOST=$1 && shift
    mkdir -p bin && printf '#!/bin/sh\necho %s\n' "$WEFT_HOOK_HOST" >bin/hostname &&
        printf '#!/bin/sh\nshift 3\nexec "%s" ctl --socket "%s" "$@"\n' "$WEFT" "$work/manager.socket" >bin/weft &&
        chmod +x bin/hostname bin/weft
    PATH=$PWD/bin:$PATH "$(dirname "$hook_script")/libvirt-hook" db1 "$@" - <<<'<domain/>'
}
hook_script=$(dirname "$(readlink -f "$0")")/../../examples/libvirt-hook
db1_is_at() { vm vm show db1 | grep -q " $1 function"; }
hooked() {
    hook H1 prepare begin && db1_is_at H1 || return
    hook H9 prepare begin && db1_is_at H1 || return # an incoming migration
    hook H9 migrate begin && db1_is_at H9 || return
    hook H1 release end && db1_is_at H9 || return
    hook H9 release end && ! vm vm show db1
}

"$WEFT" topo gen kary 4 2 --vfs 2 >cloud.net
weft_start cloud.net || exit
manager_starts --control "$work/manager.socket" || exit
own=$(on_running_weft saquery NR | grep -B 20 'Description.*H0$' | sed -n 's/.*[^_]lid\.*//p' | tail -n 1)
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
kill -9 "$manager_id"
rm -f manager.socket
manager_starts --control "$work/manager.socket" || exit
claim 'a manager that starts anew finds it' kept
claim 'and moves it' moved H5
claim 'saquery and ibtracert follow' is_at H5
claim 'it ends, once' gone
claim 'the sample hook for libvirt does the same' hooked
