#!/usr/bin/env bash
# Unchanged programs that use librdmacm: connections by messages of communication management, between IP addresses of
# hosts of the fabric.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need rping ucmatose udaddy rdma_server ib_send_bw tshark

"$WEFT" topo gen ring 4 >net || exit
printf 'H0 10.0.0.1\nH1 10.0.0.2\nH2:1 192.168.7.9\nH3 10.0.0.4\n' >addresses
weft_start net --ip addresses --pcap cm.pcapng || exit

no_path() {
    WEFT_ATTACH=H0 on_running_weft timeout 60 ucmatose -s 192.168.7.9 >client.out 2>&1
    contains 'RDMA_CM_EVENT_ROUTE_ERROR' client.out
}
claim "without a manager there is no path" no_path
manager_starts || exit

listens_or_ended() { has_ended "$1" || "$WEFT" ctl clients --json | grep -q '"listening":[1-9]'; }
# connect NODE NODE SERVER... -- CLIENT...: until the server is ready, its host refuses the client, which tries again.
connect() {
    local first=$1 second=$2 server status=0 tries=0 command=()
    shift 2
    while [ "$1" != -- ]; do command+=("$1") && shift; done
    shift
    WEFT_ATTACH=$first on_running_weft timeout 60 "${command[@]}" >server.out 2>&1 &
    server=$!
    wait_until 30 listens_or_ended "$server"
    until WEFT_ATTACH=$second on_running_weft timeout 60 "$@" >client.out 2>&1; do
        if has_ended "$server" || [ $((tries += 1)) -gt 100 ]; then
            kill "$server" 2>/dev/null
            break
        fi
        pause 0.1
    done
    wait "$server" || status=$?
    [ "$status" = 0 ] && return
    echo "server: $status" && tail -n 15 client.out && echo "server:" && tail -n 15 server.out
    return 1
}

is_listed() {
    "$WEFT" ctl clients --json >clients.out && grep -q '"program":"rping","at":"H3:1","qps":0,.*"listening":1,"connections":0' clients.out &&
        "$WEFT" ctl clients >clients.out && grep -qE 'rping +H3:1 ' clients.out
}
listener_is_listed() {
    WEFT_ATTACH=H3 on_running_weft timeout 60 rping -s >/dev/null 2>&1 &
    wait_until 20 is_listed || { cat clients.out && kill $! && return 1; }
    kill $! && wait $!
    return 0
}
claim "weft ctl clients lists a program that listens" listener_is_listed

rping_is_right() {
    connect H2 H0 rping -s -v -V -C 20 -- rping -c -a 192.168.7.9 -v -V -C 20 || return
    [ "$(grep -c '^ping data: rdma-ping-' client.out)" = 20 ] && [ "$(grep -c '^server ping data: rdma-ping-' server.out)" = 20 ]
}
claim "rping moves data both ways and finds it valid" rping_is_right
claim "ucmatose connects, sends and disconnects" connect H2 H0 ucmatose -c 8 -- ucmatose -c 8 -s 192.168.7.9
claim "ucmatose on one host, by its loopback address" connect H1 H1 ucmatose -- ucmatose -s 127.0.0.1
claim "udaddy finds a datagram service" connect H3 H1 udaddy -- udaddy -s 10.0.0.4
claim "rdma_client uses synchronous IDs" connect H3 H1 rdma_server -- rdma_client -s 10.0.0.4
claim "ib_send_bw -R" connect H2 H0 ib_send_bw -R -n 100 -- ib_send_bw -R -n 100 192.168.7.9
claim "ib_send_lat -R -c UD" connect H2 H0 ib_send_lat -R -c UD -n 100 -- ib_send_lat -R -c UD -n 100 192.168.7.9

nobody_is_there() {
    WEFT_ATTACH=H0 on_running_weft timeout 60 ucmatose -s 10.0.0.77 >client.out 2>&1
    contains 'RDMA_CM_EVENT_ADDR_ERROR' client.out
}
claim "an address that no host has is an error" nobody_is_there
nobody_listens() {
    WEFT_ATTACH=H0 on_running_weft timeout 60 ucmatose -s 10.0.0.4 >client.out 2>&1
    contains 'RDMA_CM_EVENT_REJECTED, error: 8' client.out
}
claim "a host without the service refuses the connection" nobody_listens

# Service IDs are 0x0000000001060000 + port; rping has 7174.
captured() {
    tshark -r cm.pcapng -Y 'infiniband.mad.attributeid == 0x0010' -T fields -e infiniband.cm.req.serviceid >services.out 2>tshark.err
    grep -qi '0x*0*1061c06' services.out || { sort services.out | uniq -c && return 1; }
}
claim "captures have the messages, with the service IDs of the IP CM service" captured
