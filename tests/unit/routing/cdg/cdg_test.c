/* The channel dependency graph against a search that starts from nothing each time. */
#include "networks.h"

#include "routing/cdg/cdg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

/* A network, its graph with two layers, and the dependencies of the first as a square of bits. */
struct bench {
    struct draft draft;
    struct network network;
    struct cdg cdg;
    struct rng rng;
    bool *edges; /* [in * channels + out] */
};

static void bench_init(struct bench *bench, uint64_t seed)
{
    draft_random(&bench->draft, seed, 14);
    draft_build(&bench->draft, 0, &bench->network);
    cdg_init(&bench->cdg, &bench->network);
    bench->cdg.similar = seed / 2 % 2;
    cdg_open(&bench->cdg);
    cdg_open(&bench->cdg);
    rng_seed(&bench->rng, seed, 9);
    size_t channels = bench->cdg.channels;
    bench->edges = mem_zalloc(channels * channels, sizeof *bench->edges);
}

static void bench_release(struct bench *bench)
{
    mem_free(bench->edges);
    cdg_release(&bench->cdg);
    network_release(&bench->network);
    draft_release(&bench->draft);
}

static bool *edge_of(const struct bench *bench, struct cdg_dependency dependency)
{
    return &bench->edges[(size_t)dependency.in * bench->cdg.channels + dependency.out];
}

static bool closes_cycle(const struct bench *bench, struct cdg_dependency new)
{
    uint32_t channels = bench->cdg.channels, depth = 0;
    uint32_t *stack = mem_alloc(channels * sizeof *stack);
    bool *seen = mem_zalloc(channels, sizeof *seen), found = false;
    seen[new.out] = true;
    stack[depth++] = new.out;
    while (depth && !found) {
        uint32_t at = stack[--depth];
        found = at == new.in;
        for (uint32_t next = 0; next < channels; next++) {
            if (!bench->edges[(size_t)at * channels + next] || seen[next])
                continue;
            seen[next] = true;
            stack[depth++] = next;
        }
    }
    mem_free(stack);
    mem_free(seen);
    return found;
}

/* Two channels that meet at a switch. */
static struct cdg_dependency draw(struct bench *bench)
{
    const struct network *network = &bench->network;
    uint32_t in = (uint32_t)rng_below(&bench->rng, bench->cdg.channels);
    uint32_t at = network->edges[in].to;
    uint32_t degree = network->first_edge[at + 1] - network->first_edge[at];
    uint32_t out = network->first_edge[at] + (uint32_t)rng_below(&bench->rng, degree);
    return (struct cdg_dependency){in, out, 0};
}

static enum cdg_answer insert(struct bench *bench, struct cdg_dependency new)
{
    return cdg_insert(&bench->cdg, new.layer, new.in, new.out);
}

/* Inserts dependencies, and compares every answer. Returns how many were refused. */
static unsigned insert_many(struct bench *bench, unsigned count)
{
    unsigned refused = 0;
    for (unsigned i = 0; i < count; i++) {
        struct cdg_dependency new = draw(bench);
        bool had = *edge_of(bench, new), closes = closes_cycle(bench, new);
        enum cdg_answer answer = insert(bench, new);
        assert_int_equal(answer, had ? CDG_HAD : closes ? CDG_REFUSED : CDG_ADDED);
        *edge_of(bench, new) |= !closes;
        assert_int_equal(cdg_has(&bench->cdg, 0, new.in, new.out), !closes);
        assert_int_equal(cdg_refuses(&bench->cdg, 0, new.in, new.out), closes);
        assert_true(closes || cdg_agrees(&bench->cdg, 0, new.in, new.out));
        refused += closes;
    }
    return refused;
}

