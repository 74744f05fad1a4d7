#!/usr/bin/env bash
# VMs on a weft fabric with weft sm: tools list vSwitches and VFs, and find a VM before and after its
# migration.
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
shares_lid() { # vSwitch and PF, according to ibnetdiscover
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
lid() { field lid <made.json; } # from a file, because claims run in subshells
guid() { field guid <made.json; }
again() { vm vm create web1 --on H2 | grep -q 'already' && [ "$(vm vm list | wc -l)" = 1 ]; }
is_at() { # HOST: according to the SM, the SA and the LFTs
    vm vm show web1 | grep -q " $1 function" || { vm vm show web1 && return 1; }
    on_running_weft saquery NR "$(lid)" >record || { cat record && return 1; }
    grep -q "NodeDescription.*$1-vf" record || { cat record && return 1; }
    on_running_weft ibtracert "$own" "$(lid)" >trace || { cat trace && return 1; }
    grep -q "^To ca.*\"$1-vf" trace || { cat trace && return 1; }
}
path_by_guid() { # the path record has its GID and its LID
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
listed() { vm vm list | grep -q "$1"; }
cut_off_and_removed() {
    vm vm create --on H3 -- "$long" && vm vm create web2 --on H4 && "$WEFT" ctl link down H3-vswitch 1 &&
        "$WEFT" ctl link down H4-vswitch 1 && wait_until 15 listed 'unreachable .*H3' &&
        wait_until 15 listed 'unreachable .*H4' || { vm vm list && return 1; }
    vm vm destroy web2 | tee removed.out && grep -qx 'removed when H4 returns' removed.out
}
still_wanted() {
    vm vm list >list.out && grep -q 'removed .*H4.*removed when H4 returns' list.out &&
        grep -q "started again when H3 returns  $long" list.out || { cat list.out && return 1; }
}
carried_out() {
    [ "$(vm vm list | wc -l)" = 1 ] && vm vm show -- "$long" | grep -q 'running .*H3 function'
}
returned() {
    "$WEFT" ctl link up H3-vswitch 1 && "$WEFT" ctl link up H4-vswitch 1 && wait_until 30 carried_out ||
        { vm vm list && cat manager.log && return 1; }
}
long='a name of more than the forty bytes of the attribute'
gone() { vm vm destroy web1 && vm vm destroy web1 && [ -z "$(vm vm list)" ]; }

# Regression tests.
guids_in_use_are_refused() { # of the SM port and of hosts
    local guid before status
    for guid in $(on_running_weft saquery NR | sed -n 's/.*port_guid\.*\(0x[0-9a-f]*\)$/\1/p' | sort -u); do
        status=0 before=$(vm topology)
        vm vm create "$guid" --on H0 >refused.out 2>&1 || status=$?
        [ "$status" = 1 ] && grep -q 'which is not a VM' refused.out || { echo "$guid" && cat refused.out && return 1; }
        [ "$(vm topology)" = "$before" ] || { echo "$guid changed the topology" && return 1; }
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
any_name() { # names like options, and with control characters
    local status=0
    vm vm create --on H1 -- --help && vm vm show -- --help | grep -q ' H1 function' &&
        vm vm destroy -- --help && vm vm create $'\033[2J' >refused.out 2>&1 || status=$?
    [ "$status" = 2 ] || return
    vm vm show $'\033[2J' >refused.out 2>&1 || status=$?
    [ "$status" = 1 ] && grep -qF "'\\x1b[2J'" refused.out && ! grep -q $'\033' refused.out
}

# The sample hook for libvirt, called as libvirt calls it on the hosts of a VM.
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
arrives() { # HOST NAME: the calls on the target host of a migration
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
keeps_addresses_in_use() {
    local evil='evil H0 function 9'
    hook H2 db3 prepare begin - || return
    ! hook H4 db3 prepare begin - && hook H4 db3 release end failed && name_is_at db3 H2 || return
    vm vm create --on H1 -- "$evil" && ! hook H0 "$evil" release end shutdown && name_is_at "$evil" H1 || return
    vm vm destroy "$evil" && hook H2 db3 release end - && ! vm vm show db3
}
runs_no_code() {
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
no_answer_from_sm() { # the host of the VM is unknown
    local work=nowhere
    ! hook H1 db5 prepare begin - && ! hook H1 db5 release end shutdown
}

"$WEFT" topo gen kary 4 2 speed=SDR --vfs 2 >cloud.net
weft_start cloud.net || exit
manager_starts --control "$work/manager.socket" || exit
own=$(on_running_weft saquery NR | grep -B 20 'Description.*H0$' | sed -n 's/.*[^_]lid\.*//p' | tail -n 1)
claim 'ibnetdiscover lists vSwitches and VFs' discovered
claim 'a vSwitch has the LID of its PF' shares_lid
claim 'saquery lists the NodeRecords of a hypervisor and its VFs' nodes_recorded
claim 'vm create assigns a LID to a VM' created
claim 'a second vm create with the same name changes nothing' again
claim 'saquery and ibtracert find the VM on its hypervisor' is_at H2
claim 'the path record of the VM has its GID and LID' path_by_guid
claim 'vm migrate keeps the LID and sends two SMPs to hypervisors' moved H14
claim 'saquery and ibtracert find the VM on the new hypervisor' is_at H14
claim 'the path record of the VM still has its GID and LID' path_by_guid
claim 'a minimal migration within a leaf writes one switch' moved_inside_leaf
claim 'an unknown VM or hypervisor is an error' refused
kill -9 "$manager_id"
rm -f manager.socket
manager_starts --control "$work/manager.socket" --state "$work/state" || exit
claim 'a restarted SM finds the VM' kept
claim 'a restarted SM migrates the VM' moved H5
claim 'saquery and ibtracert find the VM on the third hypervisor' is_at H5
claim 'vm destroy removes the VM, and a second call changes nothing' gone
claim 'a VM that is cut off is removed when its hypervisor returns' cut_off_and_removed
kill -9 "$manager_id"
rm -f manager.socket
manager_starts --control "$work/manager.socket" --state "$work/state" || exit
claim 'what is wanted of VMs survives kill -9, with long names' still_wanted
claim 'it is carried out when the hypervisors return' returned
vm vm destroy -- "$long" >gone.out || exit
claim 'vm create refuses GUIDs of nodes and ports' guids_in_use_are_refused
claim 'with --json, errors are JSON' refusals_in_json
claim 'words after -- are names; control characters are refused and not printed' any_name
claim 'the sample hook for libvirt creates, migrates and destroys a VM' hooked
for reason in failed destroyed crashed -; do
    claim "after a failed migration ('$reason') the VM has its address on the old host" failed_migration "$reason"
done
claim 'the hook removes no address of a running VM' keeps_addresses_in_use
claim 'the hook executes no code in a name, locally or over ssh' runs_no_code
claim 'the hook fails if the SM does not answer' no_answer_from_sm
