#!/bin/bash
# The part of package_test.sh that runs in the container, under its systemd: installs the packages, runs the manager
# as a service on a simulated fabric, installs again, removes and purges. Prints TAP lines.
set -u
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
cd /test || exit

claim() { # TEXT COMMAND ...
    local text=$1 output && shift
    if output=$("$@" 2>&1 </dev/null); then
        echo "ok - $text"
    else
        echo "not ok - $text"
        printf '%s\n' "\$ $*" "$output" | tail -n 40 | sed 's/^/# /'
    fi
}
apt() { apt-get --quiet --assume-yes --no-install-recommends "$@"; }
# Files of the system, without caches, logs and the databases of packages and users.
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /test -o -path /var/cache \
        -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/lib/systemd -o -path /root \) -prune \
        -o -print | grep -vxE '/etc/(passwd|group|shadow|gshadow|subuid|subgid)-|/etc/\.pwd\.lock|/etc/ld\.so\.cache|/var/tmp/.*' | sort
}
is() { # EXPECTED COMMAND ...
    local expected=$1 answer && shift
    answer=$("$@" 2>&1)
    [ "$answer" = "$expected" ] || { echo "'$answer', not '$expected'" && return 1; }
}
property() { systemctl show --property "$1" --value weft-sm; }

apt update >update.log 2>&1 || { cat update.log && echo 'not ok - apt-get update' && exit; }
files >before

claim 'apt installs the packages and what they need' apt install ./weft_*.deb ./weft-doc_*.deb
says_commit() { is "weft $(dpkg-query --show --showformat '${Version}' weft) (commit $(cat commit))" weft --version; }
claim 'weft --version tells the version of the package and the commit' says_commit
claim 'the package does not enable the manager' is disabled systemctl is-enabled weft-sm
claim 'the package does not start the manager' is inactive systemctl is-active weft-sm
claim 'the user of the manager exists' is '/usr/sbin/nologin' sh -c 'getent passwd weft | cut -d: -f7'
claim 'only root and the manager can read the configuration' \
    is $'750 root:weft\n640 root:weft' stat --format '%a %U:%G' /etc/weft /etc/weft/sm.conf
claim 'systemd accepts the units' is '' systemd-analyze verify --man=no weft-sm.service weft-sm@plane1.service
claim 'the manual pages are installed' test -e /usr/share/man/man1/weft-sm.1.gz -a -e /usr/share/man/man5/weft-sm.conf.5.gz
claim 'an example runs' sh -c 'weft sim /usr/share/doc/weft/examples/switch-death.weft --quiet'

# A fabric instead of hardware. The manager of the unit reaches it by the library of the package.
weft topo gen irregular switches=16 hosts=14 --seed 1 >/test/fabric.net
systemd-run --quiet --unit fabric --property UMask=0 --property RuntimeDirectory=fabric \
    weft fabric /test/fabric.net --socket /run/fabric/socket
preload=$(dpkg --listfiles weft | grep 'libweft-umad\.so$')
mkdir -p /run/systemd/system/weft-sm.service.d
printf '[Service]\nEnvironment=LD_PRELOAD=%s WEFT_SOCKET=/run/fabric/socket\n' "$preload" >/run/systemd/system/weft-sm.service.d/fabric.conf
systemctl daemon-reload
for ((i = 0; i < 600; i++)); do [ -S /run/fabric/socket ] && break || sleep 0.1; done

echo 'control /run/weft/sm.sock # added by the operator' >>/etc/weft/sm.conf
starts() { timeout 120 systemctl enable --now weft-sm || { systemctl status --no-pager weft-sm && return 1; }; }
claim 'systemctl enable --now starts the manager, which brings the subnet up' starts
claim 'the manager is active' is active systemctl is-active weft-sm
runs_as_weft() { is weft stat --format %U "/proc/$(property MainPID)"; }
claim 'the manager runs as user weft' runs_as_weft
lists_lids() { [ "$(grep -c ^0x /var/lib/weft/guid2lid)" -eq 30 ]; }
claim 'the state directory has a LID for each of the 30 nodes' lists_lids
answers() { weft ctl --socket /run/weft/sm.sock status | grep -i master; }
claim 'weft ctl reaches the manager' answers

reloads() { systemctl reload weft-sm && is active systemctl is-active weft-sm; }
claim 'systemctl reload reaches the manager' reloads

# The units allow no TCP until the configuration asks for it.
answers_http() { # ADDRESS PORT
    exec 3<>"/dev/tcp/$1/$2" && printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3 && grep -q weft_ <&3
}
opens_metrics() {
    echo 'metrics 127.0.0.1:9471' >>/etc/weft/sm.conf && systemctl daemon-reload && systemctl restart weft-sm && answers_http 127.0.0.1 9471
}
claim 'metrics of the configuration are served after daemon-reload and a restart' opens_metrics
opens_only_that() { # systemd 252 prints tcp9471
    is 9471 sh -c "systemctl show --property SocketBindAllow --value weft-sm | tr -d 'tcp:'" &&
        is '127.0.0.0/8 ::1/128' sh -c "systemctl show --property IPAddressAllow --value weft-sm | tr ' ' '\\n' | sort | xargs"
}
claim 'the unit allows this port only, and localhost only' opens_only_that

# The same version again takes the way of an upgrade.
before=$(property MainPID)
claim 'the package can be installed again' apt install --reinstall ./weft_*.deb
restarted() {
    local i
    for ((i = 0; i < 600; i++)); do
        [ "$(systemctl is-active weft-sm)" = active ] && [ "$(property MainPID)" != "$before" ] && return
        sleep 0.1
    done
    systemctl status --no-pager weft-sm
    return 1
}
claim 'an upgrade restarts a manager that runs' restarted
claim 'an upgrade keeps the configuration of the operator' grep -q '# added by the operator' /etc/weft/sm.conf
claim 'an upgrade leaves the manager enabled' is enabled systemctl is-enabled weft-sm

claim 'apt removes the packages' apt remove weft weft-doc
claim 'the removal stops the manager' is '' find /proc -maxdepth 1 -user weft
claim 'the removal keeps configuration and state' test -e /etc/weft/sm.conf -a -e /var/lib/weft/guid2lid
systemctl stop fabric
claim 'apt purges the packages and what they needed' apt purge --autoremove weft weft-doc
files >after
claim 'nothing is left after a purge' diff before after
no_failure() { is '' systemctl --failed --no-legend --plain; }
claim 'no unit of the system failed' no_failure
