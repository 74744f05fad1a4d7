# shellcheck shell=bash
# For tests with programs that use libibverbs on the running fabric.

# pair NODE NODE PROGRAM ARGUMENT...: runs a program that takes the name of its peer as server at the first node, and as
# client at the second. Fails unless both succeed. Their output is in server.out and client.out.
pair() {
    local first=$1 second=$2 program=$3 port server client status
    shift 3
    port=$(free_port) || return
    WEFT_ATTACH=$first on_running_weft timeout 60 "$program" -p "$port" "$@" >server.out 2>&1 &
    server=$!
    wait_until 20 listens_or_ended "$port" "$server"
    WEFT_ATTACH=$second on_running_weft timeout 60 "$program" -p "$port" "$@" localhost >client.out 2>&1
    client=$?
    wait "$server"
    status=$?
    [ "$client" = 0 ] && [ "$status" = 0 ] && return
    echo "client: $client, server: $status"
    tail -n 15 client.out
    echo "server:"
    tail -n 15 server.out
    return 1
}
# Not listed as listening; another program may take it before the server does, and then the server says so.
free_port() {
    local port
    for _ in {1..20}; do
        port=$((20000 + RANDOM % 12000))
        listens "$port" || { echo "$port" && return; }
    done
    return 1
}
# A state of 0A is LISTEN.
listens() { cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q "$(printf ':%04X [0:]*[0-9A-F:]* 0A ' "$1")"; }
listens_or_ended() { listens "$1" || ! kill -0 "$2" 2>/dev/null; }
