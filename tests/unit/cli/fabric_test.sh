#!/usr/bin/env bash
# The PATH of commands that `weft fabric` runs.
set -u
weft=$1
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/weft.XXXXXX") || exit
trap 'rm -rf "$work"' EXIT

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}
becomes() { # PATH EXPECTED: the PATH of the command if weft runs with the first
    local found
    # shellcheck disable=SC2016 # for the shell on the fabric
    found=$(PATH=$1 "$weft" fabric "$work/net" -- /bin/sh -c 'echo "$PATH"')
    [ "$found" = "$2" ] || { echo "'$1' became '$found'" && return 1; }
}

"$weft" topo gen ring 4 >"$work/net" || exit
claim 'weft fabric appends /usr/sbin and /sbin to PATH' becomes /usr/bin:/bin /usr/bin:/bin:/usr/sbin:/sbin
claim 'a PATH with both directories does not change' becomes /sbin:/usr/bin:/usr/sbin /sbin:/usr/bin:/usr/sbin
claim 'directories with similar names are not mistaken for them' becomes /bin:/usr/local/sbin:/usr/sbin/x:/sbin \
    /bin:/usr/local/sbin:/usr/sbin/x:/sbin:/usr/sbin
exit $failed
