#!/usr/bin/env bash
# completion_test.sh WEFT COMPLETIONS SRC: the completions of bash and zsh offer every command, every option of the
# tables in SRC/cli, and no option that the program refuses.
set -u
weft=$(realpath "$1") completions=$2 src=$3 matches=$(realpath "$(dirname "$0")/zsh_matches.zsh")
failed=0
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}

mapfile -t commands < <("$weft" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
[ "${#commands[@]}" -ge 10 ] || { echo 'not ok - weft --help lists at least ten commands' && exit 1; }

# The options in the table of a command: the long name, or with a letter both. --preloaded is for weft itself.
table() { # COMMAND
    sed -n '/struct option_spec options/,/{0}}/p' "$(find "$src/cli" -name "$1.c")" |
        sed -nE 's/^ *.*\{(\.usage = )?"(-[a-z], )?(--[a-z0-9-]+).*/\3 \2/p; s/.*\{(PRELOAD_STEP).*/--preloaded/p' |
        tr -d ',' | sort -u | grep -vx -e '--preloaded'
}
offers_table() { # FUNCTION COMMAND: one name of each option is enough
    local offered line name found status=0 count=0
    offered=" $("$1" "$2" -) $("$1" "$2" --) "
    while read -r line; do
        found=0 count=$((count + 1))
        for name in $line; do [[ $offered == *" $name "* ]] && found=1; done
        [ $found -eq 1 ] || { echo "$2: no $line among$offered" && status=1; }
    done < <(table "$2")
    [ $count -ge 3 ] || { echo "$count options in the table of $2" && return 1; }
    return $status
}
offers_all_tables() { # FUNCTION
    local command status=0
    for command in "${commands[@]}"; do offers_table "$1" "$command" || status=1; done
    return $status
}
offers_no_unknown() { # FUNCTION: a command whose options are refused says so before it does anything
    local command option status=0 count=0
    for command in "${commands[@]}"; do
        for option in $("$1" "$command" --); do
            [ "$option" != --help ] || continue
            count=$((count + 1))
            if "$weft" "$command" "$option" x --no-such-option </dev/null 2>&1 | grep -qF "unknown option '$option'"; then
                echo "weft $command knows no $option" && status=1
            fi
        done
    done
    [ $count -ge 50 ] && return $status
}
offers() { # FUNCTION EXPECTED WORD ...: all expected words
    local function=$1 expected=$2 word offered
    shift 2
    offered=" $("$function" "$@") "
    for word in $expected; do
        [[ $offered == *" $word "* ]] || { echo "no $word among$offered" && return 1; }
    done
}
offers_only() { # FUNCTION EXPECTED WORD ...
    local function=$1 expected=$2 offered
    shift 2
    offered=$("$function" "$@")
    [ "$offered" = "$expected" ] || { echo "$offered; expected $expected" && return 1; }
}

# What bash offers for "weft WORD ...", on one line.
bash_offers() {
    bash --norc -c 'complete() { :; }; . "$0"; COMP_WORDS=(weft "$@"); COMP_CWORD=$#; _weft 2>/dev/null
        printf "%s\n" "${COMPREPLY[@]}"' "$completions/weft.bash" "$@" | sort | xargs
}
# What zsh offers. One zsh answers all questions of this test before its first claim.
ask_zsh() {
    local command
    printf 'weft %s\n' '' 'topo gen ' 'route a.net --engine ' 'ctl ' 'ctl fail ' 'fabric a.net --preset ' 'verify ' \
        'route a.net --lfts b'
    for command in "${commands[@]}"; do printf 'weft %s\n' "$command -" "$command --"; done
}
zsh_offers() { awk -F '\t' -v line="weft $*" '$1 == line { print $2 }' zsh.answers; }

touch a.net b.net
claims_of() { # SHELL FUNCTION
    claim "$1 offers every command" offers "$2" "${commands[*]} help --help --version" ''
    claim "$1 offers every option of the tables" offers_all_tables "$2"
    claim "$1 offers the kinds of topologies" offers "$2" 'fattree torus dragonfly' topo gen ''
    claim "$1 offers the engines" offers "$2" 'updn ftree dfsssp' route a.net --engine ''
    claim "$1 offers the requests of weft ctl" offers "$2" 'status fail vm problems bit-errors duplicate-guid' ctl ''
    claim "$1 offers the words after a request" offers_only "$2" 'link node switch' ctl fail ''
    claim "$1 offers the values of an option" offers_only "$2" 'paper today' fabric a.net --preset ''
    claim "$1 offers files for an operand" offers "$2" 'a.net b.net' verify ''
    claim "$1 offers files for the value of an option" offers_only "$2" 'b.net' route a.net --lfts b
}
offers_same() {
    local command status=0
    for command in "${commands[@]}"; do offers_only zsh_offers "$(bash_offers "$command" --)" "$command" -- || status=1; done
    return $status
}
claims_of bash bash_offers
claim 'bash offers no option that weft does not know' offers_no_unknown bash_offers
if command -v zsh >/dev/null; then
    ask_zsh | zsh -f "$matches" "$completions" >zsh.answers
    claims_of zsh zsh_offers
    claim 'zsh offers the same options as bash' offers_same
elif [ -n "${WEFT_TOOLS_REQUIRED-}" ]; then
    claim 'zsh is installed' false
else
    echo 'ok - the completion of zsh # skip zsh is not installed'
fi
exit $failed
