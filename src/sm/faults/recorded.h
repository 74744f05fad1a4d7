/* What the files of this folder share: the recorded faults of nodes, ports and links.
 *
 *   timeouts.c         nodes that do not answer; suspected links
 *   links.c            links that flap, count errors or run slowly; isolation of them
 *   duplicate_guids.c  nodes with the GUID of another node
 *   list.c             the faults that are present, as problems
 *
 * A fault must not delay the rest of the subnet or flood the log. */
#ifndef WEFT_SM_FAULTS_RECORDED_H
#define WEFT_SM_FAULTS_RECORDED_H

#include "base/rate_limit.h"
#include "sm/sm.h"
#include "subnet/names.h"

/* Losses and errors of a link are counted for this long. */
enum { HISTORY_MIN = 10 };

struct port_faults {
    bool slow;                /* runs below the width or speed of both ends; logged */
    uint64_t suspected_until; /* it is not read again for a suspicion before */
    uint8_t timeouts;         /* of a port of the manager's own adapter */
    uint64_t missing_since;   /* the first time-out after the last answer; 0: none */
    uint32_t waits;           /* outstanding requests to it while it is late */
    struct rate_window flaps;
    uint64_t damped_until;
    bool down_at_peer; /* the port at the other end was down; this one was not read since */
    bool loss_seen;    /* the port at the other end has shown the last loss of the link */
    bool return_seen;  /* the same for its return */
    bool kept;         /* discovery has started again while the link was up */
    struct rate_window losses, errors; /* of the link; kept at the lower of its two ports */
    struct sm_link_errors error;       /* of the link, the last ones */
    uint64_t disabled_until;           /* this port; TIME_NEVER: by hand; 0: not disabled */
    struct rate_window spared;         /* it was not isolated, and this was logged */
    uint64_t enabled_at;               /* the last time that the manager enabled it */
    uint64_t excluded;                 /* duplicate GUID of the node behind it; logged; 0: none */
    uint32_t claimant;                 /* another port with the same node behind it; 0: none */
};

enum { PATH_KEPT = 12 };

struct node_faults {
    uint32_t path[PATH_KEPT]; /* to it at the first time-out: the links next to the manager */
    uint64_t silent_since;    /* that time-out; 0: none */
    uint8_t timeouts;         /* since the last change ended */
    uint64_t ignored_until;   /* discovery ignores the node */
};

struct faults {
    unsigned doubtful_sweeps;      /* that verify links: see faults_verify_links() */
    unsigned shared;               /* reports of shared GUIDs since the last sweep or restart */
    unsigned restarts;             /* because of them, in a row */
    uint64_t restart_at;           /* TIME_NEVER: none is scheduled */
    bool restarted;                /* discovery did, and is not complete */
    bool slow_by_choice[2];        /* all links of adapters, and between switches, run alike */
    VEC(struct port_faults) ports; /* by port of the subnet */
    VEC(struct node_faults) nodes; /* by node */
    VEC(struct sm_neighbour)
    expected; /* links of the last run, until the first change ends */
};

struct port_faults *faults_at(struct sm *sm, uint32_t port);
struct node_faults *faults_of(struct sm *sm, uint32_t node);
/* It has an event in the last HISTORY_MIN minutes. */
bool history_is_recent(const struct rate_window *history, uint64_t now);

/* links.c */
bool faults_is_disabled(const struct subnet_port *port);
/* Before calls of the next one. */
void faults_compare_rates(struct sm *sm);
/* Whether a link runs below the width or speed of both ends, unless the configuration limits those;
 * `text`: "1X SDR; both ends support 4X HDR". */
bool faults_is_slow(const struct sm *sm, uint32_t port, char text[64]);
/* "L3 port 2 counted 160 symbol errors in 10 s (limit: 60 a minute)" */
struct subnet_name faults_describe_errors(const struct sm *sm, const struct sm_link_errors *errors);

/* duplicate_guids.c */
uint64_t faults_deadline(const struct sm *sm); /* of a restart of discovery */
/* The place of the node with this GUID that is in the subnet: "host7 port 1 <-> leaf2 port 5". */
struct subnet_name faults_place_of_guid(const struct sm *sm, uint64_t guid);

/* list.c */
void faults_list_problems(struct sm *sm, struct problems *problems);

#endif
