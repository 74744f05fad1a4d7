#include "support.h"

#include <stdlib.h>

static unsigned count_kind(const struct topology *topology, enum node_kind kind)
{
    unsigned count = 0;
    for (size_t i = 0; i < topology->nodes.count; i++)
        count += topology->nodes.items[i].kind == kind;
    return count;
}

static unsigned count_links(const struct topology *topology)
{
    unsigned ends = 0;
    for (size_t i = 0; i < topology->ports.count; i++)
        ends += topology->ports.items[i].peer != TOPOLOGY_NONE;
    return ends / 2;
}

static bool is_connected(const struct topology *topology)
{
    struct graph graph;
    uint32_t zero = 0;
    graph_init(&graph, topology);
    uint32_t *distance = mem_alloc(graph.switch_count * sizeof *distance);
    uint32_t *queue = mem_alloc(graph.switch_count * sizeof *queue);
    bool connected = graph_distances(&graph, &zero, 1, distance, queue) == graph.switch_count;
    mem_free(distance);
    mem_free(queue);
    graph_release(&graph);
    return connected;
}

static void every_kind_is_connected_and_survives_writing(void **state)
{
    static const struct {
        const char *words;
        unsigned switches, hosts, links;
    } cases[] = {
        {"irregular 16 hosts=14", 16, 14, 34},
        {"irregular 1 hosts=3", 1, 3, 3},
        {"irregular 30 ports=8 hosts=45 links=80", 30, 45, 125},
        {"irregular 4 hosts=10", 4, 10, 13},
        {"jellyfish switches=20 ports=8 degree=5", 20, 60, 110},
        {"jellyfish 11 ports=12 degree=9 hosts=1", 11, 11, 60},
        {"clos 3 1 4", 7, 4, 16},
        {"clos m=2 n=4 r=5", 7, 20, 30},
        {"fattree 324", 36, 324, 648},
        {"fattree 648", 54, 648, 1296},
        {"fattree m=4,3,2 w=1,2,2", 14, 24, 24 + 12 + 8},
        {"fattree m=18,18 w=1,9 parallel=2", 27, 324, 648},
        {"kary 4 3", 48, 64, 192},
        {"torus 4x4x4", 64, 64, 192 + 64},
        {"torus 2x5 hosts=2", 10, 20, 5 + 10 + 20},
        {"torus 3x3 parallel=2", 9, 9, 36 + 9},
        {"mesh 3x4", 12, 12, 17 + 12},
        {"ring 6", 6, 6, 12},
        {"ring 2 hosts=0", 2, 0, 1},
        {"hypercube 5", 32, 32, 80 + 32},
        {"hyperx 4x3 hosts=2", 12, 24, 18 + 12 + 24},
        {"dragonfly", 36, 72, 9 * 6 + 36 + 72},
        {"dragonfly p=1 a=4 h=2 g=5", 20, 20, 5 * 6 + 20 + 20},
        {"figure1", 8, 7, 16},
        {"thesis", 5, 7, 19},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct topology t;
        must_generate(&t, cases[i].words, 3);
        if (count_kind(&t, NODE_SWITCH) != cases[i].switches ||
            count_kind(&t, NODE_ADAPTER) != cases[i].hosts || count_links(&t) != cases[i].links)
            fail_msg("%s: %u switches, %u hosts, %u links", cases[i].words,
                     count_kind(&t, NODE_SWITCH), count_kind(&t, NODE_ADAPTER), count_links(&t));
        assert_true(is_connected(&t));
        assert_survives_writing(&t);
        topology_release(&t);
    }
}

static void the_papers_irregular_networks_can_be_made_with_any_seed(void **state)
{
    static const unsigned sizes[][2] = {{8, 7},   {16, 14}, {24, 22}, {32, 21},
                                        {32, 40}, {48, 64}, {64, 82}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            char words[64];
            struct topology t;
            unsigned free_ports = 0;
            snprintf(words, sizeof words, "irregular %u hosts=%u", sizes[i][0], sizes[i][1]);
            must_generate(&t, words, seed);
            assert_int_equal(count_kind(&t, NODE_SWITCH), sizes[i][0]);
            assert_int_equal(count_kind(&t, NODE_ADAPTER), sizes[i][1]);
            assert_true(is_connected(&t));
            for (uint32_t n = 0; n < t.nodes.count; n++)
                for (unsigned p = 1; p <= t.nodes.items[n].port_count; p++)
                    free_ports +=
                        t.ports.items[topology_port_index(&t, n, p)].peer == TOPOLOGY_NONE;
            assert_true(free_ports > 0);
            assert_int_equal(t.nodes.items[0].kind, NODE_SWITCH);
            assert_int_equal(t.nodes.items[0].port_count, 4);
            topology_release(&t);
        }
    }
}

