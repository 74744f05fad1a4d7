/* One fault at many points of a start of two and three managers, with the whole manager: the loss
 * of an SMP or of its answer, or a manager that is killed, stopped, restarted, mute or cut off when
 * an SMP is sent. Afterwards there is one master, and the subnet is up. mastership_search_test.c
 * explores combinations of faults, without subnets. */
#include "effort.h"
#include "toy.h"

#include <string.h>

enum fault { LOSE, LOSE_ANSWER, KILL, RESTART, STOP, MUTE, CUT, FAULTS };
enum { POINTS = 240 };

static const char *const hosts[TOY_MANAGERS] = {"H1", "H2", "H3"};

static struct sm_config config_of(unsigned manager)
{
    struct sm_config config = toy_config_sweeping(2 * TOY_S);
    config.priority = (uint8_t)(manager % 2); /* the second has the highest rank */
    config.poll_ns = 100 * TOY_MS;
    config.poll_retries = 24;
    config.full_every = 2;
    config.link_poll_ns = 100 * TOY_MS;
    return config;
}

static void inject(struct toy *toy, enum fault fault, unsigned victim)
{
    struct sm_config config = config_of(victim);
    switch (fault) {
    case LOSE: toy_add_rule(toy, (struct toy_rule){TOY_LOSE, NULL, 0, 0, 1}); break;
    case LOSE_ANSWER: toy_add_rule(toy, (struct toy_rule){TOY_LOSE_ANSWER, NULL, 0, 0, 1}); break;
    case KILL: toy_kill(toy, victim); break;
    case RESTART:
        toy_kill(toy, victim);
        toy_restart(toy, victim, &config);
        break;
    case STOP: toy->managers[victim].stopped = true; break;
    case MUTE: toy_node(toy, hosts[victim])->mute = true; break;
    case CUT: toy_pull(toy, hosts[victim], 1); break;
    default: break;
    }
}

static void end(struct toy *toy, enum fault fault, unsigned victim)
{
    toy->managers[victim].stopped = false;
    toy_node(toy, hosts[victim])->mute = false;
    if (fault == CUT)
        toy_link(toy, "S1", hosts[victim]);
    memset(toy->rules, 0, sizeof toy->rules);
}

/* False: there are fewer SMPs than this before the managers settle. */
static bool survives(void **state, unsigned managers, unsigned point, enum fault fault,
                     unsigned victim)
{
    struct toy *toy = toy_open(state, "S1-H1 S1-H2 S1-H3 S1-H4");
    unsigned masters = 0, standbys = 0, alive = managers - (fault == KILL);
    toy->traps = true;
    for (unsigned i = 0; i < managers; i++) {
        struct sm_config config = config_of(i);
        toy_start_manager(toy, hosts[i], &config);
    }
    while (toy->sent.count < point && toy->now < 5 * TOY_S)
        toy_run(toy, TOY_LATENCY);
    bool reached = toy->sent.count >= point;
    inject(toy, fault, victim);
    toy_run(toy, 4 * TOY_S);
    end(toy, fault, victim);
    toy_run(toy, 8 * TOY_S);
    toy_settle(toy);
    for (unsigned i = 0; i < managers; i++) {
        const struct sm *sm = toy->managers[i].sm;
        masters += sm && sm_state(sm) == SM_MASTER;
        standbys += sm && sm_state(sm) == SM_STANDBY;
    }
    if (masters != 1 || standbys != alive - 1 || !toy_delivers(toy) || !toy_is_active(toy))
        fail_msg("%u managers, fault %d of manager %u at SMP %u:\n%s", managers, (int)fault, victim,
                 point, toy->events.data);
    toy_close(state);
    return reached;
}

static void after_a_fault_at_any_time_there_is_one_master(void **state)
{
    for (unsigned managers = 2; managers <= TOY_MANAGERS; managers++)
        for (unsigned fault = 0; fault < FAULTS; fault++)
            for (unsigned victim = 0; victim < (fault <= LOSE_ANSWER ? 1 : managers); victim++) {
                unsigned step =
                    (unsigned)(fault <= LOSE_ANSWER ? effort(2, 2, 10) : effort(4, 16, 80));
                for (unsigned point = 0; point < POINTS; point += step)
                    if (!survives(state, managers, point, (enum fault)fault, victim))
                        break;
            }
}

/* A host is mute from before or after its port was first read until before or after the standby
 * takes over. */
static void a_host_that_answers_late_gets_its_settings(void **state)
{
    for (unsigned mute = 0; mute < 6; mute++)
        for (unsigned heal = 0; heal < 40; heal++) {
            struct toy *toy = toy_open(state, "S1-H1 S1-H2 S1-H3 S1-S2 S2-H4");
            struct sm_config first = config_of(1), second = config_of(0);
            toy->traps = true;
            toy_start_manager(toy, "H1", &first);
            toy_settle(toy);
            toy_start_manager(toy, "H2", &second);
            if (mute < 5)
                toy_run_until_sent(toy, mute < 4 ? "H4" : NULL, mute % 2 ? 0x15 : 0x11, 1);
            else
                toy_run(toy, 8 * TOY_S);
            if (mute == 2 || mute == 3)
                toy_run(toy, TOY_LATENCY);
            toy_node(toy, "H4")->mute = true;
            toy_run(toy, 4 * TOY_S);
            toy_kill(toy, 0);
            toy_run(toy, heal * 37 * TOY_MS);
            toy_node(toy, "H4")->mute = false;
            toy_run(toy, 15 * TOY_S);
            toy_settle(toy);
            if (!toy_delivers(toy) || !toy_is_active(toy) ||
                wire_get(toy_node(toy, "H4")->ports[1].info, PORT_INFO_MASTER_SM_LID) !=
                    toy_lid(toy, "H2", 1))
                fail_msg("mute %u, heal %u:\n%s", mute, heal, toy->events.data);
            toy_close(state);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_fault_at_any_time_there_is_one_master),
        cmocka_unit_test(a_host_that_answers_late_gets_its_settings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
