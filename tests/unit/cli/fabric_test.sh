#!/usr/bin/env bash
# What a command that `weft fabric` runs finds in its environment.
set -u
weft=$1
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/weft.XXXXXX") || exit
trap 'rm -rf "$work"' EXIT

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}
becomes() { # PATH PATH: what the command has if weft has the first
    local found
    # shellcheck disable=SC2016 # for the shell on the fabric
    found=$(PATH=$1 "$weft" fabric "$work/net" -- /bin/sh -c 'echo "$PATH"')
    [ "$found" = "$2" ] || { echo "'$1' became '$found'" && return 1; }
}

"$weft" topo gen ring 4 >"$work/net" || exit
claim 'a PATH without them gets the directories of opensm' becomes /usr/bin:/bin /usr/bin:/bin:/usr/sbin:/sbin
claim 'one with them stays' becomes /sbin:/usr/bin:/usr/sbin /sbin:/usr/bin:/usr/sbin
claim 'others that look like them do not count' becomes /bin:/usr/local/sbin:/usr/sbin/x:/sbin \
    /bin:/usr/local/sbin:/usr/sbin/x:/sbin:/usr/sbin
exit $failed
