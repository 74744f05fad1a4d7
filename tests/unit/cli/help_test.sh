#!/usr/bin/env bash
# --help and the manual pages fit 80 columns and are complete.
set -u
weft=$1 man=$2
failed=0

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}
commands() { "$weft" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'; }
engines() { "$weft" route --engines | sed -n 's/^\([a-z+]*\)  *.*/\1/p'; }

no_long_line() { # COMMAND ...
    local long
    long=$("$@" | awk 'length($0) > 80')
    [ -z "$long" ] || { printf '%s:\n%s\n' "$*" "$long" && return 1; }
}
no_long_example() { # PAGE: lines between .nf and .fi
    local long
    long=$(sed 's/\\-/-/g; s/\\f[BIR]//g; s/\\e/\\/g' "$1" |
        awk '/^\.nf/ { shown = 1 } /^\.fi/ { shown = 0 } shown && length($0) > 80 - 7')
    [ -z "$long" ] || { printf '%s:\n%s\n' "$1" "$long" && return 1; }
}
suggests() { # SUGGESTION ARGUMENT ...: "" for none
    local said suggestion=$1 && shift
    said=$("$weft" "$@" 2>&1) && return 1
    if [ -n "$suggestion" ]; then grep -qF "did you mean '$suggestion'?" <<<"$said"; else ! grep -q 'did you mean' <<<"$said"; fi
}
names_all_engines() { # in the text on standard input
    local engine text missing=0
    text=$(sed 's/\\-/-/g; s/\\f[BIR]/ /g')
    for engine in $(engines); do
        grep -qE "(^|[^a-z+])${engine/+/\\+}([^a-z+]|$)" <<<"$text" || { echo "no $engine" && missing=1; }
    done
    return $missing
}
names_all() { # WORD ...: in the text on standard input
    local text word missing=0
    text=$(sed 's/\\-/-/g')
    for word; do
        grep -qF -- "$word" <<<"$text" || { echo "no $word" && missing=1; }
    done
    return $missing
}
help_names() { # COMMAND WORD ...
    local command=$1 && shift
    names_all "$@" < <("$weft" "$command" --help)
}
pages() { basename -a "$man"/weft-*.[1-9] | sed 's/\(.*\)\.\(.\)/\1 (\2)/'; }
sm_keys() { # keys of the statement sm
    tr '\n' ' ' <"$man/../../src/host/manager/config_keys.c" | sed 's/{/\n/g' |
        sed -nE '/(BEFORE|IN)_RUNS/s/.*_KEY\("([a-z_]*)".*/\1/p'
    sed -n '/^static const char \*const run_keys/p' "$man/../../src/experiment/run/manager.c" | grep -o '"[a-z_]*"' | tr -d '"'
}

[ "$(commands | wc -l)" -ge 10 ] && [ "$(engines | wc -l)" -ge 14 ] || { echo 'not ok - lists' && exit 1; }
claim 'a near miss of a command is named' suggests sim siim
claim 'a near miss of an option is named' suggests --json sim --jsn
claim 'other wrong options are not' suggests '' sim --what
claim 'weft --help fits 80 columns' no_long_line "$weft" --help
for command in $(commands); do
    claim "weft $command --help fits 80 columns" no_long_line "$weft" "$command" --help
done
claim 'weft route --engines fits 80 columns' no_long_line "$weft" route --engines
for page in "$man"/*.[1-9]; do
    claim "the examples of ${page##*/} fit 80 columns" no_long_example "$page"
