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

# Regressions: each of these was a bug.
own_guid_is_safe() { # the manager's own, and a host's
    local guid before status
    for guid in $(on_running_weft saquery NR | sed -n 's/.*port_guid\.*\(0x[0-9a-f]*\)$/\1/p' | sort -u); do
        status=0 before=$(vm topology)
        vm vm create "$guid" --on H0 >refused.out 2>&1 || status=$?
        [ "$status" = 1 ] && grep -q 'which is not a VM' refused.out || { echo "$guid" && cat refused.out && return 1; }
        [ "$(vm topology)" = "$before" ] || { echo "$guid changed something" && return 1; }
    done
    status=0
    vm vm create 0x1ffffffffffffffff >refused.out 2>&1 || status=$?
    [ "$status" = 2 ] && [ -n "$guid" ]
}
refused_in_json() { # STATUS CODE WORD ...
    local status=0 wanted=$1 code=$2
    shift 2
    vm --json "$@" >refused.json 2>refused.err || status=$?
    [ "$status" = "$wanted" ] && [ "$(field code <refused.json)" = "$code" ] && [ -n "$(field error <refused.json)" ] &&
        [ "$(wc -l <refused.json)" = 1 ] && [ ! -s refused.err ] ||
        { echo "$status" && cat refused.json refused.err && return 1; }
}
refusals_in_json() {
    refused_in_json 1 ENOENT vm show nobody && refused_in_json 1 ENOENT vm ticket 9999 &&
        refused_in_json 2 EINVAL vm create a --mode sideways && refused_in_json 1 EIO vm migrate nobody
}
any_name() { # options and control characters
    local status=0
    vm vm create --on H1 -- --help && vm vm show -- --help | grep -q ' H1 function' &&
        vm vm destroy -- --help && vm vm create $'\033[2J' >refused.out 2>&1 || status=$?
    [ "$status" = 2 ] || return
    vm vm show $'\033[2J' >refused.out 2>&1 || status=$?
    [ "$status" = 1 ] && grep -qF "'\\x1b[2J'" refused.out && ! grep -q $'\033' refused.out
}

# The sample hook for libvirt, called as by the hosts of a machine.
hook() { # HOST NAME OPERATION PHASE REASON
    local host=$1 manager=${manager_host-}
    shift
    mkdir -p bin "marks.$host"
    printf '#!/bin/sh\necho %s\n' "$host" >bin/hostname
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$WEFT" >bin/weft
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n' >bin/ssh
    chmod +x bin/*
    printf '%s\n' "WEFT_CONTROL='$work/manager.socket'" "WEFT_MANAGER='$manager'" "WEFT_MARKS='$PWD/marks.$host'" \
        "${hook_setting-}" >hook.conf
    WEFT_HOOK_CONF=$PWD/hook.conf PATH=$PWD/bin:$PATH "$hook_script" "$@" <<<'<domain/>'
}
hook_script=$(dirname "$(readlink -f "$0")")/../../examples/libvirt-hook
name_is_at() { vm vm show -- "$1" | grep -q " $2 function"; }
arrives() { # HOST NAME: as libvirt calls the hook there
    hook "$1" "$2" migrate begin - && hook "$1" "$2" prepare begin - && hook "$1" "$2" start begin - &&
        hook "$1" "$2" started begin -
}
hooked() {
    hook H1 db1 prepare begin - && name_is_at db1 H1 || return
    hook H9 db1 migrate begin - && name_is_at db1 H1 || return
    arrives H9 db1 && name_is_at db1 H9 || return
    hook H1 db1 stopped end migrated && hook H1 db1 release end migrated && name_is_at db1 H9 || return
    hook H9 db1 release end shutdown && ! vm vm show db1
}
failed_migration() { # REASON
    hook H1 db2 prepare begin - && arrives H3 db2 && name_is_at db2 H3 || return
    hook H3 db2 stopped end "$1" && hook H3 db2 release end "$1" && name_is_at db2 H1 || return
    arrives H3 db2 && find marks.H3 -type f -exec touch -d '2 hours ago' {} + || return
    hook H1 db2 release end migrated && hook H3 db2 release end destroyed && ! vm vm show db2
}
no_address_is_taken_away() {
    local evil='evil H0 function 9'
    hook H2 db3 prepare begin - || return
    ! hook H4 db3 prepare begin - && hook H4 db3 release end failed && name_is_at db3 H2 || return
    vm vm create --on H1 -- "$evil" && ! hook H0 "$evil" release end shutdown && name_is_at "$evil" H1 || return
    vm vm destroy "$evil" && hook H2 db3 release end - && ! vm vm show db3
}
no_shell() {
    local name manager_host=sm-host
    for name in 'vm1;touch pwned;#' '$(touch pwned)' $'vm1\ntouch pwned' --help --json -h ../vm1 0x100011 "it's"; do
        ! hook H1 "$name" prepare begin - >hook.out 2>&1 && grep -q 'no addresses for' hook.out ||
            { echo "$name" && cat hook.out && return 1; }
    done
    hook H1 db4 prepare begin - && name_is_at db4 H1 && hook H1 db4 release end shutdown || return
    hook_setting="WEFT_HOST=\"it's; touch pwned; \\\$(touch pwned)\""
    ! hook H1 db4 prepare begin - >hook.out 2>&1 && grep -q 'no hypervisor' hook.out || { cat hook.out && return 1; }
    [ ! -e pwned ]
}
silent_manager() { # nobody knows where the machine is: nothing is done
    local work=nowhere
    ! hook H1 db5 prepare begin - && ! hook H1 db5 release end shutdown
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
claim 'no GUID of a node or port becomes that of a machine' own_guid_is_safe
claim 'refusals are JSON if that was asked for' refusals_in_json
claim 'words behind -- are names; control characters are refused, and never printed' any_name
claim 'the sample hook for libvirt does the same' hooked
for reason in failed destroyed crashed -; do
    claim "after a migration that failed ('$reason') the address is back" failed_migration "$reason"
done
claim 'the hook takes no address away from a machine that runs' no_address_is_taken_away
claim 'the hook runs no part of a name, over ssh either' no_shell
claim 'the hook does nothing while the manager is silent' silent_manager
