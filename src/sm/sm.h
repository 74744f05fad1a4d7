/* The subnet manager's core: discovery, LIDs, routes, tables, ports, change and mastership.
 *
 * It has no clock, no socket, no thread and prints nothing. Its owner feeds it MADs, the time and
 * computed routes, and pulls out what it wants done: MADs to send, routes to compute, events to
 * tell, facts to keep. The same object runs on a simulated fabric, on ibsim and on hardware.
 *
 *   transactions.c  a bounded window of outstanding SMPs, time-outs, retries
 *   discovery.c     who is there and how it is connected
 *   lids.c          addresses, kept wherever possible
 *   plan.c          from what is known to what is wanted: the routes' snapshot and the tables
 *   distribute.c    in which order tables go out
 *   program.c       the difference between wanted and actual, written to the fabric
 *   random_table.c  the same for switches without linear tables
 *   blocks.c        partitions, lanes and multicast, written the same way …
 *   partitions.c    … and what they should be: who is in which partition
 *   qos.c           levels of service on virtual lanes
 *   multicast.c     a tree for each group
 *   change.c        sweeps and traps
 *   mastership.c    who is master (SMInfo)
 *   mirror.c        a standby's copy of the subnet, and taking over with it
 *   audit.c         whether such a copy was right
 *   core.c          birth, the four verbs, and when which part gets its turn */
#ifndef WEFT_SM_SM_H
#define WEFT_SM_SM_H

#include "base/err.h"
#include "base/text.h"
#include "routing/engine.h"
#include "routing/network.h"
#include "routing/order.h"
#include "routing/routes.h"
#include "subnet/groups.h"
#include "subnet/subnet.h"

enum sm_state { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY, SM_MASTER }; /* as in SMInfo */
enum sm_mode { SM_ORDERED, SM_STATIC, SM_NAIVE }; /* of distribution: see distribute.c */
enum sm_order { SM_ORDER_PROPAGATION, SM_ORDER_BREADTH, SM_ORDER_DEPTH };

struct sm_config {
    const struct engine *engine;
    struct engine_options engine_options;
    uint8_t priority; /* 0 … 15 */
    uint8_t lmc;      /* of adapter ports */
    uint64_t m_key, sm_key;
    uint16_t m_key_lease_s;
    uint8_t m_key_protect;
    uint8_t subnet_timeout; /* 4.096 us * 2^n, told to every port */
    uint32_t window;        /* most SMPs outstanding at once */
    uint64_t timeout_ps;    /* of one SMP */
    unsigned retries;
    uint64_t sweep_ps;   /* between light sweeps; TIME_NEVER: none */
    unsigned full_every; /* every so many sweeps reads every port; 0: never */
    uint64_t poll_ps;    /* of a standby that watches its master */
    unsigned poll_retries;
    uint32_t mirror_rate; /* SMPs a second that a standby spends on its copy; 0: it keeps none */
    enum sm_order order;
    enum sm_mode mode;
    uint8_t life_time; /* of a packet in a switch: 4.096 us * 2^n, told to every switch */
    uint64_t drain_ps; /* how long a packet can stay in the fabric at the most; 0: its life in a
                          switch times the longest route */
    bool scope_full;   /* explore everything after every change, as the papers do */
    bool lid_route;    /* SMPs go by tables as far as these are known to be good */
    bool paper;        /* discover by NodeInfo and PortInfo alone, LIDs in order of discovery */
};
void sm_config_init(struct sm_config *config); /* the defaults */

struct sm_message {
    uint8_t mad[MAD_BYTES];
    uint16_t lid; /* where to, or where from; LID_PERMISSIVE for directed routes */
    uint8_t sl;
    uint64_t patience_ps; /* requests sent: how long the core waits for the answer; else 0 */
};

/* A routing job: the host computes, verifies, and hands it back with sm_computed(). */
struct sm_job {
    uint64_t number;     /* counts jobs */
    uint64_t generation; /* of the subnet */
    const struct engine *engine;
    struct engine_options options;
    struct network network;
    enum sm_mode mode;
    bool provisional;       /* of a hybrid: the quick tables that go out first */
    bool adopt;             /* a new master: keep the tables that are there if they are right … */
    bool only_adopt;        /* … and compute none */
    bool has_before;        /* there are tables in the switches to start from */
    struct routes before;   /* these */
    struct routes routes;   /* sm_job_run() fills this … */
    struct order_plan plan; /* … and this, */
    uint32_t longest;       /* and the longest route of old and new tables, where it matters */
    VEC(uint32_t) nodes;    /* the subnet's node, by switch of the network */
};
void sm_job_free(struct sm_job *job);

