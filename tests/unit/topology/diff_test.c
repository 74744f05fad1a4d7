/* A plan against the actual fabric: every seeded wrong cable is found by name, and nothing is found
 * where nothing is wrong. The actual fabric has other GUIDs and another order of nodes than the
 * plan, as if the plan had been drawn before the hardware came. */
#include "support.h"

#include "base/rng.h"
#include "topology/analysis/diff.h"

enum { CHANGES_MOST = 8 };

struct change {
    enum difference_kind kind;
    uint32_t planned[2]; /* cables of the plan that the report must name */
    uint32_t actual[2];  /* cables of the changed fabric that it must name, as ports of the plan */
};

struct site {
    struct topology plan, changed, actual; /* `changed` has the nodes of the plan, in its order */
    struct rng rng;
    bool *used; /* by port of the plan */
    struct change changes[CHANGES_MOST];
    unsigned count;
};

static uint32_t pick_cable(struct site *site)
{
    for (;;) {
        uint32_t port = (uint32_t)rng_below(&site->rng, site->plan.ports.count);
        uint32_t peer = site->plan.ports.items[port].peer;
        if (peer == TOPOLOGY_NONE || site->used[port] || site->used[peer])
            continue;
        site->used[port] = site->used[peer] = true;
        return port;
    }
}

static uint32_t pick_free_port(struct site *site)
{
    for (;;) {
        uint32_t port = (uint32_t)rng_below(&site->rng, site->plan.ports.count);
        if (site->plan.ports.items[port].peer != TOPOLOGY_NONE || site->used[port] ||
            topology_port_number(&site->plan, port) == 0)
            continue;
        site->used[port] = true;
        return port;
    }
}

static void cut(struct site *site, uint32_t port)
{
    struct topology_port *ports = site->changed.ports.items;
    ports[ports[port].peer].peer = TOPOLOGY_NONE;
    ports[port].peer = TOPOLOGY_NONE;
}

static void join(struct site *site, uint32_t a, uint32_t b)
{
    assert_int_equal(topology_link(&site->changed, a, b, NULL), 0);
}

/* Removes, adds, swaps, moves a cable, or changes its speed or width. */
static void inject(struct site *site)
{
    struct topology_port *ports = site->changed.ports.items;
    struct change *change = &site->changes[site->count++];
    uint32_t a, b, a_peer, b_peer;
    *change = (struct change){.planned = {TOPOLOGY_NONE, TOPOLOGY_NONE},
                              .actual = {TOPOLOGY_NONE, TOPOLOGY_NONE}};
    switch (rng_below(&site->rng, 5)) {
    case 0:
        change->kind = DIFFERENCE_CABLE_MISSING;
        change->planned[0] = pick_cable(site);
        cut(site, change->planned[0]);
        break;
    case 1:
        change->kind = DIFFERENCE_CABLE_EXTRA;
        a = change->actual[0] = pick_free_port(site);
        join(site, a, pick_free_port(site));
        break;
    case 2:
        change->kind = DIFFERENCE_CABLE_SWAPPED;
        a = change->planned[0] = change->actual[0] = pick_cable(site);
        b = change->planned[1] = change->actual[1] = pick_cable(site);
        a_peer = ports[a].peer;
        b_peer = ports[b].peer;
        cut(site, a);
        cut(site, b);
        join(site, a, b_peer);
        join(site, b, a_peer);
        break;
    case 3:
        change->kind = DIFFERENCE_CABLE_MOVED;
        a = change->planned[0] = change->actual[0] = pick_cable(site);
        cut(site, a);
        join(site, a, pick_free_port(site));
        break;
    default:
        change->kind = DIFFERENCE_RATE;
        a = change->planned[0] = change->actual[0] = pick_cable(site);
        a_peer = ports[a].peer;
        if (rng_below(&site->rng, 2))
            ports[a].speed = ports[a_peer].speed = SPEED_SDR;
        else
            ports[a].width = ports[a_peer].width = WIDTH_1X;
    }
}

/* Makes `actual`: the changed fabric with its nodes in random order and other GUIDs, as
 * ibnetdiscover would print it. Nodes without cables are not visible. */
