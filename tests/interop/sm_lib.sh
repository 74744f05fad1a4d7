# shellcheck shell=bash disable=SC2154 # the sourcing scripts set its variables
# Shared by the tests of `weft sm`; source it after lib.sh. SM_LIMIT is the time limit of a bring-up in seconds.
# shellcheck disable=SC2154 # fabrics.sh sets work and background_id, the test sets running

# sm_once [OPTION...]: brings up the running fabric; $running is on_running_weft or on_running_ibsim.
sm_once() { "$running" timeout 60 "$WEFT" sm --once --json "$@" >sm.out 2>sm.err || { cat sm.err sm.out && return 1; }; }

# figure NAME: its value in the last summary in sm.out, or 0
figure() { grep '"event":"up"' sm.out | tail -n 1 | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | grep . || echo 0; }

# "GUID LID" of every end port, from the dump and from ibnetdiscover
dumped_lids() { grep -oE 'PortGUID:[0-9A-F]+ .*' dump/opensm-subnet.lst | sed 's/ } .*//' |
    sed -E 's/^PortGUID:([0-9A-F]+) .*LID:([0-9A-F]+) PN:.*/\1 \2/' | sort -u |
    while read -r guid lid; do echo "$((16#$guid)) $((16#$lid))"; done | sort -n; }
discovered_lids() {
    "$running" ibnetdiscover >found.out 2>found.err || { cat found.err && return 1; }
    awk '/^switchguid=/ { sub(/.*\(/, ""); sub(/\).*/, ""); guid = $0 }
         /^Switch/ { sub(/.* lid /, ""); print guid, $1 }
         /^Ca/ { adapter = 1; next }
         /^$/ { adapter = 0 }
         adapter && /^\[[0-9]+\]\(/ {
             line = $0; sub(/^\[[0-9]+\]\(/, ""); sub(/\).*/, ""); guid = $0
             sub(/.*# lid /, "", line); split(line, words, " "); print guid, words[1]
         }' found.out |
        while read -r guid lid; do echo "$((16#$guid)) $lid"; done | sort -n
}

# "SWITCH LID PORT" lines of an LFT dump of OpenSM, weft sm or dump_lfts
table_facts() {
    awk '/^Unicast lids/ { sub(/.*guid 0x0*/, ""); guid = $1; next } /^0x/ { print guid, $1, $2 + 0 }' "$@" | sort
}

# The command that attaches a daemon to the running fabric, for `background`.
attached=(env "LD_PRELOAD=$PRELOAD") # on ibsim: (ibsim-run)

manager_starts() { # [OPTION...]: weft sm as a daemon on the running fabric; its log is manager.log
    rm -f manager.log
    background "${attached[@]}" "$WEFT" sm --log "$work/manager.log" --sweep 1s "$@" >manager.out 2>&1
    manager_id=$background_id
    export manager_id
    serving "$manager_id" "${SM_LIMIT:-20}" grep -qE ' (up|state) +(subnet up|standby)' manager.log ||
        { cat manager.out manager.log && return 1; }
}
count() { grep -cE -- "$1" manager.log; }
# happens PATTERN COMMAND...: after the command, a new line in manager.log matches the pattern
happens() {
    local pattern=$1 before
    before=$(count "$pattern")
    shift
    "$@" >happens.out 2>&1 || { cat happens.out && return 1; }
    wait_until 20 more_than "$before" "$pattern" || { tail -n 20 manager.log && return 1; }
}
more_than() { [ "$(count "$2")" -gt "$1" ]; }

# ibdmchk finds no credit loop and no missing path in ./dump; it may crash after its output.
checked() {
    (cd dump && ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs -d opensm-sl2vl.dump -a) >checked.out 2>&1
    contains 'no credit loops found' checked.out && lacks '^-[EW]-|Unassigned|failed' checked.out
}

# The SLs of path records in the format of ibdmchk: "0xNODE DLID SL". In these networks the node GUID of a
# host is its port GUID minus one; the two GUIDs of a switch are equal.
path_sls() {
    timeout 60 env LD_PRELOAD="$PRELOAD" saquery -p 2>/dev/null | awk '
        /sgid/ { guid = $0; sub(/.*::/, "", guid); split(guid, part, ":") }
        /dlid/ { dlid = $0; sub(/.*\./, "", dlid) }
        /\tsl\./ { sl = $0; sub(/.*\.0x/, "", sl)
                   printf "0x%s%04x %s %d\n", part[1], hex(part[2]) - (part[1] == "10"), dlid, hex(tolower(sl)) }
        function hex(text, i, n) {
            for (i = 1; i <= length(text); i++) n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
            return n
        }' >levels
}
