#!/usr/bin/env bash
# bench/routing.sh [NETWORK|threads|large ...]: compares the routes of OpenSM on ibsim and of weft, on the
# same fabric with the same LIDs.
#
# Networks: a number is a fat tree with this many hosts; NUMBER-PERCENT is the same with this share of its
# links removed. The others are torus, irregular64, irregular256, dense256 (with more links, so that eight
# VLs are enough for lash), dragonfly and jellyfish.
# For each engine that both have, the script prints
#   - the time of the tables (OpenSM's from its log, weft's from its own clock, one thread, the best of
#     several), and weft's peak memory as a multiple of the tables;
#   - the largest link load and the effective bisection bandwidth of both, measured by
#     'weft route --compare'.
# A dash means that the engine refuses. 'threads' compares one and two threads of weft, for tables and
# their check. 'large' uses fabrics that fill the LID space, without OpenSM, which would need hours; dfsssp
# may use fifteen VLs there if eight are too few.
# The default is all of it, which takes more than an hour. The machine is noisy: compare only ratios within
# one run. The script does not judge them.
#
# ENGINES lists the engines, SAMPLES the random pairings, OPENSM_LIMIT the seconds that OpenSM gets.
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
export OPENSM_LIMIT=${OPENSM_LIMIT:-900}
samples=${SAMPLES:-1000}
[ $# -gt 0 ] || set -- 324 648 5832 11664 324-1 324-5 648-1 648-5 5832-1 5832-5 11664-1 11664-5 \
    torus irregular64 irregular256 dense256 dragonfly jellyfish threads large

# Removes PERCENT of the links between switches, always the same ones.
take_out() {
    awk -v percent="$1" '
        function hash(text, i, h) { h = 7; for (i = 1; i <= length(text); i++) h = (h * 131 + ord[substr(text, i, 1)]) % 16777213; return h }
        BEGIN { for (i = 1; i < 128; i++) ord[sprintf("%c", i)] = i }
        /^(Switch|Hca|Rt|Ca)/ { split($0, name, "\""); node = name[2] }
        /^\[/ {
            split($0, part, /[][" \t()]+/) # "", port, peer, its port
            a = node "." part[2]; b = part[3] "." part[4]
            key = a < b ? a " " b : b " " a
            # H: hosts keep their links
            if (node ~ /^S/ && part[3] ~ /^S/ && hash(key) % 10007 < percent * 100.07) next
        }
        { print }'
}

make_network() {
    case $1 in
    torus) "$WEFT" topo gen torus dims=8x8x8 hosts=1 speed=SDR ;;
    irregular64) "$WEFT" topo gen irregular switches=64 ports=8 hosts=128 speed=SDR ;;
    irregular256) "$WEFT" topo gen irregular switches=256 ports=12 hosts=512 speed=SDR ;;
    dense256) "$WEFT" topo gen irregular switches=256 ports=24 hosts=512 speed=SDR ;;
    dragonfly) "$WEFT" topo gen dragonfly p=4 a=8 h=4 speed=SDR ;;
    jellyfish) "$WEFT" topo gen jellyfish switches=200 ports=16 degree=10 speed=SDR ;;
    tree-27648) "$WEFT" topo gen fattree m=24,24,48 w=1,24,24 speed=SDR ;;
    tree-44640) "$WEFT" topo gen fattree m=30,24,62 w=1,24,24 speed=SDR ;;
    jellyfish-45000) "$WEFT" topo gen jellyfish switches=3000 ports=36 degree=20 hosts=15 speed=SDR ;;
    *-*) "$WEFT" topo gen fattree "${1%-*}" speed=SDR | take_out "${1#*-}" ;;
    *) "$WEFT" topo gen fattree "$1" speed=SDR ;;
    esac
}

# Engines that suit a network, of those that weft has.
engines_for() {
    local wanted=${ENGINES:-minhop updn ftree dor sssp dfsssp nue lash} engine
    for engine in $wanted; do
        case $1:$engine in
        *[0-9]:dor | *irregular*:dor | dragonfly:dor | jellyfish:dor) continue ;;
        torus:ftree | irregular*:ftree | dense*:ftree | dragonfly:ftree | jellyfish:ftree) continue ;;
        5832*:lash | 11664*:lash | 11664*:*ss* | 11664*:nue) continue ;; # OpenSM takes many minutes
        esac
        "$WEFT" route --engines | grep -q "^$engine " && echo "$engine"
    done
}

