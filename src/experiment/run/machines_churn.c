/* Churn: machines that start, move and stop at a given rate.
 *
 * Boots and moves come at regular intervals; a boot above the limit first stops the oldest machine.
 * A move takes a random machine to a random hypervisor. A boot or move is skipped, and counted, if
 * no machine can move or too many orders wait. */
#include "base/time.h"
#include "experiment/run/setup.h"

#include <stdio.h>

enum { WAITING_MOST = 256, TRIES = 16 };

static uint64_t interval_ps(double per_minute)
{
    double ps = per_minute > 0 ? 60e12 / per_minute : 0;
    return per_minute > 0 && ps < 1 ? 1 : (uint64_t)ps;
}

void churn_begin(struct setup *setup, const struct action *action)
{
    const struct machine_action *wanted = &action->machine;
    struct machines *machines = &setup->machines;
    uint64_t now = sim_now(setup->sim);
    struct churn churn = {.boot_every = interval_ps(wanted->boots),
                          .move_every = interval_ps(wanted->moves),
                          .until = wanted->absolute ? wanted->until : now + wanted->until,
                          .most = (uint32_t)wanted->keep,
                          .mode = wanted->minimal ? VSWITCH_MINIMAL : VSWITCH_BALANCED};
    churn.next_boot = churn.boot_every ? now + churn.boot_every : TIME_NEVER;
    churn.next_move = churn.move_every ? now + churn.move_every : TIME_NEVER;
    rng_seed(&churn.rng, setup->record->seed, 0x6368 + machines->churns.count);
    if (machines->first_churn == TIME_NEVER)
        machines->first_churn = now;
    vec_push(&machines->churns, churn);
}

static bool has_too_many_orders(struct setup *setup)
{
    bool much = setup->machines.orders.count >= WAITING_MOST;
    setup->machines.skipped += much;
    return much;
}

/* Drops machines that could not be started. */
static void drop_unwanted(struct setup *setup, struct churn *churn)
{
    size_t kept = 0;
    for (size_t i = 0; i < churn->machines.count; i++)
        if (setup->machines.items.items[churn->machines.items[i]].wanted)
            churn->machines.items[kept++] = churn->machines.items[i];
    churn->machines.count = kept;
}

static void boot_machine(struct setup *setup, size_t number)
{
    char name[32];
    struct churn *churn = &setup->machines.churns.items[number];
    if (has_too_many_orders(setup))
        return;
    drop_unwanted(setup, churn);
    if (churn->most && churn->machines.count >= churn->most)
        machines_order(setup, churn->machines.items[0], VSWITCH_DESTROY, TOPOLOGY_NONE,
                       VSWITCH_BALANCED);
    snprintf(name, sizeof name, "churn%zu-%u", number + 1, ++churn->boots);
    uint32_t machine = machines_add(setup, name, false);
    vec_push(&churn->machines, machine);
    machines_order(setup, machine, VSWITCH_CREATE, TOPOLOGY_NONE, VSWITCH_BALANCED);
}

/* A machine without open orders, or MAP_NONE. */
static uint32_t choose_machine(const struct setup *setup, struct churn *churn)
{
    for (unsigned i = 0; i < TRIES && churn->machines.count; i++) {
        uint32_t machine = churn->machines.items[rng_below(&churn->rng, churn->machines.count)];
        if (setup->machines.items.items[machine].orders == 0)
            return machine;
    }
    return MAP_NONE;
}

static void move_machine(struct setup *setup, struct churn *churn)
{
    const struct machines *machines = &setup->machines;
    if (has_too_many_orders(setup))
        return;
    drop_unwanted(setup, churn);
    uint32_t machine = choose_machine(setup, churn);
    if (machine == MAP_NONE) {
        setup->machines.skipped++;
        return;
    }
    uint64_t place = rng_below(&churn->rng, machines->hypervisors.count);
    machines_order(setup, machine, VSWITCH_MIGRATE, machines->hypervisors.items[place],
                   churn->mode);
}

uint64_t machines_next(const struct setup *setup)
{
    uint64_t next = TIME_NEVER;
    for (size_t i = 0; i < setup->machines.churns.count; i++) {
        const struct churn *churn = &setup->machines.churns.items[i];
        uint64_t own = churn->next_boot < churn->next_move ? churn->next_boot : churn->next_move;
        if (own < churn->until && own < next)
            next = own;
    }
    return next;
}

void churns_update(struct setup *setup, uint64_t now)
{
    for (size_t i = 0; i < setup->machines.churns.count; i++) {
        struct churn *churn = &setup->machines.churns.items[i];
        while (churn->next_boot <= now && churn->next_boot < churn->until) {
            churn->next_boot += churn->boot_every;
            boot_machine(setup, i);
        }
        while (churn->next_move <= now && churn->next_move < churn->until) {
            churn->next_move += churn->move_every;
            move_machine(setup, churn);
        }
    }
}
