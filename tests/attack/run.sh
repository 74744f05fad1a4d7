#!/usr/bin/env bash
# Attacks a running manager and prints a table: attempts, breaches, worst response time of an honest client.
#
#     run.sh [-m weft|opensm] [-s SECONDS] [ROW...]
#
# Every row has its own fabric (a fat tree of 324 hosts), a master and a standby. One host attacks for
# SECONDS while another host, the honest client, queries paths. A row is a line of `rows`: its name, the
# attack (a mode of attacker.c, or a function with a name attack_*), and the check (a function check_*), which
# prints one line for each breach. Every row is also checked for these: the master is the same as before and no
# other took over; the honest client got every answer, within LIMIT_MS; neither the manager nor the fabric's
# server grew by more than LIMIT_MIB. Exit status 1: there were breaches.
#
# A function prepare_ATTACK writes sm.conf before the managers start.
#
# New rows: add a line to `rows`, a mode to attacker.c or an attack_* function, and a check_* function.
# shellcheck source=../interop/fabrics.sh
. "$(dirname "$0")/../interop/fabrics.sh"
: "${SA_CLIENT:?the path of sa_client}" "${ATTACKER:?the path of attacker}"
LIMIT_MS=${LIMIT_MS:-50} LIMIT_MIB=${LIMIT_MIB:-256}
manager=weft seconds=4
while getopts m:s: option; do
    case $option in
    m) manager=$OPTARG ;;
    s) seconds=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

rows='
calm            attack_none             check_nothing
services        services                check_granted
subscriptions   subscriptions           check_granted
groups          groups                  check_granted
misses          misses                  check_nothing
scans           scans                   check_nothing
tables          tables                  check_nothing
unread          unread                  check_nothing
unacknowledged  unacknowledged          check_nothing
mute-subscriber reports                 check_nothing
forged-traps    traps                   check_nothing
own-traps       own-traps               check_nothing
loss            attack_loss             check_loss
trap-and-loss   attack_trap_and_loss    check_loss
sminfo          sminfo                  check_nothing
babbling        attack_babbling         check_babbling
rogue-manager   attack_rogue            check_ports
sets            attack_sets             check_ports
'

# ---- the managers ----

start_weft() { # MASTER-LOG STANDBY-LOG
    WEFT_ATTACH=H0 background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --config "$work/sm.conf" --priority 9 --log "$work/$1" >"$1.out" 2>&1
    master_id=$background_id
    serving "$master_id" 60 grep -q ' up  *subnet up' "$1" || return
    WEFT_ATTACH=H1 background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --config "$work/sm.conf" --priority 3 --log "$work/$2" >"$2.out" 2>&1
    standby_id=$background_id
    serving "$standby_id" 30 grep -qE 'state +standby' "$2"
}
weft_lost_mastership() { grep -E ' state +(master|discovering)' standby.log | tail -n +2 | grep -E 'master' || grep -E ' state +standby' master.log; }
weft_is_up_again() { [ "$(grep -c ' up  *subnet up' master.log)" -gt "$1" ]; }
weft_ups() { grep -c ' up  *subnet up' master.log; }

start_opensm() {
    OPENSM_LOG=$work/$1 WEFT_ATTACH=H0 opensm_start -p 9 || return
    master_id=$opensm_id
    WEFT_ATTACH=H1 background env LD_PRELOAD="$PRELOAD" opensm -d2 -p 3 -f "$work/$2" -D 0x07 >"$2.out" 2>&1
    standby_id=$background_id
    serving "$standby_id" 30 grep -qF 'Entering STANDBY' "$2"
}
opensm_lost_mastership() { grep -F 'Entering MASTER' standby.log; }
opensm_ups() { grep -cF 'SUBNET UP' master.log; }

resident() { sed -nE 's/^VmRSS:[^0-9]*([0-9]+) kB/\1/p' "/proc/$1/status"; }

# ---- attacks: run in the background until they end; their output is attack.out ----

attack_none() { sleep "$seconds" && echo "attempts 0 granted 0"; }
attack_babbling() { # the port of the attacker is disabled
    [ "$manager" = weft ] || { attack_none && return; }
    echo 'babbling_port_policy yes' >sm.conf
    kill -HUP "$master_id"
    wait_until 5 grep -q 'babbling_port_policy yes' master.log
    WEFT_ATTACH=H30 LD_PRELOAD=$PRELOAD "$ATTACKER" traps "$seconds"
}
attack_loss() { # a switch fails; no attack, for comparison
    local before begin switch
    sleep 1
    before=$("${manager}_ups")
    switch=$(sed -nE 's/^Switch.*# "(S[0-9]+)".*/\1/p' fattree.net | tail -n 1)
    begin=${EPOCHREALTIME/./}
    "$WEFT" ctl switch down "$switch" >/dev/null
    wait_until 20 eval "[ \$(${manager}_ups) -gt $before ]"
    echo $(((${EPOCHREALTIME/./} - begin) / 1000)) >loss_ms
}
attack_trap_and_loss() {
    local id
    WEFT_ATTACH=H30 LD_PRELOAD=$PRELOAD "$ATTACKER" traps "$seconds" &
    id=$!
    attack_loss
    wait "$id"
}

