#!/bin/sh
# weft topo at the command line: command_test.sh PATH-OF-WEFT
# shellcheck disable=SC2016,SC2317 # inner shells expand; functions are called by claim
# shellcheck source=../claim.sh
. "$(dirname "$0")/../claim.sh"

# refused WORDS...: weft topo exits with status 2, no standard output and one error line that contains $part
refused() {
    "$weft" topo "$@" >out 2>err
    [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] && grep -qF -- "$part" err
}

same() { "$weft" topo gen "$@" >a && "$weft" topo convert a --to ibnetdiscover >b && cmp a b; }
claim 'convert to ibnetdiscover reproduces the output of gen' same irregular 16 hosts=14 --seed 7
claim 'info - reads the network from standard input' sh -c "'$weft' topo gen clos 3 1 4 | '$weft' topo info - | grep -q 'folded Clos (3,1,4)'"
"$weft" topo gen fattree 324 --seed=3 -o net
claim 'info prints the kind of the network' sh -c "'$weft' topo info net | grep -q '18-ary 2-tree'"
claim 'info counts hypervisors and detects the kind of the network of physical switches' sh -c \
    "'$weft' topo gen kary 3 2 vfs=2 | '$weft' topo info - >info && grep -q 'XGFT(2; 3,3' info &&
    grep -q '^switches      6 ' info && grep -q 'hypervisors   9, functions 18' info"
claim 'info --json prints valid JSON' sh -c "'$weft' topo info net --json | python3 -c 'import json,sys; assert json.load(sys.stdin)[\"levels\"] == [18, 18]'"
claim 'convert --to json prints valid JSON' sh -c "'$weft' topo convert net --to json | python3 -c 'import json,sys; n = json.load(sys.stdin); assert len(n[\"nodes\"]) == 360 and len(n[\"links\"]) == 648'"
claim 'convert --to slurm lists the leaf switches with their hosts' sh -c "'$weft' topo convert net --to slurm | grep -q 'SwitchName=L17 Nodes=H\[306-323\]'"
claim 'gen --vfs makes every host a hypervisor' sh -c "'$weft' topo gen ring 6 --vfs 16 | grep -c 'devid=0x7653' | grep -qx 6"
claim 'convert --hypervisors makes some hosts of a file hypervisors' sh -c "'$weft' topo gen ring 6 | '$weft' topo convert - --to ibnetdiscover --vfs 3 --hypervisors 2 | grep -c -- '^Ca.*-vf[123]\"' | grep -qx 6"
claim 'vfs= is the same as --vfs' sh -c "'$weft' topo gen ring 6 --vfs 2 >a; '$weft' topo gen ring 6 vfs=2 | cmp - a"
part='--vfs 127' claim 'too many virtual functions are refused' refused gen ring 6 --vfs 127
part='--hypervisors' claim '--hypervisors needs --vfs' refused gen ring 6 --hypervisors 3
part='vfs=x' claim 'vfs= needs a number' refused gen ring 6 vfs=x
"$weft" topo gen clos 2 2 4 speed=HDR >plan
sed '/lid/s/4xHDR/4xEDR/' plan >slow
claim 'diff finds no difference between a network and itself' sh -c "'$weft' topo diff plan plan | grep -qx 'no difference'"
differs() { "$weft" topo diff plan slow >out; [ $? = 1 ] && [ "$(grep -c '^wrong rate: .* port .* <-> .* port .* runs at 4X EDR; the plan has 4X HDR$' out)" = 16 ]; }
claim 'diff names the cables that differ, with exit status 1' differs
claim 'diff --json prints valid JSON' sh -c "'$weft' topo diff plan slow --json | python3 -c 'import json,sys; assert len(json.load(sys.stdin)) == 16'"
"$weft" topo gen irregular 6 ports=8 >part
joins() { "$weft" topo gen join part part routers=2 >two && "$weft" topo info two | grep -q '^subnets       2; routers join them$' && grep -c '^Rt' two | grep -qx 2; }
claim 'gen join makes two subnets that two routers join' joins
part='from 1 to' claim 'join needs a number of routers' refused gen join part part routers=0
part='star, chain or ring' claim 'join needs a known shape' refused gen join part part shape=line
part='2 to 26 net files' claim 'join needs two net files' refused gen join part
part='two net files' claim 'diff needs two networks' refused diff plan
claim '--kinds lists the kinds' sh -c "'$weft' topo --kinds | grep -q dragonfly"
claim '--help has examples' sh -c "'$weft' topo --help | grep -q examples"
for kind in figure1 'fattree 648' 'fattree 5832' 'torus 4x4' 'jellyfish 200'; do
    # shellcheck disable=SC2086
    "$weft" topo gen $kind >drawn
    claim "draw $kind as SVG" sh -c "'$weft' topo draw drawn -o drawn.svg && grep -q '</svg>' drawn.svg"
