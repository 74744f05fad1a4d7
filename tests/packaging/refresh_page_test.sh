#!/usr/bin/env bash
# refresh_page_test.sh SOURCE: a build that was made without node gets its live page when node is installed.
# shellcheck disable=SC2317 # expect calls these functions
set -u
source=$1 failed=0
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build/src/web" "$work/bare" "$work/full" || exit
page=$work/build/src/web/web_files.c

for tool in bash cat dirname grep rm; do ln -s "$(command -v $tool)" "$work/bare/$tool" && ln -s "$(command -v $tool)" "$work/full/$tool" || exit; done
# shellcheck disable=SC2016 # $* is for the script that is written
printf '#!/bin/bash\necho "$*" >>%q\n' "$work/meson.log" | tee "$work/bare/meson" >"$work/full/meson"
for tool in node npm; do printf '#!/bin/bash\n' >"$work/full/$tool"; done
chmod +x "$work"/{bare,full}/meson "$work"/full/{node,npm} || exit

embed() { PATH=$work/bare "$source/web/embed" "$page" "$work/page.d" web_files.c "$work/page" 2>/dev/null; }
refresh() { PATH=$1 "$source/tools/refresh-page" "$work/build" >"$work/out" 2>&1; }
expect() { # TEXT CONDITION...
    local text=$1
    shift
    "$@" || { echo "not true: $text" && cat "$work/out" && failed=1; }
}
absent() { [ ! -e "$1" ]; }

embed || exit
expect "the page says what is missing" grep -q 'without its page (node is not installed)' "$page"
expect "without node nothing is done" refresh "$work/bare"
expect "the page without content stays" test -e "$page"
expect "meson does not run" absent "$work/meson.log"
expect "with node the build is refreshed" refresh "$work/full"
expect "the page is made again" absent "$page"
expect "meson configures the build again" grep -qx -- "setup --reconfigure $work/build" "$work/meson.log"
echo 'const struct web_file web_files[] = {0};' >"$page"
rm "$work/meson.log"
expect "a complete page needs no work" refresh "$work/full"
expect "a complete page stays" test -e "$page"
expect "meson does not run again" absent "$work/meson.log"
exit $failed
