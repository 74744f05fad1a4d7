#!/usr/bin/env bash
# saquery gets the same responses from weft as from OpenSM, with every option.
#
# saquery first queries OpenSM, which brings up the fabric, and then weft on the same port. LIDs do not
# change, and the fabric is a chain of switches with only one possible routing, so the tables are equal.
# Allowed differences:
#   order            OpenSM returns records in the order of GUIDs, weft in the order of LIDs
#   ActCount         counts the activity of the SM
#   Capability mask 2  weft supports no service records of groups
#   MulticastFDBTop  saquery prints it if capability mask 2 has it
#   HoqLife, VLStallCount, LifeTimeValue  OpenSM sets them; weft does not change them
#   ports without a link  OpenSM returns zeros, weft their PortInfo
#   P_Key tables of external switch ports  weft does not write them
#   block numbers of P_Key tables, ProxyJoin  OpenSM and saquery have the bytes (bits) in the
#                    reverse order of the specification; not queried
#   an unknown GID   OpenSM returns no records, weft the status ERR_REQ_INVALID_GID
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm saquery
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

# query NAME OPTION...: writes saquery's output and exit status to ./$directory/NAME
query() {
    local name=$1
    shift
    timeout 20 env LD_PRELOAD="$PRELOAD" saquery "$@" >"$directory/$name" 2>saquery.err
    echo "exit status $?" >>"$directory/$name"
    grep -v ibwarn saquery.err >>"$directory/$name"
}

query_everything() { # DIRECTORY
    directory=$1
    mkdir -p "$directory"
    local number=0 words
    while read -r words; do
        [ -n "$words" ] || continue
        number=$((number + 1))
        # shellcheck disable=SC2086 # words are separate options
        query "$(printf %03d $number) ${words//\//_}" $words
    done <<END
-N
-N 1
-p
-L H0
-L
-l H0
-G H0
-O 3
-U 0x100001
-s
-g
-m
-m 0xc000
-x
-c
-S
-I
--list
--src-to-dst 1:3
--src-to-dst H0:H3
--src-to-dst 1:77
--sgid-to-dgid fe80::10:1-fe80::10:3
--sgid-to-dgid fe80::10:1-fe80::99:3
-p --slid 1
-p --dlid 3
-p --slid 1 --dlid 4
-p --sgid fe80::10:1
-p --dgid fe80::10:1
-p --dgid ff12:401b:ffff::ffff:ffff
-p --sgid fd00::10:1
-p --slid 1 --reversible 1
-p --slid 1 --numb_path 1
-p --slid 1 --numb_path 0
-p --slid 1 --pkey 0xffff
-p --slid 1 --pkey 0x7fff
-p --slid 1 --pkey 0x8001
-p --slid 1 --qos_class 1
-p --slid 1 --sl 0
-p --slid 1 --mtu 0x84
-p --slid 1 --mtu 0x44
-p --slid 1 --mtu 0x04
-p --slid 1 --mtu 0x05
-p --slid 1 --mtu 0x41
-p --slid 1 --mtu 0xc1
-p --slid 1 --rate 0x82
-p --slid 1 --rate 0x83
-p --slid 1 --rate 0x84
-p --slid 1 --rate 0x43
-p --slid 1 --rate 0x42
-p --slid 1 --rate 0x02
-p --slid 1 --rate 0x0a
-p --slid 1 --rate 0xc2
-p --slid 1 --pkt_lifetime 0x92
-p --slid 1 --pkt_lifetime 0x10
-p --slid 1 --pkt_lifetime 0x12
-p --slid 1 --pkt_lifetime 0x52
-p --slid 1 --pkt_lifetime 0x41
-p --slid 1 --tclass 1
-p --slid 1 --flow_label 1
-p --slid 1 --hop_limit 1
-p --slid 1 --service_id 1
CPI
NR
NR 2
NR 200
PIR
PIR 2
PIR 2/1
PIR 2/99
PIR 1/1
PIR 200
SL2VL
SL2VL 2
SL2VL 2/1
SL2VL 2/1/2
SL2VL 1
PKTR
--smkey 1 PKTR 1/1/0
--smkey 1 PKTR 2/0/0
VLAR
VLAR 2
VLAR 2/1
VLAR 2/1/2
VLAR 1
VLAR 1/1/1
IIR
IIR fe80::10:1
LR
LR 2
LR 2/1
LR 1 2
LR 200
SR
PR
MCMR
MCMR --mlid 0xc000
MCMR --mlid 0xc001
MCMR --mgid ff12:401b:ffff::ffff:ffff
MCMR --mgid ff12:401b:ffff::1
MCMR --gid fe80::10:1
MCMR --pkey 0xffff
MCMR --pkey 0x8001
MCMR --qkey 0xb1b
MCMR --qkey 1
MCMR --sl 0
MCMR --sl 1
MCMR --mtu 0x84
MCMR --mtu 0x85
MCMR --mtu 0x03
MCMR --mtu 0x44
MCMR --rate 0x83
MCMR --rate 0x84
MCMR --rate 0x02
MCMR --tclass 0
MCMR --flow_label 0
MCMR --hop_limit 0
MCMR --scope 2
MCMR --scope 5
MCMR --join_state 1
MCMR --proxy_join 0
--smkey 1 MCMR
--smkey 1 -m
LFTR
LFTR 2
LFTR 2/0
LFTR 2/9
LFTR 1
MFTR
MFTR 2
GIR
GIR 1
GIR 1/0
GIR 1/5
SWIR
SWIR 2
SWIR 1
SMIR
SMIR 1
SMIR 2
END
}

# Sorted records, without the allowed differences.
records() {
    sed -E 's/(ActCount\.+).*/\1/; s/(Capability mask 2\.+).*/\1/; /MulticastFDBTop/d
        s/((HoqLife|VLStallCount):\.+|LifeTimeValue.*\.\.\.).*/\1/
        /ERROR.*SA_ERR_REQ_INVALID_GID/d' "$1" |
        awk '/^[^ \t].*dump:|^exit status/ { if (record) print record; record = $0; next }
             { record = record "|" $0 } END { print record }' | grep -v 'LinkState:\.*Down' | sort | tr '|' '\n' |
        sed "/^$/d; $(grep -q SA_ERR_REQ_INVALID_GID "$1" && echo 's/^exit status 5/exit status 0/')"
}
same_response() { diff -u <(records "opensm/$1") <(records "weft/$1"); }

"$WEFT" topo gen mesh dims=4 hosts=1 speed=SDR >chain.net || exit
weft_start chain.net || exit
opensm_start || exit
query_everything opensm
stop "$opensm_id"
manager_starts || exit
query_everything weft
for answer in opensm/*; do
    claim "saquery ${answer#opensm/* } returns the same records" same_response "${answer#opensm/}"
done

# Two adapters connected directly, without a switch.
stop "$manager_id"
weft_stop
cp "$(dirname "$0")/../scenarios/back-to-back.net" direct.net
weft_start direct.net || exit
opensm_start || exit
directory=opensm && query direct PR
stop "$opensm_id"
manager_starts || exit
directory=weft && query direct PR
claim 'saquery PR returns the same paths between two adapters without a switch' same_response direct
claim 'weft returns four of these paths' [ "$(grep -c 'PathRecord dump' weft/direct)" -eq 4 ]
