#!/usr/bin/env bash
# Registrations survive restarts and failovers, and no client has to register again.
#
# A fat tree of 648 hosts with 1,000 groups of two members, 1,000 services (half of them with leases) and
# 1,000 subscriptions. saquery lists them before and after; one client queries paths continuously. The SM
# logs when it requests reregistration (tests/unit/host/sim/sa_clients_test.c counts packets).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need saquery opensm ibroute ibswitches
: "${SA_CLIENT:?the path of sa_client}"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
number=${REGISTRATIONS:-1000}

# One client registers for all hosts.
printf '%s 0\n' sa_etm_max_num_mcgs sa_etm_max_num_srvcs sa_etm_max_num_event_subs >limits.conf
first_starts() { WEFT_ATTACH=H0 manager_starts --config "$work/limits.conf" --priority 5 --state "$work/first" --control "$work/first.socket"; }
second_starts() {
    rm -f second.log
    WEFT_ATTACH=H1 background "${attached[@]}" "$WEFT" sm --config "$work/limits.conf" --log "$work/second.log" --state "$work/second" --sweep 1s >second.out 2>&1
    second_id=$background_id
    serving "$second_id" 20 grep -qE 'clients .* came from the master' second.log || { cat second.out second.log && return 1; }
}
saq() { WEFT_ATTACH=H5 timeout 20 env LD_PRELOAD="$PRELOAD" saquery "$@" 2>saquery.err || { cat saquery.err && return 1; }; }
# list_registrations DIRECTORY: members of groups, services and subscriptions, without leases.
list_registrations() {
    mkdir -p "$1"
    saq -g --smkey 1 >"$1/members" && saq -S --smkey 1 >"$1/services" && saq -I >"$1/subscriptions" &&
        grep -c MCMemberRecord "$1/members" >"$1/count" && grep -c ServiceRecord "$1/services" >>"$1/count" &&
        grep -c InformInfoRecord "$1/subscriptions" >>"$1/count"
}
registrations_unchanged() {
    list_registrations "$1" || return
    diff before/members "$1/members" && diff before/services "$1/services" && diff before/subscriptions "$1/subscriptions"
}
registered() {
    WEFT_ATTACH=H2 on_running_weft "$SA_CLIENT" register "$number" "$number" "$number" && list_registrations before &&
        printf '%s\n' $((2 * number)) "$number" "$number" | diff - before/count
}
saved() { wait_until 5 saved_now first && saved_now first; }
saved_now() { [ "$(grep -cE '^(MC Group .*a01c|Service|InformInfo)' "$1/opensm-sa.dump")" -eq $((3 * number)) ]; }

"$WEFT" topo gen fattree 648 speed=SDR >fattree.net && weft_start fattree.net || exit
first_starts || exit
claim "the SA accepts $number groups, services and subscriptions" registered
claim "the SM writes them to opensm-sa.dump" saved

# A client that queries paths: every query succeeds, and no response takes longer than the fabric has no
# master.
watching() {
    WEFT_ATTACH=H3 background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" watch 100 >watch.out 2>&1
    watch_id=$background_id
    wait_until 10 grep -q watching watch.out
}
watched() { # MILLISECONDS: the limit for the time without a response
    sleep 0.6 # for some more responses
    kill -TERM "$watch_id" && wait_until 10 has_ended "$watch_id"
    awk -v most="$1" '{ print } $4 > 2 && $6 == 0 && $20 < most { good = 1 } END { exit !good }' watch.out
}
requests_no_reregistration() { lacks 'ports have to register again' "$1" || { grep -vE ' in  ' "$1"; return 1; }; }

read_from_file() { contains "clients .*$number services, $number subscriptions read from the last run" manager.log; }
taken_over() { wait_until 10 grep -qE ' up +subnet up.* 648 adapters' second.log || { tail -n 20 second.log && return 1; }; }
synchronized() { wait_until 20 grep -qE 'clients .* came from the master' manager.log && wait_until 20 grep -qE ' up +subnet up' manager.log; }

watching
stop "$manager_id"
first_starts || exit
claim "a restarted SM reads the registrations from its file" read_from_file
claim "all registrations exist after a restart" registrations_unchanged restarted
claim "the SM requests no reregistration" requests_no_reregistration manager.log
killed() { kill -KILL "$manager_id" && wait_until 10 has_ended "$manager_id" && wait_until 10 flock -n first/lock true; }
killed && first_starts || exit
claim "all registrations exist after a crash" registrations_unchanged crashed
claim "the SM requests no reregistration" requests_no_reregistration manager.log
claim "no path query waits 3 seconds for its response" watched 3000

