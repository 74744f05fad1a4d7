/* The published algorithms: the tables that the papers print, the tables of the engines, and legal
 * paths; and their steps. */
#include "networks.h"

#include "routing/paper/published.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

struct fixture {
    struct network network;
    struct updown updown;
    struct published published;
};

static void direct(struct fixture *fixture)
{
    updown_init(&fixture->updown, &fixture->network, &fixture->network.manager, 1, TREE_BFS);
    published_init(&fixture->published, &fixture->network, &fixture->updown);
}

static void release(struct fixture *fixture)
{
    published_release(&fixture->published);
    updown_release(&fixture->updown);
    network_release(&fixture->network);
}

/* As large as those of the papers. */
static const struct size {
    const char *switches, *hosts;
} sizes[] = {
    {"switches=16", "hosts=14"}, {"switches=24", "hosts=22"}, {"switches=32", "hosts=40"},
    {"switches=48", "hosts=64"}, {"switches=64", "hosts=82"},
};
enum { SIZES = sizeof sizes / sizeof sizes[0], SEEDS = 20 };

/* Size 0 is the printed network. */
static void open_paper(struct fixture *fixture, size_t size, uint64_t seed)
{
    if (size == 0) {
        build_figure1(&fixture->network);
    } else {
        const char *words[] = {sizes[size - 1].switches, sizes[size - 1].hosts, "rule=paper"};
        build_kind(&fixture->network, "irregular", words, 3, 0, seed);
    }
    direct(fixture);
}

/* Random switches of up to 16 ports, with parallel links. */
static void open_dense(struct fixture *fixture, uint64_t seed)
{
    struct draft draft;
    draft_random(&draft, seed, 40);
    draft_build(&draft, 0, &fixture->network);
    draft_release(&draft);
    if (fixture->network.manager == NETWORK_NONE)
        fixture->network.manager = 0;
    direct(fixture);
}

static uint16_t lid_of(const struct fixture *fixture, uint32_t node)
{
    uint32_t end_point = fixture->published.nodes[node].end_point;
    return end_point & NETWORK_SWITCH
               ? fixture->network.switches.items[end_point & ~NETWORK_SWITCH].lid
               : fixture->network.terminals.items[end_point].lid;
}

/* ---- paths ---- */

enum tables { FERA, PIRA, DR };

static uint8_t port_for(struct fixture *fixture, enum tables tables, uint32_t table, uint32_t at,
                        uint32_t to)
{
    const struct published_node *node = &fixture->published.nodes[at];
    if (tables == DR)
        return *published_renamed(&fixture->published, table, at, to);
    return tables == PIRA && node->table[to] == PORT_NONE ? node->default_port : node->table[to];
}

static uint32_t node_of(const struct fixture *fixture, uint32_t end_point)
{
    uint32_t node = 0;
    while (fixture->published.nodes[node].end_point != end_point)
        node++;
    return node;
}

/* Links from a switch to a node, by the tables and the network. The path must be legal. */
static unsigned follow(struct fixture *fixture, enum tables tables, uint32_t table, uint32_t from,
                       uint32_t to)
{
    const struct network *network = &fixture->network;
    uint32_t target = fixture->published.nodes[to].end_point;
    uint32_t at = fixture->published.nodes[from].end_point;
    bool went_down = false;
    unsigned hops = 0;
    for (; at != target; hops++) {
        uint32_t index = at & ~NETWORK_SWITCH;
        uint8_t port = port_for(fixture, tables, table, node_of(fixture, at), to);
        assert_true(at & NETWORK_SWITCH && port != PORT_NONE && hops < 100);
        at = network->ports.items[network->switches.items[index].first_port + port].peer;
        bool up =
            at & NETWORK_SWITCH && updown_is_up(&fixture->updown, index, at & ~NETWORK_SWITCH);
        assert_false(up && went_down);
        went_down |= !up;
    }
    return hops;
}