static void a_channel_and_its_reverse_are_one_link(void **state)
{
    struct bench bench;
    bench_init(&bench, 3);
    const struct network_edge *edges = bench.network.edges;
    for (uint32_t e = 0; e < bench.cdg.channels; e++) {
        uint32_t reverse = bench.cdg.reverse[e];
        assert_int_equal(bench.cdg.reverse[reverse], e);
        assert_int_equal(edges[reverse].port, edges[e].to_port);
        assert_int_equal(edges[reverse].to_port, edges[e].port);
        assert_int_equal(cdg_leaving(&bench.cdg, edges[reverse].to, edges[e].port), e);
        assert_int_equal(cdg_arriving(&bench.cdg, edges[e].to, edges[e].to_port), e);
    }
    bench_release(&bench);
}

/* The order stays as it is, but there is no room between its members. */
static void squeeze_order(const struct cdg *cdg, struct cdg_layer *layer)
{
    uint64_t place = 0;
    for (uint32_t at = layer->next[cdg->channels]; at != cdg->channels; at = layer->next[at])
        layer->place[at] = ++place;
}

static void only_what_would_close_a_cycle_is_refused(void **state)
{
    unsigned refused = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct bench bench;
        bench_init(&bench, seed);
        for (unsigned i = 0; i < 4 * bench.cdg.channels; i++) {
            if (seed % 2)
                squeeze_order(&bench.cdg, &bench.cdg.layer[0]);
            refused += insert_many(&bench, 3);
        }
        bench_release(&bench);
    }
    assert_true(refused > 100);
}

/* The sets of a layer, for comparison. */
static uint64_t *copy_sets(const struct cdg *cdg, unsigned layer)
{
    size_t words = cdg_row(cdg, cdg->channels);
    uint64_t *sets = mem_alloc((4 * words + 1) * sizeof *sets);
    memcpy(sets, cdg->layer[layer].after, words * sizeof *sets);
    memcpy(sets + words, cdg->layer[layer].before, words * sizeof *sets);
    memcpy(sets + 2 * words, cdg->layer[layer].trial, words * sizeof *sets);
    memcpy(sets + 3 * words, cdg->layer[layer].refused, words * sizeof *sets);
    return sets;
}

static void a_trial_that_is_undone_leaves_no_trace_in_any_layer(void **state)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct bench bench;
        bench_init(&bench, seed);
        size_t bytes = 3 * cdg_row(&bench.cdg, bench.cdg.channels) * sizeof(uint64_t);
        for (unsigned round = 0; round < 30; round++) {
            /* Dependencies that only a trial caused to be refused must be possible again. */
            insert_many(&bench, bench.cdg.channels / 8);
            uint64_t *before[2] = {copy_sets(&bench.cdg, 0), copy_sets(&bench.cdg, 1)};
            cdg_begin(&bench.cdg);
            for (unsigned i = 0; i < 2 * bench.cdg.channels; i++) {
                struct cdg_dependency new = draw(&bench);
                new.layer = i % 2;
                insert(&bench, new);
            }
            cdg_end(&bench.cdg, false);
            for (unsigned layer = 0; layer < 2; layer++) {
                uint64_t *after = copy_sets(&bench.cdg, layer);
                assert_memory_equal(before[layer], after, bytes);
                mem_free(before[layer]);
                mem_free(after);
            }
        }
        bench_release(&bench);
    }
}

static void committed_dependencies_stay(void **state)
{
    struct bench bench;
    unsigned refused = 0;
    bench_init(&bench, 6);
    for (unsigned round = 0; round < 50; round++) {
        cdg_begin(&bench.cdg);
        refused += insert_many(&bench, 20);
        cdg_end(&bench.cdg, true);
    }
    assert_true(refused > 0);
    bench_release(&bench);
}

static bool leads_up(const void *context, struct cdg_dependency added)
{
    (void)context;
    return added.out > added.in;
}

