#!/usr/bin/env bash
# weft sweep writes the same store with one job or several, after an interruption, and as array tasks run
# by hand or by Slurm.
# shellcheck source=slurm_lib.sh
. "$(dirname "$0")/slurm_lib.sh"
need sqlite3 python3

cat >load.weft <<'END'
topology irregular switches=8 ports=8 hosts=8 speed=SDR
sm H0 engine {engine}
run until settled
at {when} fail switch S3
run until settled limit 30s
check in-order
END
cat >load.sweep <<'END'
scenario load.weft
vary engine,sm.sweep in fera,1s pira,2s
vary when in 10s 20s 30s
vary topology.switches in 8 16
repeat 2
series *
END

sweep() { "$WEFT" sweep "$@" >out.txt 2>err.txt || { local status=$?; cat out.txt err.txt; return "$status"; }; }

# Prints the content of a store, sorted, without durations and paths.
contents() {
    local key="r.point || ' ' || r.repetition" table
    sqlite3 "$1" "SELECT $key, seed, state, error, replay, r.hash, name, version, s.body, t.body, n.body,
        switches, adapters, end_ps, smps, lost, hops FROM run r JOIN text s ON s.id = r.scenario
        JOIN text t ON t.id = r.template JOIN text n ON n.id = r.topology ORDER BY 1" |
        sed "s#$work/##g" || return
    for table in parameter figure series series_point event change checked; do
        echo "$table"
        sqlite3 "$1" "SELECT $key, x.* FROM $table x JOIN run r ON r.id = x.run ORDER BY 1" |
            sed 's/^\([^|]*\)|[0-9]*|/\1|/' | sort || return
    done
}
same_store() {
    contents "$1" >one.contents && contents "$2" >two.contents && [ -s one.contents ] &&
        diff one.contents two.contents
}

one_or_many() {
    sweep load.sweep -j 1 --store one.db && sweep load.sweep -j4 --store many.db &&
        contains '^24 runs: 24 done; ' out.txt && same_store one.db many.db
}
claim "-j 1 and -j 4 write the same store" one_or_many

fig22() {
    cat >fig22.weft <<'END'
topology irregular switches=8 ports=8 hosts=8 speed=SDR
sm H0
run until settled
traffic uniform size 256 start 1s
measure from 1.0001s
run 1.0005s
END
    cat >fig22.sweep <<END
scenario fig22.weft
vary traffic.rate in $(seq -s ' ' 5000 5000 65000)
vary buffer in 1024 2048 4096 8192
vary data_vls in 1 2
keep latency.*
END
    sweep fig22.sweep -j 2 && contains '^104 runs: 104 done; ' out.txt || return
    [ "$(sqlite3 fig22.db "SELECT count(DISTINCT run) FROM figure WHERE name = 'latency.mean'")" -eq 104 ] &&
        [ "$(sqlite3 fig22.db "SELECT count(*) FROM figure WHERE name NOT LIKE 'latency.%'")" -eq 0 ]
}
claim "13 rates, 4 buffer sizes and 2 numbers of VLs give 104 runs" fig22

# A sweep that receives SIGKILL after some of its runs.
count() { sqlite3 -cmd '.timeout 5000' "$1" 'SELECT count(*) FROM run' 2>/dev/null || echo 0; }
has_some() { [ "$(count "$1")" -ge "$2" ]; }
killed() {
    : >cut.db # a process that is killed earlier may leave an empty file
    "$WEFT" sweep load.sweep -j 1 --store cut.db --repeat 20 >cut.out 2>&1 &
    local id=$!
    wait_until 20 has_some cut.db 3
    kill -KILL "$id"
    wait "$id" 2>/dev/null
    local there
    there=$(count cut.db)
    echo "$there runs before the kill; $(cat cut.out)"
    [ "$there" -ge 3 ] && [ "$there" -lt 240 ] && sweep load.sweep --repeat 20 --store cut.db -j 2 &&
        contains "^240 runs: $((240 - there)) done, $there there already" out.txt
}
claim "a killed sweep continues with the missing runs" killed

interrupted() {
    cat >long.weft <<'END'
topology irregular switches=64 ports=8 hosts={hosts} speed=SDR
set sm full_sweep_every 1
sm H0 sweep 100ms
run 40000s
END
    printf 'scenario long.weft\nvary hosts in 1 2 3 4\n' >long.sweep
    "$WEFT" sweep long.sweep -j 2 >long.out 2>&1 &
    local id=$! status=0
    wait_until 20 test -s long.db
    kill -INT "$id"
    wait "$id" || status=$?
    [ "$status" -eq 130 ] && contains 'the same command continues' long.out
}
claim "SIGINT ends a sweep, and a message says how to continue" interrupted

# ---- failures ----

failures() {
    cat >late.weft <<'END'
topology ring 4 speed=SDR
sm S1
run 2s
run {when}
check in-order
END
    printf 'scenario late.weft\nvary when in 1s 3s 4s\n' >late.sweep
    exits_with 1 "$WEFT" sweep late.sweep >out.txt 2>err.txt && contains '^3 runs: 2 done, 1 failed' out.txt &&
        contains 'failed: when=1s, repetition 1: late.weft:4:5: 1s has passed' err.txt
}
claim "a failed run does not stop the other runs" failures