static unsigned hosts_of(const struct topology *topology, uint32_t node)
{
    unsigned hosts = 0;
    for (unsigned p = 1; p <= topology->nodes.items[node].port_count; p++) {
        uint32_t peer = topology->ports.items[topology_port_index(topology, node, p)].peer;
        if (peer != TOPOLOGY_NONE)
            hosts += topology->nodes.items[topology->ports.items[peer].node].kind == NODE_ADAPTER;
    }
    return hosts;
}

static void irregular_hosts_are_spread_evenly_or_go_where_a_port_is_free(void **state)
{
    struct topology t;
    must_generate(&t, "irregular 64 hosts=82", 5);
    for (uint32_t i = 0; i < 64; i++)
        assert_in_range(hosts_of(&t, i), 1, 2);
    topology_release(&t);
    must_generate(&t, "irregular 32", 5);
    for (uint32_t i = 0; i < 32; i++) {
        unsigned used = 0;
        for (unsigned p = 1; p <= 4; p++)
            used += t.ports.items[topology_port_index(&t, i, p)].peer != TOPOLOGY_NONE;
        assert_int_equal(hosts_of(&t, i), used - hosts_of(&t, i) < 4 ? 1 : 0);
    }
    topology_release(&t);
}

/* ICPP 2003, SAN-2 2003 and TPDS 2006: a host at each switch, if a port is left. */
static void by_the_papers_rule_a_switch_without_a_host_has_no_free_port(void **state)
{
    static const char *const words[] = {"irregular 32 hosts=21 rule=paper links=34",
                                        "irregular 32 hosts=21 rule=paper",
                                        "irregular 16 hosts=14 rule=paper",
                                        "irregular 24 hosts=22 rule=paper",
                                        "irregular 48 rule=paper",
                                        "irregular 64 hosts=82 rule=paper"};
    const char *const no_hosts[] = {"4", "hosts=0", "rule=paper"};
    struct topology none;
    struct err err = {0};
    topology_init(&none);
    assert_true(topology_generate(&none, "irregular", no_hosts, 3, 1, &err) < 0);
    must_generate(&none, "irregular 20000 hosts=10000 rule=paper", 1); /* within seconds */
    topology_release(&none);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct topology t;
            unsigned links = 0;
            must_generate(&t, words[i], seed);
            assert_true(is_connected(&t));
            for (uint32_t n = 0; n < t.nodes.count; n++) {
                unsigned used = 0;
                if (t.nodes.items[n].kind != NODE_SWITCH)
                    continue;
                for (unsigned p = 1; p <= 4; p++)
                    used += t.ports.items[topology_port_index(&t, n, p)].peer != TOPOLOGY_NONE;
                assert_true(hosts_of(&t, n) > 0 || used == 4);
                links += used - hosts_of(&t, n);
            }
            if (i == 0)
                assert_int_equal(links, 2 * 34);
            topology_release(&t);
        }
}

static unsigned count_parallel(const struct topology *topology)
{
    struct graph graph;
    unsigned parallel = 0;
    graph_init(&graph, topology);
    for (uint32_t i = 0; i < graph.switch_count; i++)
        for (uint32_t e = graph.first_edge[i]; e < graph.first_edge[i + 1]; e++)
            for (uint32_t f = graph.first_edge[i]; f < e; f++)
                parallel += graph.neighbour[e] == graph.neighbour[f];
    graph_release(&graph);
    return parallel;
}

