#!/usr/bin/env bash
# weft sm as a service: the watchdog, the system calls that its unit allows, and a state directory
# that is corrupt, read-only, full, slow, limited or gone. None of these keeps the subnet down.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
: "${UNITS:?the directory of the units}" "${SLOW_DISK:?the library that delays writes}"
: "${SA_CLIENT:?the path of sa_client}"
need python3 strace unshare

"$WEFT" topo gen irregular switches=16 hosts=14 --seed 1 >irregular.net || exit
weft_start irregular.net || exit

# ---- the watchdog ----

background python3 -c '
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify"); open("bound", "w").close()
while True: print(s.recv(4096).decode(), flush=True)' >notify.out 2>&1
wait_until 5 test -e bound
fed() { [ "$(grep -cx 'WATCHDOG=1' notify.out)" -ge "$1" ]; }
feeds() {
    NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=400000 manager_starts --sweep never || return
    wait_until 10 fed 5 && manager_ends
}
manager_ends() { manager_id=$(pgrep -n -f "$work/manager.log") && stop "$manager_id" && wait_until 5 has_ended "$manager_id"; }
claim "the loop of an idle manager feeds systemd's watchdog" feeds
for_others() {
    : >notify.out
    NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=100000 WATCHDOG_PID=1 manager_starts || return
    manager_ends && lacks WATCHDOG notify.out
}
claim "the watchdog of another process is not fed" for_others

# ---- system calls ----

# The system calls of the unit's filter. A set may contain other sets.
allowed_calls() {
    python3 - "$UNITS/weft-sm.service" <<'END'
import re, subprocess, sys
def calls(name):
    if not name.startswith("@"):
        return {name}
    lines = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], text=True,
                           check=True, stdout=subprocess.PIPE).stdout.splitlines()
    members = [line.strip() for line in lines if line.startswith(" ") and "#" not in line]
    return set().union(*map(calls, members))
allowed = set()
for no, names in re.findall(r"^SystemCallFilter=(~?)(.*)$", open(sys.argv[1]).read(), re.MULTILINE):
    for name in names.split():
        allowed = allowed - calls(name) if no else allowed | calls(name)
print(*sorted(allowed), sep="\n")
END
}
makes_only_allowed_calls() {
    allowed_calls >allowed.calls && [ "$(wc -l <allowed.calls)" -gt 100 ] || return
    strace -f -qq -o strace.out env LD_PRELOAD="$PRELOAD" "$WEFT" sm --once --control "$work/traced.socket" --state traced --dump traced.dump >traced.out 2>&1 ||
        { cat traced.out && return 1; }
    # after execve of weft itself, which systemd does before the filter
    sed -n '/weft", "sm"/,$p' strace.out | sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' | sort -u | grep -vx execve >made.calls
    [ "$(wc -l <made.calls)" -gt 20 ] && [ -z "$(comm -23 made.calls allowed.calls)" ] ||
        { comm -23 made.calls allowed.calls && return 1; }
}
if command -v systemd-analyze >/dev/null; then
    claim "the unit allows every system call that the manager makes" makes_only_allowed_calls
else
    skip "the unit allows every system call that the manager makes" "systemd-analyze is not installed"
fi

# ---- the state directory ----

brings_up() { manager_starts --state "$work/state" && manager_ends && contains 'subnet up' manager.log; }
sets_aside() {
    rm -rf state && brings_up || return
    cp state/guid2lid lids.before
    sed -i '3s/.*/0x12 nonsense/; $s/.*/\x01\x02/' state/guid2lid
    brings_up && contains 'warning .*guid2lid:3: expected .GUID FIRST-LID LAST-LID.; the file is set aside' manager.log &&
        [ -s state/guid2lid.bad ] && [ "$(grep -c ^0x state/guid2lid)" -eq 30 ]
}
claim "a corrupt guid2lid is set aside, and the subnet comes up" sets_aside
same_lids() { diff <(grep ^0x lids.before | sort) <(grep ^0x state/guid2lid | sort); }
claim "no port has another LID after that" same_lids
sets_binary_aside() {
    head -c 5000 /dev/urandom >state/guid2lid && printf '\0' >>state/guid2lid
    brings_up && contains 'guid2lid: not a text file.* set aside' manager.log
}
claim "a guid2lid of random bytes is set aside" sets_binary_aside
private_files() { [ -z "$(find state -type f -perm /077)" ] || { ls -l state && return 1; }; }
claim "only the owner can read the state files" private_files

