/* What the manager's files share. */
#ifndef WEFT_SM_INTERNAL_H
#define WEFT_SM_INTERNAL_H

#include "base/time.h"
#include "sm/sm.h"
#include "sm/transactions.h"

struct port_work {
    bool reading, writing, probing;
    uint64_t suspected; /* when it was last looked at because of somebody behind it */
    uint8_t failures;   /* probes without an answer: not asked again before the next sweep */
    uint64_t tried;     /* fingerprint of the last settings and of what the port made of them */
    uint8_t refusals;   /* Sets in a row that it did not take or that did not move it */
    bool throttled;     /* runs below what both ends can do, and that was said */
    uint8_t silences;   /* of the manager's own adapter: times that it was met in vain */
    uint64_t fenced;    /* the GUID behind it that is somewhere else, too, as was said; 0: none */
    uint32_t contender; /* whoever is behind it was seen behind that port, too; 0: it was not */
    uint8_t mute;       /* another manager sits here that left so many questions unanswered */
    uint8_t flaps;      /* times it came back since `flaps_since` */
    uint64_t flaps_since, damped_until;
    /* Sockets of vSwitches. */
    bool held;         /* the vswitch library is about to change it */
    bool evict;        /* the machine that it shows is somewhere else */
    uint8_t outcome;   /* of enum sm_function_outcome: the last Set's */
    uint32_t function; /* the port that is or was plugged in; 0: none yet */
    uint32_t holds;    /* … so many holds had begun or ended when it was last written */
    uint32_t judged;   /* the mastership in which it was found out whether … */
    bool ask;          /* … its clients have to register again */
};
struct refusal { /* what a switch did not take; it is not sent again before the next sweep */
    uint64_t blocks[LFT_BLOCKS / 64]; /* of its table … */
    uint64_t contents;                /* … and a fingerprint of what is wanted there; 0: none */
    uint64_t info;                    /* fingerprint of a SwitchInfo; 0: none */
    uint64_t sweep;                   /* when the next one is due */
    bool told_blocks, told_info;
    uint8_t changes; /* times in a row that it did not take back that ports changed */
};
struct node_work {
    uint32_t writing_tables, reading; /* requests under way */
    uint32_t reads_for, mirrored; /* tokens: all of it is being read under, has been read under */
    bool reading_switch, writing_switch, described, announced;
    bool own_life;         /* keeps packets as long as it likes, whatever it is told */
    bool own_top;          /* the same for the last MLID */
    bool own_change;       /* does not let a port change be acknowledged, and that was said */
    bool too_small;        /* its table cannot hold the routes, and that was said */
    bool babbling;         /* sends more traps than anyone can use, and that was said */
    uint8_t silences;      /* how often it was met and left an answer out since all was well … */
    uint64_t silent_until; /* … and is not met again */
    uint32_t traps;        /* since `traps_since` */
    uint64_t traps_since;
    struct refusal refusal;
};

enum stage {
    STAGE_IDLE,
    STAGE_WAVES,    /* ordered: wave after wave */
    STAGE_STUCK,    /* ordered: entries without a safe order are set to drop, … */
    STAGE_HOLD,     /* … or their sources are told to wait, … */
    STAGE_HELD,     /* … and do while everything is written */
    STAGE_STOPPING, /* static: ports to Init */
    STAGE_WRITING,  /* static: tables */
    STAGE_STARTING, /* static: ports to Active */
};
struct distribution {
    enum stage stage;
    uint32_t wave;      /* the next one */
    uint32_t job;       /* the lower half of its number; 0: none */
    uint32_t pending;   /* its Sets of port states under way */
    uint64_t resume_at; /* end of a drain */
    bool drained;
    bool told;  /* … which followed first levels */
    bool early; /* sources wait from the start: what is under way goes by the old tables */
};

struct mirror {      /* see mirror.c; tokens are 0 where there is none */
    uint64_t master; /* port GUID of the one that is watched */
    uint32_t seen;   /* its token when last heard of */
    uint32_t round;  /* the token under which nodes are read */
    uint32_t cursor; /* the next node to be read */
    bool complete;
    bool heard;            /* the master has answered */
    struct sm_job *routes; /* checked; NULL: not, or not right */
    uint32_t burst;        /* SMPs that may be sent before `next_burst` */
    uint64_t next_burst;
};