static void irregular_links_are_parallel_only_on_request(void **state)
{
    unsigned parallel = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct topology t;
        must_generate(&t, "irregular 8 hosts=7 links=12", seed);
        assert_int_equal(count_parallel(&t), 0);
        topology_release(&t);
        must_generate(&t, "irregular 8 hosts=7 links=12 parallel=1", seed);
        parallel += count_parallel(&t);
        topology_release(&t);
    }
    assert_true(parallel > 0);
}

static void a_seed_fixes_the_fabric(void **state)
{
    static const char *const words[] = {"irregular 40 hosts=30", "jellyfish 30"};
    for (size_t i = 0; i < 2; i++) {
        struct topology a, b, c;
        struct text text[3] = {{0}, {0}, {0}};
        must_generate(&a, words[i], 7);
        must_generate(&b, words[i], 7);
        must_generate(&c, words[i], 8);
        topology_write_ibnetdiscover(&a, &text[0]);
        topology_write_ibnetdiscover(&b, &text[1]);
        topology_write_ibnetdiscover(&c, &text[2]);
        assert_string_equal(text[0].data, text[1].data);
        assert_string_not_equal(text[0].data, text[2].data);
        for (int j = 0; j < 3; j++)
            text_release(&text[j]);
        topology_release(&a);
        topology_release(&b);
        topology_release(&c);
    }
}

static void the_clos_of_the_papers_has_its_numbers(void **state)
{
    struct topology t;
    must_generate(&t, "clos 3 1 4", 1);
    for (uint32_t i = 0; i < 7; i++) {
        char name[8];
        snprintf(name, sizeof name, "S%u", i);
        assert_int_equal(must_find(&t, name), i);
        assert_int_equal(t.nodes.items[i].guid, 100 + i);
        assert_int_equal(t.nodes.items[i].port_count, 4);
        assert_int_equal(hosts_of(&t, i), i < 2 || i > 4);
    }
    topology_release(&t);
}

/* The number after "key": in the text at *at, which moves behind it. */
static bool next_number(const char **at, const char *key, unsigned *number)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = strstr(*at, quoted);
    if (!found)
        return false;
    *at = found + strlen(quoted);
    *number = (unsigned)strtoul(*at, NULL, 10);
    return true;
}

static void figure1_has_the_links_of_the_golden_data(void **state)
{
    struct topology t;
    struct text text = {0};
    FILE *file = fopen(TEST_GOLDEN_DIR "/fig1.json", "re");
    assert_non_null(file);
    assert_int_equal(text_read(&text, file, 100000), 0);
    fclose(file);
    must_generate(&t, "figure1", 1);
    const char *at = strstr(text.data, "\"links\"");
    unsigned a, a_port, b, b_port, links = 0;
    while (next_number(&at, "a", &a) && next_number(&at, "a_port", &a_port) &&
           next_number(&at, "b", &b) && next_number(&at, "b_port", &b_port)) {
        char x[8], y[8];
        bool to_host = strncmp(strstr(at, "\"kind\": \"") + 9, "sw-host", 7) == 0;
        snprintf(x, sizeof x, "S%u", a);
        snprintf(y, sizeof y, "%c%u", to_host ? 'H' : 'S', b);
        assert_linked(&t, x, a_port, y, b_port);
        links++;
    }
    assert_int_equal(links, 16);
    assert_int_equal(count_links(&t), links);
    topology_release(&t);
    text_release(&text);
}

static void figure1_is_numbered_by_a_search_in_port_order(void **state)
{
    struct topology t;
    uint32_t queue[15], found = 1;
    bool seen[15] = {true};
    must_generate(&t, "figure1", 1);
    queue[0] = 0;
    for (uint32_t head = 0; head < found; head++) {
        const struct topology_node *node = &t.nodes.items[queue[head]];
        char lid[16];
        snprintf(lid, sizeof lid, "%u", head + 1);
        assert_string_equal(node->description + 1, lid);
        for (unsigned p = 1; p <= node->port_count; p++) {
            uint32_t peer = t.ports.items[node->first_port + p].peer;
            if (peer == TOPOLOGY_NONE || seen[t.ports.items[peer].node])
                continue;
            seen[t.ports.items[peer].node] = true;
            queue[found++] = t.ports.items[peer].node;
        }
    }
    assert_int_equal(found, 15);
    topology_release(&t);
}