# Random keys in both managers; OpenSM has its own defaults.
with_keys() { rm -f keys && "$WEFT" sm --make-key keys && echo "key_file $work/keys" >sm.conf; }
prepare_attack_rogue() { with_keys; }
prepare_attack_sets() { with_keys; }
attack_rogue() { # a manager of the highest priority
    WEFT_ATTACH=H30 LD_PRELOAD=$PRELOAD timeout "$seconds" opensm -d2 -p 15 -f "$work/rogue.log" >rogue.out 2>&1
    echo "attempts 1 granted 0"
}
attack_sets() { # disable the port of the honest client, at its switch and at the host
    local end=$((SECONDS + seconds)) attempts=0
    while [ "$SECONDS" -lt "$end" ]; do
        WEFT_ATTACH=H30 LD_PRELOAD=$PRELOAD timeout 1 ibportstate -t 50 -G "$(printf 0x%x $((0x100001 + 2 * 20)))" 1 reset
        WEFT_ATTACH=H30 LD_PRELOAD=$PRELOAD timeout 1 ibportstate -t 50 -D 0,1 1 disable
        attempts=$((attempts + 2))
    done >/dev/null 2>&1
    echo "attempts $attempts granted 0"
}

# ---- checks: print one line for each breach ----

check_nothing() { :; }
check_granted() { [ "$granted" -eq 0 ] || echo "$granted granted beyond the limit of a port"; }
check_babbling() {
    [ "$manager" != weft ] || grep -qE 'isolated: .*H30 port 1.* sends too many traps' master.log ||
        echo "the port of the attacker is not disabled"
}
check_ports() { # neither the honest client nor the attacker has another master or a port that is not active
    local host
    for host in 20 30; do
        WEFT_ATTACH=H$host LD_PRELOAD=$PRELOAD timeout 5 ibstat >"ibstat.$host" 2>&1
        grep -q 'State: Active' "ibstat.$host" || echo "the port of H$host is not active"
        [ "$(sed -nE 's/.*SM lid: ([0-9]+)/\1/p' "ibstat.$host")" = "$(WEFT_ATTACH=H0 LD_PRELOAD=$PRELOAD ibstat | sed -nE 's/.*Base lid: ([0-9]+)/\1/p')" ] ||
            echo "H$host has another master"
    done
}
check_loss() { # the subnet is rerouted within a second of the loss, as without an attack
    local ms
    ms=$(cat loss_ms)
    [ "$ms" -le 1000 ] || echo "a lost switch was routed around after $ms ms"
}

check_always() {
    local lost
    lost=$("${manager}_lost_mastership")
    [ -z "$lost" ] || echo "mastership was lost: $lost"
    has_ended "$master_id" && echo "the master ended"
    has_ended "$weft_id" && echo "the fabric's server ended"
    [ "$refused" -eq 0 ] || [ "$1" = check_babbling ] || echo "$refused queries of the honest client were refused"
    [ "$unanswered" -eq 0 ] || echo "$unanswered queries of the honest client without an answer"
    [ "$worst_us" -le $((LIMIT_MS * 1000)) ] || echo "the honest client waited for $((worst_us / 1000)) ms"
    [ $((master_grew / 1024)) -le "$LIMIT_MIB" ] || echo "the master grew by $((master_grew / 1024)) MiB"
    [ $((server_grew / 1024)) -le "$LIMIT_MIB" ] || echo "the fabric's server grew by $((server_grew / 1024)) MiB"
}

# ---- the table ----

run_row() { # NAME ATTACK CHECK
    local attack=$2 check=$3 honest_id master_size server_size
    rm -f ./*.log ./*.out loss_ms
    : >sm.conf
    if [ "$(type -t "prepare_$attack")" = function ]; then "prepare_$attack"; fi
    weft_start fattree.net && "start_$manager" master.log standby.log || return 2
    master_size=$(resident "$master_id") server_size=$(resident "$weft_id")
    WEFT_ATTACH=H20 background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" watch "$seconds" >honest.out 2>&1
    honest_id=$background_id
    wait_until 10 grep -q watching honest.out || return 2
    case $attack in
    attack_*) "$attack" >attack.out 2>&1 ;;
    *) WEFT_ATTACH=H30 LD_PRELOAD=$PRELOAD "$ATTACKER" "$attack" "$seconds" >attack.out 2>&1 ;;
    esac
    master_grew=$(($(resident "$master_id") - master_size)) server_grew=$(($(resident "$weft_id") - server_size))
    wait_until 25 has_ended "$honest_id"
    read -r attempts granted < <(sed -nE 's/^attempts ([0-9]+) granted ([0-9]+)$/\1 \2/p' attack.out)
    read -r refused unanswered worst_us < <(awk '/^asked/ { print $6, $10, $18 }' honest.out)
    : "${attempts:=0}" "${granted:=0}" "${refused:=0}" "${unanswered:=1}" "${worst_us:=0}"
    { check_always "$check" && "$check"; } >breaches.txt 2>&1
    breaches=$(wc -l <breaches.txt)
    all_breaches=$((all_breaches + breaches))
    printf '%-16s %9d %8d %12s %10d %10d%s\n' "$1" "$attempts" "$breaches" \
        "$(awk -v us="$worst_us" 'BEGIN { printf "%.1f ms", us / 1000 }')" $((master_grew / 1024)) $((server_grew / 1024)) \
        "$([ -e loss_ms ] && echo "  rerouted after $(cat loss_ms) ms")"
    sed 's/^/    /' breaches.txt
    stop "$standby_id" "$master_id" "$weft_id"
}

"$WEFT" topo gen fattree 324 >fattree.net || exit
all_breaches=0
printf '%s: one attacker, one honest client, %d s each\n' "$manager" "$seconds"
printf '%-16s %9s %8s %12s %10s %10s\n' row attempts breaches 'honest worst' 'SM MiB' 'server MiB'
while read -r name attack check; do
    [ -n "$name" ] || continue
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    run_row "$name" "$attack" "$check" || { printf '%-16s could not start\n' "$name" && all_breaches=$((all_breaches + 1)); }
done <<<"$rows"
echo "$all_breaches breaches"
[ "$all_breaches" -eq 0 ]
