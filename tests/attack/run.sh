#!/usr/bin/env bash
# Attacks running managers and prints a table: attempts, breaches, worst response time of an honest client.
#
#     run.sh [-k DIRECTORY] [-m "MANAGER..."] [-s SECONDS] [ROW...]
#
# The managers are: weft, with keys as docs/security.md recommends; weft-open, without keys and with the defences
# switched off; opensm, with its defaults. A row that attacks none of the last two with success proves little.
#
# Every row has its own fabric (a fat tree of 324 hosts), a master and a standby. One host attacks for
# SECONDS while another host, the honest client, queries paths. A row is a line of `rows`: its name, the
# attack (a mode of attacker.c, or a function with a name attack_*), and the check (a function check_*), which
# prints one line for each breach. Every row is also checked for these: the master is the same as before and no
# other took over; the honest client got every answer, within LIMIT_MS; neither the manager nor the fabric's
# server grew by more than LIMIT_MIB. With -k, the logs are kept in this directory. Exit status 1: weft was breached.
#
# On a busy machine, PRIORITY=5 gives the managers, the fabric's server and the honest client this real-time priority
# (chrt -f), but not the attacker: the figures then show their work and not the load of the machine.
#
# A function prepare_ATTACK changes the configuration before the managers start.
#
# New rows: add a line to `rows`, a mode to attacker.c or an attack_* function, and a check_* function.
# shellcheck source=../interop/fabrics.sh
started_in=$PWD
. "$(dirname "$0")/../interop/fabrics.sh"
: "${SA_CLIENT:?the path of sa_client}" "${ATTACKER:?the path of attacker}"
LIMIT_MS=${LIMIT_MS:-50} LIMIT_MIB=${LIMIT_MIB:-256}
managers='weft weft-open opensm' seconds=4 keep=
while getopts k:m:s: option; do
    case $option in
    k) keep=$(cd "$started_in" && mkdir -p "$OPTARG" && cd "$OPTARG" && pwd) || exit ;;
    m) managers=$OPTARG ;;
    s) seconds=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

rows='
calm               attack_none             check_nothing
services           services                check_granted
services-with-key  services-with-key       check_granted
subscriptions      subscriptions           check_granted
groups             groups                  check_granted
proxy-groups       proxy-groups            check_proxy_groups
misses             misses                  check_nothing
scans              scans                   check_nothing
tables             tables                  check_nothing
path-tables        path-tables             check_nothing
unread             unread                  check_nothing
unacknowledged     unacknowledged          check_nothing
mute-subscriber    reports                 check_nothing
sminfo             sminfo                  check_nothing
open-transfers     open-transfers          check_transfers
endless-transfers  endless-transfers       check_transfers
malformed-segments malformed-segments      check_transfers
forged-traps       traps                   check_nothing
own-traps          own-traps               check_nothing
p-key-traps        p-key-traps             check_ports
loss               attack_loss             check_loss
trap-and-loss      attack_trap_and_loss    check_loss
babbling           attack_babbling         check_babbling
rogue-manager      attack_rogue            check_ports
controls           controls                check_ports
false-standby      attack_false_standby    check_false_standby
sets               attack_sets             check_ports
guesses            guesses                 check_granted
own-key            own-key                 check_granted
lease              attack_lease            check_granted
switches           switches                check_granted
read-keys          read-keys               check_granted
spoofed-sgid       attack_spoofed_sgid     check_granted
guid-of-host       attack_guid_of_host     check_ports
guid-of-manager    attack_guid_of_manager  check_ports
foreign-services   foreign-services        check_granted
foreign-deletes    foreign-deletes         check_granted
foreign-guids      foreign-guids           check_granted
'

MASTER=0 STANDBY=1 VICTIM=20 ATTACKING=30 # numbers of hosts
at() { WEFT_ATTACH=H$1 LD_PRELOAD=$PRELOAD "${@:2}"; } # HOST COMMAND...
node_guid() { printf 0x%x $((0x100000 + 2 * $1)); }
port_guid() { printf 0x%x $((0x100001 + 2 * $1)); }
lid() { at "$1" ibstat | sed -nE 's/.*Base lid: ([0-9]+)/\1/p'; } # HOST
export ATTACK_VICTIM ATTACK_MASTER ATTACK_STANDBY ATTACK_M_KEY
ATTACK_VICTIM=$(port_guid $VICTIM) ATTACK_MASTER=$(port_guid $MASTER) ATTACK_STANDBY=$(port_guid $STANDBY)

# ---- the managers ----

