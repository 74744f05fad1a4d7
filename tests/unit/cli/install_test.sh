#!/usr/bin/env bash
# `make install`: manual pages, systemd units that start the installed program, and a valid sample
# configuration.
set -u
build=$1 man=$2 prefix=$3
failed=0
root=$(mktemp -d) && trap 'rm -rf "$root"' EXIT

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}
pages_are_installed() {
    local page missing=0
    for page in "$man"/*.[1-9]; do
        [ -n "$(find "$root" -name "${page##*/}")" ] || { echo "no ${page##*/}" && missing=1; }
    done
    return $missing
}
starts_installed_program() { # UNIT
    local program
    program=$(sed -n 's/^ExecStart=\([^ ]*\) sm --config .*/\1/p' "$1")
    [ -n "$program" ] && [ -x "$root$program" ] || { grep ExecStart "$1" && return 1; }
}
names_a_sample() { # UNIT
    local sample
    sample=$(sed -n 's/^#.* \(\/[^ ]*sm\.conf\.example\).*/\1/p' "$1")
    [ -n "$sample" ] && [ -f "$root$sample" ]
}
has_only_comments() { ! grep -vE '^(#|$)' "$1"; } # FILE
is_read() { # FILE: weft sm reads it and then fails because there is no port with this GUID
    local answer
    answer=$("$build/weft" sm --once --config "$1" --guid 0xfffffffffffffffe 2>&1)
    grep -q 0xfffffffffffffffe <<<"$answer" || { echo "$answer" && return 1; }
}

DESTDIR=$root meson install -C "$build" --no-rebuild --quiet || { echo 'not ok - install' && exit 1; }
claim 'every manual page is installed' pages_are_installed
for unit in weft-sm.service weft-sm@.service; do
    claim "$unit starts the installed program" starts_installed_program "$root$prefix/lib/systemd/system/$unit"
    claim "$unit names the installed sample configuration" names_a_sample "$root$prefix/lib/systemd/system/$unit"
done
sample=$(find "$root" -name sm.conf.example)
claim 'the sample configuration has only comments' has_only_comments "$sample"
sed -E "s|/var/lib/weft\|/run/weft|$root|; s/^#([a-z])/\1/" "$sample" >"$root/sm.conf"
claim 'weft sm accepts the sample configuration with all lines uncommented' is_read "$root/sm.conf"
claim 'the sample configuration has at least twelve keys' [ "$(grep -c '^[a-z]' "$root/sm.conf")" -ge 12 ]
exit $failed
