#!/usr/bin/env bash
# Node descriptions that try to control a terminal, on their way to every output: names_test.sh WEFT
set -u
weft=$(realpath "$1")
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/weft.XXXXXX") || exit
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}
# An escape sequence, CSI of C1 in UTF-8 and as a byte, marks of direction, Latin-1; then UTF-8 that is a name.
odd=$'\033[2J\xc2\x9b2J\x9b2J\xe2\x80\xaelie\xe2\x81\xa9 \xfcber \xc3\xa9'
{
    printf 'switchguid=0x10\nSwitch 3 "S-10" # "%s"\n[1] "H-20"[1]\n[2] "H-30"[1]\n' "$odd"
    printf 'caguid=0x20\nCa 1 "H-20" # "%s HCA-1"\n[1] "S-10"[1]\n' "$odd"
    printf 'caguid=0x30\nCa 1 "H-30" # "other HCA-1"\n[1] "S-10"[2]\n'
} >odd.net
shown() { # FILE ...: nothing in them that a terminal obeys, and the name is there
    local name=$'ber \xc3\xa9'
    grep -qF "$name" "$@" || { echo "no name in $*" && return 1; }
    python3 - "$@" <<'END'
import sys, unicodedata
for path in sys.argv[1:]:
    text = open(path, 'rb').read().decode('utf-8')  # fails for what is not UTF-8
    bad = [hex(ord(c)) for c in text if c not in '\n\t' and unicodedata.category(c) in ('Cc', 'Cf')]
    assert not bad, f'{path}: {bad}'
END
}
"$weft" topo info odd.net --json >info.json && "$weft" topo draw odd.net --out drawing.svg
claim 'drawings show names and obey nothing in them' shown drawing.svg
printf 'caguid=0x40\nCa 1 "%s" # "x"\n' "$odd" >bad.net
"$weft" topo info bad.net 2>error
claim 'errors quote names without obeying them' eval "grep -q . error && ! grep -q \$'\033' error && iconv -f utf-8 -t utf-8 error >/dev/null"
# shellcheck disable=SC2016 # for the shell on the fabric
"$weft" fabric odd.net -- sh -c '"$0" sm >log &
    until grep -q "subnet up" log; do sleep 0.05; done
    "$0" ctl routes >routes.out; "$0" ctl path H-20 H-30 >path.out
    "$0" ctl status >status.out; "$0" ctl --json status >status.json; "$0" ctl fail node H-20
    until grep -q "ber" log; do sleep 0.05; done; kill $!; wait' "$weft" >/dev/null
claim 'nor does the log' shown log
cat ./*.out ./*.json >all
claim 'nor the answers of weft ctl' python3 -c 'import unicodedata; assert not [c for c in open("all", encoding="utf-8").read() if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf")]'
exit "$failed"
