/* Policies: decisions of a manager that are not in its configuration file.
 *
 * There are two, both in core.c: the default policy, and that of the managers in the papers that
 * weft reproduces. The other files test single fields and are independent of the policy in use. */
#ifndef WEFT_SM_POLICY_H
#define WEFT_SM_POLICY_H

#include "sm/sm.h"

struct sm_policy {
    /* Limits a configuration to what the policy supports; NULL: it supports everything. */
    void (*limit)(struct sm_config *config);

    /* Sequencing. */
    bool sequential;     /* sweeps and traps wait for the end of a change, routes for all LIDs */
    bool no_window;      /* an SMP is sent when it is due, however many are outstanding */
    bool fixed_timeouts; /* the time-out is at least the response time of the agent, for each
                            repetition the same; else it doubles with each repetition */
    bool chases_losses;  /* time-outs and lost links are examined before discovery is complete */
    bool short_drains;   /* a drain lasts as long as the longest affected path, not of all */

    /* What is read. */
    bool reads_whole_nodes; /* NodeDescription and SwitchInfo, not only NodeInfo and PortInfo */
    bool probes_every_port; /* links are probed from both ends; else if the peer is unknown */

    /* What is written. */
    bool services;          /* partitions, levels of service, multicast trees */
    bool ports_once;        /* with mode static: an end port is written when it is first read, a
                               switch port by static distribution; else any port whose settings
                               differ, at any time */
    bool whole_tables;      /* all blocks of a linear table are written each time; else blocks that
                               differ, up to the top LID */
    bool keeps_old_entries; /* the order of updates includes entries of LIDs that are gone */
};

#endif
