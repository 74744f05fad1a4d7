#!/usr/bin/env bash
# `make install`: manual pages, systemd units that start the installed program, and a valid sample
# configuration. `make uninstall` removes exactly what was installed.
set -u
build=$1 man=$2 prefix=$3 install=$2/../../tools/install
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

# Things of others, and a file of an older installation.
mkdir -p "$root$prefix"/{bin,share/man/man1,share/weft} && touch "$root$prefix"/{bin/other,share/man/man1/other.1,bin/weft-old}
before=$(cd "$root" && find . ! -path '*/weft*' | sort)
printf '%s\n' "$prefix/bin/weft-old" "$prefix/share/weft" >"$root$prefix/share/weft/installed-files"
removes_old_file() { [ ! -e "$root$prefix/bin/weft-old" ]; }
leaves_only_other_files() {
    diff <(echo "$before") <(cd "$root" && DESTDIR=$root "$install" uninstall "$prefix" && find . | sort)
}
keeps_added_file() { # somebody's file in a directory that the installation created, which is also kept
    touch "$root$prefix/share/weft/added" && DESTDIR=$root "$install" uninstall "$prefix" &&
        [ "$(find "$root$prefix/share/weft" -type f)" = "$root$prefix/share/weft/added" ]
}
DESTDIR=$root "$install" install "$build" "$prefix" || { echo 'not ok - install' && exit 1; }
claim 'an installation removes files that only the older one had' removes_old_file
# The package has the same files below /usr, and its own configuration.
packages_every_file() { # and each line of debian/weft.install has a file
    local list=$man/../../debian/weft.install package=$root/package pattern status=0
    mkdir -p "$package/etc/weft" && touch "$package/etc/weft/sm.conf" && cp -r "$root$prefix" "$package/usr" || return
    rm -f "$package"/usr/{bin/other,share/man/man1/other.1,share/weft/installed-files}
    while read -r pattern _; do
        compgen -G "$package/$pattern" >/dev/null || { echo "no file for $pattern" && status=1; }
        # shellcheck disable=SC2086 # a pattern is meant
        (cd "$package" && rm -rf ./$pattern)
    done <"$list"
    find "$package" -type f | grep . && status=1
    rm -rf "$package"
    return $status
}
claim 'debian/weft.install has exactly the files of make install' packages_every_file
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
# The units allow no network but what their configuration asks for.
generates() { # NAME UNIT LINE ... : the lines of /etc/weft/NAME.conf are on standard input
    local name=$1 unit=$2 made=$root/made && shift 2
    rm -rf "${root:?}/etc" "$made" && mkdir -p "$root/etc" "$made" && cat >"$root/etc/$name.conf" || return
    WEFT_ETC=$root/etc "$root$prefix/lib/systemd/system-generators/weft-generator" "$made" "$made" "$made" || return
    [ $# -gt 0 ] || { [ -z "$(find "$made" -type f)" ] && return; }
    diff <(printf '%s\n' "$@" | sort) <(grep -v '^[#[]' "$made/$unit.d/listen.conf" | sort)
}
families='RestrictAddressFamilies=AF_INET AF_INET6' others=SocketBindDeny=any
claim 'the generator opens nothing without web and metrics' generates sm weft-sm.service <"$root$prefix/share/weft/sm.conf.example"
claim 'the generator opens nothing for none and a Unix socket' generates sm weft-sm.service <<<$'web none\nmetrics unix:/run/weft/metrics'
claim 'the generator opens the port of a page on localhost, to localhost' \
    generates sm weft-sm.service "$families" IPAddressAllow=localhost $others SocketBindAllow=tcp:9470 <<<'web 9470 # the page'
claim 'the generator opens both ports of an instance, the last line of a key counts' \
    generates plane1 weft-sm@plane1.service "$families" IPAddressAllow=any $others SocketBindAllow=tcp:9471 SocketBindAllow=tcp:80 \
    <<<$'metrics 1\nmetrics [::]:9471\n  web 127.0.0.1:80'
claim 'the generator opens nothing for a port that is not one' generates sm weft-sm.service <<<'web localhost:99999'
claim 'the generator leaves a name alone that is not one of a unit' generates 'a b' none <<<'web 9470'
rm -rf "${root:?}/etc" "$root/made"
sample=$(find "$root" -name sm.conf.example)
claim 'the sample configuration has only comments' has_only_comments "$sample"
sed -E "s|/var/lib/weft\|/run/weft|$root|; s/^#([a-z])/\1/" "$sample" >"$root/sm.conf"
claim 'weft sm accepts the sample configuration with all lines uncommented' is_read "$root/sm.conf"
claim 'the sample configuration has at least twelve keys' [ "$(grep -c '^[a-z]' "$root/sm.conf")" -ge 12 ]
find "$root" -maxdepth 1 -type f -delete
DESTDIR=$root "$install" install "$build" "$prefix" || { echo 'not ok - the second installation' && exit 1; }
claim 'make uninstall leaves what was there before two installations, and nothing else' leaves_only_other_files
DESTDIR=$root "$install" install "$build" "$prefix" || { echo 'not ok - the third installation' && exit 1; }
claim 'make uninstall keeps a file that somebody added' keeps_added_file
exit $failed
