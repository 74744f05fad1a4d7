#!/usr/bin/env bash
# Keys: SM_Key, sa_key and M_Keys against real tools and a rogue OpenSM on a weft fabric.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm smpquery ibportstate saquery sminfo python3
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

"$WEFT" topo gen irregular switches=16 hosts=14 --seed 1 >irregular.net || exit
at() { WEFT_ATTACH=H$1 "${@:2}"; } # NUMBER COMMAND...: on that host
guid() { printf '0x%016x' $((0x100001 + 2 * $1)); }

# ---- the key file ----

keys_are_made() {
    "$WEFT" sm --make-key keys || return
    [ "$(stat -c %a keys)" = 600 ] && [ "$(grep -cE '^(sm_key|sa_key|m_key) 0x[0-9a-f]{16}$' keys)" = 3 ]
}
two_files_differ() { "$WEFT" sm --make-key other && ! diff keys other >/dev/null; }
no_overwriting() { cp keys before && exits_with 2 "$WEFT" sm --make-key keys && same_files before keys; }
loose_file_is_refused() {
    cp keys loose && chmod 640 loose && echo "key_file $work/loose" >loose.conf
    exits_with 2 "$WEFT" sm --config loose.conf --once 2>loose.err && contains 'chmod 600' loose.err
}
errors_hide_keys() {
    printf 'sm_key 0x1234secret5678\n' >bad && chmod 600 bad && echo "key_file $work/bad" >bad.conf
    exits_with 2 "$WEFT" sm --config bad.conf --once 2>bad.err && contains 'sm_key: expected a number' bad.err &&
        lacks '1234secret' bad.err
}
claim "weft sm --make-key makes three random keys that only their owner can read" keys_are_made || exit
claim "each call makes other keys" two_files_differ
claim "an existing file is not overwritten" no_overwriting
claim "a key file that others can read is refused" loose_file_is_refused
claim "an error about a key does not show it" errors_hide_keys

# ---- a manager with keys ----

key() { sed -n "s/^$1 //p" keys; }
printf 'key_file %s/keys\nm_key_per_port yes\nstate %s/state\npriority 1\ncontrol %s/sm.socket\n' "$work" "$work" "$work" >manager.conf
weft_start irregular.net || exit
at 0 manager_starts --config "$work/manager.conf" || exit

port_key() { sed -n "s/^$(guid "$1") //p" state/guid2mkey; }
lid() { # HOST: from the table of LIDs that the manager keeps
    printf %d "$(sed -n "s/^$(guid "$1") \(0x[0-9a-f]*\) .*/\1/p" state/guid2lid)"
}
files_are_written() {
    wait_until 10 test -s state/guid2mkey && wait_until 10 test -s state/neighbors &&
        [ "$(stat -c %a state/guid2mkey state/neighbors | sort -u)" = 600 ] &&
        [ "$(awk '{ print $2 }' state/guid2mkey | sort -u | wc -l)" = "$(wc -l <state/guid2mkey)" ] &&
        [ "$(wc -l <state/guid2mkey)" = 30 ]
}
claim "each of 30 ports has its own M_Key, in guid2mkey" files_are_written || exit

reads_with_key() { at 5 on_running_weft smpquery -y "$(port_key 7)" portinfo "$(lid 7)" >read.out && contains '^Lid:' read.out; }
no_read_without_key() {
    local host word
    for host in 7 9; do
        for word in 0 "$(key m_key)" "$(port_key 8)"; do
            ! at 5 on_running_weft smpquery -t 100 -y "$word" portinfo "$(lid $host)" || return
        done
    done
}
claim "smpquery with the M_Key of guid2mkey reads a port" reads_with_key
claim "smpquery without the key, with the secret or with another port's key reads nothing" no_read_without_key
claim "the manager logs the violations with the port of the offender" \
    wait_until 10 contains 'H5 .*sent an SMP without the M_Key of H[79]' manager.log
no_set_without_key() {
    at 5 on_running_weft ibportstate -t 100 "$(lid 7)" 1 disable >disable.out 2>&1
    at 5 on_running_weft smpquery -y "$(port_key 7)" portinfo "$(lid 7)" 1 >state.out && contains 'LinkState:.*Active' state.out
}
claim "ibportstate without the key disables no port" no_set_without_key
problem_is_listed() { "$WEFT" ctl --socket "$work/sm.socket" problems >problems.out && contains 'H5.*M_Key' problems.out; }
claim "weft ctl problems lists the offender" problem_is_listed

# ---- SA ----