configure_weft() {
    rm -f keys && "$WEFT" sm --make-key keys
    printf 'key_file %s/keys\nm_key_per_port yes\n' "$work" >sm.conf
}
configure_weft-open() {
    printf '%s\n' 'sa_etm_max_num_mcgs 0' 'sa_etm_max_num_srvcs 0' 'sa_etm_max_num_event_subs 0' \
        'sa_max_mlids_per_port 0' 'sa_check_sgid_spoofing no' 'watch_ports 0' >sm.conf
}
configure_opensm() { opensm -c "$work/sm.conf" >/dev/null 2>&1; }
set_option() { # KEY VALUE
    sed -i "/^$1 /d" sm.conf && echo "$1 $2" >>sm.conf
}

start_weft() {
    rm -rf master standby
    WEFT_ATTACH=H$MASTER background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --config "$work/sm.conf" --priority 9 \
        --state "$work/master" --log "$work/master.log" >master.out 2>&1
    master_id=$background_id
    serving "$master_id" 60 grep -q ' up  *subnet up' master.log || return
    if grep -q m_key_per_port sm.conf; then # a standby needs the keys of ports and the links between them
        wait_until 20 test -s master/guid2mkey && wait_until 20 test -s master/neighbors || return
        mkdir -m 700 standby && cp -p master/guid2mkey master/neighbors standby
        ATTACK_M_KEY=$(sed -n "s/^0x0*$(port_guid $ATTACKING | sed s/0x//) //p" master/guid2mkey)
    fi
    WEFT_ATTACH=H$STANDBY background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --config "$work/sm.conf" --priority 3 \
        --state "$work/standby" --log "$work/standby.log" >standby.out 2>&1
    standby_id=$background_id
    serving "$standby_id" 30 grep -qE 'state +standby' standby.log
}
start_weft-open() { start_weft; }
weft_lost_mastership() { grep -E ' state +master' standby.log || grep -E ' state +standby' master.log; }
weft_ups() { grep -c ' up  *subnet up' master.log; }

start_opensm() {
    OPENSM_LOG=$work/master.log WEFT_ATTACH=H$MASTER opensm_start -p 9 --config "$work/sm.conf" || return
    master_id=$opensm_id
    WEFT_ATTACH=H$STANDBY background env LD_PRELOAD="$PRELOAD" opensm -d2 -p 3 --config "$work/sm.conf" \
        -f "$work/standby.log" -D 0x07 >standby.out 2>&1
    standby_id=$background_id
    serving "$standby_id" 30 grep -qF 'Entering STANDBY' standby.log
}
opensm_lost_mastership() { grep -F 'Entering MASTER' standby.log; }
opensm_ups() { grep -cF 'SUBNET UP' master.log; }

prioritize() { # ID...
    local id
    for id; do [ -z "${PRIORITY-}" ] || chrt -a -f -p "$PRIORITY" "$id" || return; done
}
resident() { sed -nE 's/^VmRSS:[^0-9]*([0-9]+) kB/\1/p' "/proc/$1/status"; }

# ---- attacks: they end by themselves; their output is attack.out ----

attack() { at $ATTACKING "$ATTACKER" "$1" "${2-$seconds}"; } # MODE [SECONDS]
attack_none() { sleep "$seconds" && echo "attempts 0 granted 0"; }
attack_loss() { # a switch fails; no attack, for comparison
    local before begin switch
    sleep 1
    before=$("${kind}_ups")
    switch=$(sed -nE 's/^Switch.*# "(S[0-9]+)".*/\1/p' fattree.net | tail -n 1)
    begin=${EPOCHREALTIME/./}
    "$WEFT" ctl switch down "$switch" >/dev/null
    wait_until 20 eval "[ \$(${kind}_ups) -gt $before ]"
    echo $(((${EPOCHREALTIME/./} - begin) / 1000)) >loss_ms
}
attack_trap_and_loss() {
    local id
    attack traps &
    id=$!
    attack_loss
    wait "$id"
}
prepare_attack_babbling() { # both know this option
    [ "$manager" = weft-open ] || set_option babbling_port_policy "$([ "$manager" = opensm ] && echo TRUE || echo yes)"
}
attack_babbling() { attack own-traps; }