static void a_part_of_a_trial_can_be_kept(void **state)
{
    struct bench bench;
    unsigned kept = 0;
    bench_init(&bench, 5);
    cdg_begin(&bench.cdg);
    for (unsigned i = 0; i < 8 * bench.cdg.channels; i++)
        insert(&bench, draw(&bench));
    cdg_commit_if(&bench.cdg, leads_up, NULL);
    for (unsigned i = 0; i < 8 * bench.cdg.channels; i++) {
        struct cdg_dependency one = draw(&bench);
        bool has = cdg_has(&bench.cdg, 0, one.in, one.out);
        assert_true(one.out > one.in || !has);
        *edge_of(&bench, one) = has;
        kept += has;
    }
    assert_true(kept > 0);
    bench_release(&bench);
}

static void noted_dependencies_are_sorted_if_there_is_an_order(void **state)
{
    unsigned sorted = 0, cyclic = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct bench bench;
        bool closed = false;
        bench_init(&bench, seed);
        for (unsigned i = 0; i < bench.cdg.channels / (1 + seed % 4); i++) {
            struct cdg_dependency new = draw(&bench);
            closed |= closes_cycle(&bench, new);
            *edge_of(&bench, new) = true;
            cdg_note(&bench.cdg, 0, new.in, new.out);
        }
        assert_int_equal(cdg_sort(&bench.cdg, 0), !closed);
        sorted += !closed;
        cyclic += closed;
        /* From then on the layer is as if all had been inserted one by one. */
        if (!closed)
            insert_many(&bench, 8 * bench.cdg.channels);
        bench_release(&bench);
    }
    assert_true(sorted > 3 && cyclic > 3);
}

static void an_order_by_rank_agrees_with_up_and_down(void **state)
{
    struct bench bench;
    bench_init(&bench, 8);
    const struct network *network = &bench.network;
    uint32_t ranks[14], switches = (uint32_t)network->switches.count;
    for (uint32_t at = 0; at < switches; at++)
        ranks[at] = (at * 5 + 3) % switches;
    cdg_order_by_rank(&bench.cdg, 0, ranks);
    for (unsigned i = 0; i < 4 * bench.cdg.channels; i++) {
        struct cdg_dependency new = draw(&bench);
        uint32_t from = network->edges[bench.cdg.reverse[new.in]].to;
        uint32_t at = network->edges[new.in].to, to = network->edges[new.out].to;
        bool dmodk_up = ranks[from] < ranks[at] && ranks[to] < ranks[at];
        if (from != to && !dmodk_up)
            assert_true(cdg_agrees(&bench.cdg, 0, new.in, new.out));
    }
    insert_many(&bench, 8 * bench.cdg.channels);
    bench_release(&bench);
}

/* The graph of the same fabric with other links: `from` keeps its own square. */
static void bench_move(struct bench *bench, const struct bench *from, const struct draft *draft,
                       uint64_t seed)
{
    uint32_t to_new[14];
    uint32_t switches = (uint32_t)from->network.switches.count;
    *bench = (struct bench){0};
    for (uint32_t at = 0; at < switches; at++)
        to_new[at] = at;
    draft_build(draft, 0, &bench->network);
    cdg_move(&bench->cdg, &from->cdg, &bench->network, to_new);
    rng_seed(&bench->rng, seed, 10);
    bench->edges = mem_zalloc((size_t)bench->cdg.channels * bench->cdg.channels, sizeof(bool));
}

/* The channel of a link in another network with the same switches, or NETWORK_NONE. */
static uint32_t same_channel(const struct bench *bench, const struct bench *other, uint32_t channel)
{
    uint32_t from = bench->network.edges[bench->cdg.reverse[channel]].to;
    return cdg_leaving(&other->cdg, from, bench->network.edges[channel].port);
}

