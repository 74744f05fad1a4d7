/* What the manager's files share. */
#ifndef WEFT_SM_INTERNAL_H
#define WEFT_SM_INTERNAL_H

#include "base/time.h"
#include "sm/mastership.h"
#include "sm/reconfigure.h"
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
    uint32_t holds;  /* sockets: so many holds had begun or ended when the function was written */
    uint32_t judged; /* the mastership in which it was found out whether … */
    bool ask;        /* … its clients have to register again */
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

struct mirror {      /* see mirror.c; tokens are 0 where there is none */
    uint64_t master; /* port GUID of the one that is watched */
    uint32_t seen;   /* its token when last heard of */
    uint32_t round;  /* the token under which nodes are read */
    uint32_t cursor; /* the next node to be read */
    bool complete;
    bool heard;            /* the master has answered */
    struct sm_job *routes; /* checked; NULL: not, or not right */
    uint64_t job;          /* number of the job that checks them; 0: none */
    uint32_t burst;        /* SMPs that may be sent before `next_burst` */
    uint64_t next_burst;
};

struct audit {
    bool due, running;
    uint32_t cursor, under_way;
    uint64_t next_at;
};

struct partition_work {     /* see partitions.c */
    bool used;              /* tables are ours to write */
    bool stale;             /* the rules may be others than those that were planned with */
    uint64_t generation;    /* of the subnet that was planned for */
    uint64_t risen, let_go; /* … of which so many functions had come up, been let go */
    uint32_t reading;       /* requests under way */
    VEC(uint8_t) reads;     /* by end port: whether its table was read … */
    VEC(uint64_t) done;     /* … and what it was planned for; 0: nothing yet, or in vain */
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
    uint64_t planned_risen;   /* functions of that generation that had come up */
    VEC(uint64_t) signatures; /* by node: of what its tables were planned for */
};

