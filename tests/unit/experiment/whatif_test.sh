#!/usr/bin/env bash
# whatif_test.sh WEFT [plain]: the answers of weft whatif, and that they are those of weft sim. With
# `plain` (a build without sanitizers) also larger runs.
set -u
weft=$(realpath "$1") plain=${2-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}
whatif() { "$weft" whatif "$@"; }
# value FILE EXPRESSION: of the JSON object `d`
value() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }
holds() { [ "$(value "$1" "$2")" = True ] || { echo "$1: $2: $(value "$1" "$2")" && return 1; }; }
exits() { # STATUS COMMAND ...
    local expected=$1 status=0 && shift
    "$@" >out 2>&1 || status=$?
    [ "$status" -eq "$expected" ] || { echo "status $status, not $expected" && cat out && return 1; }
}
refused() { # PART COMMAND ...
    local part=$1 && shift
    exits 2 "$@" && { grep -qF -- "$part" out || { cat out && return 1; }; }
}

# The scenario that whatif writes gives the same packets, losses and times with weft sim.
same_as_sim() { # NET OPTION ...
    local net=$1 && shift
    whatif "$net" "$@" --compare none --json --scenario same.weft >whatif.json
    [ $? -le 1 ] || return 1
    "$weft" sim same.weft --json >sim.json
    python3 - <<'END'
import json
answer, run = json.load(open('whatif.json')), json.load(open('sim.json'))
figures = {f['name']: f['value'] for f in run['figures']}
fault = min(e['time_ps'] for e in run['timeline'] if e['kind'] == 'action')
ends = [c['end_ps'] - fault for c in run['changes'] if c['finished'] and c['end_ps'] > fault]
mine = answer['traffic']
pairs = [(mine[name], figures[name]) for name in ('made', 'lost', 'unroutable')]
pairs += [(count, figures['lost.' + cause]) for cause, count in mine['lost_by_cause'].items()]
pairs.append((mine['recovery_ps'], max(ends, default=0)))
assert mine['made'] > 100, mine
assert all(a == b for a, b in pairs), pairs
END
}

# An estimate from a part of the packets is that of all packets, within four standard errors.
same_as_exact() {
    whatif "$@" --compare none --json --time 1000 >part.json
    whatif "$@" --compare none --json --exact >all.json
    python3 - <<'END'
import json
part, all = json.load(open('part.json'))['traffic'], json.load(open('all.json'))['traffic']
assert part['simulated_share'] < 0.5 and part['stable'], part
assert all['simulated_share'] == 1 and all['made'] > 2 * part['made'], all
error = part['lost'] ** 0.5 / part['simulated_share'] + all['lost'] ** 0.5
assert all['lost'] > 1000 and abs(part['lost_estimate'] - all['lost']) < 4 * error, (part, all)
END
}

"$weft" topo gen torus dims=4x4 >torus.net
"$weft" topo gen dragonfly >dragonfly.net
"$weft" topo gen irregular switches=16 hosts=14 --seed 5 >irregular.net
"$weft" topo gen clos 4 6 8 speed=EDR >clos.net
cat >two-parts.net <<'END'
Switch 8 "left"
[1] "right"[1] s=EDR
[2] "a"[1] s=EDR
[3] "b"[1] s=SDR
Switch 8 "right"
[2] "c"[1] s=HDR
[3] "d"[1] s=QDR
Switch 8 "island"
[1] "e"[1]
[2] "f"[1]
Hca 1 "a"
Hca 1 "b"
Hca 1 "c"
Hca 1 "d"
Hca 1 "e"
Hca 1 "f"
END
cat >hostile.net <<'END'
switchguid=0x10(10)
Switch 8 "S-0000000000000010" # "MF0;"core" #1: <b>&amp;" base port 0 lid 4 lmc 0
[1] "S-0000000000000020"[1] # "same" lid 5 4xEDR
[2] "S-0000000000000030"[1] # "same" lid 6 4xEDR
[3] "H-0000000000000040"[1](41) # "--fail" lid 7 4xEDR
ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (DR path slid 65535; dlid 65535; 0,1,2)
switchguid=0x20(20)
Switch 8 "S-0000000000000020" # "same" base port 0 lid 5 lmc 0
[1] "S-0000000000000010"[1] # "x" lid 4 4xEDR
[2] "S-0000000000000030"[2] # "same" lid 6 4xEDR
[3] "H-0000000000000050"[1](51) # "" lid 8 4xEDR
switchguid=0x30(30)
Switch 8 "S-0000000000000030" # "same" base port 0 lid 6 lmc 0
[1] "S-0000000000000010"[2] # "x" lid 4 4xEDR
[2] "S-0000000000000020"[2] # "same" lid 5 4xEDR
caguid=0x40
Ca 1 "H-0000000000000040" # "--fail"
[1](41) "S-0000000000000010"[3] # lid 7 lmc 0 "x" lid 4 4xEDR
caguid=0x50
Ca 1 "H-0000000000000050" # ""
[1](51) "S-0000000000000020"[3] # lid 8 lmc 0 "same" lid 5 4xEDR
END