struct audit {
    bool due, running;
    uint32_t cursor, under_way;
    uint64_t next_at;
};

struct guest {
    uint64_t guid;
    enum { GUEST_WAITS, GUEST_PLANNED, GUEST_CROWDED, GUEST_LOST } state;
};
struct partition_work {       /* see partitions.c */
    bool used;                /* tables are ours to write */
    bool stale;               /* the rules may be others than those that were planned with */
    uint64_t generation;      /* of the subnet that was planned for */
    uint32_t reading;         /* requests under way */
    VEC(uint8_t) reads;       /* by end port: whether its table was read … */
    VEC(uint64_t) done;       /* … and what it was planned for; 0: nothing yet, or in vain */
    VEC(struct guest) guests; /* by end port: who is about to get the function */
    /* Scratch: of the port that is planned. */
    struct partition_keys keys;
    VEC(uint16_t) before, table;
    struct partitions standing; /* what holds when there are no rules any more */
    /* End ports with too small a table, switch ports that cannot enforce, and what was said. */
    uint32_t crowded, first_crowded, unguarded, first_unguarded;
    uint64_t told;
};

struct service_work {          /* see qos.c */
    struct qos policy, served; /* what was asked for; what sources are told */
    struct qos_layout layout, written_layout, served_layout;
    bool written;   /* tables are ours to write */
    bool stale;     /* the policy is another one */
    bool unserved;  /* tables may be on their way */
    bool sources;   /* arbitration of adapters is ours to write, whatever else is */
    bool unheld;    /* the last master was not in the middle of a change */
    uint16_t held;  /* lanes of routes on which sources wait: see hold.c */
    uint32_t holds; /* counts their beginnings and ends */
    uint64_t planned_generation, epoch;
    VEC(uint64_t) signatures; /* by node: of what its tables were planned for */
};

struct doubled { /* sockets that show the same machine */
    uint32_t first, second;
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
    struct transactions *transactions;
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
    struct sm_job *current; /* whose routes are in force, or on their way to be */
    struct sm_job *serving; /* whose tables were all acknowledged; may be the current one */
    bool abandoned;         /* the current one's distribution was broken off */
    uint64_t paths_generation;
    bool computing, stopped;
    bool refused;        /* the last job gave no routes */
    bool learns;         /* see sm_learns() */
    uint64_t stood_by;   /* since then it is a standby, if it is one */
    bool yielding;       /* asked to hand over, whoever outranks whom … */
    bool gave_way;       /* … and does not claim it back, whatever its configuration says */
    bool was_standby;    /* another one was master before: its tables may be as good as ours */
    bool ways_stale;     /* a link or node went: find the ways anew */
    bool explore_all;    /* after a change everything is discovered anew, not just the region */
    uint64_t explore_at; /* … at the latest then */
    bool undeliverable;  /* a request was dropped because there is no way to its target */
    bool stale;          /* something was read or lost: compare wanted and actual again */
    bool afresh;         /* the next routes are to be computed, not mended */
    bool rebalancing;    /* … for balance only */
    uint64_t uneven;     /* … of a link that so many pairs use */
    uint64_t rebalancing_for; /* … of the subnet in this generation */
    uint64_t planned_generation;
    uint64_t jobs, awaited_job; /* numbers */
    uint32_t discovering;       /* discovery requests under way */
    VEC(uint32_t) frontier;     /* ports to be asked through, in breadth- and depth-first order */
    struct change change;
    struct distribution distribution;
    uint32_t tables_under_way; /* Sets of table blocks and tops, in all switches */
    struct partition_work partitioning;
    struct service_work service;
    uint32_t blocks_under_way;    /* Sets of partitions, lanes, multicast */
    uint32_t functions_under_way; /* Sets of virtual functions */
    bool functions_risen;         /* some came up since services were last planned */
    bool hypervisors;             /* there is one at least, or was */
    uint16_t next_machine_lid;    /* where the search for a free one goes on */
    struct map machines;          /* port GUID of a virtual machine → its socket */
    VEC(struct doubled) doubles;
    const struct groups *groups; /* the owner's; NULL: there is no multicast */
    struct multicast *multicast; /* see multicast.c; NULL: nothing was asked for yet */
    uint16_t multicast_top;      /* the last MLID that switches have to know; 0: none */
    uint64_t next_sweep, next_poll;
    unsigned sweeps;   /* since the last full one */
    uint32_t sweeping; /* requests of the present one under way */
    unsigned polls_failed;
    uint32_t given_up;    /* the master that did not answer any more; SUBNET_NONE: none */
    uint32_t master_port; /* a standby's master; SUBNET_NONE: none known */
    uint32_t act_count, token;
    struct mirror mirror;
    struct audit audit;
    bool handing_over;
    struct sm_counts counts;
    uint16_t next_lid;
    uint32_t masterships; /* counted */
    uint32_t asks_in;     /* the mastership in which clients may be asked to register */
    uint16_t heritage;    /* LID of a master whose clients are known; 0: none is */
};

