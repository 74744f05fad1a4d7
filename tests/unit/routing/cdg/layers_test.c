/* Dependency graphs that never get a cycle, against a search that starts from nothing each time. */
#include "networks.h"

#include "routing/cdg/layers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

/* Is there a way from one channel to another? Kept apart from the code under test: a square of
 * bits. */
static bool leads_to(const bool *edges, uint32_t channels, uint32_t from, uint32_t to)
{
    uint32_t *stack = mem_alloc(channels * sizeof *stack), depth = 0;
    bool *seen = mem_zalloc(channels, sizeof *seen), found = false;
    seen[from] = true;
    stack[depth++] = from;
    while (depth && !found) {
        uint32_t at = stack[--depth];
        found = at == to;
        for (uint32_t next = 0; next < channels; next++) {
            if (!edges[at * channels + next] || seen[next])
                continue;
            seen[next] = true;
            stack[depth++] = next;
        }
    }
    mem_free(stack);
    mem_free(seen);
    return found;
}

/* A random pair of channels that meet at a switch. */
static void draw_dependency(const struct layers *layers, struct rng *rng, uint32_t *in,
                            uint32_t *out)
{
    const struct network *network = layers->network;
    *in = (uint32_t)rng_below(rng, layers->channels);
    uint32_t at = network->edges[*in].to;
    uint32_t degree = network->first_edge[at + 1] - network->first_edge[at];
    *out = network->first_edge[at] + (uint32_t)rng_below(rng, degree);
}

static void make_network(struct network *network, uint64_t seed)
{
    struct draft draft;
    draft_random(&draft, seed, 14);
    draft_build(&draft, 0, network);
    draft_release(&draft);
}

static void twins_are_the_two_ends_of_a_cable(void **state)
{
    struct network network;
    struct layers layers;
    (void)state;
    make_network(&network, 3);
    layers_init(&layers, &network);
    for (uint32_t e = 0; e < layers.channels; e++) {
        uint32_t twin = layers.twin[e];
        assert_int_equal(layers.twin[twin], e);
        assert_int_equal(network.edges[twin].port, network.edges[e].to_port);
        assert_int_equal(network.edges[twin].to_port, network.edges[e].port);
    }
    layers_release(&layers);
    network_release(&network);
}

/* The order stays as it is, but there is no room between its members. */
static void squeeze_order(const struct layers *layers, struct layer *layer)
{
    uint64_t place = 0;
    for (uint32_t at = layer->next[layers->channels]; at != layers->channels; at = layer->next[at])
        layer->place[at] = ++place;
}

static void only_what_would_close_a_cycle_is_refused(void **state)
{
    unsigned refused = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct network network;
        struct layers layers;
        struct rng rng;
        make_network(&network, seed);
        layers_init(&layers, &network);
        layers_open(&layers);
        rng_seed(&rng, seed, 9);
        bool *edges = mem_zalloc((size_t)layers.channels * layers.channels, sizeof *edges);
        for (unsigned i = 0; i < 12 * layers.channels; i++) {
            uint32_t in, out;
            if (i % 3 == seed % 6)
                squeeze_order(&layers, &layers.layer[0]);
            draw_dependency(&layers, &rng, &in, &out);
            bool had = edges[in * layers.channels + out];
            bool closes = leads_to(edges, layers.channels, out, in);
            enum layers_answer answer = layers_add(&layers, 0, in, out);
            assert_int_equal(answer, had ? LAYERS_HAD : closes ? LAYERS_REFUSED : LAYERS_ADDED);
            edges[in * layers.channels + out] |= !closes;
            assert_int_equal(layers_has(&layers, 0, in, out), !closes);
            assert_int_equal(layers_refuses(&layers, 0, in, out), closes);
            refused += closes;
        }
        mem_free(edges);
        layers_release(&layers);
        network_release(&network);
    }
    assert_true(refused > 100);
}

/* All rows of a layer, for comparison. */
static void copy_rows(const struct layers *layers, uint64_t *rows)
{
    size_t words = layers_row(layers, layers->channels);
    memcpy(rows, layers->layer[0].after, words * sizeof *rows);
    memcpy(rows + words, layers->layer[0].before, words * sizeof *rows);
}