route_seconds() { # of OpenSM, by the marks in its log
    awk '$3 ~ /^[0-9]+:[0-9]+:[0-9]+$/ && $4 ~ /^[0-9]+$/ { split($3, t, ":"); now = t[1] * 3600 + t[2] * 60 + t[3] + $4 / 1e6 }
        /building routing/ && from == "" { from = now }
        /tables configured on all/ && to == "" { to = now < from ? now + 86400 : now }
        END { printf "%.4f", to - from }' "$work/osm.log"
}

# The value of a field of one engine in a comparison.
field() { # ENGINE FIELD <json
    awk -v engine="\"$1\"" -v field="\"$2\":" '
        $1 == "\"engine\":" { mine = index($0, engine) }
        mine && $1 == field { gsub("[,\"]", "", $2); print $2; exit }'
}

# Number of measurements; the best one counts.
repeats() { # ENGINE
    case $1 in
    minhop | updn | ftree | dor) echo 15 ;;
    *) echo 3 ;;
    esac
}

# As in fabrics.sh, with a longer time-out: ibsim reads a fabric of 5 MB slowly.
ibsim_start() { # NET
    export IBSIM_SOCKNAME=weft-$$-$RANDOM
    background ibsim -s -n -N 60000 -S 6000 -P 600000 -L 49152 "$1" >"$work/ibsim.log" 2>&1
    ibsim_id=$background_id
    serving "$ibsim_id" 120 grep -qF "@$IBSIM_SOCKNAME:ctl" /proc/net/unix
}

# OpenSM on ibsim: its tables in opensm-lfts.dump, and the fabric with its LIDs in net.lids.
opensm_run() { # NET ENGINE
    rm -f "$work/osm.log" "$work/opensm-lfts.dump" "$work/guid2lid"
    ibsim_start "$1" || return
    on_running_ibsim timeout "$OPENSM_LIMIT" opensm -o -R "$2" -f "$work/osm.log" -D 0x47 >"$work/osm.out" 2>&1
    on_running_ibsim timeout 120 ibnetdiscover >net.lids 2>/dev/null
    ibsim_stop
    grep -qF "$2 tables configured on all" "$work/osm.log" && [ -s "$work/opensm-lfts.dump" ]
}

compare_engine() { # NET ENGINE
    local opensm='' dump=()
    if opensm_run "$1" "$2"; then
        opensm=$(route_seconds)
        dump=(--lfts "$work/opensm-lfts.dump")
    else
        cp "$1" net.lids
    fi
    compare_tables "$2" "$2" "$opensm" "${dump[@]}"
    # OpenSM's uses one VL by default.
    [ "$2" != nue ] || compare_tables nue 'nue, 1' "$opensm" --max-vls 1 "${dump[@]}"
}

compare_tables() { # ENGINE NAME SECONDS OPTION...
    local engine=$1 name=$2 opensm=$3 values=() key
    shift 3
    "$WEFT" route net.lids --compare "$engine" --allow-cycles --samples "$samples" --json \
        --repeat "$(repeats "$engine")" "$@" >result 2>error || { cat error && return; }
    for key in compute_s peak_bytes table_bytes link_load_max ebb_mean verified; do
        values+=(-v "w_$key=$(field "$engine" "$key" <result)" -v "o_$key=$(field lfts "$key" <result)")
    done
    awk -v e="$name" -v o="$opensm" "${values[@]}" '
        function show(value, format) { return value == "" ? "-" : sprintf(format, value) }
        function part(a, b, format) { return a == "" || b == "" || b == 0 ? "-" : sprintf(format, a / b) }
        BEGIN {
            printf "  %-8s %9s %9s %8s %6s  %9s %9s %6s  %6s %6s %6s  %s\n", e, show(o == "" ? "" : o * 1e3, "%.1f"),
                show(w_compute_s == "" ? "" : w_compute_s * 1e3, "%.2f"), part(o, w_compute_s, "%.0f"), part(w_peak_bytes, w_table_bytes, "%.1f"),
                show(o_link_load_max, "%d"), show(w_link_load_max, "%d"), part(w_link_load_max, o_link_load_max, "%.3f"),
                show(o_ebb_mean, "%.4f"), show(w_ebb_mean, "%.4f"), part(w_ebb_mean, o_ebb_mean, "%.4f"),
                (o_verified == "false" ? "OpenSM: not all holds. " : "") (w_verified == "false" ? "weft: cycles, as allowed" : "")
        }'
}