enum { NO_PATH = 1000, MOST_SWITCHES = 64 };
struct lengths { /* by switch: links of the shortest path to one of them; NO_PATH: none */
    unsigned down[MOST_SWITCHES], legal[MOST_SWITCHES];
};

/* Relaxes the links of one direction until nothing changes, but not where `fixed` has a path. */
static void relax_links(const struct fixture *fixture, unsigned *best, bool up,
                        const unsigned *fixed)
{
    const struct network *network = &fixture->network;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t at = 0; at < network->switches.count; at++)
            for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
                uint32_t next = network->edges[e].to;
                if (updown_is_up(&fixture->updown, at, next) != up || best[next] + 1 >= best[at] ||
                    (fixed && fixed[at] < NO_PATH))
                    continue;
                best[at] = best[next] + 1;
                changed = true;
            }
    }
}

/* With FERa's rule a switch that can go down does so. */
static struct lengths find_lengths(const struct fixture *fixture, uint32_t to, bool fera)
{
    struct lengths lengths;
    assert_true(fixture->network.switches.count <= MOST_SWITCHES);
    for (uint32_t at = 0; at < MOST_SWITCHES; at++)
        lengths.down[at] = at == to ? 0 : NO_PATH;
    relax_links(fixture, lengths.down, false, NULL);
    memcpy(lengths.legal, lengths.down, sizeof lengths.legal);
    relax_links(fixture, lengths.legal, true, fera ? lengths.down : NULL);
    return lengths;
}

/* True if the path of a pair could not use a table: it has another port for one of its switches. */
static bool has_conflict(struct fixture *fixture, uint32_t own, uint32_t other, uint32_t from,
                         uint32_t to)
{
    const struct network *network = &fixture->network;
    uint32_t at = fixture->published.nodes[from].end_point;
    while (at & NETWORK_SWITCH) {
        uint32_t node = node_of(fixture, at);
        uint8_t port = port_for(fixture, DR, own, node, to);
        uint8_t wanted = port_for(fixture, DR, other, node, to);
        if (wanted != PORT_NONE && wanted != port)
            return true;
        uint32_t first = network->switches.items[at & ~NETWORK_SWITCH].first_port;
        at = network->ports.items[first + port].peer;
    }
    return false;
}

/* Every pair of hosts has a shortest legal path, in the first table without a conflict. Returns the
 * number of tables. */
static uint32_t check_pairs(struct fixture *fixture)
{
    struct published *published = &fixture->published;
    size_t pairs = 0, hosts = fixture->network.terminals.count;
    for (uint32_t to = 0; to < published->count; to++) {
        if (published->nodes[to].table)
            continue;
        uint32_t target = published->nodes[to].end_point;
        struct lengths lengths =
            find_lengths(fixture, fixture->network.terminals.items[target].at, false);
        for (uint32_t from = 0; from < published->count; from++) {
            if (published->nodes[from].table || from == to)
                continue;
            uint32_t at = fixture->network.terminals.items[published->nodes[from].end_point].at;
            uint16_t table = published->table_of_pair.items[from * published->count + to];
            assert_true(table < published->renamed_count);
            uint32_t first = node_of(fixture, NETWORK_SWITCH | at);
            assert_int_equal(follow(fixture, DR, table, first, to), lengths.legal[at] + 1);
            for (uint32_t other = 0; other < table; other++)
                assert_true(has_conflict(fixture, table, other, first, to));
            pairs++;
        }
    }
    assert_int_equal(pairs, hosts * (hosts - 1));
    return published->renamed_count;
}

static void every_pair_of_hosts_has_a_shortest_legal_path(void **state)
{
    struct fixture fixture;
    for (size_t size = 0; size <= SIZES; size++)
        for (uint64_t seed = 1; seed <= (size < 4 ? SEEDS : 3); seed++) {
            open_paper(&fixture, size, seed);
            published_dr(&fixture.published);
            check_pairs(&fixture);
            release(&fixture);
        }
}

