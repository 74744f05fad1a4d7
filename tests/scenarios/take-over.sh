#!/bin/sh
# take-over.sh WEFT SIZE...: on trees of these sizes, whatever single fault ends the master or cuts it off (its process,
# its link, its host, its leaf switch), the standby is master and the subnet is up within a second of virtual time.
set -u
weft=$(realpath "$1")
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# take_over SIZE FAULT
take_over() {
    cat > "$work/take-over.weft" <<EOF
topology fattree $1
seed 3
sm H0 priority 5
sm H200 priority 2
run until settled limit 20s
run for 40s
check master H0
after 1ms $2
run for 1001ms
check master H200
run until settled limit 20s
check master H200
EOF
    if "$weft" sim "$work/take-over.weft" > "$work/output" 2>&1; then
        taken=$(sed -n 's/^ *\([0-9.]*s\)  *H200  *master (.*/\1/p' "$work/output" | tail -n 1)
        begun=$(sed -n 's/^ *\([0-9.]*s\) > scenario .*/\1/p' "$work/output" | tail -n 1)
        echo "ok - $1 hosts, $2: at $begun, master at $taken"
    else
        echo "not ok - $1 hosts, $2"
        sed 's/^/# /' "$work/output"
        failed=1
    fi
}

for size in "$@"; do
    leaf=$("$weft" topo gen fattree "$size" | awk '/^Switch/ { at = $5 } /^\[.*# "H0" / { gsub(/"/, "", at); print at; exit }')
    take_over "$size" 'kill sm H0'
    take_over "$size" 'fail link H0 1'
    take_over "$size" 'fail node H0'
    take_over "$size" "fail switch $leaf"
done
exit $failed
