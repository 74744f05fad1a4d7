#!/usr/bin/env bash
# bench/routing.sh [NETWORK...]: routes by OpenSM on ibsim and by weft, of the same fabric with the same LIDs.
#
# Networks: a number is a fat tree with so many hosts, NUMBER-PERCENT the same with that part of its
# links taken out, and torus, irregular64, irregular256, dragonfly and jellyfish are what they say;
# the default is all of them but for 11664. For each engine that both have it prints the time of the
# tables (OpenSM's by its log, weft's by its own clock, one thread), the largest link load and the
# effective bisection bandwidth of both, judged by 'weft route --compare'. The machine is noisy: only
# ratios of one run mean anything, and nothing is judged by them here. A dash: that one refuses.
#
# ENGINES lists the engines, SAMPLES the random pairings, OPENSM_LIMIT the seconds that OpenSM gets.
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
export OPENSM_LIMIT=${OPENSM_LIMIT:-300}
samples=${SAMPLES:-1000}
[ $# -gt 0 ] || set -- 324 648 5832 324-1 324-5 648-1 648-5 5832-1 5832-5 torus irregular64 irregular256 dragonfly jellyfish

# Takes PERCENT of the links between switches out, always the same ones.
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
    torus) "$WEFT" topo gen torus dims=8x8x8 hosts=1 ;;
    irregular64) "$WEFT" topo gen irregular switches=64 ports=8 hosts=128 ;;
    irregular256) "$WEFT" topo gen irregular switches=256 ports=12 hosts=512 ;;
    dragonfly) "$WEFT" topo gen dragonfly p=4 a=8 h=4 ;;
    jellyfish) "$WEFT" topo gen jellyfish switches=200 ports=16 degree=10 ;;
    *-*) "$WEFT" topo gen fattree "${1%-*}" | take_out "${1#*-}" ;;
    *) "$WEFT" topo gen fattree "$1" ;;
    esac
}

# Engines that suit a network, of those that weft has.
engines_for() {
    local wanted=${ENGINES:-minhop updn ftree dor sssp dfsssp nue lash} engine
    for engine in $wanted; do
        case $1:$engine in
        *[0-9]:dor | *irregular*:dor | dragonfly:dor | jellyfish:dor) continue ;;
        torus:ftree | irregular*:ftree | dragonfly:ftree | jellyfish:ftree) continue ;;
        5832*:lash | 11664*:lash | 11664*:dfsssp | 11664*:nue) continue ;; # OpenSM takes many minutes
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

# The value of a field in the part of a comparison that is about one engine.
field() { # ENGINE FIELD <json
    awk -v engine="\"$1\"" -v field="\"$2\":" '
        $1 == "\"engine\":" { mine = index($0, engine) }
        mine && $1 == field { gsub(",", "", $2); print $2; exit }'
}

# The best of several runs of one engine, in seconds.
best_seconds() { # NET ENGINE
    local i best='' seconds
    for ((i = 0; i < 5; i++)); do
        seconds=$("$WEFT" route "$1" --compare "$2" --samples 1 --allow-cycles --json | field "$2" compute_s)
        best=$(awk -v a="$best" -v b="$seconds" 'BEGIN { print (a == "" || b < a) ? b : a }')
    done
    echo "$best"
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
    local opensm='' ours theirs=lfts
    if opensm_run "$1" "$2"; then opensm=$(route_seconds); else theirs=none; fi
    [ $theirs = lfts ] || { "$WEFT" route "$1" --compare updn --samples 1 >/dev/null && cp "$1" net.lids; }
    local dump=()
    [ $theirs = none ] || dump=(--lfts "$work/opensm-lfts.dump")
    "$WEFT" route net.lids --compare "$2" --allow-cycles --samples "$samples" --json \
        "${dump[@]}" >result 2>error || { cat error && return; }
    ours=$(best_seconds net.lids "$2")
    awk -v e="$2" -v o="$opensm" -v w="$ours" -v ol="$(field lfts link_load_max <result)" \
        -v wl="$(field "$2" link_load_max <result)" -v ob="$(field lfts ebb_mean <result)" \
        -v wb="$(field "$2" ebb_mean <result)" -v oh="$(field lfts verified <result)" -v wh="$(field "$2" verified <result)" '
        function show(value, format) { return value == "" ? "-" : sprintf(format, value) }
        function part(a, b, format) { return a == "" || b == "" || b == 0 ? "-" : sprintf(format, a / b) }
        BEGIN {
            printf "  %-8s %9s %9s %8s  %9s %9s %6s  %6s %6s %6s  %s\n", e, show(o == "" ? "" : o * 1e3, "%.1f"), show(w == "" ? "" : w * 1e3, "%.2f"),
                part(o, w, "%.0f"), show(ol, "%d"), show(wl, "%d"), part(wl, ol, "%.3f"), show(ob, "%.4f"), show(wb, "%.4f"), part(wb, ob, "%.4f"),
                (oh == "false" ? "OpenSM: not all holds. " : "") (wh == "false" ? "weft: cycles, as allowed" : "")
        }'
}

printf '%-10s %9s %9s %8s  %9s %9s %6s  %6s %6s %6s\n' '' 'OpenSM ms' 'weft ms' 'times' 'load' 'weft' 'ratio' 'EBB' 'weft' 'ratio'
for network; do
    make_network "$network" >net || exit
    echo "$network: $("$WEFT" topo info net | head -n 1)"
    for engine in $(engines_for "$network"); do
        compare_engine net "$engine"
    done
done