claim "torus, a switch: as weft sim" same_as_sim torus.net --fail switch S1_1
claim "torus, two links and another seed: as weft sim" \
    same_as_sim torus.net --fail link S0_0 1 link S2_2 S2_3 --seed 7 --load 50%
claim "dragonfly, a switch: as weft sim" same_as_sim dragonfly.net --fail switch G3_2
claim "irregular, another engine: as weft sim" same_as_sim irregular.net --fail switch S3 --engine nue
claim "clos, a middle switch: as weft sim" same_as_sim clos.net --fail switch S5
claim "mixed speeds and two parts: as weft sim" same_as_sim two-parts.net --fail link right d --load 10%

whatif torus.net --fail switch S1_1 --load 0 --compare none --json --scenario quiet.weft >quiet.json
"$weft" sim quiet.weft --json >sim.json
claim "without traffic: as weft sim" python3 - <<'END'
import json
answer, run = json.load(open('quiet.json')), json.load(open('sim.json'))
change = run['changes'][-1]
assert answer['engines'][0]['recovery_ps'] == change['end_ps'] - change['fault_ps'] > 0
END
whatif clos.net --fail switch S5 --json --compare updn,ftree,minhop >clos.json
claim "losing a middle switch cuts nobody off" holds clos.json "d['good'] and not d['cut_off_adapters']"
claim "engines are compared" holds clos.json "[e['engine'] for e in d['engines']] == ['updn', 'ftree', 'minhop']"
claim "the load of other links grows" holds clos.json \
    "all(e['after']['most'] > e['before']['most'] and e['recovered'] for e in d['engines'])"
whatif clos.net --fail switch S0 --json --compare none >leaf.json
claim "losing an edge switch cuts its six hosts off" \
    holds leaf.json "len(d['cut_off_adapters']) == 6 and not d['good']"
whatif two-parts.net --fail link left right --json --compare none >parts.json
claim "a cut that splits the network" holds parts.json \
    "d['cut_off_adapters'] == ['c', 'd'] and d['cut_off_switches'] == ['right'] and d['cut_off_before'] == 3"
whatif two-parts.net --fail switch left --sm a --json --compare none >lost.json
claim "without its manager nothing is rerouted" holds lost.json "d['manager_lost'] and not d['good']"
whatif clos.net --fail link H0 1 --json --compare none >host.json
claim "losing the cable of one host leaves the traffic of its neighbours" holds host.json \
    "d['cut_off_adapters'] == ['H0'] and 0.03 < d['engines'][0]['after']['unreachable'] < 0.05 and \
     abs(d['engines'][0]['after']['unreachable'] - d['engines'][0]['before']['affected']) < 1e-9"
whatif torus.net --fail switch S0_0 --sm H0 --sm H5 --json --compare none >standby.json
claim "a standby takes over" holds standby.json \
    "not d['manager_lost'] and d['engines'][0]['recovered'] and d['engines'][0]['reacted']"
"$weft" topo gen irregular switches=16 hosts=14 --seed 1 >cycle.net
whole_cycle() {
    whatif cycle.net --fail switch S8 --compare minhop --load 0 | tr -s ' \n' ' ' |
        grep -qE "credit loop on VL 0: 'S[0-9]+'( port [0-9]+ -> 'S[0-9]+')+ answered"
}
claim "the cycle of an engine that refuses is whole" whole_cycle
claim "a torus refuses ftree" eval 'whatif torus.net --fail switch S1_1 --compare ftree --load 0 | grep -q "ftree *refuses"'

claim "nobody cut off: status 0" exits 0 whatif clos.net --fail switch S5 --compare none
claim "somebody cut off: status 1" exits 1 whatif clos.net --fail switch S0 --compare none
whatif clos.net --fail mute S5 switch S4 --fail "bit-errors S0 3 20" --sm H7 --json --compare none >faults.json
claim "every fault can be asked for, as words or as one text" holds faults.json \
    "d['failures'] == ['mute S5', 'switch S4', 'bit-errors S0 3 20'] and not d['cut_off_switches'] and d['engines'][0]['recovered']"