compare_network() { # NETWORK
    local engine
    make_network "$1" >net || exit
    echo "$1: $("$WEFT" topo info net | sed -n '1s/looks like *//p')"
    for engine in $(engines_for "$1"); do
        compare_engine net "$engine"
    done
}

compare_threads() {
    local network engine
    printf '%-18s %9s %9s %6s  %9s %9s %6s\n' 'threads' 'tables 1' '2: ms' 'times' 'check 1' '2: ms' 'times'
    for network in 5832 11664; do
        make_network $network >net || exit
        for engine in minhop updn ftree; do
            for threads in 1 2; do
                "$WEFT" route net --compare $engine --threads $threads --samples 1 --repeat 60 --json >result.$threads
            done
            awk -v n="$network" -v e="$engine" -v a="$(field $engine compute_s <result.1)" -v b="$(field $engine compute_s <result.2)" \
                -v c="$(field $engine verify_s <result.1)" -v d="$(field $engine verify_s <result.2)" \
                -v same="$([ "$(field $engine digest <result.1)" = "$(field $engine digest <result.2)" ] && echo the same tables || echo OTHER TABLES)" '
                BEGIN { printf "  %-7s %-8s %9.2f %9.2f %6.2f  %9.1f %9.1f %6.2f  %s\n", n, e, a * 1e3, b * 1e3, a / b, c * 1e3, d * 1e3, c / d, same }'
        done
    done
}

# Peak memory of the whole process, including the fabric and the check.
compute_large() {
    local network engine
    printf '%-28s %9s %9s %9s %5s\n' 'large' 'tables s' 'check s' 'peak MiB' 'lanes'
    for network in 11664 tree-27648 tree-44640 jellyfish-45000; do
        make_network $network >net || exit
        echo "$network: $("$WEFT" topo info net | sed -n 's/^switches *\([0-9]*\).*/\1 switches, /p' | head -n 1)$("$WEFT" route net --engine pira --json | awk '$1 == "\"top_lid\":" { print $2 + 0 " LIDs" }')"
        for engine in ${ENGINES:-fera pira minhop updn ftree sssp dfsssp nue lash auto}; do
            compute_engine "$engine" 8 || { [ "$engine" = dfsssp ] && compute_engine "$engine" 15; }
        done
    done
}
compute_engine() { # ENGINE LANES: of ./net; fails if it refuses
    /usr/bin/time -f '%M' -o peak timeout 1800 "$WEFT" route net --engine "$1" --max-vls "$2" --allow-cycles --json >result 2>error
    awk -v e="$1$([ "$2" -eq 8 ] || echo " --max-vls $2")" -v peak="$(tail -n 1 peak)" -v why="$(head -c 150 error)" '
        { gsub(",", "", $2); value[$1] = $2 }
        END {
            refused = value["\"compute_s\":"] == ""
            if (refused) printf "  %-25s refused: %s\n", e, why
            else printf "  %-25s %10.2f %9.2f %9.0f %5d\n", e, value["\"compute_s\":"], value["\"verify_s\":"], peak / 1024, value["\"vls\":"]
            exit refused
        }' result
}

heading=
for wanted; do
    case $wanted in
    threads) compare_threads ;;
    large) compute_large ;;
    *)
        [ -n "$heading" ] || printf '%-10s %9s %9s %8s %6s  %9s %9s %6s  %6s %6s %6s\n' '' 'OpenSM ms' 'weft ms' 'times' 'memory' 'load' 'weft' 'ratio' 'EBB' 'weft' 'ratio'
        heading=printed
        compare_network "$wanted"
        ;;
    esac
done
