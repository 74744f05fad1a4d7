#!/usr/bin/env bash
# The Debian packages: they build, lintian finds neither errors nor warnings, and in a clean root under systemd they
# install, run, remove and purge (in_container.sh). Needs root, and a mirror that apt can reach.
set -u
source=$(realpath "$1") folder=$(realpath "$(dirname "$0")")
failed=0
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@" >"$work/output" 2>&1 </dev/null; then
        echo "ok - $text"
    else
        echo "not ok - $text" && tail -n 40 "$work/output" | sed 's/^/# /' && failed=1 && return 1
    fi
}
for tool in dpkg-buildpackage dh lintian mmdebstrap systemd-nspawn; do
    command -v "$tool" >/dev/null && continue
    [ -z "${WEFT_TOOLS_REQUIRED-}" ] || { echo "not ok - $tool is installed" && exit 1; }
    echo "ok - the packages # skip $tool is not installed" && exit
done
[ -e "$source/.git" ] || { echo 'ok - the packages # skip not a clone' && exit; }

claim 'dpkg-buildpackage builds the packages' "$source/tools/package" "$work/test" || exit
lintian_is_content() { lintian --allow-root --fail-on error,warning "$work"/test/*.changes; }
claim 'lintian finds neither errors nor warnings' lintian_is_content
[ "$(id -u)" -eq 0 ] || { echo 'ok - the packages in a clean root # skip not root' && exit $failed; }

# A root of this machine's Debian, with the settings of apt that reach its mirror.
make_root() {
    mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$work/root" || return
    cp -rL /etc/apt/. "$work/root/etc/apt/"
    mkdir "$work/root/test" && cp "$work"/test/weft*.deb "$folder/in_container.sh" "$work/root/test" || return
    git -C "$source" rev-parse HEAD | cut -c 1-12 >"$work/root/test/commit"
    cat >"$work/root/etc/systemd/system/packaging-test.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash /test/in_container.sh
StandardOutput=append:/test/claims
StandardError=append:/test/claims
ExecStopPost=/bin/systemctl --no-block poweroff
[Install]
WantedBy=default.target
UNIT
    systemctl --root "$work/root" enable packaging-test.service
}
claim 'mmdebstrap makes a clean root' make_root || exit
boot() { systemd-nspawn --quiet --register=no --keep-unit --resolv-conf=copy-host --directory "$work/root" --boot; }
boot </dev/null >"$work/boot" 2>&1
if ! grep -q '^ok - no unit of the system failed\|^not ok - no unit' "$work/root/test/claims"; then
    echo 'not ok - the test in the clean root ends' && failed=1
    tail -n 40 "$work/boot" | sed 's/^/# /'
fi
cat "$work/root/test/claims"
! grep -q '^not ok' "$work/root/test/claims" || failed=1
exit $failed
