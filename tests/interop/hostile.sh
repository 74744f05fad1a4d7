#!/usr/bin/env bash
# Clients that send invalid packets, are killed, flood or do not read do not affect other clients.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm ibnetdiscover smpquery python3

"$WEFT" topo gen irregular switches=16 hosts=14 speed=SDR --seed 1 >irregular.net || exit
weft_start irregular.net || exit
on_running_weft ibnetdiscover >quiet.out || exit
discovery_facts quiet.out >quiet.facts

discovery_is_unchanged() {
    timeout 30 env LD_PRELOAD="$PRELOAD" ibnetdiscover >now.out && discovery_facts now.out >now.facts &&
        diff -u quiet.facts now.facts && "$WEFT" ctl status >status.out
}
memory_kib() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$weft_id/status"; }

cat >garbage.py <<'END'
import os, random, socket, sys
path, seed = os.environ["WEFT_SOCKET"], int(sys.argv[1])
random.seed(seed)
for _ in range(300):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(1)
    try:
        s.connect(path)
        for _ in range(random.randrange(4)):
            head = b"" if random.random() < 0.5 else (0x77656674).to_bytes(4, "little") + bytes([1, 0, 0, 0, random.randrange(9), 0, 0, 0])
            s.send(head + os.urandom(random.choice([0, 1, 16, 200, 1500, 30000])))
    except OSError:
        pass
    s.close()
END
random_packets() {
    local id ids=()
    for id in 1 2 3; do python3 garbage.py $id & ids+=($!); done
    discovery_is_unchanged || return
    wait "${ids[@]}"
    discovery_is_unchanged
}
claim "random packets on the socket do not affect other clients" random_packets

# Starts ibnetdiscover many times and kills it before it ends.
killed_clients() {
    local id ids
    for _ in 1 2 3 4 5; do
        ids=()
        for id in 1 2 3 4 5 6 7 8; do
            LD_PRELOAD=$PRELOAD ibnetdiscover >/dev/null 2>&1 & ids+=($!)
        done
        kill -KILL "${ids[@]}"
        wait "${ids[@]}" 2>/dev/null
    done
    discovery_is_unchanged && contains 'clients +0 ports open' status.out
}
claim "the server closes the ports of killed clients" killed_clients

# A client that opens a port, sends thousands of requests and reads no response.
cat >flood.c <<'END'
#include <infiniband/umad.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    umad_init();
    int port = umad_open_port(NULL, 0), agent = umad_register(port, 0x81, 1, 0, NULL);
    static char buffer[4096];
    unsigned char *mad = umad_get_mad(buffer);
    umad_set_addr(buffer, 0xffff, 0, 0, 0);
    mad[0] = 1, mad[1] = 0x81, mad[2] = 1, mad[3] = 1, mad[17] = 0x11;
    memset(mad + 32, 0xff, 4);
    for (int i = 0; i < 20000; i++) {
        mad[14] = (unsigned char)(i >> 8), mad[15] = (unsigned char)i;
        if (umad_send(port, agent, buffer, 256, 100, 0) < 0)
            break;
    }
    puts("sent");
    fflush(stdout);
    pause();
}
END
flooding_client() {
    local before
    before=$(memory_kib)
    cc -o flood flood.c -libumad || return
    LD_PRELOAD=$PRELOAD ./flood >flood.out &
    local id=$!
    wait_until 20 grep -q sent flood.out
    discovery_is_unchanged
    local status=$? after
    after=$(memory_kib)
    kill -KILL $id
    [ $((after - before)) -lt 65536 ] || { echo "the server grew by $((after - before)) KiB" && return 1; }
    return $status
}
claim "a client that floods and does not read does not affect others; the server grows by less than 64 MiB" flooding_client

many_clients() {
    local id ids=() failed=0 host
    for id in $(seq 100); do
        host=H$((id % 14))
        WEFT_ATTACH=$host LD_PRELOAD=$PRELOAD smpquery nodedesc -D 0 >"client.$id" 2>&1 & ids+=($!)
    done
    for id in "${ids[@]}"; do wait "$id" || failed=$((failed + 1)); done
    [ $failed -eq 0 ] || { echo "$failed of 100 failed" && return 1; }
    for id in $(seq 100); do contains "H$((id % 14))\$" "client.$id" || return; done
}
claim "each of a hundred concurrent clients reads its own node" many_clients

open_ports() {
    cat >many.py <<'END'
import ctypes, sys
umad = ctypes.CDLL(None)
umad.umad_init()
ports = [umad.umad_open_port(None, 0) for _ in range(200)]
sys.exit(0 if min(ports) >= 0 and all(umad.umad_register(p, 3, 2, 0, None) >= 0 for p in ports) else 1)
END
    LD_PRELOAD=$PRELOAD python3 many.py && discovery_is_unchanged
}
claim "one process can open two hundred ports" open_ports

sm_on_a_switch() {
    WEFT_ATTACH=S0
    export WEFT_ATTACH
    opensm_start && on_running_weft sminfo >sminfo.out && contains SMINFO_MASTER sminfo.out &&
        on_running_weft ibstat >ibstat.out && contains 'Port 0' ibstat.out &&
        WEFT_ATTACH=H3 on_running_weft saquery NR >records.out && contains S15 records.out
    local status=$?
    stop "$opensm_id"
    return $status
}
claim "OpenSM can run on port 0 of a switch" sm_on_a_switch
