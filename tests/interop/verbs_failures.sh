#!/usr/bin/env bash
# RDMA programs on a fabric that fails: cables are cut, managers and peers end.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
# shellcheck source=verbs_lib.sh
. "$(dirname "$0")/verbs_lib.sh"
need ib_write_bw ibv_devinfo unshare

"$WEFT" topo gen ring 4 >net || exit
weft_start net || exit
manager_starts || exit

# begin ARGUMENT...: ib_write_bw from H2 to H0, until it ends by itself or `finish`. The options -u 12 and -u 18 are
# time-outs of 17 ms and 1 s; each request is sent eight times.
begin() {
    local port
    port=$(free_port) || return
    WEFT_ATTACH=H0 LD_PRELOAD=$PRELOAD ib_write_bw -p "$port" "$@" >server.out 2>&1 &
    server=$!
    wait_until 20 listens_or_ended "$port" "$server"
    WEFT_ATTACH=H2 LD_PRELOAD=$PRELOAD ib_write_bw -p "$port" "$@" localhost >client.out 2>&1 &
    client=$!
    wait_until 20 moves || { tail -n 20 client.out server.out && return 1; }
}
work_requests() { "$WEFT" ctl --json status | jq '[.clients[]? | select(.program == "ib_write_bw") | .work_requests] | max // 0'; }
moves() { [ "$(work_requests)" -gt 500 ]; }
fails_with() { # STATUS
    wait_until 30 has_ended "$client" || { kill "$client" "$server" && echo "it goes on" && return 1; }
    stop "$server"
    contains "[Ff]ailed status $1" client.out
}
ends_well() {
    wait "$client" && wait "$server" && return
    tail -n 20 client.out server.out
    return 1
}

peer_is_cut() {
    begin -D 60 -u 12 && "$WEFT" ctl fail link H0 1 && fails_with 12
}
claim "a cut cable of the peer is 'transport retry counter exceeded'" peer_is_cut
"$WEFT" ctl restore link H0 1
active() { WEFT_ATTACH=H0 on_running_weft ibv_devinfo | grep -q PORT_ACTIVE; }
claim "the manager makes the port Active again" wait_until 20 active

peer_ends() { begin -D 60 -u 12 && kill -KILL "$server" && fails_with 12; }
claim "and so is a peer that was killed" peer_ends

repaired() {
    begin -D 4 -u 18 && "$WEFT" ctl fail link S1 2 && ends_well
}
claim "a cut cable in the middle is repaired by the manager, and the program ends well" repaired
"$WEFT" ctl restore link S1 2

without_manager() { begin -D 2 -u 18 && stop "$manager_id" && ends_well; }
claim "a program goes on when the manager ends" without_manager

# As an ordinary user, in a PID namespace of its own whose /proc is that of another one.
in_namespaces() {
    local port
    port=$(free_port) || return
    unshare -Urpf --kill-child "$WEFT" fabric net -- sh -c '"$0" sm --once >/dev/null && ibv_devinfo && {
        ib_write_bw -p "$1" -n 100 >s.out 2>&1 & tries=0
        until ib_write_bw -p "$1" -n 100 localhost || [ $((tries += 1)) = 30 ]; do sleep 1; done; }' "$WEFT" "$port" >namespace.out 2>&1 ||
        { tail -n 20 namespace.out && return 1; }
    contains 'PORT_ACTIVE' namespace.out && contains '^ 65536 +100 ' namespace.out
}
claim "without privileges, in user and PID namespaces of its own" in_namespaces
