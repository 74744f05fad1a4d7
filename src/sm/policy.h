/* How a manager goes about its work: decisions that a configuration file does not offer.
 *
 * There are two policies: the default one, and that of the managers in the papers that weft
 * reproduces (paper_policy.c). The rest of the manager asks for a decision by its name and does not
 * know which policy it follows. */
#ifndef WEFT_SM_POLICY_H
#define WEFT_SM_POLICY_H

#include "sm/sm.h"

struct sm_policy {
    /* Limits a configuration to what the policy can do; NULL: it can do all. */
    void (*limit)(struct sm_config *config);

    /* Sequencing. */
    bool alone;      /* there is no other manager: master from the start, and nobody to notify */
    bool sequential; /* sweeps and traps wait for the end of a change, routes for all addresses */
    bool no_window;  /* SMPs are sent as soon as they are due, however many are outstanding */
    bool chases_losses; /* time-outs and lost links are looked into before discovery is complete */
    bool short_drains;  /* a drain lasts as long as the longest path that matters, not of all */

    /* What is read. */
    bool reads_whole_nodes; /* NodeDescription and SwitchInfo, not only NodeInfo and PortInfo */
    bool probes_every_port; /* links are probed from both ends; else where nobody is known */

    /* What is written. */
    bool services;     /* partitions, levels of service, multicast trees */
    bool ports_once;   /* an end port when it is first read, a switch port by static distribution;
                          else whatever differs from what is wanted, at any time */
    bool whole_tables; /* all blocks of a linear table each time; else those that differ, up to
                          the top LID */
    bool keeps_old_entries; /* those for LIDs that are gone count in the order of updates */
};

#endif
