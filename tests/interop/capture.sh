#!/usr/bin/env bash
# tshark decodes all packets of a captured bring-up, including the MAD attributes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm tshark saquery

"$WEFT" topo gen figure1 speed=SDR >figure1.net || exit
captured() {
    cat >session.sh <<'END'
    opensm -d2 -f osm.log >/dev/null 2>&1 &
    for try in $(seq 100); do grep -q 'SUBNET UP' osm.log 2>/dev/null && break; sleep 0.1; done
    WEFT_ATTACH=H15 saquery PIR >/dev/null && perfquery 3 1 >/dev/null
    status=$?
    kill %1
    exit $status
END
    "$WEFT" fabric figure1.net --pcap bringup.pcap -- bash session.sh
}
packets() { tshark -r bringup.pcap "$@" 2>tshark.err | wc -l; }
no_malformed_packet() {
    local malformed
    malformed=$(packets -Y '_ws.malformed || _ws.short || _ws.expert.severity == error')
    [ "$malformed" -eq 0 ] || { echo "$malformed malformed packets" && return 1; }
    [ "$(packets)" -gt 500 ]
}
decodes() { [ "$(packets -Y "$1")" -gt 0 ]; }
claim "--pcap captures a bring-up, a PortInfoRecord query and a PortCounters query" captured
claim "tshark reports no malformed packet" no_malformed_packet
claim "tshark decodes directed-route SMPs" decodes 'infiniband.mad.mgmtclass == 0x81'
claim "tshark decodes LFT blocks" decodes 'infiniband.mad.attributeid == 0x0019'
claim "tshark decodes performance management MADs" decodes 'infiniband.mad.mgmtclass == 0x04'
claim "tshark decodes a response of several RMPP segments" decodes 'infiniband.rmpp.segmentnumber > 1'

interface_names() { tshark -r bringup.pcap -T fields -e frame.interface_name 2>tshark.err | sort -u; }
names_are_link_directions() {
    interface_names >names.txt
    [ "$(wc -l <names.txt)" -ge 10 ] || return
    # each name is the reverse of another, and names a cable of the network
    sed -E 's/(.*)>(.*)/\2>\1/' names.txt | sort >reversed.txt
    sort names.txt | diff - reversed.txt && contains '^S[0-9]+:[0-9]+>H[0-9]+:[0-9]+$' names.txt
}
claim "each direction of a link is an interface with its name" names_are_link_directions
one_way() { # the hops of one SMP to an adapter: the receiver of each link is the sender of the next one
    tshark -r bringup.pcap -Y 'infiniband.mad.mgmtclass == 0x81' -T fields -e infiniband.mad.transactionid \
        -e frame.interface_name 2>tshark.err | awk '
        { split($2, side, ">"); split(side[1], from, ":"); split(side[2], to, ":") }
        $1 == tid && from[1] == last { hops++ }
        { tid = $1; last = to[1] }
        END { exit !(hops > 100) }'
}
claim "an SMP passes interfaces that follow each other" one_way

