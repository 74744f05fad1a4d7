/* `vm smp NAME`: a machine sends one SMP from QP0 of its virtual function to the next node.
 *
 * With the vSwitch model a virtual function has QP0 of its own, and the virtual switch answers. At
 * a shared port the adapter discards the SMP, so that no subnet manager can run in a virtual
 * machine (CLUSTER 2015, section IV). */
#include "experiment/run/setup.h"
#include "host/sim/sim_smp.h"

/* Answers to hosts need the MAD layer, which comes with an administration. */
void machine_smps_begin(struct setup *setup)
{
    struct sim_administration_options options;
    sim_administration_options_init(&options);
    for (const struct statement *statement = NULL;
         (statement = scenario_next(setup->scenario, STATEMENT_ACTION, statement));)
        if (statement->action.kind == ACTION_MACHINE_SMP)
            sim_add_administrations(setup->sim, &options);
}

void machine_smps_release(struct setup *setup)
{
    for (size_t i = 0; i < setup->machines.smps.count; i++)
        sim_smp_free(setup->machines.smps.items[i]);
    vec_release(&setup->machines.smps);
}

void machine_smp_send(struct setup *setup, uint32_t machine)
{
    uint32_t port = machines_port(setup, machine);
    if (port == TOPOLOGY_NONE) {
        run_record_add_event(setup->record, RUN_RECORD_ALARM, sim_now(setup->sim),
                             setup->machines.items.items[machine].name,
                             "has no virtual function: no SMP is sent");
        return;
    }
    setup->machines.smps_sent++;
    vec_push(&setup->machines.smps, sim_smp_send(setup->sim, setup->fabric, port));
}

void machine_smps_update(struct setup *setup)
{
    struct machines *machines = &setup->machines;
    size_t open = 0;
    for (size_t i = 0; i < machines->smps.count; i++) {
        struct sim_smp *smp = machines->smps.items[i];
        enum sim_smp_state state = sim_smp_state(smp);
        machines->smps_answered += state == SIM_SMP_ANSWERED;
        if (state == SIM_SMP_OPEN)
            machines->smps.items[open++] = smp;
        else
            sim_smp_free(smp);
    }
    machines->smps.count = open;
}