done

# rsvg-convert makes PNG and PDF of the SVG.
mkdir fake && printf '#!/bin/sh\necho "$*"; cat\n' >fake/rsvg-convert && chmod +x fake/rsvg-convert
converts() { # FORMAT
    PATH=$PWD/fake:$PATH "$weft" topo draw drawn -o "drawn.$1" && grep -q -- "--format $1" "drawn.$1" && grep -q '<svg' "drawn.$1"
}
claim 'draw makes PNG with rsvg-convert' converts png
claim 'draw makes PDF with rsvg-convert' converts pdf
"$weft" topo gen irregular switches=4 ports=6 hosts=4 >part && "$weft" topo gen join part part routers=2 >joined
"$weft" topo draw joined --hosts 0 -o joined.svg
claim 'a drawing of two subnets says so' grep -q '2 subnets joined by 2 routers' joined.svg
claim 'it shows the routers, even without hosts' sh -c 'grep -q ">R0</text>" joined.svg && grep -q ">R1</text>" joined.svg'
claim 'each subnet has a colour in the legend' sh -c 'grep -q "subnet 1<" joined.svg && grep -q "subnet 2<" joined.svg'
colour_of() { grep -A1 "<title>$1</title>" joined.svg | grep -o 'fill="#[0-9a-f]*"'; }
claim 'switches of one subnet have one colour' sh -c '[ "$1" = "$2" ] && [ -n "$1" ]' - "$(colour_of a.S0)" "$(colour_of a.S3)"
claim 'those of the other one another' sh -c '[ "$1" != "$2" ] && [ -n "$2" ]' - "$(colour_of a.S0)" "$(colour_of b.S0)"
needs_converter() { ! PATH=/nowhere "$weft" topo draw drawn -o none.png 2>err && [ ! -e none.png ] && grep -q librsvg2-bin err && [ "$(wc -l <err)" = 1 ]; }
claim 'without rsvg-convert the error names its package, and no file is written' needs_converter

printf '\357\273\277' | cat - net >marked
claim 'a byte order mark before the network is skipped' sh -c "'$weft' topo info marked | grep -q '18-ary 2-tree'"
"$weft" topo gen figure1 >names
sed -i 's/# "S1"/# "l\xfcft-\xe2\x82"/' names
claim 'the drawing of names that are not UTF-8 is UTF-8, with question marks' sh -c \
    "'$weft' topo draw names -o names.dot && iconv -f UTF-8 -t UTF-8 names.dot >/dev/null && grep -Fq 'l?ft-??' names.dot"
names_are_apart() { # the underscore of a name ends above the line "1 host"
    "$weft" topo gen torus 4x4 | "$weft" topo draw - -o apart.svg &&
        awk -F'"' '/class="s"/ { name = $6 } /host</ { count++; if ($6 - name < 11.9) bad = 1 } END { exit bad || count != 16 }' apart.svg
}
claim 'the name of a switch and its number of hosts do not touch' names_are_apart
claim 'a network with names that are not UTF-8 is drawn' sh -c "'$weft' topo draw names -o names.svg && iconv -f UTF-8 -t UTF-8 names.svg | grep -q '</svg>'"

printf 'Switch 4 "a"\n[1] "b"[1]\n' >bad
for try in 'expected gen, info' 'no kind of fabric|gen|what' "no parameter 'q|gen|clos|q=1" \
    'whole number|gen|clos|--seed|x' 'bad:2: there is no node|info|bad' 'No such file|info|absent' \
    'one net file|info' "unknown option|info|net|--what" '--to ibnetdiscover|convert|net' \
    'expected ibnetdiscover|convert|net|--to|x' '.svg, .png, .pdf or .dot|draw|net|-o|x.gif' \
    'expected structure or rooms|draw|net|--layout|x' \
    "'erase': expected gen|erase|net" 'No such file|gen|clos|-o|absent/net'; do
    part=${try%%|*}
    rest=${try#"$part"}
    IFS='|'
    # shellcheck disable=SC2086
    set -- ${rest#|}
    unset IFS
    claim "refused: $*" refused "$@"
done
exit $failed
