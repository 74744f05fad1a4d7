#!/usr/bin/env bash
# A blind trial: single faults in a fabric of 324 hosts. `weft ctl problems` names each with its place, names nothing
# else, and forgets it after the repair; the page and the log say the same. Prints a table of the faults and of the times
# until each was named.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need ibportstate opensm curl python3

"$WEFT" topo gen fattree size=324 >net || exit
weft_start net --pace real || exit
mkdir state standby-state
key=0x5eed
printf '%s\n' "m_key $key" 'm_key_protection_level 2' 'priority 5' 'state state' 'counter_interval 1s' >sm.conf
sed 's/^priority.*/priority 3/; s/^state.*/state standby-state/' sm.conf >standby.conf
starts_standby() {
    background env WEFT_ATTACH=H300 LD_PRELOAD="$PRELOAD" "$WEFT" sm --config standby.conf --sweep 1s \
        --log "$work/standby.log" >standby.out 2>&1
    standby_id=$background_id
    echo "$standby_id" >standby.id
}
manager_starts --config sm.conf --control "$work/sm.socket" --web 0 || exit
starts_standby
url=$("$WEFT" ctl --socket "$work/sm.socket" page | sed 's/\/#.*//')
fault() { "$WEFT" ctl "$@" >fault.out 2>&1 || { cat fault.out && return 1; }; }
ctl() { "$WEFT" ctl --socket "$work/sm.socket" "$@"; }
lid_of() { ctl topology | sed -n "s/^[a-z]* .* LID *\([0-9]*\) .* $1\$/\1/p"; }
set_port() { on_running_weft ibportstate -y "$key" "$(lid_of "$1")" "$2" "${@:3}" >port.out 2>&1 || { cat port.out && return 1; }; }

