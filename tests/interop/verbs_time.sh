#!/usr/bin/env bash
# Programs in simulated time: weft fabric --time simulated.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=verbs_lib.sh
. "$(dirname "$0")/verbs_lib.sh"
need ib_send_lat ibv_rc_pingpong mpirun mpicc

"$WEFT" topo gen mesh dims=2 speed=SDR >net || exit

in_time() { timeout 100 "$WEFT" fabric net --time simulated "$@" 2>summary; }
# pair OPTION... -- PROGRAM ARGUMENT...: as server at H0 and client at H1, beside each other. Prints what the client does.
pair() {
    local options=() port
    port=$(free_port) || return
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    # shellcheck disable=SC2016
    in_time "${options[@]}" -- sh -c '"$0" sm --once >sm.log || exit
        WEFT_ATTACH=H0 "$@" >server.out 2>&1 & sleep 1
        WEFT_ATTACH=H1 "$@" localhost' "$WEFT" "$@" -p "$port"
}

clock() {
    in_time -- sh -c 'date -u +%F\ %T; sleep 100000; date -u +%F\ %T' >clock.out && cat clock.out summary &&
        [ "$(cat clock.out)" = "2026-01-01 00:00:00
2026-01-02 03:46:40" ] && contains 'weft fabric: 1000..s of simulated time; times are those of the network' summary
}
claim "a sleep takes simulated time, and clocks show it" clock

# A message of 64 bytes at 4X SDR, 1 ns for a byte, with headers of 26 bytes: 90 ns, two switches of 220 ns, a cable of
# 100 ns. Then the prices: 40 ns for the poll, 60 ns to post the answer, 10 ns for the time stamp.
latency() {
    local program=$1 wanted=$2
    shift 2
    pair "$@" -- "$program" -s 64 -n 20 >latency.out || return
    cat latency.out server.out summary
    [ "$(awk '$1 == 64 { print $3, $5 }' latency.out)" = "$wanted $wanted" ]
}
claim "the latency of ib_send_lat equals the calculation by hand" latency ib_send_lat 0.74
claim "and with other prices of calls, too" latency ib_send_lat 2.04 --price post-send=1us --price poll=400ns

# 16 bytes more of header. The program reads its memory until it has been written: there is no poll.
claim "so does that of ib_write_lat, which spins on memory" latency ib_write_lat 0.72

# It reads memory and computes, so that time goes on without it, and then waits for somebody who waits for time.
cat >computes.c <<'END'
#include <infiniband/verbs.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    char byte;
    if (!devices || !devices[0] || !ibv_open_device(devices[0]))
        return 1;
    for (volatile clock_t start = clock(); clock() - start < CLOCKS_PER_SEC / 10;)
        for (volatile int i = 0; i < 1000000; i++)
            ;
    return read(0, &byte, 1) != 1;
}
END
computes() {
    cc -o computes computes.c -libverbs &&
        in_time -- sh -c '(sleep 5; echo) | WEFT_ATTACH=H0 ./computes && date -u +%T' >computes.out &&
        cat computes.out summary && [ "$(cat computes.out)" = 00:00:05 ]
}
claim "time goes on when a program waits that was taken for one that spins" computes

# A semaphore at two addresses, time-outs that are refused, and threads that end after a poll.
cat >calls.c <<'END'
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static int refused(int result) { return result == -1 && errno == EINVAL; }
static void *polls(void *of)
{
    poll(NULL, 0, 5);
    return of;
}
static int descriptors(void)
{
    DIR *list = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}
int main(void)
{
    int fd = memfd_create("shared", 0);
    if (ftruncate(fd, 65536) < 0)
        return 1;
    sem_t *first = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sem_t *second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct timespec until = {time(NULL) + 100, 0}, negative = {-1, 0};
    struct timeval early = {-1, 0};
    struct timezone zone;
    sem_init(first, 1, 0);
    if (fork() == 0) {
        sleep(1);
        return sem_post(second);
    }
    time_t began = time(NULL);
    int posted = sem_timedwait(first, &until) == 0 && time(NULL) - began < 50;
    int invalid = refused(select(0, NULL, NULL, NULL, &early)) &&
                  refused(pselect(0, NULL, NULL, NULL, &negative, NULL)) &&
                  refused(ppoll(NULL, 0, &negative, NULL));
    int before = descriptors();
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, polls, NULL);
        pthread_join(thread, NULL);
    }
    int left = descriptors() - before;
    printf("posted %d, invalid %d, descriptors left %d, zone %d\n", posted, invalid, left, gettimeofday(NULL, &zone));
}
END
calls() {
    cc -o calls calls.c -pthread && in_time -- ./calls >calls.out
    cat calls.out summary
    [ "$(cat calls.out)" = 'posted 1, invalid 1, descriptors left 0, zone 0' ]
}
claim "shared semaphores, refused time-outs and descriptors of ended threads are as ever" calls