/* The printed tables show which port of a switch leads to which LID in how many hops; an entry with
 * one hop is a link. */
static void the_thesis_network_has_the_neighbours_of_the_golden_data(void **state)
{
    struct topology t;
    FILE *file = fopen(TEST_GOLDEN_DIR "/thesis_minhop.csv", "re");
    assert_non_null(file);
    must_generate(&t, "thesis", 1);
    char line[64];
    unsigned guid, at, lid, port, hops, links = 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "0x%x,%u,%u,%u,%u", &guid, &at, &lid, &port, &hops) != 5 || hops > 1)
            continue;
        char text[16];
        snprintf(text, sizeof text, "S%u", at);
        uint32_t node = must_find(&t, text);
        assert_int_equal(t.nodes.items[node].guid, guid);
        uint32_t end = topology_port_index(&t, node, 0);
        if (hops == 1) {
            uint32_t peer = t.ports.items[topology_port_index(&t, node, port)].peer;
            assert_int_not_equal(peer, TOPOLOGY_NONE);
            const struct topology_node *other = &t.nodes.items[t.ports.items[peer].node];
            end = other->first_port + (other->kind != NODE_SWITCH);
            links++;
        }
        assert_int_equal(t.ports.items[end].lid, lid);
    }
    assert_int_equal(links, 2 * 3 * 2 + 7);
    fclose(file);
    topology_release(&t);
}

static void fat_trees_have_the_published_sizes(void **state)
{
    static const unsigned sizes[][2] = {{324, 36}, {648, 54}, {5832, 972}, {11664, 1620}};
    for (size_t i = 0; i < 4; i++) {
        char words[32];
        struct topology t;
        snprintf(words, sizeof words, "fattree %u", sizes[i][0]);
        must_generate(&t, words, 1);
        assert_int_equal(count_kind(&t, NODE_ADAPTER), sizes[i][0]);
        assert_int_equal(count_kind(&t, NODE_SWITCH), sizes[i][1]);
        for (size_t n = 0; n < t.nodes.count; n++)
            assert_int_equal(t.nodes.items[n].port_count,
                             t.nodes.items[n].kind == NODE_SWITCH ? 36 : 1);
        assert_int_equal(t.nodes.items[0].kind, NODE_ADAPTER);
        assert_int_equal(t.nodes.items[1].kind, NODE_SWITCH);
        topology_release(&t);
    }
}

static void fat_trees_are_wired_in_order(void **state)
{
    struct topology t;
    must_generate(&t, "fattree 648", 1);
    assert_linked(&t, "L0", 1, "H0", 1);
    assert_linked(&t, "L35", 18, "H647", 1);
    assert_linked(&t, "L0", 19, "S0", 1);
    assert_linked(&t, "L7", 36, "S17", 8);
    topology_release(&t);
    must_generate(&t, "fattree 11664", 1);
    assert_linked(&t, "L35_17", 18, "H11663", 1);
    assert_linked(&t, "L2_5", 18 + 8, "M2_7", 6);
    assert_linked(&t, "M2_7", 18 + 4, "C7_3", 3);
    topology_release(&t);
    must_generate(&t, "fattree m=18,18 w=1,9 parallel=2", 1);
    assert_linked(&t, "L3", 19, "S0", 7);
    assert_linked(&t, "L3", 28, "S0", 8);
    topology_release(&t);
}

static void grid_ports_follow_the_directions(void **state)
{
    struct topology t;
    must_generate(&t, "torus 4x3", 1);
    assert_linked(&t, "S0_0", 1, "S1_0", 2);
    assert_linked(&t, "S3_1", 1, "S0_1", 2);
    assert_linked(&t, "S2_0", 3, "S2_1", 4);
    assert_linked(&t, "S2_2", 3, "S2_0", 4);
    assert_linked(&t, "S2_2", 5, "H10", 1);
    topology_release(&t);
    must_generate(&t, "mesh 4x3", 1);
    assert_int_equal(port_of(&t, "S3_0", 1)->peer, TOPOLOGY_NONE);
    assert_int_equal(port_of(&t, "S0_0", 2)->peer, TOPOLOGY_NONE);
    topology_release(&t);
    must_generate(&t, "hypercube 3", 1);
    assert_linked(&t, "S0_0_0", 2, "S0_1_0", 2);
    topology_release(&t);
}

