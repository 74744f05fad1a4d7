#!/bin/sh
# take-over.sh WEFT EVERY SIZE...: on trees of these sizes, for every single fault of a link, a switch, a host or a process at the
# master, at its standby and between them: a fault that ends the master or cuts it off leaves the standby master within a
# second of virtual time, also while an agent does not answer, answers late, or a redundant link was cut right before, and if
# another standby fails with the master; any other fault leaves the master as it is. Runs every EVERY-th case.
set -u
weft=$(realpath "$1") every=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 cases=0

# take SIZE MASTER FAULT [EARLIER]: MASTER is master a second after FAULT, and stays it. third: a line for another standby
third=
take() {
    cases=$((cases + 1))
    [ $((cases % every)) -eq 0 ] || return 0
    cat > "$work/take-over.weft" <<END
topology fattree $1
seed 3
sm H0 priority 5
sm H200 priority 2
$third
run until settled limit 20s
run for 40s
check master H0
${4:-}
after 1ms $3
run for 1001ms
$([ "$2" = H0 ] || echo check master H200)
$([ "$2" = H0 ] && echo run for 30s || echo run until settled limit 20s)
$([ "$2" = H0 ] || echo check master H200)
END
    name="$1 hosts, ${third:+a standby beside the master, }$3${4:+ after $(echo "$4" | tr '\n' ' ')}"
    if "$weft" sim "$work/take-over.weft" > "$work/output" 2>&1 &&
        [ "$(sed -n 's/^ *[0-9.]*[a-z]*  *\(H[0-9]*\)  *master (.*/\1/p' "$work/output" | tail -n 1)" = "$2" ]; then
        taken=$(sed -n 's/^ *\([0-9.]*s\)  *H200  *master (.*/\1/p' "$work/output" | tail -n 1)
        begun=$(sed -n 's/^ *\([0-9.]*s\) > scenario .*/\1/p' "$work/output" | tail -n 1)
        echo "ok - $name: at $begun, master $2${taken:+ at $taken}"
    else
        echo "not ok - $name"
        sed 's/^/# /' "$work/output"
        failed=1
    fi
}

# at SIZE NODE N: the port by which NODE has its N-th cable to a switch, and that switch
at() {
    "$weft" topo gen fattree "$1" | awk -v node="# \"$2\"" -v n="$3" '/^(Switch|Ca)/ { here = index($0, node) }
        here && /^\[.*"S-/ && --n == 0 { port = substr($0, 2); sub(/\].*/, "", port)
            print port, words[split($0, words, "\"") - 1]; exit }'
}

for size in "$@"; do
    read -r _ ours <<END
$(at "$size" H0 1)
END
    read -r _ theirs <<END
$(at "$size" H200 1)
END
    read -r _ other <<END
$(at "$size" H100 1)
END
    read -r up near <<END
$(at "$size" "$theirs" 1)
END
    read -r _ far <<END
$(at "$size" "$other" 4)
END
    for end in 'kill sm H0' 'fail link H0 1' "fail link $ours 1" 'fail node H0' "fail switch $ours"; do
        take "$size" H200 "$end"
        for earlier in "mute $far" "mute $far
run for 14s" "mute $far
run for 20s" "mute $other" "slow $near 20ms" "slow $other 20ms" "fail link $theirs $up" "fail link $far 5"; do
            take "$size" H200 "$end" "$earlier"
        done
    done
    third='sm H7 priority 3'
    for earlier in '' "mute $far" "mute $far
run for 14s" "mute $near
after 1ms flap $far 5" "slow $far 20ms"; do
        take "$size" H200 "fail switch $ours" "$earlier"
    done
    third=
    for part in H200 "$ours" "$theirs" "$other" "$near" "$far"; do
        take "$size" H0 "mute $part"
        take "$size" H0 "slow $part 20ms"
    done
    for end in 'mute H0' 'slow H0 20ms' 'kill sm H200' 'fail link H200 1' 'fail node H200' "fail switch $theirs" \
        "fail switch $near" "fail switch $far" "fail link $ours $up" "fail link $theirs $up" "fail link $far 1"; do
        take "$size" H0 "$end"
    done
done
exit $failed