attack_rogue() { # a manager of the highest priority
    at $ATTACKING timeout "$seconds" opensm -d2 -p 15 -f "$work/rogue.log" >rogue.out 2>&1
    echo "attempts 1 granted 0"
}
# A manager with the default key wants to copy the registrations. Only the SM_Key protects them in this row: with
# M_Keys such a manager cannot even read the subnet.
prepare_attack_false_standby() {
    [ "$manager" != weft ] || { sed -i '/^m_key/d' keys && sed -i '/m_key_per_port/d' sm.conf; }
}
attack_false_standby() {
    local id
    rm -rf false
    WEFT_ATTACH=H$ATTACKING background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --priority 1 --state "$work/false" --log "$work/false.log" >false.out 2>&1
    id=$background_id
    wait_until 5 grep -qE 'state +standby' false.log
    attack polls
    stop "$id"
}
attack_sets() { # disable the port of the honest client, at its switch and at the host
    local end=$((SECONDS + seconds)) attempts=0
    while [ "$SECONDS" -lt "$end" ]; do
        at $ATTACKING timeout 1 ibportstate -t 50 -G "$(port_guid $VICTIM)" 1 reset
        at $ATTACKING timeout 1 ibportstate -t 50 -D 0,1 1 disable
        attempts=$((attempts + 2))
    done >/dev/null 2>&1
    echo "attempts $attempts granted 0"
}
# A lease of 11 s (the least that OpenSM takes), M_Keys in OpenSM too, and the traps of the victim are lost.
OPENSM_M_KEY=0x1122334455667788
prepare_attack_lease() {
    case $manager in
    weft) set_option m_key_lease 11 ;;
    opensm) set_option m_key $OPENSM_M_KEY && set_option m_key_lease_period 11 && set_option m_key_protection_level 2 ;;
    esac
}
attack_lease() {
    "$WEFT" ctl drop 100% H$VICTIM 1 attribute Notice >/dev/null
    attack lease 14
}
attack_spoofed_sgid() { # the adapter has the GUID of another host, and the manager does not know that yet
    "$WEFT" ctl guid H$ATTACKING "$(node_guid $VICTIM)" >/dev/null
    attack grh
}
take_guid() { # HOST: the attacker's adapter comes back with the GUID of that host
    "$WEFT" ctl guid H$ATTACKING "$(node_guid "$1")" >/dev/null
    "$WEFT" ctl flap H$ATTACKING 1 >/dev/null
    sleep "$seconds"
    echo "attempts 1 granted 0"
}
attack_guid_of_host() { take_guid $VICTIM; }
attack_guid_of_manager() { take_guid $MASTER; }

# ---- checks: print one line for each breach ----

check_nothing() { :; }
check_granted() { [ "$granted" -eq 0 ] || echo "$granted requests were granted that should not be"; }
check_proxy_groups() {
    local joined
    check_granted
    joined=$(at $VICTIM "$ATTACKER" register 1 | sed -nE 's/.*granted ([0-9]+)/\1/p')
    [ "$joined" = 3 ] || echo "the victim cannot join a group"
}
is_active() { at "$1" timeout 5 ibstat 2>/dev/null | grep -q 'State: Active'; } # HOST
check_babbling() { is_active $ATTACKING && echo "the port of the attacker is not disabled"; }
check_ports() { # neither the honest client nor the master has another LID, another master, or a port that is not active
    local host
    [ "$(lid $VICTIM)" = "$victim_lid" ] || echo "H$VICTIM has another LID"
    [ "$(lid $MASTER)" = "$master_lid" ] || echo "H$MASTER has another LID"
    for host in $VICTIM $MASTER; do
        is_active "$host" || echo "the port of H$host is not active"
        [ "$(at "$host" timeout 5 ibstat | sed -nE 's/.*SM lid: ([0-9]+)/\1/p')" = "$master_lid" ] || echo "H$host has another master"
    done
}
check_transfers() { # a request with RMPP from another host is answered
    at $VICTIM timeout 5 saquery --sgid-list "fe80::$(port_guid $VICTIM | sed 's/0x\(.*\)\(....\)$/\1:\2/')" \
        --dgid-list "fe80::$(port_guid $MASTER | sed 's/0x\(.*\)\(....\)$/\1:\2/')" MPR >mpr.out 2>&1
    grep -qi 'dgid' mpr.out || echo "a MultiPathRecord request of the honest client has no answer"
}
check_false_standby() {
    check_granted
    grep -qE '[1-9][0-9]* services.* came from the master' false.log && echo "the false standby has the registrations"
}
check_loss() { # the subnet is rerouted within a second of the loss, as without an attack
    local ms
    ms=$(cat loss_ms)
    [ "$ms" -le 1000 ] || echo "a lost switch was routed around after $ms ms"
}
state_of() { at $VICTIM timeout 5 sminfo -t 500 -y "$m_key" "$1" 2>&1 | sed -nE 's/.*state [0-9]+ SMINFO_([A-Z]+).*/\1/p'; } # LID

