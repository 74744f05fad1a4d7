/* Random faults at random times, from seeded random numbers: links fail and move, nodes fail,
 * return after a reset or stop answering, SMPs are lost, refused, delayed or duplicated, operators
 * request new routes. After the last fault, the tables are correct. */
#include "effort.h"
#include "toy.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS = 12 };

struct storm {
    struct toy *toy;
    struct rng rng;
    unsigned managers;
    bool refuses;          /* SMPs are refused; else they are lost, delayed or duplicated */
    struct toy_node *off;  /* at most one at a time */
    const char *pulled[2]; /* the ends of a link that is down; NULL: none */
};

static uint64_t draw(struct storm *storm, uint64_t below)
{
    return rng_below(&storm->rng, below);
}

static struct toy_node *any_node(struct storm *storm)
{
    return storm->toy->nodes[draw(storm, storm->toy->node_count)];
}

static bool has_manager(const struct storm *storm, const struct toy_node *node)
{
    for (unsigned i = 0; i < TOY_MANAGERS; i++)
        if (storm->toy->managers[i].node == node)
            return true;
    return false;
}

static void pull_a_cable(struct storm *storm)
{
    struct toy_node *node = any_node(storm);
    for (unsigned number = 1; number <= node->port_count; number++)
        if (node->ports[number].peer && draw(storm, 2)) {
            storm->pulled[0] = node->name;
            storm->pulled[1] = node->ports[number].peer->name;
            toy_pull(storm->toy, node->name, number);
            return;
        }
}

static void pull_or_restore_a_cable(struct storm *storm)
{
    if (storm->off)
        return;
    if (!storm->pulled[0]) {
        pull_a_cable(storm);
        return;
    }
    toy_link(storm->toy, storm->pulled[0], storm->pulled[1]);
    storm->pulled[0] = NULL;
}

static void switch_a_node_off_or_on(struct storm *storm)
{
    struct toy_node *node = any_node(storm);
    if (storm->off) {
        toy_switch_on(storm->toy, storm->off->name);
        storm->off = NULL;
    } else if (!storm->pulled[0] && !has_manager(storm, node) && !node->mute) {
        toy_switch_off(storm->toy, node->name);
        storm->off = node;
    }
}

static void mute_or_unmute_a_node(struct storm *storm)
{
    struct toy_node *node = any_node(storm);
    if (node != storm->off)
        node->mute = !node->mute;
}

static void stop_or_continue_a_manager(struct storm *storm)
{
    bool *stopped = &storm->toy->managers[draw(storm, storm->managers)].stopped;
    *stopped = !*stopped;
}

static void add_smp_fault(struct storm *storm)
{
    static const unsigned attributes[] = {0,
                                          ATTRIBUTE_NODE_INFO,
                                          ATTRIBUTE_PORT_INFO,
                                          ATTRIBUTE_SM_INFO,
                                          ATTRIBUTE_SWITCH_INFO,
                                          ATTRIBUTE_LINEAR_FORWARDING_TABLE};
    static const enum toy_fault faults[] = {TOY_LOSE, TOY_LOSE_ANSWER, TOY_DELAY, TOY_REPEAT};
    struct toy_rule rule = {.fault = storm->refuses ? TOY_REFUSE : faults[draw(storm, 4)],
                            .node = draw(storm, 2) ? any_node(storm)->name : NULL,
                            .attribute = attributes[draw(storm, 6)],
                            .method = draw(storm, 2) ? METHOD_SET : 0,
                            .times = 1 + (unsigned)draw(storm, 6)};
    storm->toy->rules[draw(storm, TOY_RULES)] = rule;
}

static void inject_fault(struct storm *storm)
{
    struct toy *toy = storm->toy;
    struct sm *sm = toy->managers[draw(storm, storm->managers)].sm;
    switch (draw(storm, storm->managers > 1 ? 11 : 9)) {
    case 0:
    case 1: pull_or_restore_a_cable(storm); break;
    case 2: switch_a_node_off_or_on(storm); break;
    case 3:
    case 4: add_smp_fault(storm); break;
    case 5: toy->traps = !toy->traps; break;
    case 6: sm_reroute(sm, toy->now); break;
    case 7: sm_rediscover(sm, toy->now); break;
    case 8: mute_or_unmute_a_node(storm); break;
    case 9: sm_hand_over(sm, toy->now); break;
    case 10: stop_or_continue_a_manager(storm); break;
    default: break;
    }
    /* Pauses of the order of an SMP, a drain, a time-out or a sweep. */
    static const uint64_t pauses[] = {TOY_LATENCY, TOY_MS, TOY_DRAIN, 3 * TOY_TIMEOUT, TOY_S};
    toy_run(toy, 1 + draw(storm, pauses[draw(storm, sizeof pauses / sizeof pauses[0])]));
}