static inline struct subnet_port *port_at(struct sm *sm, uint32_t port)
{
    return &sm->subnet.ports.items[port];
}

static inline struct subnet_node *node_at(struct sm *sm, uint32_t node)
{
    return &sm->subnet.nodes.items[node];
}

/* core.c */
void sm_say(struct sm *sm, enum sm_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sm_reply(struct sm *sm, const struct sm_message *message);
void sm_begin_change(struct sm *sm, uint64_t now, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct port_work *sm_port_work(struct sm *sm, uint32_t port);
struct node_work *sm_node_work(struct sm *sm, uint32_t node);

void plan_services(struct sm *sm); /* partitions, levels of service, groups, as they are now */

/* discovery.c */
void discovery_start(struct sm *sm);
void discovery_restart(struct sm *sm); /* from scratch; LIDs are kept */
void discovery_lost_contact(struct sm *sm, uint64_t now, uint32_t end_port);
void discovery_suspect(struct sm *sm, uint64_t now, uint32_t end_port, uint32_t through);
void discovery_probe(struct sm *sm, uint32_t port);
bool discovery_continue(struct sm *sm); /* the next of the frontier; false: there is none */
void discovery_read_port(struct sm *sm, uint32_t port);
void discovery_read_switch(struct sm *sm, uint32_t node); /* its SwitchInfo, and what follows */
void discovery_read_node(struct sm *sm, uint32_t node);
void discovery_read_all(struct sm *sm, uint32_t node); /* and what is not known of it yet */
void discovery_forget_tables(struct sm *sm, uint32_t node);
void discovery_learn_switch(struct sm *sm, uint32_t node, const uint8_t *data); /* SwitchInfo */
void discovery_refresh_switch(struct sm *sm, uint32_t node);

/* discovery_faults.c */
void discovery_report_throttled(struct sm *sm);
void faults_note_silence(struct sm *sm, uint64_t now, uint32_t node);
void faults_leave_alone(struct sm *sm, uint64_t now, uint32_t end);
void faults_report_refused_probe(struct sm *sm, uint32_t through, uint16_t status);
void faults_report_refused_read(struct sm *sm, const struct request *request, uint16_t status);
void faults_note_flap(struct sm *sm, uint64_t now, uint32_t port);
void faults_fence_off(struct sm *sm, uint32_t through, uint64_t guid);
bool faults_contest(struct sm *sm, uint32_t through, uint32_t far);
void faults_decide(struct sm *sm, uint32_t port);
void faults_contradict(struct sm *sm, uint32_t through);

/* lids.c */
void lids_assign(struct sm *sm);
void lids_assign_port(struct sm *sm, uint32_t port);

/* plan.c */
void plan_routes(struct sm *sm, const struct engine *engine, bool provisional);
void plan_take_routes(struct sm *sm, struct sm_job *job);
void plan_serve(struct sm *sm); /* all of the current tables are there */
void plan_drop(struct sm *sm);  /* not master any more: there are no routes of ours */
/* 0 if the independent check passes the tables; then what it found is remembered. */
int plan_check(struct sm_job *job, const struct routes *routes, struct err *err);

/* mend.c */
void mend_prepare(struct sm *sm, struct sm_job *job, const uint32_t *index);
int mend_run(struct sm_job *job, struct err *err);
bool mend_learn(struct repair_state *state, const struct network *network,
                const struct dependency_graph *graph, struct verify_report *report,
                const uint32_t *ranks);
void mend_rebalance(struct sm *sm, uint64_t now); /* if repairs made that desirable */
bool mend_is_gain(struct sm *sm, const struct sm_job *job);

/* distribute.c */
void distribute_snapshot(struct sm *sm, struct sm_job *job);
void distribute_begin(struct sm *sm);
void distribute_abort(struct sm *sm);
void distribute_advance(struct sm *sm, uint64_t now);
uint64_t distribute_packet_life(const struct sm *sm); /* in one switch */

/* hold.c */
enum { HOLD_MARK_VL = 14 }; /* with a weight of 0, in the first entry of tables that hold a lane */
bool hold_is_possible(struct sm *sm, const char **why_not);
void hold_begin(struct sm *sm, uint16_t lanes); /* of routes; more than before, if some were held */
void hold_end(struct sm *sm);
bool hold_is_on(const struct sm *sm);
bool hold_has_leaks(struct sm *sm); /* some sources were told and do not listen */
void hold_inherit(struct sm *sm);   /* whoever was master before may have left a hold */

/* program.c */
void program_forget_tables(struct sm *sm);
void program_all(struct sm *sm);
void program_port(struct sm *sm, uint32_t port);
bool program_links_rise(struct sm *sm); /* before the first wave of tables */
void program_paper_port(struct sm *sm, uint32_t port);
void program_switch(struct sm *sm, uint32_t node);
void program_block(struct sm *sm, uint32_t node, unsigned block); /* if it differs */
/* For random_table.c: a block of its table was sent, and has been confirmed, refused or lost. */
void program_block_sent(struct sm *sm, uint32_t node);
void program_block_done(struct sm *sm, uint32_t node);
void program_block_lost(struct sm *sm, uint64_t now, uint32_t node, unsigned block);
void program_report_refused_block(struct sm *sm, const struct request *request, uint16_t status,
                                  const char *consequence);

/* blocks.c */
void blocks_program(struct sm *sm);
void blocks_flush(struct sm *sm);
bool blocks_are_written(const struct sm *sm); /* none waits or is on its way */

/* Planners of blocks. Each is called at every turn and does nothing unless something that it
 * depends on has changed. */
void partitions_plan(struct sm *sm);
void partitions_forget(struct sm *sm); /* another manager may have written tables */
void partitions_flush(struct sm *sm);  /* requests under way were forgotten */
void partitions_release_work(struct sm *sm);
/* A function came up: it has the keys of its physical one, and so has the switch's port. */
void partitions_came_up(struct sm *sm, uint32_t socket);
/* A function is held no more: what was planned for a guest may not be for whoever has it now. */
void partitions_let_go(struct sm *sm, uint32_t socket);
bool partitions_are_under_way(const struct sm *sm, uint32_t port); /* Sets of this port's */
/* Whether a port may become Active: its keys have been looked at. */
bool partitions_are_settled(struct sm *sm, uint32_t port);
/* Sets what a switch port is to enforce, in its PortInfo. */
void partitions_enforce(struct sm *sm, uint32_t port, uint8_t *info);
void qos_plan(struct sm *sm);
void qos_begin(struct sm *sm);
void qos_end(struct sm *sm);
bool qos_configure(struct sm *sm, const struct qos *policy);    /* whether that changes anything */
unsigned qos_limit_lanes(struct sm *sm);                        /* that routes may use */
bool qos_is_settled(const struct sm *sm);                       /* no table is on its way */
void qos_serve(struct sm *sm);                                  /* sources may be told */
void qos_set_port(struct sm *sm, uint32_t port, uint8_t *info); /* VLHighLimit */
uint8_t qos_master_sl(struct sm *sm, const struct subnet_port *port);
bool qos_is_source(struct sm *sm, uint32_t port); /* an adapter's, with a link */
void qos_want_sources(struct sm *sm);             /* their arbitration, as it is now */
bool multicast_wants_lane(const struct sm *sm, unsigned lanes);
void multicast_plan(struct sm *sm, uint64_t now); /* when routes are in force */
uint64_t multicast_deadline(const struct sm *sm);
bool multicast_is_settled(const struct sm *sm);
void multicast_forget(struct sm *sm); /* another one may have made other trees */
void multicast_release(struct sm *sm);

/* functions.c */
void functions_read(struct sm *sm, uint64_t now, uint32_t socket, const uint8_t *data);
void functions_prepare(struct sm *sm);    /* before LIDs are given … */
void functions_share_lids(struct sm *sm); /* … and after */
/* The functions behind a leaf switch's port become terminals; false if it is no vSwitch's. */
bool functions_add_terminals(struct sm *sm, struct sm_job *job, uint32_t at, unsigned number,
                             uint32_t uplink);
void functions_pull_out(struct sm *sm, uint32_t socket);
void functions_program(struct sm *sm, uint32_t socket);
void functions_program_all(struct sm *sm, uint32_t vswitch);
bool functions_is_held(struct sm *sm, uint32_t port);
void functions_flush(struct sm *sm);

/* moves.c */
void moves_take_stock(struct sm *sm);
uint16_t moves_spare_top(const struct sm *sm, const struct subnet_node *node);

/* random_table.c */
bool random_table_is_used(const struct subnet_node *node);
unsigned random_table_default(const struct sm *sm, uint32_t node);
void random_table_program(struct sm *sm, uint32_t node);

/* change.c */
void change_explore(struct sm *sm, uint64_t now, uint32_t node);
void change_sweep(struct sm *sm, uint64_t now);
void change_trap(struct sm *sm, uint64_t now, const struct sm_message *message);

/* mastership.c */
void mastership_receive(struct sm *sm, uint64_t now, const struct sm_message *message);
void mastership_ask(struct sm *sm, uint32_t port);       /* discovery waits for the answer */
void mastership_ask_again(struct sm *sm, uint32_t port); /* by a sweep: nobody waits */
void mastership_notify(struct sm *sm, uint32_t port);
void mastership_rival_gone(struct sm *sm, uint64_t now, uint32_t port);
void mastership_discovered(struct sm *sm, uint64_t now);
void mastership_expire(struct sm *sm, uint64_t now);
void mastership_become(struct sm *sm, uint64_t now, enum sm_state state, const char *why);

/* mirror.c */
uint32_t mirror_act_count(const struct sm *sm);
void mirror_begin_change(struct sm *sm); /* the master is about to write */
void mirror_end_change(struct sm *sm);
void mirror_watch(struct sm *sm, uint64_t master);
bool mirror_has_heard(const struct sm *sm, bool *weft); /* of its master, and what it is */
void mirror_hear(struct sm *sm, uint64_t now, const uint8_t *info); /* a master's SMInfo */
void mirror_advance(struct sm *sm, uint64_t now);
void mirror_meets(struct sm *sm, uint32_t node);     /* all of it is about to be read */
void mirror_node_read(struct sm *sm, uint32_t node); /* nothing is being read of it any more */
void mirror_checked(struct sm *sm, struct sm_job *job, bool right);
void mirror_spoil(struct sm *sm);          /* tables are not what was checked */
uint32_t mirror_pace(const struct sm *sm); /* SMPs a second */
bool mirror_may_send(struct sm *sm);       /* one more of those that nobody waits for */
uint64_t mirror_deadline(const struct sm *sm);
void mirror_expire(struct sm *sm, uint64_t now);
/* Brings the copy up to date and asks other managers; false if there is none to start from. */
bool mirror_take_over(struct sm *sm);
bool mirror_take_routes(struct sm *sm); /* what was checked, if it still fits; ends the mirror */
void mirror_end(struct sm *sm);

/* audit.c */
void audit_begin(struct sm *sm, uint64_t now);
void audit_advance(struct sm *sm, uint64_t now);
uint64_t audit_deadline(const struct sm *sm);

#endif