static void dense_networks_have_legal_paths(void **state)
{
    uint32_t most = 0;
    struct fixture fixture;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        open_dense(&fixture, seed);
        const struct published *published = &fixture.published;
        for (enum tables tables = FERA; tables <= PIRA; tables++) {
            (tables == FERA ? published_fera : published_pira)(&fixture.published);
            for (uint32_t from = 0; from < published->count; from++)
                for (uint32_t to = 0; published->nodes[from].table && to < published->count; to++)
                    follow(&fixture, tables, 0, from, to);
        }
        published_dr(&fixture.published);
        uint32_t tables = check_pairs(&fixture);
        most = tables > most ? tables : most;
        release(&fixture);
    }
    assert_true(most > 1); /* some destination was renamed */
}

/* ---- printed tables ---- */

static void fera_adds_the_entries_of_figure_6_in_the_printed_sequence(void **state)
{
    struct fixture fixture;
    struct text text;
    unsigned at, lid, port, hops, number;
    size_t count = 0;
    open_paper(&fixture, 0, 0);
    struct published *published = &fixture.published;
    published_clear(published);
    golden_read("fig6.csv", &text);
    const char *rest = strchr(text.data, '\n');
    for (uint32_t destination = 0; destination < published->count; destination++) {
        bool seen[15] = {false};
        published_flood(published, destination);
        for (size_t i = 0; i < published->queue.count; i++) {
            uint32_t x = published->queue.items[i];
            if (!published->nodes[x].table || seen[x])
                continue;
            seen[x] = true;
            assert_non_null(rest);
            assert_int_equal(sscanf(rest, "%u,%u,%u,%u,%u", &at, &lid, &port, &hops, &number), 5);
            rest = strchr(rest + 1, '\n');
            assert_int_equal(number, count++);
            assert_int_equal(lid_of(&fixture, x), at);
            assert_int_equal(lid_of(&fixture, destination), lid);
            assert_int_equal(published->nodes[x].table[destination], port);
            assert_int_equal(published->nodes[x].hops[destination], hops);
        }
    }
    assert_int_equal(count, 120);
    text_release(&text);
    release(&fixture);
}

/* ---- the engines' tables ---- */

/* Both have the same explicit entries and default ports. Returns the number of entries. */
static size_t compare_pira(struct fixture *fixture)
{
    struct published *published = &fixture->published;
    struct routes routes;
    struct err err = {0};
    size_t entries = 0;
    assert_int_equal(
        engine_pira.compute(&fixture->network, &(struct engine_options){0}, &routes, &err), 0);
    published_pira(published);
    for (uint32_t x = 0; x < published->count; x++) {
        const struct published_node *node = &published->nodes[x];
        uint32_t at = node->end_point & ~NETWORK_SWITCH;
        if (!node->table)
            continue;
        assert_int_equal(routes.default_ports[at], node->default_port);
        for (uint32_t y = 0; y < published->count; y++) {
            uint16_t lid = lid_of(fixture, y);
            bool explicit_entry = routes_is_explicit(&routes, at, lid);
            assert_int_equal(node->table[y],
                             explicit_entry ? routes_port(&routes, at, lid) : PORT_NONE);
            entries += explicit_entry;
        }
    }
    routes_release(&routes);
    return entries;
}

/* The engine's tables are those of Fig. 8 (figures_test.c). */
static void pira_has_the_entries_of_the_engine(void **state)
{
    struct fixture fixture;
    for (size_t size = 0; size <= SIZES; size++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            open_paper(&fixture, size, seed);
            size_t entries = compare_pira(&fixture);
            assert_true(size == 0 ? entries == 50 : entries > 50);
            release(&fixture);
        }
}

/* Lengths are those of FERa's rule, so all differences are between equal paths. Returns the number
 * of entries with other ports. */