# in_namespace COMMAND...: the manager with its own mount of $work/mounted
in_namespace() {
    mkdir -p mounted
    attached=(unshare -rm sh -c "$1"' && exec env "LD_PRELOAD=$PRELOAD" "$@"' sh)
    shift
    "$@"
    local status=$?
    attached=(env "LD_PRELOAD=$PRELOAD")
    return $status
}
brings_up_mounted() { manager_starts --state "$work/mounted" && manager_ends && contains "$1" manager.log; }
if unshare -rm mount -t tmpfs none /mnt 2>/dev/null; then
    claim "a read-only state directory is an error in the log, and the subnet comes up" \
        in_namespace 'mount -t tmpfs -o ro none mounted' brings_up_mounted 'error +cannot write to .*mounted.: Read-only'
    claim "so is a full one" \
        in_namespace 'mount -t tmpfs -o size=64k none mounted; cat /dev/zero >mounted/fill 2>/dev/null; true' \
        brings_up_mounted 'error .* cannot be kept: No space'
else
    skip "a read-only or full state directory" "this user cannot mount"
fi
is_limited() { # its files may have no byte; the log goes to a pipe
    rm -rf state
    (ulimit -f 0 && exec env LD_PRELOAD="$PRELOAD" timeout 60 "$WEFT" sm --once --state state 2>&1) | cat >limited.out
    contains 'subnet up' limited.out && contains 'error .* cannot be kept: File too large' limited.out
}
claim "a limit on the size of files does not kill the manager" is_limited
vanishes() {
    rm -rf state
    manager_starts --state "$work/state" || return
    wait_until 10 test -s state/guid2lid && rm -rf state || return
    happens 'subnet up' "$WEFT" ctl switch down S3 || return
    happens 'subnet up' "$WEFT" ctl switch up S3 && manager_ends
}
claim "a state directory that vanishes disturbs no sweep" vanishes

# Every write to the disk takes three seconds.
prompt() { # the manager answers ten requests, one after the other, in a second
    timeout 1 sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "$WEFT" ctl --socket "$work/slow.socket" status || exit; done' >prompt.out 2>&1
}
is_slow() {
    rm -rf slow && mkdir slow
    attached=(env "LD_PRELOAD=$SLOW_DISK:$PRELOAD" "SLOW_DIRECTORY=$work/slow/")
    manager_starts --state "$work/slow" --control "$work/slow.socket" && prompt || return
    local i
    for i in 1 2 3; do
        WEFT_ATTACH=H2 on_running_weft timeout 5 "$SA_CLIENT" register "$i" "$i" "$i" >register.out 2>&1 || { cat register.out && return 1; }
        prompt || { cat prompt.out && return 1; }
    done
    wait_until 10 grep -q 'warning .*opensm-sa.journal: writing takes longer than 1 s' manager.log || { cat manager.log && return 1; }
    prompt && wait_until 40 are_saved && manager_ends
}
are_saved() { [ "$(grep -c '^Service Record' slow/opensm-sa.dump)" -ge 3 ]; }
claim "a disk that takes seconds for every write stops neither manager nor clients, and is logged" is_slow

# Whatever is the first thing that the manager has no memory for, the log says so.
logs_no_memory() {
    local limit status refused=0
    for limit in 12000 16000 20000 24000 28000 32000 36000; do
        rm -f memory.log
        status=0
        on_running_weft sh -c "ulimit -v $limit; exec timeout 60 $WEFT sm --once --state memory --log memory.log" >memory.out 2>&1 || status=$?
        [ "$status" -eq 0 ] && continue
        [ -e memory.log ] || continue # not even the libraries could be loaded
        [ "$status" -eq 2 ] && contains 'error +out of memory' memory.log || { echo "limit $limit, status $status" && cat memory.out && return 1; }
        refused=$((refused + 1))
    done
    [ "$refused" -gt 0 ]
}
claim "a manager without memory logs that and exits, at any limit" logs_no_memory
