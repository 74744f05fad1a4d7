#!/usr/bin/env bash
# Registrations survive a restart and a failover, and no client has to register twice.
#
# A fat tree of 648 hosts; 1,000 groups of two members, 1,000 services (half of them with leases) and
# 1,000 subscriptions. saquery lists them before and after; a client queries paths all the time.
# Managers log requests to register again (tests/unit/host/sim/sa_clients_test.c counts packets).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need saquery opensm
: "${SA_CLIENT:?the path of sa_client}"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
number=${REGISTRATIONS:-1000}

first_starts() { WEFT_ATTACH=H0 manager_starts --priority 5 --state "$work/first" --control "$work/first.socket"; }
second_starts() {
    rm -f second.log
    WEFT_ATTACH=H1 background "${attached[@]}" "$WEFT" sm --log "$work/second.log" --state "$work/second" --sweep 1s >second.out 2>&1
    second_id=$background_id
    serving "$second_id" 20 grep -qE 'clients .* came from the master' second.log || { cat second.out second.log && return 1; }
}
saq() { WEFT_ATTACH=H5 timeout 20 env LD_PRELOAD="$PRELOAD" saquery "$@" 2>saquery.err || { cat saquery.err && return 1; }; }
# what_is_there DIRECTORY: groups with their members, services, subscriptions, without leases.
what_is_there() {
    mkdir -p "$1"
    saq -g --smkey 1 >"$1/members" && saq -S --smkey 1 >"$1/services" && saq -I >"$1/subscriptions" &&
        grep -c MCMemberRecord "$1/members" >"$1/count" && grep -c ServiceRecord "$1/services" >>"$1/count" &&
        grep -c InformInfoRecord "$1/subscriptions" >>"$1/count"
}
all_are_there() {
    what_is_there "$1" || return
    diff before/members "$1/members" && diff before/services "$1/services" && diff before/subscriptions "$1/subscriptions"
}
registered() {
    WEFT_ATTACH=H2 on_running_weft "$SA_CLIENT" register "$number" "$number" "$number" && what_is_there before &&
        printf '%s\n' $((2 * number)) "$number" "$number" | diff - before/count
}
kept() { wait_until 5 kept_now first && kept_now first; }
kept_now() { [ "$(grep -cE '^(MC Group .*a01c|Service|InformInfo)' "$1/opensm-sa.dump")" -eq $((3 * number)) ]; }

"$WEFT" topo gen fattree 648 >fattree.net && weft_start fattree.net || exit
first_starts || exit
claim "$number groups, services and subscriptions are registered" registered
claim "and written down" kept

# A client that queries paths meanwhile: all answers are good, and none takes longer than the fabric is
# without a master.
watching() {
    WEFT_ATTACH=H3 background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" watch 100 >watch.out 2>&1
    watch_id=$background_id
    wait_until 10 grep -q watching watch.out
}
watched() { # MILLISECONDS: the longest time without an answer
    sleep 0.6 # for some more answers, however quick the rest was
    kill -TERM "$watch_id" && wait_until 10 has_ended "$watch_id"
    awk -v most="$1" '{ print } $4 > 2 && $6 == 0 && $20 < most { good = 1 } END { exit !good }' watch.out
}
asks_nobody() { lacks 'ports are asked to register again' "$1" || { grep -vE ' in  ' "$1"; return 1; }; }

read_again() { contains "clients .*$number services, $number subscriptions read from the last run" manager.log; }
taken_over() { wait_until 10 grep -qE ' up +subnet up.* 648 adapters' second.log || { tail -n 20 second.log && return 1; }; }
learnt() { wait_until 20 grep -qE 'clients .* came from the master' manager.log && wait_until 20 grep -qE ' up +subnet up' manager.log; }

watching
stop "$manager_id"
first_starts || exit
claim "the file is read when it starts again" read_again
claim "all are there after a restart" all_are_there restarted
claim "and nobody is asked to register again" asks_nobody manager.log
killed() { kill -KILL "$manager_id" && wait_until 10 has_ended "$manager_id" && wait_until 10 flock -n first/lock true; }
killed && first_starts || exit
claim "all are there after a crash" all_are_there crashed
claim "and nobody is asked to register again" asks_nobody manager.log
claim "path queries were answered all along" watched 3000

# Answers to clients just before a crash.
registers_and_crash() {
    WEFT_ATTACH=H2 on_running_weft "$SA_CLIENT" groups 50 7 >late || return
    killed
}
late_ones_are_there() { # by MLID and the lower half of the port's GUID
    awk '{ print $1, substr($2, 11) }' late | sort -u >expected
    saq MCMR --smkey 1 >records || return
    awk -F '\\.\\.+' 'function four(part) { return substr("0000" part, length(part) + 1) }
        /PortGid/ { count = split($2, part, ":"); guid = four(part[count - 1]) four(part[count]) }
        /mlid/ { print $2, guid }' records | sort -u >known
    [ "$(wc -l <expected)" -gt 500 ] && ! comm -23 expected known | grep .
}
claim "groups are made, and the manager is killed at once" registers_and_crash
first_starts || exit
claim "all of them are there" late_ones_are_there
claim "and nobody is asked to register again" asks_nobody manager.log
what_is_there before

second_starts || exit
watching
kill -KILL "$manager_id"
claim "a standby takes over from a master that is killed" taken_over
claim "all are there after the fail-over" all_are_there failed_over
claim "and nobody is asked to register again" asks_nobody second.log
claim "path queries were answered all along, but for the time of one poll" watched 2000

first_starts || exit
claim "the first one comes back, learns them and becomes master again" learnt
claim "all are there after the handover" all_are_there handed_over
claim "and nobody is asked to register again" asks_nobody manager.log

# Without registrations, each client is requested to register once.
asks_all() { wait_until 5 grep -qE 'clients of 702 ports are asked to register again' "$1" && [ "$(grep -c 'ports are asked' "$1")" -eq 1 ]; }
set_aside() { contains 'warning .*opensm-sa.dump.*it is set aside' manager.log && [ -s first/opensm-sa.dump.bad ]; }
stop "$second_id" "$manager_id"
echo 'MC Group nonsense' >first/opensm-sa.dump
first_starts || exit
claim "a damaged file is set aside with a warning" set_aside
claim "and all are asked to register again" asks_all manager.log
stop "$manager_id"

# The file is outdated if another manager was master meanwhile.
WEFT_ATTACH=H4 on_running_weft timeout 60 opensm -o -f "$work/osm.log" >osm.out 2>&1
first_starts || exit
claim "those who had another manager meanwhile are asked to register again" asks_all manager.log
stop "$manager_id"
