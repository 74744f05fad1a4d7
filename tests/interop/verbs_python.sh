#!/usr/bin/env bash
# The tests of rdma-core itself, from Debian's packages: none fails, and each that is skipped has a reason that is listed here.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need python3
package=/usr/share/doc/rdma-core/tests
if [ ! -e "$package/run_tests.py" ] || ! /usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null; then
    [ -n "${WEFT_TOOLS_REQUIRED-}" ] || { trap - EXIT && clean_up && echo "1..0 # SKIP no rdma-core or python3-pyverbs" && exit 0; }
    claim "rdma-core with its tests, and python3-pyverbs, are installed" false
    exit 1
fi
cp -r "$package" tests && gunzip tests/*.gz || exit

# What the adapter does not have: on-demand paging, device memory, XRC, memory windows, allocators of programs, atomic
# writes; and what needs another link layer or machine. A process cannot join another one's context.
cat >reasons <<'END'
ODP is not supported
Device memory is not supported
Create XRCD is not supported
Reg MR with MW access is not supported
Create memory window of type
Create custom mr with additional access flags 18 is not supported
Parent Domain is not supported on this device
Extended QP is not supported on this device
Importing a device is not supported
on Ethernet link layer
skip RoCE test
Allocating dmabuf is not supported
There are no huge pages
END

"$WEFT" topo gen ring 4 >net || exit
weft_start net || exit
manager_starts || exit

passes() { # MODULE
    LD_PRELOAD=$PRELOAD timeout 100 /usr/bin/python3 tests/run_tests.py --dev weft0 --port 1 --gid 0 -v -k "tests.$1." >"$1.out" 2>&1 || { tail -n 40 "$1.out" && return 1; }
    contains '^OK' "$1.out" && lacks '\.\.\. (FAIL|ERROR)$' "$1.out" || return
    ! grep -E "\.\.\. skipped" "$1.out" | grep -vFf reasons
}
for module in test_pd test_addr test_cq test_cq_events test_cqex test_qp test_qpex test_mr test_atomic test_device test_fork test_relaxed_ordering; do
    claim "rdma-core's $module" passes "$module"
done