static void rebuild(struct site *site)
{
    const struct topology *from = &site->changed;
    uint32_t *order = mem_alloc(from->nodes.count * sizeof *order);
    uint32_t *place = mem_alloc(from->nodes.count * sizeof *place);
    struct topology actual;
    struct text text = {0};
    topology_init(&actual);
    for (uint32_t i = 0; i < from->nodes.count; i++)
        order[i] = i;
    rng_shuffle(&site->rng, order, from->nodes.count);
    for (uint32_t i = 0; i < from->nodes.count; i++) {
        const struct topology_node *node = &from->nodes.items[order[i]];
        place[order[i]] = TOPOLOGY_NONE;
        bool visible = false;
        for (unsigned n = 1; n <= node->port_count; n++)
            visible |= from->ports.items[node->first_port + n].peer != TOPOLOGY_NONE;
        if (!visible)
            continue;
        assert_int_equal(topology_add_node(&actual, node->kind, NULL, node->port_count,
                                           0x5000000000000000u + i * 256, &place[order[i]], NULL),
                         0);
        topology_set_description(&actual, place[order[i]], node->description,
                                 strlen(node->description));
    }
    for (uint32_t port = 0; port < from->ports.count; port++) {
        const struct topology_port *p = &from->ports.items[port];
        if (p->peer == TOPOLOGY_NONE || p->peer < port)
            continue;
        uint32_t a = topology_port_index(&actual, place[p->node], topology_port_number(from, port));
        uint32_t b = topology_port_index(&actual, place[from->ports.items[p->peer].node],
                                         topology_port_number(from, p->peer));
        assert_int_equal(topology_link(&actual, a, b, NULL), 0);
        actual.ports.items[a].width = actual.ports.items[b].width = p->width;
        actual.ports.items[a].speed = actual.ports.items[b].speed = p->speed;
    }
    topology_write_ibnetdiscover(&actual, &text);
    must_read(&site->actual, text.data);
    text_release(&text);
    topology_release(&actual);
    mem_free(order);
    mem_free(place);
}

static void open_site(struct site *site, const char *net, uint64_t seed)
{
    *site = (struct site){0};
    must_generate(&site->plan, net, 1);
    must_generate(&site->changed, net, 1);
    site->used = mem_zalloc(site->plan.ports.count, sizeof *site->used);
    rng_seed(&site->rng, seed, 0);
}

static void close_site(struct site *site)
{
    topology_release(&site->plan);
    topology_release(&site->changed);
    topology_release(&site->actual);
    mem_free(site->used);
}

/* "leaf1 port 3", which the text must contain for both ends of each cable. */
static bool names_cable(const char *text, const struct topology *topology, uint32_t port)
{
    uint32_t ends[2] = {port, topology->ports.items[port].peer};
    for (unsigned i = 0; i < 2; i++) {
        char name[128];
        size_t length =
            (size_t)snprintf(name, sizeof name, "%s port %u",
                             topology->nodes.items[topology->ports.items[ends[i]].node].description,
                             topology_port_number(topology, ends[i]));
        const char *at = strstr(text, name);
        while (at && at[length] >= '0' && at[length] <= '9')
            at = strstr(at + 1, name);
        if (!at)
            return false;
    }
    return true;
}

static bool is_reported(const struct site *site, const struct topology_diff *diff,
                        const struct change *change)
{
    for (size_t i = 0; i < diff->items.count; i++) {
        struct text text = {0};
        bool same = diff->items.items[i].kind == change->kind;
        topology_diff_print(diff, &diff->items.items[i], &text);
        for (unsigned k = 0; k < 2; k++) {
            if (change->planned[k] != TOPOLOGY_NONE)
                same = same && names_cable(text.data, &site->plan, change->planned[k]);
            if (change->actual[k] != TOPOLOGY_NONE)
                same = same && names_cable(text.data, &site->changed, change->actual[k]);
        }
        text_release(&text);
        if (same)
            return true;
    }
    return false;
}

/* All have free ports. */
static const char *const nets[] = {
    "fattree m=6,6 w=1,3 ports=16 speed=HDR",
    "irregular 16 hosts=14 ports=6 links=20 speed=HDR",
    "jellyfish 16 ports=8 degree=4 hosts=2 speed=HDR",
};
enum { NETS = sizeof nets / sizeof *nets };

static void fifty_seeded_miswirings_are_found_and_none_is_invented(void **state)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct site site;
        struct topology_diff diff;
        open_site(&site, nets[seed % NETS], seed);
        for (unsigned changes = 1 + (unsigned)(seed % 3); changes; changes--)
            inject(&site);
        rebuild(&site);
        topology_diff(&diff, &site.plan, &site.actual);
        for (unsigned i = 0; i < site.count; i++)
            if (!is_reported(&site, &diff, &site.changes[i]))
                fail_msg("seed %d: change %u (%s) is not reported", (int)seed, i,
                         difference_kind_name(site.changes[i].kind));
        if (diff.items.count != site.count)
            fail_msg("seed %d: %u changes, %u differences", (int)seed, site.count,
                     (unsigned)diff.items.count);
        topology_diff_release(&diff);
        close_site(&site);
    }
}

static void an_unchanged_fabric_has_no_difference(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct site site;
        struct topology_diff diff;
        open_site(&site, nets[seed % NETS], seed);
        rebuild(&site);
        topology_diff(&diff, &site.plan, &site.actual);
        assert_int_equal(diff.items.count, 0);
        topology_diff_release(&diff);
        close_site(&site);
    }
}

