#!/usr/bin/env bash
# bench/opensm_bringup.sh [HOSTS] [ENGINE]: OpenSM brings a fat tree up on ibsim and on a weft fabric.
#
# Prints the seconds of each phase by OpenSM's own log, and the ratio weft/ibsim of the whole. The
# machine is noisy: compare only ratios within one run. The script does not judge them.
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
hosts=${1:-5832} engine=${2:-minhop}

# Seconds between marks in OpenSM's log: discovery, routes, tables, the whole.
phases() {
    awk '
        $3 ~ /^[0-9]+:[0-9]+:[0-9]+$/ && $4 ~ /^[0-9]+$/ {
            split($3, t, ":"); now = t[1] * 3600 + t[2] * 60 + t[3] + $4 / 1e6
            if (first == "") first = now
            if (now < first) now += 86400 # past midnight
        }
        function mark(name) { if (!(name in at)) at[name] = now }
        /INITIATING HEAVY SWEEP/ { mark("start") }
        /HEAVY SWEEP COMPLETE/ { mark("discovered") }
        /building routing/ { mark("routing") }
        /tables configured on all/ { mark("routed") }
        /SWITCHES CONFIGURED FOR UNICAST/ { mark("programmed") }
        /SUBNET UP/ { mark("up") }
        END {
            printf "%.2f %.2f %.2f %.2f\n", at["discovered"] - at["start"], at["routed"] - at["routing"],
                at["programmed"] - at["routed"], at["up"] - at["start"]
        }' "$work/osm.log"
}

"$WEFT" topo gen fattree "$hosts" speed=SDR >fattree.net || exit
echo "OpenSM ($engine) on a fat tree of $hosts hosts, seconds"
printf '%-6s %10s %10s %10s %10s\n' '' discovery routes tables bring-up
export OPENSM_LIMIT=${OPENSM_LIMIT:-900}
declare -A whole
for where in on_ibsim on_weft; do
    bring_up "$where" fattree.net "$engine" || exit
    read -r discovery routes tables up <<<"$(phases)"
    whole[$where]=$up
    printf '%-6s %10s %10s %10s %10s\n' "${where#on_}" "$discovery" "$routes" "$tables" "$up"
done
awk -v a="${whole[on_weft]}" -v b="${whole[on_ibsim]}" 'BEGIN { printf "weft/ibsim %.2f\n", b ? a / b : 0 }'
