#include "fabrics.h"

#include "topology/generators/generate.h"

static void renumber(struct network *network, uint32_t hosts, unsigned vfs)
{
    uint16_t lid = 1;
    for (size_t i = 0; i < network->switches.count; i++)
        network->switches.items[i].lid = lid++;
    for (uint32_t host = 0; host < hosts; host++) {
        network->terminals.items[host].lid = lid++;
        for (unsigned v = 0; v < vfs; v++)
            network->terminals.items[hosts + host * vfs + v].lid = lid++;
    }
}

void build_virtual(struct network *network, const char *kind, const char *const *words,
                   size_t count, unsigned vfs)
{
    struct topology topology;
    struct err err = {0};
    topology_init(&topology);
    assert_int_equal(topology_generate(&topology, kind, words, count, 1, &err), 0);
    assert_int_equal(network_from_topology(network, &topology, &err), 0);
    topology_release(&topology);
    uint32_t hosts = (uint32_t)network->terminals.count;
    for (uint32_t host = 0; host < hosts; host++)
        for (unsigned v = 0; v < vfs; v++)
            assert_int_not_equal(
                network_share_terminal(network, UINT64_C(0x7000000) + host * vfs + v, 0, 0, host),
                NETWORK_NONE);
    renumber(network, hosts, vfs);
    assert_int_equal(network_finish(network), 0);
}

void route(const struct network *network, const char *engine, struct routes *routes)
{
    struct engine_options options = {0};
    struct err err = {0};
    if (engine_find(engine)->compute(network, &options, routes, &err) < 0)
        fail_msg("%s: %s", engine, err.message);
}