# It computes when the command has ended, so that simulated time stands still.
cat >stubborn.c <<'END'
#include <infiniband/umad.h>
#include <signal.h>
#include <unistd.h>
int main(void)
{
    signal(SIGTERM, SIG_IGN);
    if (umad_init() < 0 || umad_open_port(NULL, 1) < 0 || write(1, "\n", 1) != 1)
        return 1;
    for (volatile int i = 0;; i = i + 1)
        ;
}
END
stubborn() {
    # shellcheck disable=SC2016
    cc -o stubborn stubborn.c -libumad && mkfifo opened &&
        in_time -- sh -c 'WEFT_ATTACH=H0 ./stubborn >opened & read -r line <opened' && cat summary &&
        contains 'weft fabric: (0|[0-9.]+[mun])s of simulated time' summary
}
claim "the fabric ends although a program that the command left computes" stubborn


# The child waits before it executes a program, so its parent has not returned from vfork(2).
vfork() {
    mkfifo pipe && cat >spawn.py <<'END' || return
import os
os.posix_spawn("/bin/cat", ["cat"], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 0, "pipe", os.O_RDONLY, 0)])
os.wait()
END
    in_time -- sh -c '(sleep 5; echo >pipe) & python3 spawn.py && date -u +%T' >spawn.out &&
        cat spawn.out summary && contains 00:00:05 spawn.out
}
claim "and when a child has not executed its program yet" vfork

cat >locks.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct timespec after(time_t seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += seconds;
    return now;
}
static void *waits(void *unused)
{
    struct timespec soon = after(2), late = after(10);
    printf("%d\n", pthread_mutex_timedlock(&mutex, &soon) != 0);
    printf("%d\n", pthread_rwlock_timedwrlock(&lock, &soon) != 0);
    printf("after %ld s\n", (long)(time(NULL) % 60));
    printf("%d\n", pthread_mutex_timedlock(&mutex, &late));
    printf("%d\n", pthread_rwlock_timedwrlock(&lock, &late));
    printf("after %ld s\n", (long)(time(NULL) % 60));
    return unused;
}
int main(void)
{
    pthread_t thread;
    sigset_t set;
    struct timespec hour = {.tv_sec = 3600};
    pthread_mutex_lock(&mutex);
    pthread_rwlock_rdlock(&lock);
    pthread_create(&thread, NULL, waits, NULL);
    sleep(5);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    alarm(2);
    printf("%d\n", sigtimedwait(&set, NULL, &hour) == SIGALRM);
    printf("after %ld s\n", (long)(time(NULL) % 60));
    hour.tv_sec = 1;
    printf("%d\n", sigtimedwait(&set, NULL, &hour));
    printf("after %ld s\n", (long)(time(NULL) % 60));
    return 0;
}
END
locks() {
    cc -o locks locks.c -pthread && in_time -- ./locks >locks.out && cat locks.out summary &&
        [ "$(tr '\n' ' ' <locks.out)" = '1 1 after 2 s 0 0 after 5 s 1 after 7 s -1 after 8 s ' ]
}
claim "locks and signals that are waited for until a time" locks

# What differs from run to run on hardware, too: QP and packet sequence numbers, keys, addresses.
repeated() {
    local load=() i status=0
    for i in 1 2 3 4; do
        (while :; do :; done) &
        load+=($!)
    done
    for i in 1 2; do
        pair -- "$@" >out.$i || status=1
        sed -i '/address:/d' out.$i
        cat summary >>out.$i
    done
    kill "${load[@]}"
    [ "$status" = 0 ] && contains usec out.1 && same_files out.1 out.2
}
claim "ibv_rc_pingpong prints the same again, beside other programs" repeated ibv_rc_pingpong -n 200
claim "and with completion events" repeated ibv_rc_pingpong -e -n 200

# Threads, condition variables, messages over TCP. Were one of them not seen, a time-out of seconds would pass.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated UCX_TLS=ud_v,self
mpicc -O1 -o exchange "$(dirname "$0")/../../examples/rdma/exchange.c" || exit
exchange() {
    # shellcheck disable=SC2016
    in_time -- sh -c '"$0" sm --once >sm.log && WEFT_ATTACH=H%r mpirun -n 2 --oversubscribe --mca pml ucx ./exchange' "$WEFT" >ranks.out 2>&1
    cat ranks.out summary
    contains '2 ranks, all bytes right' ranks.out && contains 'weft fabric: [0-9.]*ms of simulated time' summary
}
claim "an Open MPI program with two ranks" exchange

refused() { exits_with 2 in_time "$@" -- true && cat summary; }
claim "a pace is refused" refused --pace real
claim "a price that is no time is refused" refused --price poll=fast
claim "a clock that does not exist is refused" refused --time later
without_library() {
    mkdir -p elsewhere && cp "$PRELOAD" elsewhere/libweft-umad.so &&
        WEFT_PRELOAD=$PWD/elsewhere/libweft-umad.so exits_with 2 in_time -- touch started
    cat summary
    [ ! -e started ] && [ "$(wc -l <summary)" = 1 ] && contains 'library of simulated time cannot be loaded: .*libweft-time.so' summary
}
claim "nothing starts without the library" without_library