static size_t compare_fera(struct fixture *fixture)
{
    struct published *published = &fixture->published;
    struct routes routes;
    struct err err = {0};
    size_t other_ports = 0;
    assert_int_equal(
        engine_fera.compute(&fixture->network, &(struct engine_options){0}, &routes, &err), 0);
    published_fera(published);
    for (uint32_t to = 0; to < published->count; to++) {
        uint32_t target = published->nodes[to].end_point;
        struct lengths lengths =
            find_lengths(fixture, network_switch_of(&fixture->network, target), true);
        for (uint32_t from = 0; from < published->count; from++) {
            const struct published_node *node = &published->nodes[from];
            uint32_t at = node->end_point & ~NETWORK_SWITCH;
            if (!node->table)
                continue;
            unsigned hops = lengths.legal[at] + !(target & NETWORK_SWITCH);
            assert_int_equal(follow(fixture, FERA, 0, from, to), hops);
            assert_int_equal(node->hops[to], hops);
            other_ports += node->table[to] != routes_port(&routes, at, lid_of(fixture, to));
        }
    }
    routes_release(&routes);
    return other_ports;
}

static void fera_has_the_lengths_of_its_rule_and_nearly_all_ports_of_the_engine(void **state)
{
    struct fixture fixture;
    size_t other_ports = 0, entries = 0;
    for (size_t size = 0; size <= SIZES; size++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            open_paper(&fixture, size, seed);
            size_t differ = compare_fera(&fixture);
            assert_true(differ == 0 || size > 0);
            other_ports += differ;
            entries += (size_t)fixture.published.switch_count * fixture.published.count;
            release(&fixture);
        }
    assert_true(other_ports > 0 && other_ports * 50 < entries);
}

/* ---- steps ---- */

static uint64_t steps_of(const struct network *network, const char *engine)
{
    return published_steps(network, engine_find(engine), &(struct engine_options){0});
}

/* 15 floodings examine the 25 ports in use of the switches, and seven of them first the port of a
 * host. PIRa examines the ports of switches and hosts three times, considers 0 + 1 + ... + 7
 * switches for entries for switches, and for the hosts with LIDs 4, 7 and 11 to 15 three, five and
 * five times eight. */
static void the_printed_network_takes_the_steps_counted_by_hand(void **state)
{
    struct network network;
    build_figure1(&network);
    assert_int_equal(steps_of(&network, "fera"), 15 * 25 + 7);
    assert_int_equal(steps_of(&network, "pira"), 3 * (25 + 7) + 28 + 3 + 5 + 5 * 8);
    assert_int_equal(steps_of(&network, "pira+fera"), steps_of(&network, "fera"));
    assert_int_equal(steps_of(&network, "minhop"), steps_of(&network, "fera"));
    network_release(&network);
}

/* Three switches in a row with a host each, the root in the middle. */
static void renaming_takes_the_steps_counted_by_hand(void **state)
{
    struct network network;
    network_init(&network);
    for (unsigned i = 0; i < 3; i++)
        network_add_switch(&network, 1 + i, (uint16_t)(1 + i), 0, 3);
    network.manager = 1;
    network_link(&network, 0, 1, 1, 1);
    network_link(&network, 1, 2, 2, 1);
    for (unsigned i = 0; i < 3; i++)
        network_add_terminal(&network, 10 + i, (uint16_t)(10 + i), 0, i, 3);
    assert_int_equal(network_finish(&network), 0);
    uint64_t fera = 6 * 7 + 3;
    /* The hosts at the ends search from their own port: up over a switch to the root, then down to
     * both ends. */
    uint64_t searches = 2 * (1 + 2 + 3 + 2 + 2) + (1 + 3 + 2 + 2);
    /* Ordered pairs: four of two switches, two of three; each compared once and written. */
    uint64_t paths = (4 * 2 + 2 * 3) * 2;
    assert_int_equal(steps_of(&network, "fera"), fera);
    assert_int_equal(steps_of(&network, "dr"), steps_of(&network, "pira") + searches + paths);
    assert_int_equal(steps_of(&network, "pira+dr"), steps_of(&network, "dr"));
    network_release(&network);
}