done
claim 'weft sm --help names every engine' names_all_engines < <("$weft" sm --help)
part() { # PAGE FIRST END: from the line that begins with FIRST to the next line that begins with END
    awk -v first="$2" -v end="$3" 'index($0, end) == 1 { shown = 0 } index($0, first) == 1 { shown = 1 } shown' \
        "$man/$1"
}
claim 'weft-sm(1) names every engine' names_all_engines < <(part weft-sm.1 '.BI \\-\\-engine' .TP)
claim 'weft-sm.conf(5) names every engine' names_all_engines < <(part weft-sm.conf.5 '.BR engine' .TP)
claim 'weft-route(1) explains every engine' names_all_engines < <(part weft-route.1 '.SH ENGINES' .SH)
mapfile -t words < <(commands | sed 's/.*/.RB ( weft-& (1))/')
claim 'weft(1) has every command' names_all "${words[@]}" < <(part weft.1 '.SH COMMANDS' .SH)
mapfile -t words < <(pages)
claim 'weft(1) refers to every page' names_all "${words[@]}" < <(part weft.1 '.SH SEE ALSO' .SH)
mapfile -t words < <(sm_keys | grep -vx -e paper -e probe_back | sed 's/.*/.BR & /') # the page describes these elsewhere
[ "${#words[@]}" -ge 20 ] || { echo 'not ok - keys of sm' && exit 1; }
claim 'weft-scenario(5) has every key of sm' names_all "${words[@]}" < <(part weft-scenario.5 '.BI sm ' .SH)
# The commands of the registries: weft ctl --help prints them, weft-ctl(1) or weft-live(1) has a paragraph for each.
ctl_commands() { # names: the words in lower case that a line begins with
    "$weft" ctl --help | sed -n '/^examples/q; s/^  \([a-z][a-z -]*[a-z]\)\( *[A-Z0-9[|].*\|  .*\|\)$/\1/p' | sed 's/  .*//' | sort -u
}
page_commands() { # the same of the pages; "vm list", "vm show": both
    cat "$man/weft-ctl.1" "$man/weft-live.1" "$man/weft-scenario.5" | sed -n '/^\.T[PQ]$/{n;s/\\-/-/g;s/\\f[BIR]//g;s/^\.[BIR]* //;p;}' |
        tr -d '"' | sed 's/ *, */\n/g; s/[A-Z[].*//; s/ *$//' | sed 's/ | .*\| *|.*//' | sed 's/ *$//' | sort -u
}
page_has_commands() {
    local name missing=0
    [ "$(ctl_commands | wc -l)" -ge 30 ] || { echo 'too few commands' && return 1; }
    while read -r name; do
        page_commands | grep -qxF "$name" || { echo "no $name" && missing=1; }
    done < <(ctl_commands)
    return $missing
}
claim 'weft-ctl(1), weft-live(1) and weft-scenario(5) explain every command of weft ctl --help' page_has_commands
claim 'weft ctl --help has every vm command' help_names ctl \
    'vm start' 'vm migrate' 'vm stop' 'vm list' 'vm show' 'vm ticket'
claim 'weft sm --help names all files that it writes' help_names sm opensm-lfts.dump \
    opensm-subnet.lst opensm.fdbs opensm-sl2vl.dump opensm.mcfdbs guid2lid opensm-sa.dump
claim 'weft topo --help names the parameters of all kinds' help_names topo \
    width= speed= length= vfs= hypervisors=
claim 'weft topo --kinds names the parameters of all kinds' grep -q 'width=.*speed=.*length=.*vfs=.*hypervisors=' \
    < <("$weft" topo --kinds | tr '\n' ' ')

# Attributes of the fabric.
attributes() { "$weft" fabric --attributes | sed -n 's/^\([a-z0-9_][a-z0-9_]*\) .*/\1/p'; }
page_attributes() { part weft-fabric.1 '.SH ATTRIBUTES' .SH | sed -n '/^\.T[PQ]$/{n;s/^\.B //p;}'; }
page_names_attributes() { diff <(attributes | sort) <(page_attributes | sort); }
[ "$(attributes | wc -l)" -ge 40 ] || { echo 'not ok - attributes' && failed=1; }
claim 'weft fabric --attributes fits 80 columns' no_long_line "$weft" fabric --attributes
claim 'weft fabric --attributes prints the values of a preset' grep -qE '^mtu +256 ' < <("$weft" fabric --attributes --preset paper)
claim 'weft fabric --attributes prints the values of --set' grep -qE '^mtu +512 ' < <("$weft" fabric --attributes --set mtu=512)
claim 'weft-fabric(1) describes exactly the attributes of weft fabric --attributes' page_names_attributes
exit $failed
