/* What the manager's files share. */
#ifndef WEFT_SM_INTERNAL_H
#define WEFT_SM_INTERNAL_H

#include "base/time.h"
#include "sm/sm.h"

/* What a request is for, and so who gets the answer. */
enum sm_purpose {
    PURPOSE_PROBE,        /* who is behind switch port a (SUBNET_NONE: who am I) */
    PURPOSE_DESCRIPTION,  /* of node a */
    PURPOSE_SWITCH_INFO,  /* of node a */
    PURPOSE_PORT_INFO,    /* of port a */
    PURPOSE_READ_TABLE,   /* of node a, block b */
    PURPOSE_CLEAR_CHANGE, /* of node a: acknowledge its port state change */
    PURPOSE_SET_PORT,     /* port a */
    PURPOSE_SET_SWITCH,   /* node a */
    PURPOSE_SET_TABLE,    /* node a, block b */
    PURPOSE_SET_RANDOM,   /* the same for a random table */
    PURPOSE_STAGE,        /* port a, to another state for static distribution */
    PURPOSE_SWEEP,        /* is node a as it was? */
    PURPOSE_MANAGER,      /* SMInfo of port a, found by discovery */
    PURPOSE_POLL,         /* is the master at port a alive? */
    PURPOSE_HANDOVER,     /* tell the manager at port a to take over */
};

struct request {
    uint64_t deadline;
    uint32_t next; /* in a queue or in the free list */
    uint32_t a, b;
    uint32_t target;  /* end port */
    uint32_t through; /* probes go one hop on, out of this port; else SUBNET_NONE */
    uint32_t modifier;
    uint32_t generation; /* of this slot; part of the transaction id */
    uint16_t attribute;
    uint8_t purpose, method, tries;
    bool outstanding, urgent;
    uint8_t data[SMP_DATA_BYTES];
};

struct request_queue {
    uint32_t head, tail, count;
};

struct transactions {
    VEC(struct request) requests;
    uint32_t free;
    struct request_queue urgent, normal;
    /* Outstanding ones in the order in which they were sent: all have the same time-out but for
     * back-off, so the few later ones just wait a little longer. */
    VEC(uint32_t) flying;
    uint32_t outstanding;
    uint32_t window_256; /* in 1/256 SMPs */
    uint64_t shrunk_at;
};

struct port_work {
    bool reading, writing, probing;
    uint8_t failures; /* probes without an answer: not asked again before the next sweep */
    uint64_t tried;   /* fingerprint of the last settings and of what the port made of them */
    bool throttled;   /* runs below what both ends can do, and that was said */
    uint8_t flaps;    /* times it came back since `flaps_since` */
    uint64_t flaps_since, damped_until;
};
struct node_work {
    uint32_t writing_tables, reading_tables; /* requests under way */
    bool reading_switch, writing_switch, described, announced;
    bool too_small; /* its table cannot hold the routes, and that was said */
    bool babbling;  /* sends more traps than anyone can use, and that was said */
    uint32_t traps; /* since `traps_since` */
    uint64_t traps_since;
};

enum stage {
    STAGE_IDLE,
    STAGE_WAVES,    /* ordered: wave after wave */
    STAGE_STUCK,    /* ordered: entries without a safe order are set to drop */
    STAGE_STOPPING, /* static: ports to Init */
    STAGE_WRITING,  /* static: tables */
    STAGE_STARTING, /* static: ports to Active */
};
struct distribution {
    enum stage stage;
    uint32_t wave;      /* the next one */
    uint32_t pending;   /* Sets of port states under way */
    uint64_t resume_at; /* end of a drain */
    bool drained;
};

struct change {
    bool open;
    uint64_t since, discovered, computed;
    char cause[96];
    uint32_t blocks, entries, ports;
    struct sm_counts before;
};

struct sm {
    struct sm_config config;
    struct subnet subnet;
    struct transactions transactions;
    uint64_t guid;
    enum sm_state state;
    VEC(struct port_work) port_work; /* beside subnet.ports */
    VEC(struct node_work) node_work; /* beside subnet.nodes */
    struct map remembered;           /* port GUID → lid << 3 | lmc */
    VEC(struct sm_message) replies;
    VEC(struct sm_event) events;
    VEC(struct sm_fact) facts;
    size_t replies_taken, events_taken, facts_taken;
    struct sm_job *job;     /* to be handed out */
    struct sm_job *current; /* whose routes are in force */
    bool computing, stopped;
    bool refused;        /* the last job gave no routes */
    bool yielding;       /* asked to hand over, whoever outranks whom */
    bool was_standby;    /* another one was master before: its tables may be as good as ours */
    bool explore_all;    /* after a change everything is discovered anew, not just the region */
    uint64_t explore_at; /* … at the latest then */
    bool undeliverable;  /* a request was dropped because there is no way to its target */
    bool stale;          /* something was read or lost: compare wanted and actual again */
    uint64_t planned_generation, awaited_generation;
    uint32_t discovering;   /* discovery requests under way */
    VEC(uint32_t) frontier; /* ports to be asked through, in breadth- and depth-first order */
    struct change change;
    struct distribution distribution;
    uint32_t tables_under_way; /* Sets of table blocks and tops, in all switches */
    uint64_t next_sweep, next_poll;
    unsigned sweeps;   /* since the last full one */
    uint32_t sweeping; /* requests of the present one under way */
    unsigned polls_failed;
    uint32_t master_port; /* a standby's master; SUBNET_NONE: none known */
    uint32_t act_count;
    bool handing_over;
    struct sm_counts counts;
    uint16_t next_lid;
};

