#!/usr/bin/env bash
# General services of agents: ibsrpdm finds the I/O units of target adapters, perfquery describes the sampling mechanism;
# it and the manager follow an agent that redirects.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need ibsrpdm saquery perfquery jq "${SRP_VERBS:-libibverbs-dev}"

"$WEFT" topo gen fattree m=3,4 w=1,2 ports=8 speed=EDR >net || exit
# T has two ports, at free ports of L0.
leaf=$(sed -n 's/^Switch.*"\(S-.*\)".*"L0".*/\1/p' net)
sed -i "/^Switch.*\"$leaf\"/a [7] \"H-0000000000700000\"[1](700001) # \"T\" lid 0 4xEDR\n[8] \"H-0000000000700000\"[2](700002) # \"T\" lid 0 4xEDR" net
cat >>net <<END

caguid=0x700000
Ca	2 "H-0000000000700000"		# "T"
[1](700001) 	"$leaf"[7]		# lid 0 lmc 0 "L0" lid 0 4xEDR
[2](700002) 	"$leaf"[8]		# lid 0 lmc 0 "L0" lid 0 4xEDR
END

# SRP_VERBS stands in for libibverbs.
targets() { LD_PRELOAD=$PRELOAD:$SRP_VERBS ibsrpdm 2>ibsrpdm.err; }

both_units_are_found() {
    targets >targets.out || { cat targets.out ibsrpdm.err && return 1; }
    cat targets.out
    [ "$(grep -c '^IO Unit Info' targets.out)" = 2 ] && [ "$(grep -c 'controller\[' targets.out)" = 3 ] &&
        [ "$(grep -c 'service\[.*SRP.T10:' targets.out)" = 7 ] && contains 'ID: +I/O controller 2 of H3' targets.out &&
        [ "$(grep -o 'SRP.T10:.*' targets.out | sort -u | wc -l)" = 7 ]
}
# The capability bit of the port is that of the manager's record.
the_record_tells() {
    on_running_weft saquery PIR >records.out || return
    [ "$(grep -c IsDeviceManagementSupported records.out)" = 2 ]
}
samples_are_described() {
    on_running_weft perfquery -c 1 >samples.out || { cat samples.out && return 1; }
    contains 'CounterWidth:\.+4$' samples.out && contains 'SampleStatus:\.+0$' samples.out
}
# perfquery asks port 2 of T for its counters, is redirected to port 1, and gets those of port 2.
tool_follows() {
    local lid
    lid=$(on_running_weft smpquery -G portinfo 0x700002 | sed -n 's/^Lid:\.*//p') && [ -n "$lid" ] || return
    "$WEFT" ctl errors T 2 5 >errors.out || { cat errors.out && return 1; }
    on_running_weft perfquery -d "$lid" 2 >redirected.out 2>&1 || { cat redirected.out && return 1; }
    contains 'redirected to lid' redirected.out && contains '^PortSelect:\.+2$' redirected.out && contains '^SymbolErrorCounter:\.+5$' redirected.out
}
# A link fails under a manager that is gone: the switch discards what its table still sends there.
discards_have_a_cause() {
    local lid leaf
    lid=$(on_running_weft smpquery -G portinfo "$(sed -n '/"H5"/s/.*(\(.*\)).*/0x\1/p' net | head -n 1)" | sed -n 's/^Lid:\.*//p') &&
        leaf=$("$WEFT" ctl --socket "$work/sm.socket" --json topology | jq -r '.[] | select(.description == "L1") | .lid') || return
    [ -n "$lid" ] && [ -n "$leaf" ] && stop "$manager_id" && "$WEFT" ctl link down H5 1 || return
    ! on_running_weft perfquery -t 50 "$lid" 1 >lost.out 2>&1 && on_running_weft perfquery -D "$leaf" 255 >discards.out ||
        { cat lost.out discards.out && return 1; }
    cat discards.out
    contains '^PortInactiveDiscards:\.+[1-9]' discards.out && contains '^PortSwHOQLifetimeLimitDiscards:\.+0$' discards.out &&
        on_running_weft perfquery -D -R "$leaf" 255 && on_running_weft perfquery -D "$leaf" 255 >cleared.out &&
        contains '^PortInactiveDiscards:\.+0$' cleared.out
}
# Status 0xc: the agent does not support this attribute. It answers, and perfquery need not wait.
the_rest_is_unsupported() {
    local option
    for option in -X -S -T --oprcvcounters --flowctlcounters --vloppackets --vlopdata --vlxmitflowctlerrors --vlxmitcounters \
        --swportvlcong --rcvcc --slrcvfecn --slrcvbecn --xmitcc --vlxmittimecc; do
        ! on_running_weft perfquery -d "$option" 1 1 >unsupported.out 2>&1 && contains 'error status 0xc' unsupported.out ||
            { echo "$option" && cat unsupported.out && return 1; }
    done
}
manager_reads() { "$WEFT" ctl --socket "$work/sm.socket" --json counters T 2 | jq -e '.[0].totals.symbol_error == 5'; }
manager_follows() { wait_until 10 manager_reads; }

weft_start net --set 'H3:io_controllers=2' --set 'H3:io_services=3' --set 'H7:io_controllers=1' --set T:service_port=1 || exit
echo 'counter_interval 200ms' >sm.conf
manager_starts --config sm.conf --control "$work/sm.socket" || exit
claim "ibsrpdm finds the I/O units, controllers and targets" both_units_are_found
claim "the port records of targets have IsDeviceManagementSupported" the_record_tells
claim "perfquery reads PortSamplesControl" samples_are_described
claim "perfquery follows an agent that redirects to another port" tool_follows
claim "the manager reads counters where the agent redirects to" manager_follows
claim "an agent answers perfquery that it does not support the other counters" the_rest_is_unsupported
claim "perfquery reads and clears why a switch discarded packets" discards_have_a_cause
