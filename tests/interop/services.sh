#!/usr/bin/env bash
# General services of agents: ibsrpdm finds the I/O units of target adapters, perfquery describes the sampling mechanism.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need ibsrpdm saquery perfquery "${SRP_VERBS:-libibverbs-dev}"

"$WEFT" topo gen fattree m=3,4 w=1,2 ports=8 speed=EDR >net || exit

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

weft_start net --set 'H3:io_controllers=2' --set 'H3:io_services=3' --set 'H7:io_controllers=1' || exit
manager_starts || exit
claim "ibsrpdm finds the I/O units, controllers and targets" both_units_are_found
claim "the port records of targets have IsDeviceManagementSupported" the_record_tells
claim "perfquery reads PortSamplesControl" samples_are_described