check_always() {
    local lost m_key=0
    if grep -q "^m_key $OPENSM_M_KEY" sm.conf; then m_key=$OPENSM_M_KEY; fi
    lost=$("${kind}_lost_mastership")
    [ -z "$lost" ] || echo "mastership was lost $(wc -l <<<"$lost") times"
    has_ended "$master_id" && echo "the master ended"
    has_ended "$standby_id" && echo "the standby ended"
    has_ended "$weft_id" && echo "the fabric's server ended"
    [ "$(state_of "$master_lid")" = MASTER ] || echo "the master is not master"
    [ "$(state_of "$standby_lid")" = STANDBY ] || echo "the standby is not standby"
    [ "$refused" -eq 0 ] || ! is_active $ATTACKING || echo "$refused queries of the honest client were refused"
    [ "$worst_us" -le $((LIMIT_MS * 1000)) ] || echo "the honest client waited for $((worst_us / 1000)) ms"
    [ $((master_grew / 1024)) -le "$LIMIT_MIB" ] || echo "the master grew by $((master_grew / 1024)) MiB"
    [ $((server_grew / 1024)) -le "$LIMIT_MIB" ] || echo "the fabric's server grew by $((server_grew / 1024)) MiB"
}

# ---- the table ----

# Runs the row against $manager: sets attempts, breaches, worst_us; breaches.txt has one line for each breach.
run_row() { # ATTACK CHECK
    local attack=$1 check=$2 honest_id master_size server_size
    attempts='' granted='' refused='' worst_us=''
    rm -f ./*.log ./*.out loss_ms sm.conf
    ATTACK_M_KEY=0
    "configure_$manager"
    if [ "$(type -t "prepare_$attack")" = function ]; then "prepare_$attack"; fi
    weft_start fattree.net && "start_$manager" && prioritize "$weft_id" "$master_id" "$standby_id" || return
    master_lid=$(lid $MASTER) standby_lid=$(lid $STANDBY) victim_lid=$(lid $VICTIM)
    [[ $attack == proxy-groups ]] || at $VICTIM "$ATTACKER" register 1 | grep -q 'granted 3' || return
    master_size=$(resident "$master_id") server_size=$(resident "$weft_id")
    WEFT_ATTACH=H$VICTIM background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" watch "$seconds" >honest.out 2>&1
    honest_id=$background_id
    prioritize "$honest_id" || return
    wait_until 10 grep -q watching honest.out || return
    case $attack in
    attack_*) "$attack" >attack.out 2>&1 ;;
    *) attack "$attack" >attack.out 2>&1 ;;
    esac
    master_grew=$(($(resident "$master_id") - master_size)) server_grew=$(($(resident "$weft_id") - server_size))
    wait_until 25 has_ended "$honest_id"
    read -r attempts granted < <(sed -nE 's/^attempts ([0-9]+) granted ([0-9]+)$/\1 \2/p' attack.out)
    read -r refused worst_us < <(awk '/^asked/ { print $6, $18 }' honest.out)
    [ -n "$worst_us" ] || worst_us=25000000 # it still waits
    : "${attempts:=0}" "${granted:=0}" "${refused:=0}"
    {
        check_always
        "$check"
    } >breaches.txt 2>&1
    return 0
}

run_rows() { # [NAME...]
    local name attack check line manager kind count
    while read -r name attack check; do
        [ -n "$name" ] || continue
        [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
        line="| $name |"
        for manager in $managers; do
            kind=${manager%-open}
            attempts=0 worst_us=0
            run_row "$attack" "$check" || { tail -n 3 ./*.log >&2 && echo "could not start" >breaches.txt; }
            stop "$standby_id" "$master_id" "$weft_id"
            [ -z "$keep" ] || { mkdir -p "$keep/$name.$manager" && cp ./*.log ./*.out breaches.txt "$keep/$name.$manager"; }
            count=$(wc -l <breaches.txt)
            [ "$manager" != weft ] || weft_breaches=$((weft_breaches + count))
            line+=" $attempts | $count | $(awk -v us="$worst_us" 'BEGIN { printf "%.1f ms", us / 1000 }')"
            [ ! -e loss_ms ] || line+=", rerouted after $(cat loss_ms) ms"
            line+=' |'
            sed "s/^/- $name, $manager: /" breaches.txt >>all_breaches.txt
        done
        echo "$line"
    done <<<"$rows"
}

"$WEFT" topo gen fattree 324 >fattree.net || exit
weft_breaches=0 master_id='' standby_id=''
: >all_breaches.txt
heads='| attack |' rule='|---|'
for manager in $managers; do
    heads+=" $manager: attempts | breaches | honest client's worst |" rule+='---|---|---|'
done
printf '%s\n%s\n' "$heads" "$rule"
run_rows "$@"
echo
cat all_breaches.txt
echo "$weft_breaches breaches of weft"
[ "$weft_breaches" -eq 0 ]