enum sm_event_kind {
    SM_EVENT_STATE,    /* mastership changed */
    SM_EVENT_NODE_IN,  /* a node appeared … */
    SM_EVENT_NODE_OUT, /* … or vanished */
    SM_EVENT_CHANGE,   /* a change begins: why */
    SM_EVENT_UP,       /* the subnet is as wanted: summary */
    SM_EVENT_TRAP,
    SM_EVENT_WARNING,
    SM_EVENT_ERROR,
};
struct sm_event {
    enum sm_event_kind kind;
    char text[256];
};

struct sm_fact { /* a port's address, to be kept over restarts */
    uint64_t guid;
    uint16_t lid;
    uint8_t lmc;
};

struct sm_output {
    enum { SM_SEND, SM_COMPUTE, SM_EVENT, SM_PERSIST } kind;
    struct sm_message message;
    struct sm_job *job; /* the host's from here on */
    struct sm_event event;
    struct sm_fact fact;
};

struct sm;

struct sm *sm_new(const struct sm_config *config, uint64_t port_guid);
void sm_free(struct sm *sm);
void sm_remember(struct sm *sm,
                 const struct sm_fact *fact); /* from an earlier run, before it starts */
void sm_start(struct sm *sm, uint64_t now);
void sm_stop(struct sm *sm, uint64_t now); /* hand over and go inactive */

void sm_receive(struct sm *sm, uint64_t now, const struct sm_message *message);
void sm_expire(struct sm *sm, uint64_t now);
uint64_t sm_deadline(const struct sm *sm);
bool sm_next_output(struct sm *sm, uint64_t now, struct sm_output *output);
/* Does what the job asks for; pure, so that any thread may. 0, or -errno with the reason. */
int sm_job_run(struct sm_job *job, struct err *err);
/* Takes the job back; `refusal` says why there are no routes, or is NULL. */
void sm_computed(struct sm *sm, uint64_t now, struct sm_job *job, const struct err *refusal);

/* The groups for which trees are wanted; the owner's, who says so whenever their generation is
 * another one. */
void sm_use_groups(struct sm *sm, const struct groups *groups);
void sm_groups_changed(struct sm *sm, uint64_t now);

enum sm_state sm_state(const struct sm *sm);
uint32_t sm_act_count(const struct sm *sm); /* as in SMInfo */
const struct subnet *sm_subnet(const struct sm *sm);
/* The paths that sources should use now: the last tables of which every block is acknowledged, and
 * the network that they were computed for. While new ones go out, these stay; sources change over
 * when the last block has been confirmed. They last until the next call that changes the manager.
 */
struct sm_paths {
    const struct network *network; /* NULL: there are none (not master, or not up yet) */
    const struct routes *routes;
    uint64_t generation; /* another one whenever the answer may be another */
};
struct sm_paths sm_paths(const struct sm *sm);
bool sm_has_copy(const struct sm *sm);   /* standby, and knows the subnet as it is */
bool sm_is_settled(const struct sm *sm); /* master, and nothing left to do */
void sm_reroute(struct sm *sm, uint64_t now);
/* Hands over to a standby and gives way to it (priority 0 from then on); false if there is none. */
bool sm_hand_over(struct sm *sm, uint64_t now);
void sm_look_again(struct sm *sm, uint64_t now); /* at everything, as if nothing were known */
/* New settings for a running manager; keys, LMC and the like must be as before. */
void sm_configure(struct sm *sm, uint64_t now, const struct sm_config *config);

/* Requests sent, by what they were for; index: enum sm_purpose of internal.h has the names. */
struct sm_counts {
    uint64_t sent, answered, timeouts, gave_up;
    uint64_t node_info, port_info_get, port_info_set, switch_info, tables, tables_read, other;
};
void sm_counts(const struct sm *sm, struct sm_counts *counts);

#endif