struct sm {
    struct sm_config config;
    struct subnet subnet;
    struct transactions *transactions;
    struct reconfigure *reconfigure;
    struct report *report;
    struct distribution *distribution;
    struct program *program;
    uint64_t guid;
    struct mastership *mastership;
    enum sm_state state;             /* written by mastership.c only */
    VEC(struct port_work) port_work; /* beside subnet.ports */
    VEC(struct node_work) node_work; /* beside subnet.nodes */
    struct map remembered;           /* port GUID → lid << 3 | lmc */
    VEC(struct sm_message) replies;
    VEC(struct sm_event) events;
    VEC(struct sm_fact) facts;
    size_t replies_taken, events_taken, facts_taken;
    struct sm_job *job;      /* to be handed out */
    struct sm_job *current;  /* whose routes are in force, or on their way to be */
    struct sm_job *serving;  /* whose tables were all acknowledged; may be the current one */
    struct sm_job *received; /* computed, and not taken yet */
    bool abandoned;          /* the current one's distribution was broken off */
    uint64_t paths_generation;
    bool ways_stale;        /* a link or node went: find the ways anew */
    bool explore_all;       /* after a change everything is discovered anew, not just the region */
    uint64_t explore_at;    /* … at the latest then */
    bool undeliverable;     /* a request was dropped because there is no way to its target */
    uint64_t jobs;          /* counted */
    uint32_t discovering;   /* discovery requests under way */
    VEC(uint32_t) frontier; /* ports to be asked through, in breadth- and depth-first order */
    struct partition_work partitioning;
    struct service_work service;
    uint32_t blocks_under_way;   /* Sets of partitions, lanes, multicast */
    const struct groups *groups; /* the owner's; NULL: there is no multicast */
    struct multicast *multicast; /* see multicast.c; NULL: nothing was asked for yet */
    uint16_t multicast_top;      /* the last MLID that switches have to know; 0: none */
    uint64_t next_sweep;
    unsigned sweeps;   /* since the last full one */
    uint32_t sweeping; /* requests of the present one under way */
    uint32_t token;
    struct mirror mirror;
    struct audit audit;
    struct sm_counts counts;
    uint16_t next_lid;
    uint32_t asks_in;  /* the mastership in which clients may be asked to register */
    uint16_t heritage; /* LID of a master whose clients are known; 0: none is */
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
struct port_work *sm_port_work(struct sm *sm, uint32_t port);
struct node_work *sm_node_work(struct sm *sm, uint32_t node);

void sm_reroute_for(struct sm *sm, uint64_t now, enum plan_reason reason);
void plan_services(struct sm *sm); /* partitions, levels of service, groups, as they are now */

/* discovery.c */
void discovery_start(struct sm *sm);
void discovery_restart(struct sm *sm); /* from scratch; LIDs are kept */
void discovery_lost_contact(struct sm *sm, uint64_t now, uint32_t end_port);
void discovery_suspect(struct sm *sm, uint64_t now, uint32_t end_port, uint32_t through);
void discovery_probe(struct sm *sm, uint32_t port);
/* True if there is more to ask, or something to wait for. */
bool discovery_continue(struct sm *sm, uint64_t now);
void discovery_update_paths(struct sm *sm, uint64_t now);
void discovery_explore_all(struct sm *sm, uint64_t now);
uint64_t discovery_deadline(const struct sm *sm);
void discovery_forget_description(
    struct sm *sm, uint32_t node); /* the next of the frontier; false: there is none */
void discovery_read_port(struct sm *sm, uint32_t port);
void discovery_read_switch(struct sm *sm, uint32_t node); /* its SwitchInfo, and what follows */
void discovery_read_node(struct sm *sm, uint32_t node);
void discovery_read_all(struct sm *sm, uint32_t node); /* and what is not known of it yet */
void discovery_forget_tables(struct sm *sm, uint32_t node);
void discovery_learn_switch(struct sm *sm, uint32_t node, const uint8_t *data); /* SwitchInfo */
void discovery_refresh_switch(struct sm *sm, uint32_t node);

/* discovery_faults.c */
void faults_all_is_well(struct sm *sm); /* a change was carried out, and nobody is missing */
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
/* After another master, what it gave counts more than what was given before. */
void lids_assign(struct sm *sm, bool after_another);
void lids_assign_port(struct sm *sm, uint32_t port);
void lids_remember(struct sm *sm, uint32_t port); /* the one it has now, if any */

/* plan.c */
/* Hands a job to the host; returns its number. */
uint64_t plan_routes(struct sm *sm, const struct engine *engine, bool provisional,
                     enum plan_reason reason);
void plan_receive(struct sm *sm, struct sm_job *job); /* with tables */
void plan_take_routes(struct sm *sm);                 /* those become the wanted ones */
void plan_break_off(struct sm *sm);                   /* they will not all be written */
void plan_serve(struct sm *sm);                       /* all of the current tables are there */
void plan_drop(struct sm *sm); /* not master any more: there are no routes of ours */
/* 0 if the independent check passes the tables; then what it found is remembered. */
int plan_check(struct sm_job *job, const struct routes *routes, struct err *err);

/* mend.c */
void mend_prepare(struct sm *sm, struct sm_job *job, const uint32_t *index,
                  enum plan_reason reason);
int mend_run(struct sm_job *job, struct err *err);
void mend_rebalance(struct sm *sm, uint64_t now); /* if repairs made that desirable */
bool mend_is_gain(struct sm *sm, const struct sm_job *job);

/* distribute.c */
struct distribution *distribute_new(void);
void distribute_free(struct distribution *distribution);
void distribute_snapshot(struct sm *sm, struct sm_job *job, enum plan_reason reason);
enum reconfigure_event distribute_begin(struct sm *sm);
reconfigure_action distribute_keep_tables, distribute_next_wave, distribute_drained_wave;
reconfigure_action distribute_stop_sources, distribute_stop_all_sources, distribute_start_sources;
reconfigure_action distribute_drop_rest, distribute_drain, distribute_drain_quiesced;
reconfigure_action distribute_check_quiesced, distribute_write_all;
reconfigure_action distribute_stop_ports, distribute_write_stopped, distribute_start_ports;
reconfigure_action distribute_ports_started;
bool distribute_is_confirmed(struct sm *sm); /* all that was wanted so far, drains included */
bool distribute_has_drained(const struct sm *sm);
bool distribute_has_written_waves(const struct sm *sm);
uint64_t distribute_deadline(const struct sm *sm);
void distribute_expire(struct sm *sm, uint64_t now);
void distribute_reset(struct sm *sm);                 /* no distribution is under way any more */
uint64_t distribute_packet_life(const struct sm *sm); /* in one switch */

/* hold.c */
enum { HOLD_MARK_VL = 14 }; /* with a weight of 0, in the first entry of tables that hold a lane */
bool hold_is_possible(struct sm *sm, const char **why_not);
void hold_begin(struct sm *sm, uint16_t lanes); /* of routes; more than before, if some were held */
void hold_end(struct sm *sm);
bool hold_is_on(const struct sm *sm);
bool hold_has_leaks(struct sm *sm); /* some sources were told and do not listen */
void hold_inherit(struct sm *sm);   /* whoever was master before may have left a hold */

/* report.c */
enum { REPORT_CAUSE_BYTES = 96 };
struct report *report_new(void);
void report_free(struct report *report);
void report_begin(struct sm *sm, uint64_t now, const char *cause);
void report_discovered(struct sm *sm, uint64_t now);
void report_computed(struct sm *sm, uint64_t now);
void report_end(struct sm *sm, uint64_t now, bool up);
void report_nodes(struct sm *sm); /* that came or went */

/* program.c */
struct program_counts {
    uint32_t blocks, ports; /* Sets of table blocks, of ports */
};
struct program *program_new(void);
void program_free(struct program *program);
struct program_counts program_counts(const struct sm *sm); /* since the manager started */
/* Something was read or lost, or is wanted: all that is wanted is compared with what is. */
void program_schedule(struct sm *sm);
bool program_is_due(const struct sm *sm);
void program_what_is_due(struct sm *sm);
void program_cancel(struct sm *sm);
uint32_t program_tables_under_way(const struct sm *sm); /* Sets of table blocks and tops */
void program_requests_dropped(struct sm *sm);
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
/* The keys of a machine go to the function that it is about to have. */
void partitions_prepare(struct sm *sm, uint32_t socket);
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
void functions_read(struct sm *sm, uint32_t socket, const uint8_t *data);
void functions_prepare(struct sm *sm); /* before LIDs are given */
void functions_program(struct sm *sm, uint32_t socket);
void functions_program_all(struct sm *sm, uint32_t vswitch);
bool functions_is_held(struct sm *sm, uint32_t port);
void functions_flush(struct sm *sm);

/* amend.c */
void amend_take_stock(struct sm *sm);

/* random_table.c */
bool random_table_is_used(const struct subnet_node *node);
unsigned random_table_default(const struct sm *sm, uint32_t node);
void random_table_program(struct sm *sm, uint32_t node);

/* change.c */
void change_explore(struct sm *sm, uint64_t now, uint32_t node);
void change_sweep(struct sm *sm, uint64_t now);
void change_trap(struct sm *sm, uint64_t now, const struct sm_message *message);

/* mirror.c */
/* The bits of ActCount by which standbys know how long their copy holds; 0 if not master. */
uint32_t mirror_act_count_bits(const struct sm *sm);
void mirror_begin_change(struct sm *sm); /* the master is about to write */
void mirror_end_change(struct sm *sm);
void mirror_watch(struct sm *sm, uint64_t master);
bool mirror_has_heard(const struct sm *sm, bool *weft); /* of its master, and what it is */
void mirror_hear(struct sm *sm, uint64_t now, const uint8_t *info); /* a master's SMInfo */
void mirror_advance(struct sm *sm, uint64_t now);
void mirror_meets(struct sm *sm, uint32_t node);     /* all of it is about to be read */
void mirror_node_read(struct sm *sm, uint32_t node); /* nothing is being read of it any more */
/* False: the job is not one that checks the copy. Else takes it. */
bool mirror_checked(struct sm *sm, struct sm_job *job, bool right);
void mirror_spoil(struct sm *sm);          /* tables are not what was checked */
uint32_t mirror_pace(const struct sm *sm); /* SMPs a second */
bool mirror_may_send(struct sm *sm);       /* one more of those that nobody waits for */
uint64_t mirror_deadline(const struct sm *sm);
void mirror_expire(struct sm *sm, uint64_t now);
/* Brings the copy up to date and asks other managers; false if there is none to start from. */
bool mirror_take_over(struct sm *sm);
/* What was checked, if it still fits, or NULL. Ends the mirror. */
struct sm_job *mirror_take_routes(struct sm *sm);
void mirror_end(struct sm *sm);

/* audit.c */
void audit_begin(struct sm *sm, uint64_t now);
void audit_advance(struct sm *sm, uint64_t now);
uint64_t audit_deadline(const struct sm *sm);

#endif
