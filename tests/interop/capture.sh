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