static void links_are_of_a_present_fabric_by_default(void **state)
{
    struct topology t;
    must_generate(&t, "fattree m=2,2 w=1,2", 1);
    for (uint32_t i = 0; i < t.ports.count; i++) {
        const struct topology_port *port = &t.ports.items[i];
        if (port->peer == TOPOLOGY_NONE)
            continue;
        assert_int_equal(port->width, WIDTH_4X);
        assert_int_equal(port->speed, SPEED_NDR);
        assert_int_equal(port->length_mm, 20000);
    }
    topology_release(&t);
}

static void links_take_width_speed_and_length(void **state)
{
    struct topology t;
    must_generate(&t, "ring 4 width=2x speed=HDR length=3m", 1);
    const struct topology_port *port = port_of(&t, "S0", 1);
    assert_int_equal(port->width, WIDTH_2X);
    assert_int_equal(port->speed, SPEED_HDR);
    assert_int_equal(port->length_mm, 3000);
    assert_survives_writing(&t);
    topology_release(&t);
}

static void bad_words_are_refused(void **state)
{
    static const struct {
        const char *kind, *word, *part;
    } cases[] = {
        {"what", "1", "no kind of fabric"},
        {"clos", "q=1", "no parameter 'q"},
        {"clos", "m=0", "from 1"},
        {"clos", "m=1x2", "expected a number"},
        {"clos", "m=", "expected a number"},
        {"clos", "r=300", "300 ports"},
        {"ring", "-3", "expected a number"},
        {"ring", "speed=fast", "expected SDR"},
        {"ring", "width=3x", "expected 1x"},
        {"ring", "length=3", "such as 20m"},
        {"torus", "dims=1000x1000x1000", "more than 1000000 nodes"},
        {"torus", "dims=4xx4", "expected numbers"},
        {"fattree", "100", "expected 324"},
        {"fattree", "m=2,2", "either a size or"},
        {"irregular", "hosts=64", "do not suffice"},
        {"irregular", "hosts=65", "cannot take 65"},
        {"irregular", "links=3", "at least 15 links"},
        {"irregular", "links=99", "room for"},
        {"irregular", "rule=odd", "expected even or paper"},
        {"jellyfish", "degree=1", "cannot be connected"},
        {"jellyfish", "switches=4", "needs more than 4 switches"},
        {"dragonfly", "g=10", "at most 9 groups"},
        {"kary", "k=200", "400 ports"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct topology t;
        struct err err = {0};
        topology_init(&t);
        assert_true(topology_generate(&t, cases[i].kind, &cases[i].word, 1, 1, &err) < 0);
        if (!strstr(err.message, cases[i].part))
            fail_msg("%s %s: %s", cases[i].kind, cases[i].word, err.message);
        assert_int_equal(t.nodes.count, 0);
        topology_release(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_connected_and_survives_writing),
        cmocka_unit_test(the_papers_irregular_networks_can_be_made_with_any_seed),
        cmocka_unit_test(irregular_hosts_are_spread_evenly_or_go_where_a_port_is_free),
        cmocka_unit_test(by_the_papers_rule_a_switch_without_a_host_has_no_free_port),
        cmocka_unit_test(irregular_links_are_parallel_only_on_request),
        cmocka_unit_test(a_seed_fixes_the_fabric),
        cmocka_unit_test(the_clos_of_the_papers_has_its_numbers),
        cmocka_unit_test(figure1_has_the_links_of_the_golden_data),
        cmocka_unit_test(figure1_is_numbered_by_a_search_in_port_order),
        cmocka_unit_test(the_thesis_network_has_the_neighbours_of_the_golden_data),
        cmocka_unit_test(fat_trees_have_the_published_sizes),
        cmocka_unit_test(fat_trees_are_wired_in_order),
        cmocka_unit_test(grid_ports_follow_the_directions),
        cmocka_unit_test(links_are_of_a_present_fabric_by_default),
        cmocka_unit_test(links_take_width_speed_and_length),
        cmocka_unit_test(bad_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