# Registrations that the SA acknowledges just before a crash.
join_and_crash() {
    WEFT_ATTACH=H2 on_running_weft "$SA_CLIENT" groups 50 7 >late || return
    killed
}
late_members_exist() { # by MLID and the lower half of the port's GUID
    awk '{ print $1, substr($2, 11) }' late | sort -u >expected
    saq MCMR --smkey 1 >records || return
    awk -F '\\.\\.+' 'function four(part) { return substr("0000" part, length(part) + 1) }
        /PortGid/ { count = split($2, part, ":"); guid = four(part[count - 1]) four(part[count]) }
        /mlid/ { print $2, guid }' records | sort -u >known
    [ "$(wc -l <expected)" -gt 500 ] && ! comm -23 expected known | grep .
}
claim "the SA accepts joins, and the SM is killed at once" join_and_crash
first_starts || exit
claim "a restarted SM has all acknowledged members" late_members_exist
claim "the SM requests no reregistration" requests_no_reregistration manager.log
list_registrations before

second_starts || exit
watching
kill -KILL "$manager_id"
claim "the standby becomes master after the master is killed" taken_over
claim "all registrations exist after the failover" registrations_unchanged failed_over
claim "the SM requests no reregistration" requests_no_reregistration second.log
claim "no path query waits 2 seconds for its response" watched 2000

first_starts || exit
claim "the restarted first SM gets the registrations from the master and takes over" synchronized
claim "all registrations exist after the handover" registrations_unchanged handed_over
claim "the SM requests no reregistration" requests_no_reregistration manager.log

# An SM without registrations requests reregistration from every port, once.
requests_reregistration_once() { wait_until 5 grep -qE 'clients of 702 ports have to register again' "$1" && [ "$(grep -c 'ports have to register' "$1")" -eq 1 ]; }
set_aside() { contains 'warning .*opensm-sa.dump.*it is set aside' manager.log && [ -s first/opensm-sa.dump.bad ]; }
stop "$second_id" "$manager_id"
echo 'MC Group nonsense' >first/opensm-sa.dump
first_starts || exit
claim "the SM renames a damaged file and logs a warning" set_aside
claim "the SM requests reregistration from all ports" requests_reregistration_once manager.log
stop "$manager_id"

# The file is outdated if another SM was master since it was written.
WEFT_ATTACH=H4 on_running_weft timeout 60 opensm -o -f "$work/osm.log" >osm.out 2>&1
first_starts || exit
claim "after another master, the SM requests reregistration from all ports" requests_reregistration_once manager.log
stop "$manager_id"

# Two masters, because the first was stopped for long. The second one acknowledges registrations; the first, of
# higher priority, does not have them.
stopped() { kill -STOP "$manager_id" && wait_until 10 grep -qE 'state +master' second.log && wait_until 10 grep -qE ' up +subnet up' second.log; }
joins() { WEFT_ATTACH=H2 on_running_weft "$SA_CLIENT" groups 2 1 >late && [ -s late ]; }
continued() { : >manager.log && kill -CONT "$manager_id" && requests_reregistration_once manager.log; }
first_starts && second_starts || exit
claim "the standby replaces a master that is stopped" stopped
claim "the new master accepts joins" joins
claim "the stopped master becomes master again and requests reregistration from all ports" continued
# Every MLID in the tables of three switches is that of a group of the SA.
tables_agree() {
    saq -g --smkey 1 >groups.out
    grep -oE 'Mlid\.+0x[0-9A-Fa-f]+' groups.out | grep -oE '0x.*' | tr a-f A-F | sort -u >groups.mlids
    # The first SM has no group, if nobody has registered again.
    WEFT_ATTACH=H5 on_running_weft ibswitches 2>/dev/null | sed -nE 's/.* lid ([0-9]+) .*/\1/p' | head -n 3 >lids
    [ "$(wc -l <lids)" -eq 3 ] || return
    while read -r lid; do
        WEFT_ATTACH=H5 on_running_weft ibroute -M "$lid" </dev/null 2>/dev/null | sed -nE 's/^(0x[cC][0-9a-fA-F]{3}) .*x.*/\1/p'
    done <lids | tr a-f A-F | sort -u >table.mlids
    ! comm -13 groups.mlids table.mlids | grep .
}
claim "multicast tables and the SA agree" wait_until 5 tables_agree
stop "$manager_id" "$second_id"