# Every action of weft-scenario(5) that harms, with the example's arguments, in turn.
takes_every_fault() {
    local words
    "$weft" ctl --help | sed -n '/^Actions/,/^  start traffic/s/^  \([a-z].*\)/\1/p' | grep -vE '^(start|restore|heal) ' |
        sed 's/ *\[.*//; s/COUNT/100/; s/PERCENT/10%/; s/TIME/1ms/; s/ GUID|NODE/ S4/; s/PORT/1/; s/NODE/S5/; s/SWITCH/S5/' >words
    while read -r words; do
        whatif clos.net --fail "$words" --sm H7 --load 1% --compare none --json >fault.json 2>refused.txt
        [ $? -le 1 ] && holds fault.json "len(d['failures']) == 1 and 'traffic' in d" || { echo "$words" && cat refused.txt && return 1; }
    done <words
    [ "$(wc -l <words)" -ge 9 ]
}
claim "every fault that weft ctl lists can be tried" takes_every_fault
whatif torus.net --fail switch S1_1 --compare ftree --load 0 --json --html refused.html >refused.json
claim "an engine that refuses has a reason and no figures" holds refused.json \
    "[set(e) & {'refusal', 'recovery_ps', 'smps', 'before', 'after'} for e in d['engines']][1] == {'refusal'} and 'after' in d['engines'][0]"
awk 'BEGIN { RS = ""; ORS = "\n\n" } /(^|\n)Switch/' torus.net >switches.net
claim "a dump without records of adapters: they are read from the lines of switches" eval \
    '! grep -q ^Ca switches.net && [ "$("$weft" topo diff torus.net switches.net)" = "no difference" ]'
named() {
    whatif torus.net --fail switch S1_1 --compare none --json >plain.json
    for name in "room 3, second" core1; do
        printf '0x0000000000200005 "%s"\n' "$name" >names
        whatif torus.net --node-names names --fail switch "$name" --compare none --json --scenario named.weft >named.json
        [ $? = 1 ] && "$weft" sim named.weft >/dev/null && holds named.json "d['traffic']['lost'] == $(value plain.json "d['traffic']['lost']") > 0" || return
    done
}
claim "names of a node name map name what fails" named
claim "an action that harms nothing is refused" refused "'heal' harms nothing" whatif clos.net --fail heal S5
claim "an action on a manager is refused" refused "'kill sm' does not act on the fabric" whatif clos.net --fail kill sm H0
claim "a near miss is named" refused "did you mean 'S1_1'" whatif torus.net --fail switch S1-1
claim "a name of two nodes is refused with their GUIDs" \
    refused "0x0000000000000020" whatif hostile.net --fail switch same
claim "an adapter is not a switch" refused "is not a switch" whatif torus.net --fail switch H0
claim "a port without a link" refused "nothing is connected to port 8" whatif two-parts.net --fail link left 8
claim "two nodes without a link" refused "no link between" whatif torus.net --fail link S0_0 S1_1
claim "a load of 30 is refused" refused "a percentage has a '%' behind it" whatif torus.net --fail switch S1_1 --load 30
claim "a load of 130 % is refused" refused "a share up to 1" whatif torus.net --fail switch S1_1 --load 130%
claim "an unknown engine is refused" refused "no engine" whatif torus.net --fail switch S1_1 --engine fast
sed 's/"H\([0-9]*\)"/"node\1 mlx5_0"/g; s/"S\([0-9]*\)"/"leaf #\1 (rack, 7)"/g' <clos.net >blanks.net
claim "a part of a name is a near miss" refused "did you mean 'node3 mlx5_0'?" whatif blanks.net --fail host node3
claim "the only name with a text is a near miss" refused "did you mean 'leaf #11 (rack, 7)'?" whatif blanks.net --fail switch '#11'
marked() { # NET: the picture marks the switch that fails
    whatif "$1" --fail switch 'leaf #5 (rack, 7)' --compare none --load 0 --html marked.html >/dev/null
    grep -A1 'data-touched' marked.html | grep -q '<title>leaf #5 (rack, 7)</title>'
}
claim "a switch that fails is marked, whatever its name" marked blanks.net
one_form() { # all shares have a decimal
    whatif clos.net --fail switch S5 >form.out
    grep -qE '[0-9]\.[0-9]+ %' form.out && ! grep -E '(^|[^.0-9])[0-9]+ %' form.out | grep -v 'of 30 %'
}
claim "shares have the same form" one_form
only_named() { whatif clos.net --fail link H0 1 --compare none | head -1 | grep -q '^1 adapter is cut off; '; }
claim "the verdict names only what is cut off" only_named
without_tables() { # the engine refuses: there are no loads
    whatif clos.net --fail switch S5 --engine dor --compare none >dor.out
    [ $? = 1 ] && grep -q 'does not come up even before the failure' dor.out && ! grep -q 'link load' dor.out
}
claim "an engine that refuses has no link loads" without_tables
claim "nothing fails" refused "expected what fails" whatif torus.net

