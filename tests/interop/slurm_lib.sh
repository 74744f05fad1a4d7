# shellcheck shell=bash
# A Slurm cluster of one node that runs only during the test, without systemd, root, accounting or cgroups.
# Sources lib.sh.
#
#     slurm_start || skip "..." "$slurm_problem"
#     sbatch array.sh && wait_until 60 slurm_queue_is_empty
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export slurm_problem=

slurm_tools() {
    local tool
    for tool in munged slurmctld slurmd sbatch sinfo squeue python3; do
        command -v "$tool" >/dev/null && continue
        slurm_problem="$tool is not installed"
        return 1
    done
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

slurm_configure() {
    local user host=$1
    user=$(id -un)
    cat >slurm/slurm.conf <<END
ClusterName=weft
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$work/slurm/munge.socket
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
StateSaveLocation=$work/slurm/state
SlurmdSpoolDir=$work/slurm/spool
SlurmctldPidFile=$work/slurm/slurmctld.pid
SlurmdPidFile=$work/slurm/slurmd.pid
SlurmctldLogFile=$work/slurm/slurmctld.log
SlurmdLogFile=$work/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
}

slurm_queue_is_empty() { [ -z "$(squeue --noheader 2>&1)" ]; }
slurm_is_idle() { sinfo --noheader --format=%T | grep -qx idle; }

slurm_start() {
    local host
    slurm_tools || return
    host=$(hostname -s)
    mkdir -p slurm/state slurm/spool
    head -c 1024 /dev/urandom >slurm/key
    chmod 400 slurm/key
    slurm_configure "$host"
    export SLURM_CONF=$work/slurm/slurm.conf
    # --force: munged otherwise refuses a socket directory that other users cannot access.
    background munged --foreground --force --key-file="$work/slurm/key" \
        --socket="$work/slurm/munge.socket" --pid-file="$work/slurm/munged.pid" \
        --log-file="$work/slurm/munged.log" --seed-file="$work/slurm/munged.seed" >slurm/munged.out 2>&1
    serving "$background_id" 10 test -S slurm/munge.socket || { slurm_problem="munged does not start"; return 1; }
    background slurmctld -D -c >slurm/slurmctld.out 2>&1
    serving "$background_id" 10 sinfo || { slurm_problem="slurmctld does not start"; return 1; }
    background slurmd -D -N "$host" >slurm/slurmd.out 2>&1
    serving "$background_id" 20 slurm_is_idle || { slurm_problem="slurmd does not start"; return 1; }
}