no_keys_in_answers() { # the fields that saquery --show_keys prints
    at 5 on_running_weft saquery -K "$@" PIR "$(lid 7)" >pir.out 2>&1
    ! grep -iE 'm_?key' pir.out | grep -vi lease | grep -iF -- "$(port_key 7 | sed 's/^0x0*//')"
}
sa_key_shows_them() {
    at 5 on_running_weft saquery -K --smkey "$(key sa_key)" PIR "$(lid 7)" >pir.out && grep -iqF "$(port_key 7 | sed 's/^0x0*//')" pir.out
}
claim "PortInfoRecords without a key have no M_Key" no_keys_in_answers
claim "the well-known key is refused" exits_with 110 at 5 on_running_weft saquery -t 500 --smkey 1 PIR "$(lid 7)"
claim "PortInfoRecords with the SM_Key have no M_Key" no_keys_in_answers --smkey "$(key sm_key)"
claim "PortInfoRecords with the sa_key have the M_Key" sa_key_shows_them

# ---- a rogue manager ----

opensm -c "$work/opensm.conf" >/dev/null 2>&1
sed -i 's/^sm_priority .*/sm_priority 15/' opensm.conf
rogue_starts() { # an OpenSM with priority 15 on host 6
    rm -f osm.log
    at 6 background "${attached[@]}" opensm -d2 -f "$work/osm.log" --config "$work/opensm.conf" >osm.out 2>&1
    rogue_id=$background_id
}
rogue_finds_nothing() {
    wait_until 15 grep -qE 'H6 .*sent an SMP without the M_Key of H6' manager.log || { tail manager.log && return 1; }
    lacks 'SUBNET UP' osm.log && lacks 'handing over|standby' manager.log
}
nothing_changed() {
    local host
    for host in 0 7 9; do
        at 5 on_running_weft smpquery -y "$(port_key $host)" portinfo "$(lid $host)" >port.out &&
            contains "^SMLid:\.+$(lid 0)$" port.out && contains 'LinkState:.*Active' port.out || return
    done
}
rogue_starts
claim "an OpenSM with priority 15 reads no port, not even its own, and is reported" rogue_finds_nothing
claim "it changes no port" nothing_changed
kill "$rogue_id" && wait_until 10 has_ended "$rogue_id"

# ---- a standby, a restart ----

cp_state() {
    cp -r state state2 && rm -f state2/lock && sed "s:/state$:/state2:; s:sm.socket:sm2.socket:" manager.conf >second.conf
}
second_starts() {
    cp_state || return
    at 3 background "${attached[@]}" "$WEFT" sm --config "$work/second.conf" --log "$work/second.log" >second.out 2>&1
    second_id=$background_id
}
second_takes_over() {
    wait_until 15 grep -qE 'state +standby' second.log || { cat second.log && return 1; }
    sleep 2
    kill -KILL "$manager_id"
    wait_until 10 grep -qE ' up +subnet up' second.log || { cat second.log && return 1; }
    lacks 'ignored|refused' second.log
}
restarts() {
    contains '16 switches, 14 adapters' manager.log
}
no_key_is_logged() {
    local word
    for word in sm_key sa_key m_key; do
        ! grep -iF "$(key $word | sed 's/^0x//')" manager.log second.log osm.log ./*.out state/guid2lid problems.out || return
    done
    "$WEFT" ctl --socket "$work/sm.socket" --json status >ctl.out
    ! grep -iF "$(port_key 7 | sed 's/^0x//')" manager.log second.log ctl.out problems.out
}
second_starts || exit
claim "a second manager with the same keys takes over" second_takes_over
kill -KILL "$second_id"
at 0 manager_starts --config "$work/manager.conf" || exit
claim "a restarted manager finds all nodes by the links that it knew" restarts
claim "no key is in a log or in the output of weft ctl" no_key_is_logged

# ---- without M_Keys: a rogue manager that can write ----

kill "$manager_id" && wait_until 10 has_ended "$manager_id"
weft_stop
weft_start irregular.net || exit
printf 'sm_key %s\npriority 1\n' "$(key sm_key)" >open.conf
at 0 manager_starts --config "$work/open.conf" || exit
rogue_is_ignored() {
    wait_until 15 grep -q 'foreign manager: .*H6 port 1: .*is ignored: it shows another SM_Key' manager.log || { tail manager.log && return 1; }
    wait_until 10 grep -q 'SUBNET UP' osm.log || return # it does not obey either
    lacks 'handing over|standby' manager.log
}
settings_are_restored() {
    wait_until 10 grep -q 'somebody else changed MasterSMLID of' manager.log && wait_until 10 right_master
}
right_master() {
    local own
    own=$(at 0 on_running_weft smpquery -D portinfo 0 1 | sed -n 's/^Lid:\.*//p')
    at 9 on_running_weft smpquery -D portinfo 0 1 >port.out && contains "^SMLid:\.+$own$" port.out
}
rogue_starts
claim "without M_Keys an OpenSM with priority 15 and another key is not obeyed" rogue_is_ignored
kill "$rogue_id" && wait_until 10 has_ended "$rogue_id"
claim "what it wrote is noticed and restored" settings_are_restored
