#!/usr/bin/env bash
# What `make install` puts where: that systemd's units name the program that was installed, and that the
# sample configuration beside it is one.
set -u
build=$1 man=$2 prefix=$3
failed=0
root=$(mktemp -d) && trap 'rm -rf "$root"' EXIT

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}
pages_are_there() {
    local page missing=0
    for page in "$man"/*.[1-9]; do
        [ -n "$(find "$root" -name "${page##*/}")" ] || { echo "no ${page##*/}" && missing=1; }
    done
    return $missing
}
starts_what_is_installed() { # UNIT
    local program
    program=$(sed -n 's/^ExecStart=\([^ ]*\) sm --config .*/\1/p' "$1")
    [ -n "$program" ] && [ -x "$root$program" ] || { grep ExecStart "$1" && return 1; }
}
names_a_sample() { # UNIT
    local sample
    sample=$(sed -n 's/^#.* \(\/[^ ]*sm\.conf\.example\).*/\1/p' "$1")
    [ -n "$sample" ] && [ -f "$root$sample" ]
}
is_all_remarks() { ! grep -vE '^(#|$)' "$1"; } # FILE
is_read() { # FILE: it ends where the port is looked for, which no machine has
    local answer
    answer=$("$build/weft" sm --once --config "$1" --guid 0xfffffffffffffffe 2>&1)
    grep -q 0xfffffffffffffffe <<<"$answer" || { echo "$answer" && return 1; }
}

DESTDIR=$root meson install -C "$build" --no-rebuild --quiet || { echo 'not ok - install' && exit 1; }
claim 'every manual page is installed' pages_are_there
for unit in weft-sm.service weft-sm@.service; do
    claim "$unit starts what is installed" starts_what_is_installed "$root$prefix/lib/systemd/system/$unit"
    claim "$unit names a sample configuration" names_a_sample "$root$prefix/lib/systemd/system/$unit"
done
sample=$(find "$root" -name sm.conf.example)
claim 'the sample changes nothing as it is' is_all_remarks "$sample"
sed -E "s|/var/lib/weft\|/run/weft|$root|; s/^#([a-z])/\1/" "$sample" >"$root/sm.conf"
claim 'and every line of it can be used' is_read "$root/sm.conf"
claim 'with a dozen keys' [ "$(grep -c '^[a-z]' "$root/sm.conf")" -ge 12 ]
exit $failed