# Connections of a scenario: all services and operations, and packets that are sent again.
cat >connections.weft <<'END'
topology ring 4 hosts=1
sm S0
run until settled
connection H0 to H1 op write message 10000 messages 20
connection H1 to H2 op read message 10000 messages 20
connection H2 to H3 op send message 10000 messages 20 timeout 10
connection H3 to H0 service uc message 5001 messages 20
connection H0 to H3 service ud message 333 messages 20
connection H0 to H1 messages 3 setup cm
connection H1 to H3 service ud message 64 messages 3 q-key 0x12345678
connection H1 to H0 service ud message 64 messages 3 setup cm
run for 20us
fail link S2 1
run for 50ms
END
simulated() { "$WEFT" sim connections.weft --quiet --pcap connections.pcap; }
connections() { tshark -r connections.pcap "$@" 2>tshark.err | wc -l; }
no_malformed_connection() {
    [ "$(connections -Y '_ws.malformed || _ws.short || _ws.expert.severity == error')" -eq 0 ] && [ "$(connections)" -gt 1000 ]
}
has_opcodes() { # RC SEND, WRITE and READ, acknowledgements, UC, and UD with immediate data
    for opcode in 0 6 12 13 17 32 101; do
        [ "$(connections -Y "infiniband.bth.opcode == $opcode")" -gt 0 ] || { echo "no opcode $opcode" && return 1; }
    done
}
manages_alternates() { # two paths in REQ, LAP and APR
    "$WEFT" sim alternates.weft --quiet --pcap alternates.pcap &&
        [ "$(tshark -r alternates.pcap -Y 'infiniband.cm.req.prim_locallid > 0 && infiniband.cm.req.alt_locallid > 0' 2>tshark.err | wc -l)" -gt 0 ] &&
        for attribute in 25 26; do
            [ "$(tshark -r alternates.pcap -Y "infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == $attribute" 2>tshark.err | wc -l)" -gt 0 ] ||
                { echo "no message $attribute" && return 1; }
        done
    [ "$(tshark -r alternates.pcap -Y '_ws.malformed || _ws.short || _ws.expert.severity == error' 2>tshark.err | wc -l)" -eq 0 ]
}
manages_connections() { # REQ, REP, RTU, DREQ, DREP, SIDR_REQ and SIDR_REP
    for attribute in 16 19 20 21 22 23 24; do
        [ "$(connections -Y "infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == $attribute")" -gt 0 ] ||
            { echo "no message $attribute" && return 1; }
    done
    [ "$(connections -Y 'infiniband.cm.req.localqpn > 1 && infiniband.cm.req.prim_locallid > 0')" -gt 0 ] &&
        [ "$(connections -Y 'infiniband.cm.rep.localqpn > 1')" -gt 0 ]
}
claim "--pcap captures the packets of connections" simulated
claim "tshark reports no malformed packet of them" no_malformed_connection
claim "tshark decodes all services and operations" has_opcodes
reports_offender() { # trap 258 of H3: number, LIDs and the key are in a row of bytes
    [ "$(connections -Y 'infiniband.mad.method == 5 && frame contains 01:02 && frame contains 12:34:56:78')" -gt 0 ]
}
claim "a wrong Q_Key makes trap 258 with the key" reports_offender
claim "tshark decodes the messages that set connections up and release them" manages_connections
cat >alternates.weft <<'END'
topology clos 3 1 4 speed=SDR
set sm lmc 1
sm S0
run until settled
connection H0 to H3 every 100us timeout 8 alternate auto setup cm
run for 2ms
alternate 1 auto
run for 2ms
check connections.armed = 1
END
claim "tshark decodes alternate paths in REQ, LAP and APR" manages_alternates

# The manager repeats a request that is not answered after 300 ms. On a busy machine it may be late and repeat only once,
# and the first request may be captured late: one whole pause is enough to see the wall clock.
"$WEFT" topo gen ring 4 hosts=1 speed=SDR >ring.net || exit
printf 'timeout 300ms\nretries 2\n' >sm.conf
retried() {
    # shellcheck disable=SC2016 # for the shell on the fabric
    "$WEFT" fabric ring.net --pcap retry.pcap -- bash -c \
        '"$WEFT" ctl agent mute S1 && "$WEFT" sm --config sm.conf --once >sm.log; [ $? = 3 ]'
}
pauses_are_time_outs() {
    tshark -r retry.pcap -Y 'frame.interface_name == "S0:1>S1:2" && infiniband.mad.attributeid == 0x11' -T fields \
        -e frame.time_epoch -e infiniband.mad.transactionid 2>tshark.err >times.txt
    awk '$2 in last && $1 - last[$2] >= 0.299 { whole++ }
         { last[$2] = $1 }
         END { exit !whole }' times.txt || { cat times.txt && return 1; }
}
claim "a request to a mute agent is sent again" retried
claim "the capture has the pauses of the wall clock between retries, with --pace fast" pauses_are_time_outs
