# shellcheck shell=bash
# Functions that run programs on a weft fabric and on ibsim, for the interop tests and the benchmarks.
#
# Input: WEFT (the program) and PRELOAD (the preload library). Sourcing this file changes to a new
# working directory. On exit the script stops the processes of `background` and removes the directory.
# No function sleeps for a fixed time: `wait_until` polls a condition up to a limit.
set -u -o pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
: "${WEFT:?the path of weft}" "${PRELOAD:?the path of the preload library}"
WEFT=$(realpath "$WEFT") PRELOAD=$(realpath "$PRELOAD")
export WEFT PRELOAD WEFT_PRELOAD=$PRELOAD

# pause SECONDS: `sleep` without a process.
exec {pause_input}<> <(:)
pause() { read -rt "$1" -u "$pause_input" || :; }

started=()
work=$(mktemp -d "${TMPDIR:-/tmp}/weft.XXXXXX")
cd "$work" || exit 2
# OpenSM and osmtest write to these directories, which are below the working directory.
export work OSM_TMP_DIR=$work OSM_CACHE_DIR=$work

# Processes that a subshell started are not in `started`: their working directory tells.
clean_up() {
    local link left=()
    stop ${started[@]+"${started[@]}"}
    cd / || return
    for link in /proc/[0-9]*/cwd; do
        [ "$link" -ef "$work" ] && link=${link#/proc/} && left+=("${link%/cwd}")
    done
    stop ${left[@]+"${left[@]}"}
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# wait_until SECONDS COMMAND...: repeats the command until it succeeds; fails after this time.
wait_until() {
    local deadline=$((${EPOCHREALTIME/./} + $1 * 1000000))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "${EPOCHREALTIME/./}" -lt "$deadline" ] || return 1
        pause 0.05
    done
}

# background COMMAND...: runs until the script ends or `stop`; $background_id is its process ID.
background() {
    "$@" &
    background_id=$!
    started+=("$background_id")
}

# serving ID SECONDS COMMAND...: waits until the command succeeds; fails if process ID ends before.
serving() {
    local id=$1 seconds=$2
    shift 2
    wait_until "$seconds" succeeds_or_ended "$id" "$@"
    "$@" >/dev/null 2>&1
}
succeeds_or_ended() {
    local id=$1
    shift
    "$@" || has_ended "$id"
}

# stop ID...: TERM, then KILL after five seconds; waits for each. An ID that the system has given to a process of
# another program meanwhile is ignored.
stop() {
    local id stoppable=()
    for id; do is_ours "$id" && stoppable+=("$id"); done
    for id in ${stoppable[@]+"${stoppable[@]}"}; do kill -TERM "$id" 2>/dev/null; done
    for id in ${stoppable[@]+"${stoppable[@]}"}; do
        wait_until 5 has_ended "$id" || kill -KILL "$id" 2>/dev/null
        wait "$id" 2>/dev/null
    done
    return 0
}
is_ours() {
    local state parent
    [ "/proc/$1/cwd" -ef "$work" ] || { read_state "$1" && [ "$parent" = "$BASHPID" ]; }
}
has_ended() {
    local state parent
    ! read_state "$1" || [ "$state" = Z ]
}
# read_state ID: sets `state` and `parent`; fails if there is no such process.
read_state() {
    local line
    read -r line <"/proc/$1/stat" && read -r state parent _ <<<"${line##*) }"
} 2>/dev/null

# on_weft NET COMMAND...: runs a command on a weft fabric of that network.
on_weft() {
    local net=$1
    shift
    "$WEFT" fabric "$net" -- "$@"
}

# weft_start NET [OPTION...]: serves a fabric until the script ends. `on_running_weft` runs tools on it;
# `weft ctl` uses the socket in WEFT_SOCKET.
weft_start() {
    local net=$1
    shift
    export WEFT_SOCKET=$work/fabric.socket
    background "$WEFT" fabric "$net" --socket "$WEFT_SOCKET" "$@" >"$work/fabric.log" 2>&1
    weft_id=$background_id
    export weft_id
    serving "$weft_id" 20 "$WEFT" ctl status || { cat "$work/fabric.log" && return 1; }
}
on_running_weft() { LD_PRELOAD=$PRELOAD "$@"; }
weft_stop() { stop "$weft_id"; }

# on_ibsim NET COMMAND...: the same on ibsim, for comparison. Each ibsim has its own socket name.
on_ibsim() {
    local status=0
    ibsim_start "$1" || return
    shift
    on_running_ibsim "$@" || status=$?
    ibsim_stop
    return "$status"
}
ibsim_start() {
    export IBSIM_SOCKNAME=weft-$$-$RANDOM
    background ibsim -s -n -N 60000 -S 6000 -P 600000 -L 49152 "$1" >"$work/ibsim.log" 2>&1
    ibsim_id=$background_id
    serving "$ibsim_id" 20 grep -qF "@$IBSIM_SOCKNAME:ctl" /proc/net/unix ||
        { cat "$work/ibsim.log" && return 1; }
}
on_running_ibsim() { ibsim-run "$@" 2> >(grep -v 'sim_connect: attached' >&2); }
ibsim_stop() { stop "$ibsim_id"; }

# bring_up on_weft|on_ibsim NET ENGINE [OPTION...]: runs OpenSM once with the log osm.log. Succeeds if the
# subnet comes up with that engine and not with a fallback.
bring_up() {
    local where=$1 net=$2 engine=$3
    shift 3
    rm -f "$work/osm.log"
    "$where" "$net" timeout "${OPENSM_LIMIT:-120}" \
        opensm -o -R "$engine" -f "$work/osm.log" -D 0x07 "$@" >"$work/osm.out" 2>&1
    came_up "$engine" "$work/osm.log"
}
came_up() {
    if ! grep -qF 'SUBNET UP' "$2" || ! grep -qF "$1 tables configured on all" "$2"; then
        echo "no 'SUBNET UP' with '$1 tables configured on all switches' in $2:"
        tail -n 20 "$2"
        return 1
    fi
}

# opensm_start [OPTION...]: runs OpenSM as a daemon on the running weft fabric until the script ends;
# returns when the subnet is up. OPENSM_LOG is the path of its log.
opensm_start() {
    local log=${OPENSM_LOG:-$work/osm.log}
    rm -f "$log"
    # -d2: OpenSM flushes its log after every line
    background env LD_PRELOAD="$PRELOAD" opensm -d2 -f "$log" -D 0x07 "$@" >"$log.out" 2>&1
    opensm_id=$background_id
    export opensm_id
    serving "$opensm_id" "${OPENSM_LIMIT:-60}" grep -qF 'SUBNET UP' "$log" ||
        { tail -n 20 "$log" "$log.out" && return 1; }
}
