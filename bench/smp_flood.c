/* The SMP rate of a fabric: directed-route Get(NodeInfo) with a fixed number outstanding.
 *
 *     smp_flood SECONDS WINDOW [PORT...]
 *
 * Sends along the path that leaves the own node through the first PORT, the next one through the
 * second and so on (none: to itself), and prints the responses per second: the upper limit for a
 * subnet manager on the same fabric. */
#include "base/time.h"
#include "wire/mad.h"

#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMEOUT_MS = 1000 };

struct flood {
    int port, agent;
    unsigned hops;
    uint8_t path[SMP_MAX_HOPS + 1];
    uint8_t *buffer;
    uint32_t sent, answered, under_way;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int send_one(struct flood *flood)
{
    uint8_t *mad = umad_get_mad(flood->buffer);
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_GET);
    wire_set(mad, SMP_HOP_COUNT, flood->hops);
    wire_set(mad, MAD_TID, ++flood->sent);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NODE_INFO);
    wire_set(mad, SMP_DR_SLID, LID_PERMISSIVE);
    wire_set(mad, SMP_DR_DLID, LID_PERMISSIVE);
    memcpy(mad + 128, flood->path, flood->hops + 1);
    umad_set_addr(flood->buffer, LID_PERMISSIVE, 0, 0, 0);
    return umad_send(flood->port, flood->agent, flood->buffer, MAD_BYTES, TIMEOUT_MS, 0);
}

/* Waits for a response and takes all that have arrived; false after a time-out. */
static bool receive(struct flood *flood)
{
    int length = MAD_BYTES, timeout = TIMEOUT_MS;
    while (flood->under_way && umad_recv(flood->port, flood->buffer, &length, timeout) >= 0) {
        flood->answered += umad_status(flood->buffer) == 0;
        flood->under_way--;
        length = MAD_BYTES;
        timeout = 0;
    }
    return timeout == 0;
}

static double run(struct flood *flood, double duration, unsigned window)
{
    double start = seconds(), now = start;
    while (now < start + duration) {
        while (flood->under_way < window && send_one(flood) == 0)
            flood->under_way++;
        if (!receive(flood))
            flood->under_way = 0; /* lost */
        now = seconds();
    }
    double rate = flood->answered / (now - start);
    while (flood->under_way && receive(flood))
        continue; /* the library of ibsim fails if MADs arrive while it exits */
    return rate;
}

int main(int argc, char **argv)
{
    struct flood flood = {.hops = argc > 3 ? (unsigned)argc - 3 : 0};
    double duration = argc > 2 ? strtod(argv[1], NULL) : 0;
    unsigned window = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (!(duration > 0) || window == 0 || flood.hops > SMP_MAX_HOPS) {
        fprintf(stderr, "usage: %s SECONDS WINDOW [PORT...]\n", argv[0]);
        return 2;
    }
    for (unsigned i = 0; i < flood.hops; i++)
        flood.path[i + 1] = (uint8_t)strtoul(argv[3 + i], NULL, 10);
    umad_init();
    flood.port = umad_open_port(NULL, 0);
    flood.agent = flood.port < 0 ? -1 : umad_register(flood.port, CLASS_SUBN_DIRECTED, 1, 0, NULL);
    if (flood.agent < 0) {
        fprintf(stderr, "%s: cannot open an InfiniBand port\n", argv[0]);
        return 1;
    }
    flood.buffer = calloc(1, sizeof(struct ib_user_mad) + MAD_BYTES);
    printf("%.0f\n", run(&flood, duration, window));
    free(flood.buffer);
    umad_close_port(flood.port);
    return 0;
}
