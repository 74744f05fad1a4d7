# shellcheck shell=bash
# Shared by the interop tests. A test sources this file and calls `claim`; the exit trap prints the TAP
# plan.
#
#     . "$(dirname "$0")/lib.sh"
#     need ibnetdiscover
#     "$WEFT" topo gen ring 6 speed=SDR >ring.net
#     claim "ibnetdiscover prints a ring as on ibsim" same_discovery ring.net
#
# The command of a claim runs in a subshell and must stop the processes that it starts.
# shellcheck source=fabrics.sh
. "$(dirname "${BASH_SOURCE[0]}")/fabrics.sh"

claims=0 claims_failed=0
export IBSIM_EXAMPLES=/usr/share/doc/ibsim-utils/net-examples

end_test() {
    local status=$?
    trap - EXIT
    clean_up
    echo "1..$claims"
    if [ "$claims_failed" -gt 0 ] || [ "$claims" -eq 0 ]; then status=1; fi
    exit "$status"
}
trap end_test EXIT

# need TOOL...: if a tool is not installed, skips the test, or fails it if WEFT_TOOLS_REQUIRED is set
# (make check).
need() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null && continue
        if [ -n "${WEFT_TOOLS_REQUIRED-}" ]; then
            claim "$tool is installed" command -v "$tool"
            exit 1
        fi
        trap - EXIT
        clean_up
        echo "1..0 # SKIP $tool is not installed"
        exit 0
    done
}

# claim TEXT COMMAND...: passes if the command succeeds, else prints its output.
claim() {
    local text=$1 output
    shift
    claims=$((claims + 1))
    if output=$("$@" 2>&1 </dev/null); then
        echo "ok $claims - $text"
        return
    fi
    claims_failed=$((claims_failed + 1))
    echo "not ok $claims - $text"
    printf '%s\n' "\$ $*" "$output" | tail -n 60 | sed 's/^/# /'
    return 1
}

# skip TEXT REASON: reports a claim that cannot be tested here as skipped.
skip() {
    claims=$((claims + 1))
    echo "ok $claims - $1 # SKIP $2"
}

# Conditions for `claim`.
same_files() { diff -u "$1" "$2"; }
contains() { grep -qE -- "$1" "$2" || { tail -n 30 "$2" && return 1; }; }
lacks() { ! grep -E -- "$1" "$2"; }
exits_with() {
    local expected=$1 status=0
    shift
    "$@" || status=$?
    [ "$status" -eq "$expected" ] || { echo "exit status $status, not $expected" && return 1; }
}

# Prints ibnetdiscover's output as sorted lines that begin with their node, so that the order of
# records and ports does not matter. Removes comment lines; keeps LIDs.
discovery_facts() {
    awk -v RS= '
        {
            node = ""; count = split($0, lines, "\n")
            for (i = 1; i <= count; i++)
                if (lines[i] !~ /^[[#]/ && match(lines[i], /"[A-Z]+-[0-9a-f]+"/))
                    node = substr(lines[i], RSTART + 1, RLENGTH - 2)
            for (i = 1; i <= count; i++)
                if (lines[i] !~ /^#/) { gsub(/[ \t]+/, " ", lines[i]); print node " " lines[i] }
        }' "$@" | sort
}

# same_discovery NET: ibnetdiscover prints the same on weft and on ibsim.
same_discovery() {
    on_weft "$1" ibnetdiscover >on-weft.out || return
    on_ibsim "$1" ibnetdiscover >on-ibsim.out || return
    discovery_facts on-weft.out >on-weft.facts
    discovery_facts on-ibsim.out >on-ibsim.facts
    [ -s on-ibsim.facts ] || { echo "ibnetdiscover printed nothing on ibsim" && return 1; }
    diff -u on-ibsim.facts on-weft.facts
}
