/* Seeded link failures under connections with alternate paths: none breaks, and each loses at most
 * what was in flight and its own retry time, whatever the manager does. */
#include "talk.h"

#include "base/rng.h"

enum { FAILURES = 100, PAIRS = 4, OUTSTANDING = 3, TIMEOUT = 8, RETRY = 1 };

static void begin(struct talk *talk, const char *fabric)
{
    *talk = (struct talk){.config = default_config()};
    talk->config.lmc = 1;
    talk->config.engine_options.disjoint = true;
    talk_open(talk, fabric, "H0");
}

static uint32_t end_port_at(const struct talk *talk, uint64_t number)
{
    char name[16];
    snprintf(name, sizeof name, "H%llu", (unsigned long long)number);
    return host(&talk->world, name);
}

static void add_pairs(struct talk *talk, struct rng *rng, unsigned hosts)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        uint64_t from = rng_below(rng, hosts), to = (from + 1 + rng_below(rng, hosts - 1)) % hosts;
        struct connection_config config = {.from = end_port_at(talk, from),
                                           .to = end_port_at(talk, to),
                                           .service = TRANSPORT_RC,
                                           .operation = (uint8_t)(i % 3),
                                           .message_bytes = 4000,
                                           .messages = TIME_NEVER,
                                           .outstanding = OUTSTANDING,
                                           .timeout = TIMEOUT,
                                           .retry = RETRY,
                                           .has_alternate = true};
        talk_add(talk, &config);
    }
}

/* A random cable between two switches. */
static uint32_t draw_cable(const struct talk *talk, struct rng *rng)
{
    const struct topology *topology = &talk->world.topology;
    for (;;) {
        uint32_t port = (uint32_t)rng_below(rng, topology->ports.count);
        uint32_t peer = topology->ports.items[port].peer;
        if (peer != TOPOLOGY_NONE &&
            topology->nodes.items[topology->ports.items[port].node].kind == NODE_SWITCH &&
            topology->nodes.items[topology->ports.items[peer].node].kind == NODE_SWITCH)
            return port;
    }
}

struct sums {
    uint64_t protected, exposed, migrated;
};

/* The links of both hosts are shared by any two paths; more is not. */
static bool is_protected(const struct connection_view *view)
{
    return view->shared_cables == 2 && view->shared_switches == 0;
}

static void check_all(struct talk *talk, bool alive, struct sums *sums)
{
    for (size_t i = 0; i < PAIRS; i++) {
        struct connection_view view = talk_view(talk, i);
        if (!is_protected(&view)) {
            sums->exposed++;
            continue;
        }
        sums->protected ++;
        assert_false(view.broken);
        assert_true(view.timeouts <= RETRY + 1);
        assert_true(view.resent_packets <= OUTSTANDING * (RETRY + 1));
        if (!alive) /* else it may hold all senders while it repairs */
            assert_true(view.longest_ps <=
                        (RETRY + 1) * transport_timeout_ps(TIMEOUT) + 100 * TIME_US);
        assert_in_range(view.last_ps, sim_now(talk->world.sim) - TIME_MS, sim_now(talk->world.sim));
    }
    sums->migrated += talk->migrated;
}

static void fail_links(const char *fabric, unsigned hosts, unsigned failures, struct sums *sums)
{
    for (uint64_t seed = 1; seed <= failures; seed++) {
        struct talk talk;
        struct rng rng;
        struct err err = {0};
        bool alive = seed % 4 == 0;
        rng_seed(&rng, seed, hosts);
        begin(&talk, fabric);
        add_pairs(&talk, &rng, hosts);
        run_for(&talk.world, TIME_MS / 2 + rng_below(&rng, TIME_MS / 4));
        if (!alive)
            sim_kill_manager(talk.world.sim, talk.manager);
        assert_int_equal(fabric_set_link(talk.world.fabric, draw_cable(&talk, &rng), false, &err),
                         0);
        run_for(&talk.world, (alive ? 60 : 6) * TIME_MS);
        check_all(&talk, alive, sums);
        talk_close(&talk);
    }
}

static void no_link_of_a_ring_ends_an_armed_connection(void **state)
{
    struct sums sums = {0};
    (void)state;
    fail_links("ring switches=6 speed=SDR", 6, FAILURES, &sums);
    print_message("%llu connections, %llu migrations\n", (unsigned long long)sums.protected,
                  (unsigned long long)sums.migrated);
    assert_int_equal(sums.exposed, 0);
    assert_true(sums.migrated > FAILURES / 2);
}

static void nor_of_a_tree_or_a_torus(void **state)
{
    struct sums sums = {0};
    (void)state;
    fail_links("kary 3 2 speed=SDR", 9, 20, &sums);
    assert_int_equal(sums.exposed, 0);
    fail_links("torus dims=3x3 speed=SDR", 9, 20, &sums);
    print_message("%llu connections, %llu migrations, %llu without a disjoint path back\n",
                  (unsigned long long)sums.protected, (unsigned long long)sums.migrated,
                  (unsigned long long)sums.exposed);
    assert_true(sums.protected >= 8 * sums.exposed);
    assert_true(sums.migrated > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_link_of_a_ring_ends_an_armed_connection),
        cmocka_unit_test(nor_of_a_tree_or_a_torus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