static void hosts_that_share_a_switch_are_all_counted(void **state)
{
    struct network network;
    network_init(&network);
    network_add_switch(&network, 1, 1, 0, 4);
    for (unsigned i = 0; i < 3; i++)
        network_add_terminal(&network, 10 + i, (uint16_t)(10 + i), 0, 0, 1 + i);
    assert_int_equal(network_finish(&network), 0);
    assert_int_equal(steps_of(&network, "fera"), 4 * 3 + 3);
    /* Six pairs, a path of one switch each. */
    assert_int_equal(steps_of(&network, "dr"), steps_of(&network, "pira") + 3 * (1 + 3) + 6 * 2);
    network_release(&network);
}

/* ICPP 2003: the growth of FERa is quadratic. TPDS 2006: PIRa is faster than FERa, FERa than DR,
 * and the more so the larger the network. */
static void the_order_of_the_algorithms_shows_in_their_steps(void **state)
{
    double ratio = 0, renaming = 0, per_square = 0;
    for (size_t size = 0; size <= SIZES; size++) {
        double fera = 0, pira = 0, dr = 0, square = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct fixture fixture;
            open_paper(&fixture, size, seed);
            fera += (double)steps_of(&fixture.network, "fera");
            pira += (double)steps_of(&fixture.network, "pira");
            dr += (double)steps_of(&fixture.network, "dr");
            square += (double)fixture.published.count * fixture.published.count;
            release(&fixture);
        }
        assert_true(fera / pira > ratio && dr / pira > renaming);
        assert_true(fera / pira > 2 && fera / pira < 6 && dr > 1.5 * fera);
        if (size > 0)
            assert_true(fera / square > 0.85 * per_square && fera / square < 1.15 * per_square);
        ratio = fera / pira;
        renaming = dr / pira;
        per_square = fera / square;
    }
}

static void unusual_networks_can_be_counted(void **state)
{
    const struct engine *engine;
    struct network nothing, torn;
    struct draft draft;
    network_init(&nothing);
    assert_int_equal(network_finish(&nothing), 0);
    draft_random(&draft, 5, 40);
    draft_break(&draft, 5, 12, 6);
    draft_build(&draft, 0, &torn);
    for (size_t i = 0; (engine = engine_at(i)); i++) {
        assert_int_equal(published_steps(&nothing, engine, &(struct engine_options){0}), 0);
        assert_true(published_steps(&torn, engine, &(struct engine_options){0}) > 0);
    }
    uint64_t nobody = 0x77;
    struct engine_options lost = {.root = ROOT_LIST, .root_guids = &nobody, .root_count = 1};
    assert_int_equal(published_steps(&torn, &engine_fera, &lost), 0);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct network odd;
        build_odd(&odd, seed, 12);
        for (size_t i = 0; i < 3; i++)
            steps_of(&odd, ((const char *const[]){"fera", "pira", "dr"})[i]);
        network_release(&odd);
    }
    draft_release(&draft);
    network_release(&nothing);
    network_release(&torn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fera_adds_the_entries_of_figure_6_in_the_printed_sequence),
        cmocka_unit_test(fera_has_the_lengths_of_its_rule_and_nearly_all_ports_of_the_engine),
        cmocka_unit_test(pira_has_the_entries_of_the_engine),
        cmocka_unit_test(every_pair_of_hosts_has_a_shortest_legal_path),
        cmocka_unit_test(dense_networks_have_legal_paths),
        cmocka_unit_test(the_printed_network_takes_the_steps_counted_by_hand),
        cmocka_unit_test(renaming_takes_the_steps_counted_by_hand),
        cmocka_unit_test(hosts_that_share_a_switch_are_all_counted),
        cmocka_unit_test(the_order_of_the_algorithms_shows_in_their_steps),
        cmocka_unit_test(unusual_networks_can_be_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
