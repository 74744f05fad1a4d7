/* A growing graph of channels: what would close a cycle is refused, and nothing else is. */
#include "networks.h"

#include "routing/cdg/acyclic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

static uint32_t *equal_ranks(const struct network *network)
{
    return mem_zalloc(network->switches.count, sizeof(uint32_t));
}

/* Edges as a naive search sees them. */
struct naive {
    uint32_t channels;
    bool *edge; /* [from * channels + to] */
};

static bool leads_to(const struct naive *naive, uint32_t from, uint32_t to, bool *seen)
{
    if (from == to)
        return true;
    seen[from] = true;
    for (uint32_t next = 0; next < naive->channels; next++)
        if (naive->edge[(size_t)from * naive->channels + next] && !seen[next] &&
            leads_to(naive, next, to, seen))
            return true;
    return false;
}

static bool closes_cycle(const struct naive *naive, uint32_t from, uint32_t to)
{
    bool *seen = mem_zalloc(naive->channels, sizeof *seen);
    bool closes = leads_to(naive, to, from, seen);
    mem_free(seen);
    return closes;
}

/* A channel at random that leads to a switch, and one that leaves it. */
static bool draw_edge(const struct network *network, struct rng *rng, uint32_t *from, uint32_t *to)
{
    *from = (uint32_t)rng_below(rng, network->ports.count);
    uint32_t at = network->ports.items[*from].peer ^ NETWORK_SWITCH;
    if (at >= network->switches.count || network->first_edge[at] == network->first_edge[at + 1])
        return false;
    uint32_t degree = network->first_edge[at + 1] - network->first_edge[at];
    uint32_t edge = network->first_edge[at] + (uint32_t)rng_below(rng, degree);
    *to = network->switches.items[at].first_port + network->edges[edge].port;
    return true;
}

static void exactly_what_closes_a_cycle_is_refused(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct draft draft;
        struct network network;
        struct acyclic graph;
        struct rng rng;
        uint32_t from, to, refused = 0;
        draft_random(&draft, seed, 8);
        draft_build(&draft, 0, &network);
        uint32_t *ranks = equal_ranks(&network);
        struct naive naive = {.channels = (uint32_t)network.ports.count};
        naive.edge = mem_zalloc((size_t)naive.channels * naive.channels, sizeof *naive.edge);
        acyclic_init(&graph, &network, ranks);
        rng_seed(&rng, seed, 9);
        for (int i = 0; i < 600; i++) {
            if (!draw_edge(&network, &rng, &from, &to))
                continue;
            bool fits = !closes_cycle(&naive, from, to);
            assert_int_equal(acyclic_add(&graph, from, to), fits);
            assert_int_equal(acyclic_has(&graph, from, to), fits);
            naive.edge[(size_t)from * naive.channels + to] |= fits;
            refused += !fits;
        }
        assert_true(refused > 0);
        mem_free(naive.edge);
        mem_free(ranks);
        acyclic_release(&graph);
        draft_release(&draft);
        network_release(&network);
    }
}

/* Round a ring of four: of the dependencies one way round the last is too many, until another goes.
 */
static void what_is_taken_out_makes_room(void **state)
{
    struct network network;
    struct acyclic graph;
    uint32_t channel[4];
    (void)state;
    build_ring(&network, 4);
    uint32_t *ranks = equal_ranks(&network);
    acyclic_init(&graph, &network, ranks);
    for (uint32_t at = 0; at < 4; at++)
        for (uint32_t e = network.first_edge[at]; e < network.first_edge[at + 1]; e++)
            if (network.edges[e].to == (at + 1) % 4)
                channel[at] = network.switches.items[at].first_port + network.edges[e].port;
    assert_true(acyclic_add(&graph, channel[0], channel[1]));
    assert_true(acyclic_add(&graph, channel[1], channel[2]));
    acyclic_remove(&graph, channel[0], channel[1]);
    assert_false(acyclic_has(&graph, channel[0], channel[1]));
    assert_true(acyclic_add(&graph, channel[2], channel[3]));
    assert_true(acyclic_add(&graph, channel[3], channel[0]));
    assert_false(acyclic_add(&graph, channel[0], channel[1]));
    assert_true(acyclic_has(&graph, channel[3], channel[0]));
    mem_free(ranks);
    acyclic_release(&graph);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_what_closes_a_cycle_is_refused),
        cmocka_unit_test(what_is_taken_out_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
