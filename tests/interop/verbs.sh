#!/usr/bin/env bash
# Unchanged programs that use libibverbs, on a fabric that a manager has set up: ibv_devinfo, the pingpongs, perftest.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=verbs_lib.sh
. "$(dirname "$0")/verbs_lib.sh"
need opensm ibv_devinfo ibv_rc_pingpong ib_write_bw

"$WEFT" topo gen ring 4 >net || exit
weft_start net || exit

port_is_not_active() { on_running_weft ibv_devinfo >devinfo.out && contains 'state:.*PORT_INIT' devinfo.out; }
claim "a port is not Active before a manager has made it so" port_is_not_active
opensm_start || exit
port_is_active() {
    WEFT_ATTACH=H2 on_running_weft ibv_devinfo -v >devinfo.out && contains 'state:.*PORT_ACTIVE' devinfo.out &&
        contains 'active_mtu:.*4096' devinfo.out && contains 'GID\[ *0\]:.*fe80' devinfo.out &&
        contains "port_lid:[[:space:]]+$(WEFT_ATTACH=H2 on_running_weft ibstat | sed -n 's/.*Base lid: *//p')$" devinfo.out
}
claim "ibv_devinfo shows the port as the manager has set it up" port_is_active

# Each program calibrates a clock and exchanges addresses, which takes longer than its messages: options are tested together.
for service in rc uc ud srq; do
    claim "ibv_${service}_pingpong exchanges messages and finds its data valid" pair H0 H2 "ibv_${service}_pingpong" -c -n 20
    claim "ibv_${service}_pingpong -e waits for completion events" pair H0 H2 "ibv_${service}_pingpong" -e -n 20
done
claim "ibv_rc_pingpong -g 0 sends with global routes" pair H0 H2 ibv_rc_pingpong -g 0 -n 20
claim "two programs on one adapter reach each other" pair H1 H1 ibv_rc_pingpong -c -n 20
claim "ib_send_bw with events and a shared receive queue" pair H0 H2 ib_send_bw -n 20 -e --use-srq
claim "ib_send_bw, UD" pair H0 H2 ib_send_bw -n 20 -c UD -s 1024
claim "ib_write_bw, UC, both directions, four QPs" pair H0 H2 ib_write_bw -n 20 -c UC -b -q 4
claim "ib_write_bw of messages up to 8 MiB" pair H0 H2 ib_write_bw -n 5 -a
claim "ib_read_bw" pair H0 H2 ib_read_bw -n 20
claim "ib_atomic_bw, compare and swap" pair H0 H2 ib_atomic_bw -n 20 -A CMP_AND_SWAP
claim "ib_send_lat, UD" pair H0 H2 ib_send_lat -n 20 -c UD
claim "ib_write_lat, UC" pair H0 H2 ib_write_lat -n 20 -c UC
claim "ib_read_lat" pair H0 H2 ib_read_lat -n 20
claim "ib_atomic_lat, fetch and add" pair H0 H2 ib_atomic_lat -n 20 -A FETCH_AND_ADD

# A program that waits for asynchronous events.
LD_PRELOAD=$PRELOAD stdbuf -oL ibv_asyncwatch >watch.out 2>&1 &
watch=$!
is_listed() { "$WEFT" ctl status >status.out && grep -q 'ibv_asyncwatch .*H0.* verbs' status.out; }
claim "weft ctl status lists a program with an open device" wait_until 20 is_listed
notices() { "$WEFT" ctl "$1" link H0 1 && wait_until 20 contains "$2" watch.out; }
claim "a program is notified when the cable of its port is cut" notices fail IBV_EVENT_PORT_ERR
claim "and when the port is Active again" notices restore IBV_EVENT_PORT_ACTIVE
stop "$watch"