whatif hostile.net --fail switch 0x10 link 0x20 0x30 --html hostile.html --json >hostile.json 2>warning
claim "hostile names and noise: an answer" holds hostile.json "d['cut_off_adapters'] == ['--fail']"
claim "noise is warned of" grep -q 'line 6;' warning
claim "hostile names: the page is well-formed" python3 -c \
    'import sys, xml.dom.minidom; xml.dom.minidom.parse("hostile.html")'
claim "standard input is read" eval 'whatif - --fail switch S1_1 --compare none --json <torus.net >stdin.json; [ $? = 1 ]'
claim "'30 %' is one value" exits 1 whatif torus.net --fail switch S1_1 --compare none --load 30 %

whatif clos.net --each-switch --json --threads 1 >one.json
whatif clos.net --each-switch --json --threads 4 >four.json
claim "a ranking does not depend on threads" cmp one.json four.json
claim "edge switches are the worst" holds one.json \
    "len(d) == 12 and all(c['cut_off_adapters'] == 6 for c in d[:8]) and all(c['cut_off_adapters'] == 0 for c in d[8:])"
whatif torus.net --each-link --json >links.json
claim "every link between switches is ranked" holds links.json "len(d) == 32 and all(c['recovered'] for c in d)"
claim "a ranking has a page" eval \
    'whatif torus.net --each-switch --html rank.html >/dev/null && python3 -c "import xml.dom.minidom; xml.dom.minidom.parse(\"rank.html\")"'

# losses_as_simulated ENGINE LINK...: the ranking estimates what a run with traffic loses, by a factor of 1.5 at most
losses_as_simulated() {
    whatif drain.net --each-link --engine "$1" --json >ranked.json
    for link in "${@:2}"; do
        whatif drain.net --fail link "${link% *}" "${link#* }" --engine "$1" --compare none --json >run.json
        python3 - "$link" <<'END' || return
import json, sys
switch, port = sys.argv[1].split()
lost = json.load(open("run.json"))["traffic"]["lost_estimate"] * 4096
[case] = [c for c in json.load(open("ranked.json")) if c["failure"].startswith(f"link {switch} port {port} ")]
print(f"{switch} port {port}: {case['lost_bytes']:.0f} bytes by the ranking, {lost:.0f} in a run")
sys.exit(not 1 / 1.5 <= case["lost_bytes"] / lost <= 1.5)
END
    done
}
"$weft" topo gen irregular switches=16 hosts=14 --seed 1 >drain.net
claim "losses of a ranking, also where sources are stopped, are those of a run" \
    losses_as_simulated updn 'S8 2' 'S8 3' 'S0 2' 'S3 1'

whatif clos.net --fail link S8 1 --connections --compare none --load 0 --json >connections.json
claim "connections stand still for a time-out, and none breaks" holds connections.json \
    "[c['timeout'] for c in d['connections']] == list(range(14, 21)) and all(c['stood_still'] > 0 and c['broken'] == 0 and
     c['timeout_ps'] <= c['outage_s'] * 1e12 <= 1.1 * c['timeout_ps'] for c in d['connections'])"
whatif clos.net --fail host H0 --sm H1 --connections --compare none --load 0 --json >connections.json
claim "connections of a host that dies break" holds connections.json \
    "all(1 <= c['broken'] <= 2 for c in d['connections'])"

# Two subnets, joined by two routers: traffic across moves to the other router.
"$weft" topo gen irregular switches=4 ports=6 hosts=4 >part && "$weft" topo gen join part part routers=2 >joined
whatif joined --fail node R0 --compare none --load 10% --json >router.json
claim "a router of two can fail" holds router.json \
    "d['cut_off_adapters'] == [] and d['engines'][0]['before']['unreachable'] == 0 == d['engines'][0]['after']['unreachable']"
claim "each subnet has a manager" holds router.json "d['managers'] == ['a.H0', 'b.H0']"
claim "what crossed at the router is affected" holds router.json "0.1 < d['engines'][0]['before']['affected'] < 0.5"
whatif joined --fail node R0 --fail node R1 --compare none --load 0 --json >apart.json
claim "without routers half of the hosts are cut off" holds apart.json "len(d['cut_off_adapters']) == 4"
claim "the answer is that of sim" same_as_sim joined --fail node R1 --load 10%

if [ -n "$plain" ]; then
    "$weft" topo gen clos 8 12 16 speed=XDR >wide.net
    middle=$("$weft" whatif wide.net --each-switch --json | python3 -c \
        'import json, sys; print(json.load(sys.stdin)[-1]["failure"].split()[1])')
    claim "a part of the packets is enough" same_as_exact wide.net --fail switch "$middle" --load 30%
    whatif wide.net --fail switch "$middle" --load 45% --time 1000 --json --compare none >busy.json
    claim "where queues count all packets are simulated" \
        holds busy.json "d['traffic']['congested'] and d['traffic']['simulated_share'] == 1"
fi
exit "$failed"
