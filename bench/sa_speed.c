/* sa_speed: PathRecord queries per second that subnet administration answers on one core.
 *
 *     sa_speed [HOSTS [PARTITIONS [QUERIES]]]
 *
 * Queries the administration of a fat tree in memory for the paths of random pairs of hosts, with
 * both GIDs and reversible, as librdmacm does. The time includes receiving, queueing and the
 * response, but no packets. Checks status and DLID of every response. With PARTITIONS (not 0),
 * every host is a member of one of that many partitions, and of one partition of all hosts. */
#include "base/rng.h"
#include "sa_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 64 };
enum { DGID = 1 << 2, SGID = 1 << 3, REVERSIBLE = 1 << 11 }; /* components */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct pair {
    uint32_t source, destination;
};

static void ask(struct sa_world *world, struct pair pair)
{
    const struct network_terminal *terminals = world->network.terminals.items;
    uint8_t *path = world->query + SA_DATA_OFFSET;
    wire_set_bits(wire_bytes(path, PATH_RECORD_SGID), 64, 64, terminals[pair.source].guid);
    wire_set_bits(wire_bytes(path, PATH_RECORD_DGID), 64, 64, terminals[pair.destination].guid);
    struct sa_message question = {.address = {.lid = terminals[pair.source].lid, .qp = 1},
                                  .data = world->query,
                                  .bytes = MAD_BYTES};
    wire_set(world->query, MAD_TID, terminals[pair.destination].lid);
    sa_receive(world->sa, world->now, &question);
}

static unsigned take_answers(struct sa_world *world)
{
    struct sa_message answer;
    unsigned count = 0;
    while (sa_deadline(world->sa) == 0) {
        sa_expire(world->sa, world->now);
        while (sa_next_output(world->sa, world->now, &answer)) {
            const uint8_t *path = answer.data + SA_DATA_OFFSET;
            if (wire_get(answer.data, MAD_STATUS) ||
                wire_get(path, PATH_RECORD_DLID) != wire_get(answer.data, MAD_TID)) {
                fprintf(stderr, "sa_speed: a wrong answer\n");
                exit(1);
            }
            count++;
        }
    }
    return count;
}

/* As after the discovery of the tables by a manager. */
static void part(struct sa_world *world, unsigned count)
{
    struct subnet *subnet = world->subnet;
    for (uint32_t port = 0; port < subnet->ports.count; port++) {
        uint8_t block[BLOCK_BYTES] = {0};
        if (!subnet_is_end_port(subnet, port))
            continue;
        wire_set_at(block, P_KEY_TABLE_P_KEY, 0, 0x7FFF);
        wire_set_at(block, P_KEY_TABLE_P_KEY, 1, 0x8001 + port % count);
        wire_set_at(block, P_KEY_TABLE_P_KEY, 2, 0xF000);
        blocks_set_known(&subnet->blocks, port, BLOCK_PARTITIONS, 0, block);
    }
    sa_update_view(world->sa, world->now, &world->view);
}

int main(int argc, char **argv)
{
    char size[32];
    unsigned queries = argc > 3 ? (unsigned)atoi(argv[3]) : 1000000;
    struct sa_world world;
    struct rng rng;
    snprintf(size, sizeof size, "size=%s", argc > 1 ? argv[1] : "11664");
    world_open(&world, &(struct sa_world_shape){.kind = "fattree", .words = {size}});
    if (argc > 2 && atoi(argv[2]) > 0)
        part(&world, (unsigned)atoi(argv[2]));
    uint8_t *path =
        world_query(&world, METHOD_GET, ATTRIBUTE_PATH_RECORD, DGID | SGID | REVERSIBLE);
    wire_set_bits(wire_bytes(path, PATH_RECORD_SGID), 0, 64, UINT64_C(0xFE80000000000000));
    wire_set_bits(wire_bytes(path, PATH_RECORD_DGID), 0, 64, UINT64_C(0xFE80000000000000));
    wire_set(path, PATH_RECORD_REVERSIBLE, 1);
    rng_seed(&rng, 1, 0);
    uint64_t hosts = world.network.terminals.count, answers = 0;
    double begin = seconds();
    for (unsigned i = 0; i < queries; i++) {
        ask(&world,
            (struct pair){(uint32_t)rng_below(&rng, hosts), (uint32_t)rng_below(&rng, hosts)});
        if (i % BATCH == BATCH - 1)
            answers += take_answers(&world);
    }
    double taken = seconds() - begin;
    printf("%llu hosts: %llu PathRecords in %.2f s, %.0f a second\n", (unsigned long long)hosts,
           (unsigned long long)answers, taken, (double)answers / taken);
    world_close(&world);
    return 0;
}
