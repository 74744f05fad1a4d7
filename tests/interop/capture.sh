#!/usr/bin/env bash
# tshark decodes a captured bring-up down to the attributes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm tshark saquery

"$WEFT" topo gen figure1 >figure1.net || exit
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
whole() {
    local malformed
    malformed=$(packets -Y '_ws.malformed || _ws.short || _ws.expert.severity == error')
    [ "$malformed" -eq 0 ] || { echo "$malformed malformed packets" && return 1; }
    [ "$(packets)" -gt 500 ]
}
decodes() { [ "$(packets -Y "$1")" -gt 0 ]; }
claim "a bring-up, a query for all ports and one for counters are captured" captured
claim "no packet is malformed" whole
claim "directed-route SMPs are decoded" decodes 'infiniband.mad.mgmtclass == 0x81'
claim "table blocks are decoded" decodes 'infiniband.mad.attributeid == 0x0019'
claim "counters are decoded" decodes 'infiniband.mad.mgmtclass == 0x04'
claim "a long answer travels in RMPP segments" decodes 'infiniband.rmpp.segmentnumber > 1'