/* Compares two texts and returns the differences, one line each. */
static char *lines_of(const char *plan_text, const char *actual_text)
{
    struct topology plan, actual;
    struct topology_diff diff;
    struct text text = {0};
    must_read(&plan, plan_text);
    must_read(&actual, actual_text);
    topology_diff(&diff, &plan, &actual);
    for (size_t i = 0; i < diff.items.count; i++) {
        text_printf(&text, "%s: ", difference_kind_name(diff.items.items[i].kind));
        topology_diff_print(&diff, &diff.items.items[i], &text);
        text_putc(&text, '\n');
    }
    topology_diff_release(&diff);
    topology_release(&plan);
    topology_release(&actual);
    if (!text.data)
        text_puts(&text, "");
    return text.data;
}

static void assert_lines(const char *plan, const char *actual, const char *expected)
{
    char *lines = lines_of(plan, actual);
    assert_string_equal(lines, expected);
    mem_free(lines);
}

static void nodes_with_the_same_name_are_told_apart_by_guid(void **state)
{
    const char plan[] = "switchguid=0x11\nSwitch 4 \"S-11\" # \"leaf\"\n[1] \"H-1\"[1] # 4xHDR\n"
                        "switchguid=0x12\nSwitch 4 \"S-12\" # \"leaf\"\n[1] \"H-2\"[1] # 4xHDR\n"
                        "caguid=0x1\nCa 1 \"H-1\" # \"a\"\n[1] \"S-11\"[1]\n"
                        "caguid=0x2\nCa 1 \"H-2\" # \"b\"\n[1] \"S-12\"[1]\n";
    const char moved[] = "switchguid=0x11\nSwitch 4 \"S-11\" # \"leaf\"\n[1] \"H-1\"[1] # 4xHDR\n"
                         "switchguid=0x12\nSwitch 4 \"S-12\" # \"leaf\"\n[3] \"H-2\"[1] # 4xHDR\n"
                         "caguid=0x1\nCa 1 \"H-1\" # \"a\"\n[1] \"S-11\"[1]\n"
                         "caguid=0x2\nCa 1 \"H-2\" # \"b\"\n[1] \"S-12\"[3]\n";
    assert_lines(plan, plan, "");
    assert_lines(plan, moved,
                 "moved cable: leaf (0x0000000000000012) port 3 <-> b port 1; the plan has leaf "
                 "(0x0000000000000012) port 1 <-> b port 1\n");
}

static void a_plan_without_speeds_says_nothing_about_speeds(void **state)
{
    const char plan[] = "Switch 4 \"leaf\"\n[1] \"host\"[1]\nHca 1 \"host\"\n[1] \"leaf\"[1]\n";
    const char fast[] = "Switch 4 \"leaf\"\n[1] \"host\"[1] # \"host\" lid 2 4xHDR\nHca 1 "
                        "\"host\"\n[1] \"leaf\"[1]\n";
    const char slow[] = "Switch 4 \"leaf\"\n[1] \"host\"[1] # \"host\" lid 2 1xHDR\nHca 1 "
                        "\"host\"\n[1] \"leaf\"[1]\n";
    assert_lines(plan, fast, "");
    assert_lines(fast, slow,
                 "wrong rate: leaf port 1 <-> host port 1 runs at 1X HDR; the plan has 4X HDR\n");
}

static void a_switch_that_is_missing_is_one_difference(void **state)
{
    struct topology plan, actual;
    struct topology_diff diff;
    struct text text = {0};
    must_generate(&plan, "clos 3 2 4", 1);
    uint32_t node = 0;
    for (uint32_t i = 0; i < plan.nodes.count; i++)
        if (plan.nodes.items[i].kind == NODE_SWITCH)
            node = i;
    must_generate(&actual, "clos 3 2 4", 1);
    const struct topology_node *lost = &actual.nodes.items[node];
    for (unsigned n = 1; n <= lost->port_count; n++) {
        struct topology_port *port = &actual.ports.items[lost->first_port + n];
        if (port->peer != TOPOLOGY_NONE)
            actual.ports.items[port->peer].peer = TOPOLOGY_NONE;
        port->peer = TOPOLOGY_NONE;
    }
    topology_diff(&diff, &plan, &actual);
    assert_int_equal(diff.items.count, 1);
    assert_int_equal(diff.items.items[0].kind, DIFFERENCE_NODE_MISSING);
    topology_diff_print(&diff, &diff.items.items[0], &text);
    assert_non_null(strstr(text.data, lost->description));
    text_release(&text);
    topology_diff_release(&diff);
    topology_release(&plan);
    topology_release(&actual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifty_seeded_miswirings_are_found_and_none_is_invented),
        cmocka_unit_test(an_unchanged_fabric_has_no_difference),
        cmocka_unit_test(nodes_with_the_same_name_are_told_apart_by_guid),
        cmocka_unit_test(a_plan_without_speeds_says_nothing_about_speeds),
        cmocka_unit_test(a_switch_that_is_missing_is_one_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