/* Lost and restored links: unchanged links keep their dependencies, and all answers are correct. */
static void a_graph_follows_its_network(void **state)
{
    unsigned kept = 0, refused = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct bench bench, broken, whole;
        struct draft draft;
        bench_init(&bench, seed);
        insert_many(&bench, 4 * bench.cdg.channels);
        draft_random(&draft, seed, 14);
        draft_break(&draft, seed, 3, seed % 2);
        bench_move(&broken, &bench, &draft, seed);
        for (uint32_t in = 0; in < broken.cdg.channels; in++)
            for (uint32_t out = 0; out < broken.cdg.channels; out++) {
                struct cdg_dependency now = {in, out, 0};
                struct cdg_dependency old = {same_channel(&broken, &bench, in),
                                             same_channel(&broken, &bench, out), 0};
                *edge_of(&broken, now) = *edge_of(&bench, old);
                kept += *edge_of(&broken, now);
            }
        refused += insert_many(&broken, 4 * broken.cdg.channels);
        bench_move(&whole, &broken, &bench.draft, seed);
        for (uint32_t in = 0; in < broken.cdg.channels; in++)
            for (uint32_t out = 0; out < broken.cdg.channels; out++)
                *edge_of(&whole, (struct cdg_dependency){same_channel(&broken, &whole, in),
                                                         same_channel(&broken, &whole, out), 0}) =
                    *edge_of(&broken, (struct cdg_dependency){in, out, 0});
        refused += insert_many(&whole, 4 * whole.cdg.channels);
        bench_release(&whole);
        bench_release(&broken);
        bench_release(&bench);
        draft_release(&draft);
    }
    assert_true(kept > 500 && refused > 20);
}

/* Switches change their index when a switch before them is lost. */
static void a_lost_switch_takes_its_channels_along(void **state)
{
    struct network before, after;
    struct cdg cdg, moved;
    build_ring(&before, 6);
    network_init(&after);
    for (uint32_t at = 0; at < 5; at++)
        network_add_switch(&after, 0x1000 + at, (uint16_t)(at + 2), 0, 3);
    for (uint32_t at = 1; at < 6; at++)
        for (uint32_t e = before.first_edge[at]; e < before.first_edge[at + 1]; e++)
            if (before.edges[e].to > at)
                network_link(&after, at - 1, before.edges[e].port, before.edges[e].to - 1,
                             before.edges[e].to_port);
    network_finish(&after);
    cdg_init(&cdg, &before);
    cdg_open(&cdg);
    for (uint32_t in = 0; in < cdg.channels; in++) {
        uint32_t at = before.edges[in].to;
        for (uint32_t out = before.first_edge[at]; out < before.first_edge[at + 1]; out++)
            if (out != cdg.reverse[in])
                cdg_insert(&cdg, 0, in, out);
    }
    cdg_move(&moved, &cdg, &after, (const uint32_t[]){NETWORK_NONE, 0, 1, 2, 3, 4});
    for (uint32_t in = 0; in < moved.channels; in++) {
        uint32_t at = after.edges[in].to;
        uint32_t old_in = cdg_arriving(&cdg, at + 1, after.edges[in].to_port);
        for (uint32_t out = after.first_edge[at]; out < after.first_edge[at + 1]; out++) {
            uint32_t old_out = cdg_leaving(&cdg, at + 1, after.edges[out].port);
            assert_int_equal(cdg_has(&moved, 0, in, out), cdg_has(&cdg, 0, old_in, old_out));
            assert_true(out == moved.reverse[in] || cdg_insert(&moved, 0, in, out) != CDG_REFUSED);
        }
    }
    cdg_release(&moved);
    cdg_release(&cdg);
    network_release(&after);
    network_release(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_channel_and_its_reverse_are_one_link),
        cmocka_unit_test(only_what_would_close_a_cycle_is_refused),
        cmocka_unit_test(a_trial_that_is_undone_leaves_no_trace_in_any_layer),
        cmocka_unit_test(committed_dependencies_stay),
        cmocka_unit_test(a_part_of_a_trial_can_be_kept),
        cmocka_unit_test(noted_dependencies_are_sorted_if_there_is_an_order),
        cmocka_unit_test(an_order_by_rank_agrees_with_up_and_down),
        cmocka_unit_test(a_graph_follows_its_network),
        cmocka_unit_test(a_lost_switch_takes_its_channels_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
