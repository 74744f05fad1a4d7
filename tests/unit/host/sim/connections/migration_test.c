/* Seeded link failures under connections with alternate paths: none breaks, and each loses at most
 * what was in flight and its own retry time. A manager that is alive adds nothing but the drains
 * that its configuration asks for: while they last it stops all sources. */
#include "talk.h"

#include "base/rng.h"
#include "effort.h"

enum { PAIRS = 4, OUTSTANDING = 3, TIMEOUT = 8, RETRY = 1 };

static void begin(struct talk *talk, const char *fabric, unsigned lmc)
{
    *talk = (struct talk){.config = default_config()};
    talk->config.lmc = (uint8_t)lmc;
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

/* For how long the manager has stopped sources. */
static uint64_t drained_ps(const struct talk *talk)
{
    struct sm_totals totals;
    const struct sm *sm = sim_manager(talk->world.sim, talk->manager);
    if (!sm)
        return 0;
    sm_totals(sm, &totals);
    return totals.drained_ns * TIME_NS;
}

static void check_all(const struct talk *talk, struct sums *sums)
{
    static const uint64_t in_queues_ps = 100 * TIME_US;
    uint64_t longest_ps =
        (RETRY + 1) * transport_timeout_ps(TIMEOUT) + in_queues_ps + drained_ps(talk);
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
        assert_true(view.longest_ps <= longest_ps);
        assert_in_range(view.last_ps, sim_now(talk->world.sim) - TIME_MS, sim_now(talk->world.sim));
    }
    sums->migrated += talk->migrated;
}

/* Two LIDs a port and four, a manager that repairs and a dead one. */
static void fail_link(const char *fabric, unsigned hosts, uint64_t seed, struct sums *sums)
{
    struct talk talk;
    struct rng rng;
    struct err err = {0};
    bool alive = seed % 2;
    rng_seed(&rng, seed, hosts);
    begin(&talk, fabric, 1 + seed / 2 % 2);
    add_pairs(&talk, &rng, hosts);
    run_for(&talk.world, TIME_MS / 2 + rng_below(&rng, TIME_MS / 4));
    if (!alive)
        sim_kill_manager(talk.world.sim, talk.manager);
    assert_int_equal(fabric_set_link(talk.world.fabric, draw_cable(&talk, &rng), false, &err), 0);
    run_for(&talk.world, (alive ? 40 : 6) * TIME_MS);
    check_all(&talk, &sums[alive]);
    talk_close(&talk);
}

static void a_link_costs_armed_connections_their_retry_time_at_most(void **state)
{
    static const struct {
        const char *fabric;
        unsigned hosts;
        bool always; /* each pair of hosts has disjoint paths */
    } fabrics[] = {{"ring switches=6 speed=SDR", 6, true},
                   {"torus dims=3x3 speed=SDR", 9, true},
                   {"kary 3 2 speed=SDR", 9, true},
                   {"irregular 8 hosts=8 speed=SDR", 8, false}};
    enum { FABRICS = sizeof fabrics / sizeof *fabrics };
    uint64_t failures = effort(400, 100, 24);
    struct sums all[2] = {{0}};
    (void)state;
    for (uint64_t seed = 1; seed <= failures; seed++) {
        struct sums sums[2] = {{0}};
        unsigned i = seed % FABRICS;
        fail_link(fabrics[i].fabric, fabrics[i].hosts, seed / FABRICS + 1, sums);
        for (unsigned alive = 0; alive < 2; alive++) {
            assert_true(!fabrics[i].always || sums[alive].exposed == 0);
            all[alive].protected += sums[alive].protected;
            all[alive].exposed += sums[alive].exposed;
            all[alive].migrated += sums[alive].migrated;
        }
    }
    for (unsigned alive = 0; alive < 2; alive++)
        print_message(
            "manager %s: %llu connections, %llu migrations, %llu without disjoint paths\n",
            alive ? "alive" : "dead", (unsigned long long)all[alive].protected,
            (unsigned long long)all[alive].migrated, (unsigned long long)all[alive].exposed);
    assert_true(all[0].protected + all[1].protected > 3 * failures);
    assert_true(all[0].migrated > failures / 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_costs_armed_connections_their_retry_time_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
