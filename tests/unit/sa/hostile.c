/* hostile: millions of random queries, and valid ones in between.
 *
 *     hostile [QUERIES]
 *
 * Each query starts as a valid one, of any attribute and method. Seeded random changes of bits,
 * bytes, lengths and senders follow. The SA drops the query or answers with a defined status.
 * Registrations and queues stay within their limits, and memory and time per query do not grow once
 * the limits are reached. Valid queries get the right answers. Exit status 1 on a failure. */
#include "base/rng.h"
#include "sa_world.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_QUERIES = 100000, TENTHS = 10, LIMIT = 64, LONGEST = 1024 };
enum { HONEST_EVERY = 16, SLOWER_AT_MOST = 4, GROWTH_AT_MOST = 256 * 1024 };

static void fail(const char *what)
{
    fprintf(stderr, "hostile: %s\n", what);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fill_query(struct sa_world *world, struct rng *rng, uint8_t *mad)
{
    static const uint8_t methods[] = {METHOD_GET,    METHOD_GET_TABLE, METHOD_SET,
                                      METHOD_DELETE, METHOD_GET_MULTI, METHOD_GET_TRACE_TABLE};
    static const uint16_t attributes[] = {0x01, 0x03, 0x11, 0x12, 0x13, 0x14,  0x15,
                                          0x16, 0x17, 0x18, 0xF3, 0x20, 0x30,  0x31,
                                          0x33, 0x35, 0x36, 0x38, 0x3A, 0xFF57};
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(mad, MAD_CLASS_VERSION, 2);
    wire_set(mad, MAD_METHOD, methods[rng_below(rng, sizeof methods)]);
    wire_set(mad, MAD_ATTRIBUTE_ID,
             attributes[rng_below(rng, sizeof attributes / sizeof *attributes)]);
    uint64_t mask = rng_next(rng);
    wire_set(mad, SA_COMPONENT_MASK, mask & rng_next(rng) & 0x3FFFFFF);
    wire_set(mad, SA_SM_KEY, rng_below(rng, 4) == 0);
    for (unsigned i = 0; i < 2; i++) { /* GIDs of paths, groups and services */
        uint8_t *gid = mad + SA_DATA_OFFSET + 8 * rng_below(rng, 6);
        bool group = rng_below(rng, 4) == 0;
        uint64_t port = rng_below(rng, world->subnet->ports.count);
        wire_set_bits(gid, 0, 64,
                      group ? UINT64_C(0xFF12A01C00000000) : UINT64_C(0xFE80000000000000));
        wire_set_bits(gid, 64, 64,
                      group ? rng_below(rng, 8) : world->subnet->ports.items[port].guid);
    }
}

static void send_hostile(struct sa_world *world, struct rng *rng)
{
    uint8_t mad[LONGEST] = {0};
    size_t bytes = MAD_BYTES;
    fill_query(world, rng, mad);
    for (uint64_t changes = rng_below(rng, 12); changes; changes--) {
        size_t at = rng_below(rng, rng_below(rng, 4) ? SA_DATA_OFFSET + 64 : MAD_BYTES);
        mad[at] = (uint8_t)(rng_below(rng, 2) ? rng_next(rng) : mad[at] ^ 1u << rng_below(rng, 8));
    }
    if (rng_below(rng, 16) == 0)
        bytes = rng_below(rng, LONGEST);
    struct sa_message message = {
        .address = {.lid = (uint16_t)rng_below(rng, 24), .qp = 1}, .data = mad, .bytes = bytes};
    sa_receive(world->sa, world->now, &message);
}

static void check_answer(const struct sa_message *answer)
{
    unsigned status = (unsigned)wire_get(answer->data, MAD_STATUS);
    unsigned method = (unsigned)wire_get(answer->data, MAD_METHOD);
    if (method == METHOD_REPORT)
        return;
    if (!(method & METHOD_RESPONSE) || (status & 0xFF) > 0x1C || status >> 8 > 7)
        fail("an answer that nobody can understand");
    if (wire_get(answer->data, SA_SM_KEY))
        fail("an answer tells the SM_Key");
}

static void take_answers(struct sa_world *world)
{
    struct sa_message answer;
    struct sa_counts counts;
    for (unsigned turn = 0; sa_deadline(world->sa) <= world->now; turn++) {
        sa_expire(world->sa, world->now);
        while (sa_next_output(world->sa, world->now, &answer))
            check_answer(&answer);
        if (turn > 10000)
            fail("the administration does not come to rest");
    }
    sa_counts(world->sa, &counts);
    if (counts.waiting || counts.services > LIMIT || counts.subscriptions > LIMIT)
        fail("a bound is not kept");
}

static void send_valid_query(struct sa_world *world)
{
    enum { DGID = 1 << 2, SGID = 1 << 3 };
    uint8_t *path = world_query(world, METHOD_GET, ATTRIBUTE_PATH_RECORD, DGID | SGID);
    wire_set_bits(wire_bytes(path, PATH_RECORD_SGID), 0, 64, UINT64_C(0xFE80000000000000));
    wire_set_bits(wire_bytes(path, PATH_RECORD_DGID), 0, 64, UINT64_C(0xFE80000000000000));
    wire_set_bits(wire_bytes(path, PATH_RECORD_SGID), 64, 64, world_guid(world, "H4"));
    wire_set_bits(wire_bytes(path, PATH_RECORD_DGID), 64, 64, world_guid(world, "H15"));
    if (world_send(world) != STATUS_OK ||
        wire_get(world_record(world, 0), PATH_RECORD_DLID) != world_lid(world, "H15"))
        fail("an honest query is not answered");
}

struct tenth {
    double seconds;
    size_t bytes;
};

static struct tenth run_tenth(struct sa_world *world, struct rng *rng, unsigned long queries)
{
    double begin = seconds();
    for (unsigned long i = 0; i < queries; i++) {
        send_hostile(world, rng);
        if (i % HONEST_EVERY)
            continue;
        take_answers(world);
        send_valid_query(world);
        world->now += NS_PER_MS;
    }
    take_answers(world);
    return (struct tenth){seconds() - begin, mallinfo2().uordblks};
}

int main(int argc, char **argv)
{
    unsigned long queries = argc > 1 ? strtoul(argv[1], NULL, 10) : DEFAULT_QUERIES;
    struct sa_world world;
    struct sa_config config;
    struct rng rng;
    struct tenth tenths[TENTHS];
    sa_config_init(&config);
    config.service_limit = config.subscription_limit = LIMIT;
    config.report_limit = 1000;
    world_open(&world, &(struct sa_world_shape){.kind = "figure1", .config = &config});
    rng_seed(&rng, 7, 0);
    for (unsigned i = 0; i < TENTHS; i++)
        tenths[i] = run_tenth(&world, &rng, queries / TENTHS);
    /* Tables fill up in the first part; memory must not grow after that. */
    const struct tenth *early = &tenths[TENTHS / 2], *late = &tenths[TENTHS - 1];
    printf("%lu hostile queries: %.2f us each in the middle, %.2f us at the end; %zu bytes, then "
           "%zu\n",
           queries, early->seconds * 1e6 * TENTHS / (double)queries,
           late->seconds * 1e6 * TENTHS / (double)queries, early->bytes, late->bytes);
    if (late->seconds > SLOWER_AT_MOST * early->seconds)
        fail("it becomes slower");
    if (late->bytes > early->bytes + GROWTH_AT_MOST)
        fail("it becomes larger");
    world_close(&world);
    return 0;
}
