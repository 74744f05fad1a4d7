#!/bin/sh
# full-rate.sh WEFT: on a full tree with engine ftree, a saturated shift permutation carries at least 95 % of
# every host's link, headers counted, at every speed and payload, with the buffers of preset `today`.
set -u
weft=$(realpath "$1")
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# try TREE HOSTS SHIFT SPEED GBPS SIZE: GBPS is the data rate of a 4X link. The run measures the time in which a
# link sends 100 packets of 4 KiB, after it has sent 50.
try() {
    from=$(awk "BEGIN { printf \"%.6fms\", 1000 + 50 * 4122 * 8 / ($5 * 1e6) }" < /dev/null)
    to=$(awk "BEGIN { printf \"%.6fms\", 1000 + 150 * 4122 * 8 / ($5 * 1e6) }" < /dev/null)
    least=$(awk "BEGIN { printf \"%.3fGb/s\", 0.95 * $2 * $5 }" < /dev/null)
    cat > "$work/shift.weft" <<END
topology $1 speed=$4
sm H0 engine ftree
traffic shift shift $3 arrivals saturated size $6 start 1000ms
measure from $from to $to
run $to
check accepted.bits >= $least
END
    if ! "$weft" sim "$work/shift.weft" --quiet > "$work/out" 2>&1; then
        echo "FAILED: $1, shift $3, $4, payload $6"
        cat "$work/out"
        failed=1
    fi
}

for rate in SDR=8 DDR=16 QDR=32 FDR10=40 FDR=54.545 EDR=100 HDR=200 NDR=400 XDR=800; do
    for size in 256 512 1024 2048 4096; do
        try 'kary 4 2' 16 5 "${rate%=*}" "${rate#*=}" $size
    done
    try 'kary 3 3' 27 10 "${rate%=*}" "${rate#*=}" 1024
done
exit $failed