problems() { ctl problems >problems.out 2>&1; }
# on_page: the problems of the page, as `weft ctl problems` prints them, without times
on_page() {
    curl -sf "$url/api/v1/state" | python3 -c '
import json, sys
for p in json.load(sys.stdin)["problems"]:
    print(("note: " if p["severity"] == 2 else "") + ": ".join(filter(None, (p["kind"], p["place"], p["text"]))))'
}
# Numbers that grow are no difference.
same_on_page() { on_page | sed 's/[0-9][0-9]*/N/g' | diff -u <(sed 's/ (since [^)]*)$//; s/[0-9][0-9]*/N/g' problems.out) -; }
# LINE of problems: the log has it as a warning or a note, since the mark
is_logged() {
    local place=${1% (since*}
    place=${place#note: }
    tail -n "+$mark" manager.log | grep -qE '^[^ ]+ [^ ]+ (warning|note) ' &&
        tail -n "+$mark" manager.log | grep -E '^[^ ]+ [^ ]+ (warning|note) ' | grep -qF -- "$(echo "$place" | cut -d: -f1,2)"
}
is_clean() { problems && [ "$(cat problems.out)" = 'problems: none' ]; }
names() { problems && grep -qE -- "$1" problems.out; }
# trial FAULT PATTERN INJECT REPAIR: functions or commands; one line names the fault, and no other line is there
trial() {
    wait_until 30 is_clean
    local begin=${EPOCHREALTIME/./} named solved line
    is_clean || { echo "before $1:" && tail -n 8 problems.out && return 1; }
    mark=$(($(wc -l <manager.log) + 1))
    eval "$3" || return
    wait_until 90 names "^$2" || { echo "not named: $1" && tail -n 20 problems.out && eval "$4" && return 1; }
    named=$((${EPOCHREALTIME/./} - begin))
    line=$(grep -m 1 -E -- "^$2" problems.out)
    for _ in 1 2 3 4 5 6 7 8; do
        sleep 0.5
        problems && ! grep -vE -- "^($2|problems: none)" problems.out || { echo "named, too" && eval "$4" && return 1; }
    done
    wait_until 10 is_logged "$line" || { echo "not logged: $line" && tail -n "+$mark" manager.log && eval "$4" && return 1; }
    wait_until 10 eval 'problems && same_on_page' || { echo "another page" && same_on_page && eval "$4" && return 1; }
    begin=${EPOCHREALTIME/./}
    eval "$4" || return
    wait_until 90 is_clean || { echo "not solved: $1" && cat problems.out && return 1; }
    solved=$((${EPOCHREALTIME/./} - begin))
    printf '%-26s %6d ms %6d ms  %s\n' "$1" $((named / 1000)) $((solved / 1000)) "${line% (since*}" >>table
}
flaps() { # LINK at L7 port 1, three times
    for _ in 1 2 3; do happens 'link up: L7 port 1' fault flap L7 1 || return; done
}
claim_trial() { claim "$1: named with its place, nothing else is, until it is repaired" trial "$@"; }
# A bad cable and a flapping link stay listed for 10 minutes, or until they are cleared.
clear() { ctl problems clear "$@" >clear.out 2>&1 || { cat clear.out && return 1; }; }
no_disk() { mv state/guid2lid saved && mkdir -p state/guid2lid/full && fault guid H200 0x999998; } # it needs a LID

claim "a sound fabric has no problems" wait_until 30 is_clean || { cat problems.out; exit; }
claim_trial 'cut trunk' 'lost link: L3 port 20 <-> S1 port 4: ' 'fault link down L3 20' 'fault link up L3 20'
claim_trial 'cut host link' 'note: host gone: H40: its link is down \(L2 port 5\)' 'fault link down H40 1' 'fault link up H40 1'
claim_trial 'dead leaf' 'node gone: L5: its links are down \(S0 port 6, .*18 nodes behind it are cut off: H90, ' \
    'fault node down L5' 'fault node up L5'
claim_trial 'dead spine' 'node gone: S4: its links are down \(L0 port 23, ' 'fault node down S4' 'fault node up S4'
claim_trial 'mute agent' 'dead agent: H60: its link is up \(L3 port 7\), but it does not answer SMPs' \
    'fault agent mute H60' 'fault agent heal H60'
claim_trial 'mute leaf' 'dead agent: L14: its links are up \(S0 port 15, .*18 nodes behind it are out of reach, but packets may still pass: H252, ' \
    'fault agent mute L14' 'fault agent heal L14'
claim_trial 'slow agent, 150 ms' 'slow agent: H70: its agent takes [1-9][0-9]+ ms ' 'fault slow H70 150ms' 'fault heal H70'
claim_trial 'lossy trunk, 20 %' '(lossy link|bad cable): L0 port 19 <-> S0 port 1: ' 'fault drop 20% L0 19' 'fault drop 0% L0 19 && sleep 5 && clear L0 19'
claim_trial 'lossy host link, 20 %' '(lossy link|bad cable): L8 port 1 <-> H144 port 1: ' 'fault drop 20% H144 1' 'fault drop 0% H144 1'
claim_trial 'bit errors' 'bad cable: L6 port 3 <-> H110 port 1: ' 'fault errors L6 3 200/s' 'fault errors L6 3 0/s && sleep 3 && clear L6 3'
claim_trial 'flapping link' 'flapping link: L7 port 1 <-> H126 port 1: the link went down 3 times' flaps 'clear L7 1'
claim_trial 'slow cable' 'slow link: L9 port 21 <-> S2 port 10: the link runs at 1X NDR; both ends support 4X NDR' \
    'set_port L9 21 width 1 && fault flap L9 21' 'set_port L9 21 width 3 && fault flap L9 21 && sleep 2 && clear L9 21'
claim_trial 'duplicate GUID' 'duplicate GUID: L10 port 3 <-> H182 port 1: H182 has the GUID 0x0*100002 of H1 ' \
    'fault guid H182 0x100002' 'fault guid H182 0x10016c'
claim_trial 'second master' '(foreign manager|key violation): L12 port 5 <-> H220 port 1: ' \
    'WEFT_ATTACH=H220 LD_PRELOAD=$PRELOAD background opensm -p 0 -f $work/osm.log >osm.out 2>&1; echo $background_id >osm.id' 'stop "$(cat osm.id)" && sleep 2 && clear H220'
claim_trial 'wrong M_Key' '(dead agent|key violation): .*H80' 'set_port H80 1 mkey 0x77 mkeyprot 2' 'fault node down H80 && fault node up H80'
claim_trial 'standby ended' 'standby gone: L16 port 13 <-> H300 port 1: ' 'stop "$(cat standby.id)"' starts_standby
claim_trial 'unwritable state directory' 'file not written: state: ' no_disk \
    'rm -rf state/guid2lid && mv saved state/guid2lid && fault guid H200 0x100190'
claim_trial 'no master' 'no master: L0 port 1 <-> H0 port 1: the link of this manager is down' 'fault link down H0 1' 'fault link up H0 1'
sed 's/^/# /' table
