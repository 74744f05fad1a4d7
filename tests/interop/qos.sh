#!/usr/bin/env bash
# QoS: with the same qos_ options, weft and OpenSM write the same tables and return the same SA records.
# ibdmchk finds no credit loop in routes on several VLs with the SL-to-VL tables of the dump.
#
# Allowed differences:
#   ports without a link  OpenSM writes SL-to-VL tables for these input ports; weft does not
#   order            OpenSM returns records in the order of GUIDs, weft in the order of LIDs
#   qos_max_vls      OpenSM ignores it; weft does not; not used
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm smpquery saquery ibdmchk
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
running=on_running_weft

# " LID:PORT LID:PORT … " of all ports with a link and of port 0 of switches
find_links() {
    local lid port
    for lid in $(seq 9); do # three switches with two hosts each
        for port in 0 1 2 3 4; do
            on_running_weft smpquery portinfo "$lid" "$port" 2>/dev/null | grep -q 'LinkState:.*Active' &&
                printf ' %s:%s' "$lid" "$port"
        done
    done
    echo ' '
}

# All QoS tables of these ports, read by SMPs; SL-to-VL tables only of input ports with a link.
tables() {
    local end
    for end in $links; do
        [ "${end#*:}" = 0 ] && continue
        echo "LID ${end/:/ port }"
        on_running_weft smpquery sl2vl "${end%:*}" "${end#*:}" |
            awk -v "links=$links" -v "lid=${end%:*}" '!/^ports:/ { print; next }
                { input = $0; sub(/.*in +/, "", input); sub(/,.*/, "", input)
                  if (index(links, " " lid ":" input " ")) print }'
        on_running_weft smpquery vlarb "${end%:*}" "${end#*:}"
        on_running_weft smpquery portinfo "${end%:*}" "${end#*:}" | grep -E 'VLHighLimit|OperVLs'
    done
}

# The SA records of the same tables, one line each.
answers() { # DIRECTORY
    local query
    for query in SL2VL VLAR 'SL2VL 1' 'SL2VL 2/1' 'VLAR 2' 'VLAR 2/1/3' 'VLAR 1/1/1'; do
        # shellcheck disable=SC2086 # words are separate options
        timeout 20 env LD_PRELOAD="$PRELOAD" saquery $query 2>/dev/null | tr -d '\n' |
            sed 's/[A-Z0-9a-z]*TableRecord dump:/\n/g' | awk -v "links=$links" '
                function field(name, text) {
                    text = $0
                    return sub(".*" name "\\.+", "", text) ? text + 0 : -1
                }
                /LID/ { output = field("OutPort"); input = field("InPort")
                        if (output < 0) output = field("\tPort")
                        if (index(links, " " field("LID") ":" output " ") &&
                            (input < 0 || index(links, " " field("LID") ":" input " "))) print }' |
            sort >"$1/${query//\//_}"
    done
}

same() { diff -u "opensm.$1" "weft.$1"; }
same_records() { [ -s "opensm/$1" ] && diff -u "opensm/$1" "weft/$1"; }

options='qos_high_limit 6
qos_vlarb_high 0:64,1:32,2:8
qos_vlarb_low 3:200,4:100,5:4,0:1
qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,15
qos_ca_sl2vl 7,6,5,4,3,2,1,0,0,0,0,0,0,0,0,0
qos_swe_high_limit 9
qos_swe_vlarb_high 0:10,3:20,1:0
qos_rtr_vlarb_low 1:1'
printf 'qos TRUE\n%s\n' "$options" >opensm.conf
printf 'qos yes\n%s\n' "$options" >weft.conf
mkdir opensm weft
"$WEFT" topo gen mesh dims=3 hosts=2 speed=SDR >chain.net || exit
# A host and a switch with fewer VLs than the others.
weft_start chain.net --set H1:data_vls=2 --set S2:data_vls=4 || exit
opensm_start -F "$work/opensm.conf" || exit
links=$(find_links)
tables >opensm.tables
answers opensm
stop "$opensm_id"
manager_starts --config "$work/weft.conf" || exit
tables >weft.tables
answers weft
claim 'OpenSM writes 16 SL-to-VL tables' test "$(grep -c 'SL2VL table' opensm.tables)" -eq 16
claim 'weft writes the SL-to-VL tables, arbitration tables and limits of OpenSM' same tables
for answer in opensm/*; do
    claim "saquery ${answer#opensm/} returns the same records" same_records "${answer#opensm/}"
done
claim 'no port refuses its tables' lacks 'refuses' manager.log
stop "$manager_id"
weft_stop

# ---- VLs of routes ----

# by_ibdmchk [OPTION...]: checks the dump with ibdmchk
by_ibdmchk() { (cd dump && ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs "$@" -a) >checked.out 2>&1; }
by_verify() { "$WEFT" verify found.net --lfts dump/opensm-lfts.dump "$@" >verify.out 2>&1; }
no_loop_with_sls() {
    by_ibdmchk -d opensm-sl2vl.dump -c "$work/levels"
    contains 'no credit loops found' checked.out || { tail -n 20 checked.out && return 1; }
    by_verify --path-sl levels --sl2vl dump/opensm-sl2vl.dump || { cat verify.out && return 1; }
}
loop_without_sls() { # shows that the SLs are necessary
    by_ibdmchk && contains 'no credit loops found' checked.out && return 1
    ! by_verify
}
paths_have_sls() { [ "$(sort -u levels | wc -l)" -ge 132 ] && [ "$(awk '{ print $3 }' levels | sort -u | wc -l)" -gt 1 ]; }

for engine in dfsssp lash dor; do
    "$WEFT" topo gen ring switches=6 hosts=2 speed=SDR >ring.net || exit
    weft_start ring.net || exit
    rm -rf dump
    manager_starts --engine $engine --dump "$work/dump" || exit
    wait_until 10 test -s dump/opensm-sl2vl.dump
    path_sls
    on_running_weft ibnetdiscover >found.net 2>/dev/null
    claim "$engine: path records use several SLs" paths_have_sls
    claim "$engine: ibdmchk and weft verify find no credit loop with these SLs and the SL-to-VL tables" no_loop_with_sls
    claim "$engine: ibdmchk and weft verify find a credit loop without them" loop_without_sls
    stop "$manager_id"
    weft_stop
done