static inline struct subnet_port *port_at(struct sm *sm, uint32_t port)
{
    return &sm->subnet.ports.items[port];
}

static inline struct subnet_node *node_at(struct sm *sm, uint32_t node)
{
    return &sm->subnet.nodes.items[node];
}

/* transactions.c */
void transactions_init(struct transactions *transactions);
void transactions_release(struct transactions *transactions);
struct request *sm_request(struct sm *sm, enum sm_purpose purpose, uint32_t a, uint32_t target);
void sm_submit(struct sm *sm, struct request *request, bool urgent);
bool transactions_next(struct sm *sm, uint64_t now, struct sm_message *message);
void transactions_receive(struct sm *sm, uint64_t now, const struct sm_message *message);
void transactions_expire(struct sm *sm, uint64_t now);
uint64_t transactions_deadline(const struct sm *sm);
bool transactions_idle(const struct sm *sm);
void transactions_flush(struct sm *sm); /* forget all requests: nobody waits for them any more */

/* core.c */
void sm_answered(struct sm *sm, uint64_t now, const struct request *request, uint16_t status,
                 const uint8_t *data);
void sm_unanswered(struct sm *sm, uint64_t now, const struct request *request);
void sm_say(struct sm *sm, enum sm_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sm_reply(struct sm *sm, const struct sm_message *message);
void sm_begin_change(struct sm *sm, uint64_t now, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct port_work *sm_port_work(struct sm *sm, uint32_t port);
struct node_work *sm_node_work(struct sm *sm, uint32_t node);

/* discovery.c */
void discovery_start(struct sm *sm);
void discovery_restart(struct sm *sm); /* from scratch; LIDs are kept */
void discovery_lost_contact(struct sm *sm, uint64_t now, uint32_t end_port);
void discovery_probe(struct sm *sm, uint32_t port);
bool discovery_continue(struct sm *sm); /* the next of the frontier; false: there is none */
void discovery_read_port(struct sm *sm, uint32_t port);
void discovery_read_node(struct sm *sm, uint32_t node);
void discovery_refresh_switch(struct sm *sm, uint32_t node);
void discovery_answered(struct sm *sm, uint64_t now, const struct request *request,
                        const uint8_t *data);
void discovery_unanswered(struct sm *sm, uint64_t now, const struct request *request);

void discovery_report_throttled(struct sm *sm);

/* lids.c */
void lids_assign(struct sm *sm);
void lids_assign_port(struct sm *sm, uint32_t port);

/* plan.c */
void plan_routes(struct sm *sm, const struct engine *engine, bool provisional);
void plan_take_routes(struct sm *sm, struct sm_job *job);

/* distribute.c */
void distribute_snapshot(struct sm *sm, struct sm_job *job);
void distribute_begin(struct sm *sm);
void distribute_abort(struct sm *sm);
void distribute_advance(struct sm *sm, uint64_t now);
void distribute_answered(struct sm *sm, const struct request *request, uint16_t status,
                         const uint8_t *data);

/* program.c */
void program_forget_tables(struct sm *sm);
void program_all(struct sm *sm);
void program_port(struct sm *sm, uint32_t port);
void program_paper_port(struct sm *sm, uint32_t port);
void program_switch(struct sm *sm, uint32_t node);
void program_answered(struct sm *sm, const struct request *request, uint16_t status,
                      const uint8_t *data);
void program_unanswered(struct sm *sm, uint64_t now, const struct request *request);

/* random_table.c */
bool random_table_is_used(const struct subnet_node *node);
unsigned random_table_default(const struct sm *sm, uint32_t node);
void random_table_program(struct sm *sm, uint32_t node);

/* change.c */
void change_explore(struct sm *sm, uint64_t now, uint32_t node);
void change_sweep(struct sm *sm, uint64_t now);
void change_trap(struct sm *sm, uint64_t now, const struct sm_message *message);
void change_swept(struct sm *sm, uint64_t now, const struct request *request, const uint8_t *data);

/* mastership.c */
void mastership_receive(struct sm *sm, uint64_t now, const struct sm_message *message);
void mastership_ask(struct sm *sm, uint32_t port);
void mastership_rival_gone(struct sm *sm, uint64_t now, uint32_t port);
void mastership_answered(struct sm *sm, uint64_t now, const struct request *request,
                         const uint8_t *data);
void mastership_unanswered(struct sm *sm, uint64_t now, const struct request *request);
void mastership_discovered(struct sm *sm, uint64_t now);
void mastership_expire(struct sm *sm, uint64_t now);
void mastership_become(struct sm *sm, uint64_t now, enum sm_state state, const char *why);

#endif
