#!/usr/bin/env bash
# Alias GUIDs: a client asks the SA for GUIDs of its port, as mlx4 does for virtual functions, and the SM writes them.
#
# OpenSM and weft get the same requests and must return the same responses. Differences: the last 24 bits of an assigned
# GUID are a counter in OpenSM; OpenSM lets any port change the GUIDs of others.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm saquery smpquery
: "${SA_CLIENT:?the path of sa_client}"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

"$WEFT" topo gen ring 4 hosts=1 speed=SDR >ring.net || exit
fabric_starts() { weft_start ring.net --set adapters:guids=16; }
# guids HOST WORD...: changes alias GUIDs; prints the response or the status
guids() { WEFT_ATTACH=$1 on_running_weft "$SA_CLIENT" guids "${@:2}" 2>&1; }
query() { WEFT_ATTACH=H1 on_running_weft timeout 20 "$@" 2>query.err || { cat query.err && return 1; }; }

# ---- the same responses as OpenSM ----

responses() { # MANAGER: of H1, which has LID 0 for sa_client
    while read -r words; do
        echo "$words"
        # shellcheck disable=SC2086 # words are separate arguments
        guids H1 $words </dev/null | sed -E 's/0x0014054200[0-9a-f]{6}/assigned/g'
    done >"$1.responses" <<'END'
set 0 0 1=0 2=0x1122334455667788
set 0 0 1=0
set 0 0 3=0x1122334455667788
set 0 0 3=0x100005
set 0 0 3=0x100003
set 0 0 4=0 5=0
set 0 0 2=0x1122334455667799
set 0 1 0=0 7=0xabc
set 0 0 0=0x5
set 0 2 1=0
set 999 0 1=0
delete 0 0 0
delete 0 0 1 2
delete 0 0 1
delete 0 2 1
set 0 0 1=0
END
    query saquery GIR | sed -E 's/0x0014054200[0-9a-f]{6}/assigned/; /LID/d; s/.*\.//' | awk '/dump:/ { if (record) print record; record = "" }
        { record = record " " $NF } END { print record }' | sort >"$1.records" # without LIDs, which the SMs choose
    query saquery -c | grep 'Capability mask 2' >"$1.capabilities"
}
printf 'sm_assigned_guid 0x42\n' >assigned.conf
fabric_starts || exit
WEFT_ATTACH=H0 opensm_start -F "$work/assigned.conf" || exit
responses opensm
stop "$opensm_id" && weft_stop
fabric_starts || exit
WEFT_ATTACH=H0 manager_starts --config "$work/assigned.conf" --state "$work/first" --priority 5 || exit
responses weft
same_answers() { [ "$(grep -c assigned opensm.responses)" -gt 4 ] && same_files opensm.responses weft.responses; }
claim "OpenSM and weft answer Set and Delete of GUIDInfoRecord in the same way" same_answers
same_records() { grep -q assigned opensm.records && same_files opensm.records weft.records; }
claim "saquery GIR prints the same records" same_records
has_capability() { awk '{ sub(/.*0x/, ""); bit = substr($0, length($0) - 1, 1); if (index("2367abefABEF", bit)) found = 1 } END { exit !found }' "$1.capabilities"; }
both_have_capability() { has_capability opensm && has_capability weft; }
claim "ClassPortInfo has IsAdditionalGUIDsSupported" both_have_capability

# ---- rights ----

h1() { query smpquery -D PI 0 1 | awk -F . '/^Lid:/ { print $NF }'; } # the LID of H1
h1=$(h1)
denied() {
    guids H2 set "$h1" 0 6=0x66 >set.out
    guids H2 delete "$h1" 0 1 >delete.out
    contains 'status 0x700' set.out && contains 'status 0x700' delete.out
}
claim "another port can neither set nor delete them" denied

# ---- in the port ----

# The 16 GUIDs of H1: that the SA has, and that the port has.
registered() { query saquery GIR "$(h1)" | sed -nE 's/.*GUID [0-7]\.*//p'; }
in_port() { query smpquery -D GI 0 | sed -nE 's/^ *[0-9]+: (0x[0-9a-f]+) (0x[0-9a-f]+).*/\1\n\2/p'; }
written() { registered >registered.out && in_port >port.out && [ "$(wc -l <registered.out)" -eq 16 ] && same_files registered.out port.out; }
claim "the SM writes them to the port" wait_until 5 written
cp registered.out before.out
alias=$(sed -n 2p before.out)
assigned() { [[ $alias =~ ^0x0014054200[0-9a-f]{6}$ ]] || { echo "$alias" && return 1; }; }
claim "an assigned GUID has the OUI 00:14:05 and the byte of the configuration" assigned

gid=$(printf 'fe80::%x:%x:%x:%x' $((alias >> 48 & 0xffff)) $((alias >> 32 & 0xffff)) $((alias >> 16 & 0xffff)) $((alias & 0xffff)))
path() {
    query saquery --sgid-to-dgid "fe80::10:5-$gid" >path.out && contains "dgid\.+${gid/::/:.*:}|dgid\.+$gid" path.out && contains "dlid\.+$h1$" path.out
}
claim "a path to the GID with the alias leads to the port" path

restarts() {
    "$WEFT" ctl node down H1 && wait_until 20 grep -qE 'subnet up: 4 switches, 3 adapters' manager.log &&
        "$WEFT" ctl node up H1 && wait_until 20 written_again
}
written_again() { [ "$(h1)" = "$h1" ] && written && same_files before.out port.out; }
claim "the SM writes them again when the host restarts" restarts

# ---- restart and failover ----

unchanged() { registered >now.out && same_files before.out now.out; }
stop "$manager_id"
reads() { contains 'GUIDInfo Record: base_guid=0x0000000000100003 .* guid1=0x0014054200' first/opensm-sa.dump; }
claim "opensm-sa.dump has them" reads
WEFT_ATTACH=H0 manager_starts --config "$work/assigned.conf" --state "$work/first" --priority 5 || exit
claim "a restarted SM has the same GUIDs" wait_until 10 unchanged
second_starts() {
    WEFT_ATTACH=H3 background "${attached[@]}" "$WEFT" sm --log "$work/second.log" --sweep 1s >second.out 2>&1
    second_id=$background_id
    serving "$second_id" 20 grep -qE 'clients .* came from the master' second.log || { cat second.out second.log && return 1; }
}
second_starts || exit
kill -KILL "$manager_id"
takes_over() { wait_until 20 grep -qE ' up +subnet up' second.log; }
claim "the standby takes over" takes_over
claim "the new master has the same GUIDs" wait_until 10 unchanged
claim "no client has to register again" lacks 'have to register again' second.log
frees() { guids H1 delete 0 0 1 4 5 >freed.out && wait_until 5 written && ! grep -q "$alias" port.out; }
claim "a deleted GUID is removed from the port" frees
stop "$second_id" && weft_stop

# ---- OpenSM reads the file ----

fabric_starts || exit
printf 'sa_db_file %s\n' "$work/first/opensm-sa.dump" >db.conf
WEFT_ATTACH=H0 opensm_start -F "$work/db.conf" || exit
claim "OpenSM reads them from the file of weft" wait_until 10 unchanged
stop "$opensm_id" && weft_stop