static struct sm_config any_config(struct storm *storm)
{
    static const char *const engines[] = {"updn", "minhop", "fera", "dfsssp", "pira+fera"};
    struct sm_config config = toy_config_sweeping(10 * TOY_S);
    config.engine = engine_find(engines[draw(storm, sizeof engines / sizeof engines[0])]);
    config.engine_options.allow_cycles = true;
    config.mode = draw(storm, 3) ? SM_ORDERED : SM_NAIVE;
    config.order = (enum sm_order)draw(storm, SM_ORDER_DEPTH + 1);
    config.window = draw(storm, 2) ? 256 : 1 + (uint32_t)draw(storm, 8);
    config.lmc = (uint8_t)draw(storm, 2);
    config.repair = draw(storm, 4) != 0;
    config.quiesce = draw(storm, 4) != 0;
    config.scope_full = draw(storm, 4) == 0;
    config.full_every = 2;
    return config;
}

static void end_all_faults(struct storm *storm)
{
    struct toy *toy = storm->toy;
    memset(toy->rules, 0, sizeof toy->rules);
    toy->traps = true;
    for (unsigned i = 0; i < TOY_MANAGERS; i++)
        toy->managers[i].stopped = false;
    for (unsigned i = 0; i < toy->node_count; i++)
        toy->nodes[i]->mute &= toy->nodes[i] == storm->off;
    if (storm->off)
        toy_switch_on(toy, storm->off->name);
    else if (storm->pulled[0])
        toy_link(toy, storm->pulled[0], storm->pulled[1]);
    toy_run(toy, 200 * TOY_S); /* until ignored nodes are read again */
    toy_settle(toy);
}

/* Runs one sequence of faults; returns whether the subnet is up afterwards. */
static bool comes_up_after_faults(void **state, uint64_t seed, unsigned managers)
{
    static const char *const subnets[] = {
        "S1-S2 S2-S3 S3-S4 S4-S1 S1-H1 S2-H2 S3-H3 S4-H4",
        "S1-S2 S1-S3 S2-S3 S2-S4 S3-S4 S1-S4 S1-H1 S2-H2 S4-H3",
        "S1-S2 S1-S2 S2-S3 S1-H1 S2-H2 S3-H2 S3-H3",
        "S1-S2 S1-S3 S2-S4 S3-S4 S4-S5 S1-H1 S5-H2 S4-H3",
    };
    static const char *const hosts[TOY_MANAGERS] = {"H1", "H2", "H3"};
    struct storm storm = {.managers = managers};
    rng_seed(&storm.rng, seed, managers);
    storm.refuses = draw(&storm, 3) == 0;
    storm.toy = toy_open(state, subnets[draw(&storm, sizeof subnets / sizeof subnets[0])]);
    text_printf(&storm.toy->events, "STORM_SEED=%llu\n", (unsigned long long)seed);
    struct sm_config config = any_config(&storm);
    for (unsigned i = 0; i < managers && i < TOY_MANAGERS; i++) {
        config.priority = (uint8_t)draw(&storm, 3);
        toy_start_manager(storm.toy, hosts[i], &config);
    }
    for (unsigned i = 0; i < EVENTS; i++)
        inject_fault(&storm);
    end_all_faults(&storm);
    unsigned masters = 0, standbys = 0;
    for (unsigned i = 0; i < managers; i++) {
        masters += sm_is_settled(storm.toy->managers[i].sm);
        standbys += sm_state(storm.toy->managers[i].sm) == SM_STANDBY;
    }
    bool tables = managers > 1 || toy_has_tables(storm.toy);
    return masters == 1 && standbys == managers - 1 && tables && toy_is_active(storm.toy) &&
           toy_delivers(storm.toy);
}

static void run_all_seeds(void **state, unsigned fewest, unsigned most)
{
    const char *only = getenv("STORM_SEED");
    const uint64_t last = effort(3000, 300, 60);
    for (uint64_t seed = only ? strtoull(only, NULL, 10) : 1; seed <= last || only; seed++) {
        if (!comes_up_after_faults(state, seed, fewest + (unsigned)seed % (most - fewest + 1)))
            fail_msg("seed %llu: the subnet is not up after the faults", (unsigned long long)seed);
        if (only || seed == last)
            return;
        toy_close(state);
    }
}

static void after_random_faults_the_subnet_comes_up(void **state)
{
    run_all_seeds(state, 1, 1);
}

static void after_random_faults_there_is_one_master(void **state)
{
    run_all_seeds(state, 2, TOY_MANAGERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(after_random_faults_the_subnet_comes_up),
        TOY_TEST(after_random_faults_there_is_one_master),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
