#!/bin/sh
# weft verify of several subnets at the command line, from the dumps of a run: subnets_test.sh PATH-OF-WEFT
# shellcheck disable=SC2016,SC2317 # inner shells expand; functions are called by claim
# shellcheck source=../claim.sh
. "$(dirname "$0")/../claim.sh"

# status N COMMAND...: weft exits with this status and prints $part
status() {
    wanted=$1
    shift
    "$weft" "$@" >out 2>err
    [ $? = "$wanted" ] && cat out err | grep -qF -- "$part"
}

cat >line <<'END'
Switch 6 "s"
[1] "t"[1]
[2] "h1"[1]
[3] "h2"[1]
Switch 6 "t"
[2] "h3"[1]
[3] "h4"[1]
Hca 1 "h1"
Hca 1 "h2"
Hca 1 "h3"
Hca 1 "h4"
END
# dump NAME PARTS OPTION...: the subnets of joined lines, each with a manager, in files of the folder NAME
dump() {
    name=$1 letters=$2
    shift 2
    "$weft" topo gen join "$@" >"$name.net" || return 1
    number=1
    echo "topology ./$name.net" >"$name.weft"
    for letter in $letters; do
        echo "sm $letter.h1 subnet_prefix 0xfec000000000000$number" >>"$name.weft"
        number=$((number + 1))
    done
    printf 'run until settled\nrun for 4s\ncheck settled\n' >>"$name.weft"
    "$weft" sim "$name.weft" --quiet --dump "$name"
}

claim 'a run writes a dump of each subnet' dump two 'a b' line line routers=2
a=two/0xfec0000000000001.dump b=two/0xfec0000000000002.dump
part='delivered all, credit loops none'
claim 'the tables of each subnet hold alone' status 1 verify $a $b
part="'R0' port 2 -> 'b.s' port 1 -> 'b.t' port 4 -> 'R1' port 1 -> 'a.t'"
claim 'a cycle through two routers at different switches is found' status 1 verify $a $b
part='"holds": true'
claim 'routers that discard close no cycle' status 0 verify $a $b --discarding-routers --json
part='two subnets have the prefix'
claim 'one subnet given twice is an error' status 2 verify $a $a
sed 's/prefix 0xfec0000000000001/prefix 0xfec0000000000009/' $a >other
part='in two subnets'
claim 'a router port in two subnets is an error' status 2 verify $a other
claim 'with routers at one switch there is no cycle' dump one 'a b' line line routers=1
part='credit loops  none across'
claim 'verify says so' status 0 verify one/*1.dump one/*2.dump
part='routers on the way: 2 at most'
claim 'three subnets in a chain' dump chain 'a b c' line line line shape=chain routers=1
claim 'packets cross two routers' status 0 verify chain/*1.dump chain/*2.dump chain/*3.dump
claim 'three subnets in a ring' dump ring 'a b c' line line line shape=ring routers=1
part='6 ordered pairs of subnets, delivered all'
claim 'packets cross a ring' status 1 verify ring/*1.dump ring/*2.dump ring/*3.dump
part='has no way to 0xfec0000000000003'
grep -v '^Next' chain/*2.dump >closed
claim 'a router without an entry for a prefix is named' status 1 verify chain/*1.dump closed chain/*3.dump

grep -v '^Prefix' $a >silent
part='no router of 0xfec0000000000001 leads to 0xfec0000000000002'
claim 'a subnet that knows no router is not delivered' status 1 verify silent $b --discarding-routers
grep -v '^Subnet' $a >headless
part="no 'Subnet prefix' line"
claim 'a dump without the prefix is an error' status 2 verify headless $b
sed 's/^Router \(.*\) port 1 /Router \1 port one /' $a >wrong
part='wrong:2:'
claim 'a wrong line is an error with its number' status 2 verify wrong $b
head -c 3000 $a >short
part='short:14:'
claim 'a dump that was cut is an error with its line' status 2 verify short $b
grep -v '^Router' $a >portless
part="is not that of a 'Router' line"
claim 'a port without a router is an error' status 2 verify portless $b
part='--links is for the tables of one subnet'
claim 'options for one subnet are refused' status 2 verify $a $b --links
part='--discarding-routers needs dumps'
claim '--discarding-routers is refused without dumps' status 2 verify line --lfts $a --discarding-routers
exit $failed