static void a_trial_that_is_undone_leaves_no_trace(void **state)
{
    unsigned readmitted = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct network network;
        struct layers layers;
        struct rng rng;
        uint32_t in, out;
        make_network(&network, seed);
        layers_init(&layers, &network);
        layers_open(&layers);
        rng_seed(&rng, seed, 10);
        size_t words = 2 * layers_row(&layers, layers.channels);
        uint64_t *before = mem_alloc(words * sizeof *before);
        uint64_t *after = mem_alloc(words * sizeof *after);
        bool *edges = mem_zalloc((size_t)layers.channels * layers.channels, sizeof *edges);
        for (unsigned round = 0; round < 30; round++) {
            for (unsigned i = 0; i < layers.channels / 8; i++) {
                draw_dependency(&layers, &rng, &in, &out);
                /* What trials refused on their own account must be possible again. */
                bool closes = leads_to(edges, layers.channels, out, in);
                enum layers_answer answer = layers_add(&layers, 0, in, out);
                assert_int_equal(answer == LAYERS_REFUSED, closes);
                edges[in * layers.channels + out] |= !closes;
                readmitted += round > 0 && answer == LAYERS_ADDED;
            }
            copy_rows(&layers, before);
            layers_begin(&layers, 0);
            for (unsigned i = 0; i < layers.channels; i++) {
                draw_dependency(&layers, &rng, &in, &out);
                layers_add(&layers, 0, in, out);
            }
            layers_undo(&layers);
            copy_rows(&layers, after);
            assert_memory_equal(before, after, words * sizeof *before);
        }
        mem_free(edges);
        mem_free(before);
        mem_free(after);
        layers_release(&layers);
        network_release(&network);
    }
    assert_true(readmitted > 0);
}

static bool leads_up(const void *context, struct layers_dependency added)
{
    (void)context;
    return added.out > added.in;
}

static void a_part_of_a_trial_can_be_kept(void **state)
{
    struct network network;
    struct layers layers;
    struct rng rng;
    uint32_t in, out;
    (void)state;
    make_network(&network, 5);
    layers_init(&layers, &network);
    layers_open(&layers);
    rng_seed(&rng, 5, 11);
    layers_begin(&layers, 0);
    for (unsigned i = 0; i < 8 * layers.channels; i++) {
        draw_dependency(&layers, &rng, &in, &out);
        layers_add(&layers, 0, in, out);
    }
    layers_keep_if(&layers, leads_up, NULL);
    unsigned kept = 0;
    for (in = 0; in < layers.channels; in++) {
        uint32_t at = network.edges[in].to;
        for (out = network.first_edge[at]; out < network.first_edge[at + 1]; out++) {
            kept += layers_has(&layers, 0, in, out);
            assert_true(out > in || !layers_has(&layers, 0, in, out));
        }
    }
    assert_true(kept > 0);
    layers_release(&layers);
    network_release(&network);
}

static void many_at_once_are_sorted_if_there_is_an_order(void **state)
{
    unsigned sorted = 0, cyclic = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct network network;
        struct layers layers;
        struct rng rng;
        uint32_t in, out;
        bool closed = false;
        make_network(&network, seed);
        layers_init(&layers, &network);
        layers_open(&layers);
        rng_seed(&rng, seed, 12);
        bool *edges = mem_zalloc((size_t)layers.channels * layers.channels, sizeof *edges);
        for (unsigned i = 0; i < layers.channels / (1 + seed % 4); i++) {
            draw_dependency(&layers, &rng, &in, &out);
            closed |= leads_to(edges, layers.channels, out, in);
            edges[in * layers.channels + out] = true;
            layers_note(&layers, 0, in, out);
        }
        assert_int_equal(layers_sort(&layers, 0), !closed);
        sorted += !closed;
        cyclic += closed;
        /* From then on the layer is as if all had been added one by one. */
        for (unsigned i = 0; !closed && i < 8 * layers.channels; i++) {
            draw_dependency(&layers, &rng, &in, &out);
            bool closes = leads_to(edges, layers.channels, out, in);
            assert_int_equal(layers_add(&layers, 0, in, out) == LAYERS_REFUSED, closes);
            edges[in * layers.channels + out] |= !closes;
        }
        mem_free(edges);
        layers_release(&layers);
        network_release(&network);
    }
    assert_true(sorted > 3 && cyclic > 3);
}

static void lanes_that_are_left_go_to_the_heaviest_layers(void **state)
{
    struct layers_share share[3];
    (void)state;
    layers_share(share, (const uint64_t[]){100, 60, 1}, 3, 8);
    assert_int_equal(share[0].count, 4);
    assert_int_equal(share[1].count, 3);
    assert_int_equal(share[2].count, 1);
    assert_int_equal(share[0].first, 0);
    assert_int_equal(share[1].first, 4);
    assert_int_equal(share[2].first, 7);
    assert_int_equal(layers_lightest(&share[1], (const uint64_t[]){0, 0, 0, 0, 5, 4, 4, 0}), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twins_are_the_two_ends_of_a_cable),
        cmocka_unit_test(only_what_would_close_a_cycle_is_refused),
        cmocka_unit_test(a_trial_that_is_undone_leaves_no_trace),
        cmocka_unit_test(a_part_of_a_trial_can_be_kept),
        cmocka_unit_test(many_at_once_are_sorted_if_there_is_an_order),
        cmocka_unit_test(lanes_that_are_left_go_to_the_heaviest_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