replays() {
    local command
    command=$(sed -n 's/^  again: weft //p' err.txt)
    eval "exits_with 2 \"\$WEFT\" $command" 2>again.txt && contains '1s has passed' again.txt || return
    command=$(sqlite3 many.db "SELECT replay FROM run LIMIT 1")
    eval "\"\$WEFT\" ${command#weft }" >again.txt || return
    contains "trace $(sqlite3 many.db 'SELECT hash FROM run LIMIT 1')" again.txt
}
claim "the command stored with a run repeats it" replays

plain_replays() {
    local command
    printf 'topology ring 4 speed=SDR\nsm S1\nrun until settled\n' >plain.weft
    printf 'scenario plain.weft\nvary sm.engine in fera\nvary S1*:traps in no\n' >plain.sweep
    sweep plain.sweep || return
    command=$(sqlite3 plain.db 'SELECT replay FROM run')
    case $command in "weft sim plain.weft "*) ;; *) echo "$command" && return 1 ;; esac
    eval "\"\$WEFT\" ${command#weft }" >again.txt && contains "trace $(sqlite3 plain.db 'SELECT hash FROM run')" again.txt
}
claim "without placeholders the stored command is weft sim" plain_replays

changed() {
    cp many.db changed.db
    cp load.weft changed.weft
    sed 's/load.weft/changed.weft/' load.sweep >changed.sweep
    sed -i 's/limit 30s/limit 31s/' changed.weft
    exits_with 2 "$WEFT" sweep changed.sweep 2>err.txt && contains 'changed.weft:5: differs from the scenario' err.txt
}
claim "a changed scenario is not added to the store of the old one" changed

# ---- a cluster ----

by_hand() {
    local task
    sweep load.sweep --slurm --write-only --tasks 5 --dir hand --store hand.db -- --time=5 || return
    contains '^#SBATCH --array=1-5$' hand/array.sh && contains '^#SBATCH --time=5$' hand/array.sh || return
    for task in 4 2 5 1 3; do
        SLURM_ARRAY_TASK_ID=$task sh hand/array.sh >hand/task.out 2>&1 || { cat hand/task.out && return 1; }
    done
    sweep merge hand/task-*.db -o hand.db && contains '^24 runs added' out.txt && same_store one.db hand.db
}
claim "array tasks run by hand and merged give the store of a direct sweep" by_hand

merged_again() {
    sweep merge hand/task-*.db one.db -o hand.db && contains '^0 runs added' out.txt &&
        sweep load.sweep --store hand.db && contains '24 there already' out.txt
}
claim "merging the same stores again adds nothing" merged_again

extended() {
    sweep load.sweep --slurm --write-only --tasks 2 --dir more --store hand.db --repeat 3 || return
    contains '^12 runs in 2 tasks' out.txt && contains '--skip' more/array.sh || return
    SLURM_ARRAY_TASK_ID=1 sh more/array.sh >task.out && SLURM_ARRAY_TASK_ID=2 sh more/array.sh >>task.out || return
    sweep merge more/task-*.db -o hand.db && contains '^12 runs added' out.txt && sweep load.sweep --repeat 3 --store three.db &&
        same_store three.db hand.db
}
claim "array tasks run only the runs that the store lacks" extended

nothing_left() {
    sweep load.sweep --slurm --write-only --dir none --store one.db && contains '^nothing to submit: one.db has all 24 runs$' out.txt &&
        [ ! -e none ] && sweep load.sweep --slurm --dir none --store one.db && # sbatch is not started
        sweep load.sweep --slurm --dir none --store one.db --json && contains '"missing": 0' out.txt || return
    exits_with 1 "$WEFT" sweep late.sweep --slurm --dir none >out.txt && contains 'of which 1 failed' out.txt || return
    sweep late.sweep --slurm --retry --write-only --dir none && contains '^1 runs in ' out.txt && contains ' --retry' none/array.sh
}
claim "an array without runs is not submitted" nothing_left

contradiction() {
    cp one.db wrong.db
    sqlite3 wrong.db "UPDATE run SET hash = '0123456789abcdef' WHERE id = 7"
    contents one.db >before
    exits_with 2 "$WEFT" sweep merge wrong.db -o one.db 2>err.txt && contains '0123456789abcdef' err.txt &&
        contents one.db >after && same_files before after
}
claim "stores with different traces of the same run are not merged" contradiction

no_store() {
    exits_with 2 "$WEFT" sweep merge one.db load.weft -o new.db 2>err.txt && contains 'load.weft: is not a result store' err.txt &&
        [ ! -e new.db ]
}
claim "a file that is not a result store is not merged" no_store

with_slurm() {
    sweep load.sweep --slurm --tasks 3 --store slurm.db -- --time=5 || return
    contains '^Submitted batch job' out.txt || return
    wait_until 60 slurm_queue_is_empty || { squeue && return 1; }
    sweep merge load.slurm/task-*.db -o slurm.db && contains '^24 runs added' out.txt && same_store one.db slurm.db
}
text="a Slurm job array gives the store of a direct sweep"
if slurm_start; then claim "$text" with_slurm; else skip "$text" "$slurm_problem"; fi
