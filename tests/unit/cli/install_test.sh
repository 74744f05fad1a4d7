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
is_little_exposed() { # UNIT: at most 2.5 of 10 by systemd's measure
    systemd-analyze security --offline=true --no-pager --threshold=25 "$1" >"$root/exposure" 2>&1 ||
        { tail -3 "$root/exposure" && return 1; }
}
is_accepted() { # UNIT: systemd knows every setting of it
    systemd-analyze verify --man=no "$1" 2>&1 | grep -iE 'unknown|invalid|failed to parse|ignoring' && return 1
    return 0
}
runs_as_installed_user() { # UNIT
    local user
    user=$(sed -n 's/^User=//p' "$1")
    grep -q "^u $user " "$root$prefix/lib/sysusers.d/weft.conf" &&
        grep -q "GROUP=\"$(sed -n 's/^Group=//p' "$1")\"" "$root$prefix/lib/udev/rules.d/60-weft.rules"
}
has_watchdog() { grep -q '^WatchdogSec=' "$1" && grep -q '^StartLimitIntervalSec=0$' "$1"; } # UNIT

DESTDIR=$root meson install -C "$build" --no-rebuild --quiet || { echo 'not ok - install' && exit 1; }
claim 'every manual page is installed' pages_are_installed
for unit in weft-sm.service weft-sm@.service; do
    claim "$unit starts the installed program" starts_installed_program "$root$prefix/lib/systemd/system/$unit"
    claim "$unit names the installed sample configuration" names_a_sample "$root$prefix/lib/systemd/system/$unit"
    claim "$unit runs as a user of its own that may open the devices" runs_as_installed_user "$root$prefix/lib/systemd/system/$unit"
    claim "$unit has a watchdog and no limit of restarts" has_watchdog "$root$prefix/lib/systemd/system/$unit"
    if command -v systemd-analyze >/dev/null; then
        claim "systemd accepts every setting of $unit" is_accepted "$root$prefix/lib/systemd/system/$unit"
        claim "the exposure of $unit is at most 2.5" is_little_exposed "$root$prefix/lib/systemd/system/$unit"
    else
        echo "ok - the exposure of $unit # skip systemd-analyze is not installed"
    fi
done
sample=$(find "$root" -name sm.conf.example)
claim 'the sample configuration has only comments' has_only_comments "$sample"
sed -E "s|/var/lib/weft\|/run/weft|$root|; s/^#([a-z])/\1/" "$sample" >"$root/sm.conf"
claim 'weft sm accepts the sample configuration with all lines uncommented' is_read "$root/sm.conf"
claim 'the sample configuration has at least twelve keys' [ "$(grep -c '^[a-z]' "$root/sm.conf")" -ge 12 ]
exit $failed
