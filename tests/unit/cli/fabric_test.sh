#!/usr/bin/env bash
# Commands that `weft fabric` runs: their PATH, and that none runs without the preload library, which
# would be on the InfiniBand devices of this machine.
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

"$weft" topo gen ring 4 speed=SDR >"$work/net" || exit
claim 'weft fabric appends /usr/sbin and /sbin to PATH' becomes /usr/bin:/bin /usr/bin:/bin:/usr/sbin:/sbin
claim 'a PATH with both directories does not change' becomes /sbin:/usr/bin:/usr/sbin /sbin:/usr/bin:/usr/sbin
claim 'directories with similar names are not mistaken for them' becomes /bin:/usr/local/sbin:/usr/sbin/x:/sbin \
    /bin:/usr/local/sbin:/usr/sbin/x:/sbin:/usr/sbin

names_the_server() { # "sweep" is a command of managers, and there is none
    # shellcheck disable=SC2016 # for the shell on the fabric
    ! "$weft" fabric "$work/net" --socket "$work/socket" -- /bin/sh -c '"$0" ctl sweep' "$weft" 2>"$work/err" &&
        grep -qF "'sweep': no server at '$work/socket.sm'" "$work/err" && grep -qF "'weft sm' has it" "$work/err"
}
claim 'a command that only managers have names the server that has it' names_the_server

no_match() { ! "$weft" fabric "$work/net" --set "$1" -- true 2>"$work/err" && grep -qF "$2" "$work/err"; }
claim 'a pattern of --set that matches no node is refused' no_match 'Q*:mtu=2048' "no node of the fabric matches 'Q*'"
claim 'patterns of --set match nodes, and scopes match kinds' "$weft" fabric "$work/net" --set 'S?:mtu=2048' \
    --set switches:traps=no -- true

refuses() { # TEXT COMMAND ...: status 2, one line with TEXT, and the command did not run
    local text=$1 status=0 && shift
    rm -f "$work/ran"
    (cd "$work" && "$weft" fabric net -- "$@") >"$work/out" 2>"$work/err" || status=$?
    [ $status = 2 ] && [ ! -e "$work/ran" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qF -- "$text" "$work/err" ||
        { echo "status $status: $(cat "$work/err")" && return 1; }
}
with_library() { # FILE ...: the rest with this file as the preload library
    local library=$1 && shift
    WEFT_PRELOAD=$library "$@"
}
weft=$(realpath "$weft")
printf '#!/bin/sh\ntouch ran\n' >"$work/script" && chmod +x "$work/script"
runs() { (cd "$work" && rm -f ran && "$weft" fabric net -- ./script) && [ -e "$work/ran" ]; }
claim 'a command runs with the library' runs
claim 'no command runs without the library' with_library "$work/none.so" refuses 'none.so' ./script
claim 'no command runs if the library cannot be loaded' with_library "$work/script" refuses 'cannot be loaded' ./script
claim 'no command runs if the library is another one' with_library /lib/x86_64-linux-gnu/libm.so.6 refuses 'is not' ./script
printf 'int main(void) { return fopen("ran", "w") == 0; }\n' | sed '1i #include <stdio.h>' >"$work/a.c"
if "${CC:-cc}" -static -o "$work/static" "$work/a.c" 2>/dev/null; then
    claim 'a statically linked program is refused' refuses 'statically linked' ./static
    printf '#!%s\n' "$work/static" >"$work/statscript" && chmod +x "$work/statscript"
    claim 'a script of a statically linked program is refused' refuses 'statically linked' ./statscript
else
    echo 'ok - a statically linked program is refused # SKIP no static libc'
fi
"${CC:-cc}" -o "$work/setuid" "$work/a.c" && chmod u+s "$work/setuid"
claim 'a set-uid program is refused' refuses 'set-uid' ./setuid
help_of_the_command() { "$weft" fabric "$work/net" -- ls --help | grep -q 'Usage: ls'; }
claim '--help of a command is that of the command' help_of_the_command
missing() { "$weft" fabric "$work/net" -- no-such-command 2>/dev/null; [ $? = 127 ]; }
claim 'a command that does not exist has status 127' missing

# A port in use, and a directory that does not exist.
port=$(python3 -c 'import socket, time, os
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
os.fork() or (os.close(1), time.sleep(30))')
lists_closed_addresses() {
    # shellcheck disable=SC2016 # for the shell on the fabric
    "$weft" fabric "$work/net" -- /bin/sh -c '"$0" sm --web "$1" --metrics "unix:$2/absent/socket" >"$2/log" &
        until "$0" ctl --manager problems >"$2/problems" 2>"$2/err"; do sleep 0.1; done; kill $!' "$weft" "$port" "$work"
    grep -q "address not opened: web: cannot listen at http://127.0.0.1:$port: .*another port" "$work/problems" &&
        grep -q 'address not opened: metrics: ' "$work/problems" || { cat "$work/problems" "$work/err" && return 1; }
}
claim 'an address that cannot be opened is a listed problem that says what to do' lists_closed_addresses
exit $failed
