#!/usr/bin/env bash
# With the same partitions.conf, OpenSM and weft write the same P_Key tables, answer saquery with the same
# P_Keys, paths and groups, and enable partition enforcement on the same switch ports.
#
# OpenSM runs first, with the file and then without it, so that weft, on the same port, has to write the
# tables itself. Allowed differences:
#   order of P_Keys  weft puts the default P_Key of a port first unless another one has indx0, OpenSM
#                    sorts by value; compared as sets, and index 0 separately
#   ALL=limited in the default partition  makes OpenSM's own port a limited member, so that its SA does
#                    not answer limited members; with weft it stays a full member. The file has SELF=full
#   missing ';'      OpenSM accepts a last statement without it; weft reports an error
#   unknown words    OpenSM ignores them
#   SL of groups     OpenSM sets an SL in the flags of a partition to 0 unless it runs with -Q; not used
#   several scopes   OpenSM creates only one of the groups; not used
#   P_Key records of ports between switches  weft does not read these tables
#   MLIDs            are assigned in a different order; not compared
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm saquery smpquery
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

cat >partitions.conf <<END
Default=0x7fff, ipoib : ALL=limited, SELF=full ; # from the manual
Red = 0x10, indx0, ipoib, rate=3, mtu=2, defmember=full :
    0x100001, 0x100003,
    0x100005=limi ;
Auto, ipoib : 0x100001=full, 0x100007=full ;
Blue=0x8011 : ALL_CAS=full ;
Blue=0x8011 : 0x100003=both, 0x100009=limited ;
Net=0x12, ipoib :
    mgid=ff12:401b::0707,sl=1   # of IP
    mgid=ff12::1,sl=1,Q_Key=0xDEADBEEF,rate=3,mtu=2,TClass=3
    ALL_SWITCHES, SELF=full ;
Nobody=0x55, ipoib : ;
END

attached() { env LD_PRELOAD="$PRELOAD" "$@"; }
lids() { seq 1 12; } # eight hosts, four switches

# "LID PORT INDEX0 P_KEY P_KEY ...": the P_Keys of every end port and of the switch ports linked to hosts
keys() {
    local lid port keys ports
    for lid in $(lids); do
        ports=1
        attached smpquery nodeinfo "$lid" | grep -q 'NodeType.*Switch' && ports="0 5 6"
        for port in $ports; do
            keys=$(attached smpquery pkeys "$lid" "$port" | grep -E '^ +[0-9]+:' | grep -oE '0x[0-9a-f]{4}') || return
            echo "$lid $port ${keys%%$'\n'*} $(grep -v 0x0000 <<<"$keys" | sort | tr '\n' ' ')"
        done
    done
}
# The order of the P_Keys of a switch port is irrelevant.
key_sets() { keys | awk '{ if ($2 == 5 || $2 == 6) $3 = "-"; print }'; }

enforcement() {
    local lid port
    for lid in $(lids); do
        for port in 1 2 3 4 5 6; do
            echo "$lid $port $(attached smpquery portinfo "$lid" "$port" 2>/dev/null | grep PartEnforce | tr '\n' ' ')"
        done
    done
}

paths() {
    local from to
    for from in $(lids); do
        for to in $(lids); do
            echo "$from $to $(attached saquery --src-to-dst "$from:$to" 2>&1 | grep -oE 'pkey\.*0x[0-9a-fA-F]+')"
        done
    done
}
paths_with_key() { # P_KEY: the paths from LID 1 with this P_Key
    attached saquery -p --slid 1 --pkey "$1" 2>&1 | grep -oE '(dlid|pkey)\.+.*' | paste - - | sort
}
groups() {
    attached saquery -g | sed '/Mlid/d' | awk '/dump:/ { if (record) print record; record = ""; next }
        { gsub(/[ \t]+/, ""); record = record " " $0 } END { print record }' | sort
}
key_records() { # without ports between switches
    attached saquery --smkey 1 PKTR 2>&1 |
        awk '/dump:/ { lid = port = "" } /LID\.*/ { lid = $0 } /Port\.*/ { port = $0 } /Block\.*/ { block = $0 }
             { while (match($0, /0x[0-9a-f][0-9a-f][0-9a-f][0-9a-f]/)) {
                   key = substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH)
                   if (key != "0x0000") print lid, port, key } }' | sed 's/[ \t]//g' | sort -u | grep -vE 'LID\.*[2346]Port\.*[1-4]0x'
}

collect() { # DIRECTORY
    mkdir "$1"
    key_sets >"$1/keys"
    enforcement >"$1/enforcement"
    paths >"$1/paths"
    groups >"$1/groups"
    key_records >"$1/records"
    for key in 0x8010 0x10 0xffff 0x8011 0x8012 0x8055 0x8001; do
        echo "$key"
        paths_with_key "$key"
    done >"$1/paths-by-key"
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ] && cat "$1"; }

"$WEFT" topo gen mesh dims=2,2 hosts=2 speed=SDR >mesh.net || exit
weft_start mesh.net || exit
opensm_start -P "$work/partitions.conf" || exit
collect opensm
stop "$opensm_id"
echo "Default=0x7fff, ipoib : ALL=full ;" >plain.conf
opensm_start -P "$work/plain.conf" || exit
only_default_keys() { keys | awk '$2 == 1' | grep -qv 0xffff && return 1 || return 0; }
claim "without the file, OpenSM leaves only the default P_Key" wait_until 10 only_default_keys
stop "$opensm_id"
manager_starts --partitions "$work/partitions.conf" || exit
collect weft
claim "OpenSM writes the P_Keys of all ports" has_lines opensm/keys 16
claim "OpenSM and weft write the same P_Keys to every port" same_files opensm/keys weft/keys
claim "OpenSM and weft enable enforcement on the same switch ports" same_files opensm/enforcement weft/enforcement
claim "path records have the same P_Keys" same_files opensm/paths weft/paths
claim "queries by P_Key return the same paths" same_files opensm/paths-by-key weft/paths-by-key
claim "OpenSM and weft create the same multicast groups" same_files opensm/groups weft/groups
claim "P_KeyTableRecords are the same" same_files opensm/records weft/records

# A reload that adds one member changes the tables of one adapter port and one switch port.
reload() { happens 'config +read again' kill -HUP "$manager_id"; }
sed -i 's/^Auto, ipoib : /&0x10000f=full, /' partitions.conf
keys >before.keys
reloads_one() {
    reload || return
    wait_until 10 has_new_key || return
    diff before.keys after.keys >changed.keys
    [ "$(grep -c '^>' changed.keys)" -eq 2 ] || { cat changed.keys && return 1; }
}
has_new_key() { keys >after.keys && grep -q '^12 1 .*0x8001' after.keys; }
claim "a reload with a new member changes the P_Key tables of its port and its switch port only" reloads_one
echo "Red = 0x10 : everybody ;" >>partitions.conf
claim "an error in the file is logged with file and line" happens 'partitions.conf:[0-9]+: .everybody. is not a port' kill -HUP "$manager_id"
unchanged() { keys >now.keys && diff after.keys now.keys; }
claim "a file with an error changes no P_Key table" unchanged

# The SA answers limited members of the default partition.
limited_is_answered() { [ "$(WEFT_ATTACH=H5 attached saquery -N | grep -c NodeDescription)" -ge 2 ]; }
claim "the SA answers limited members" limited_is_answered
