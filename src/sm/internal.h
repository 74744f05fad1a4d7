/* What the manager's files share. */
#ifndef WEFT_SM_INTERNAL_H
#define WEFT_SM_INTERNAL_H

#include "base/time.h"
#include "sm/mastership_table.h"
#include "sm/policy.h"
#include "sm/reconfigure.h"
#include "sm/sm.h"
#include "sm/transactions.h"

#include <assert.h>

/* Each part is defined in the file that is named beside it, and nobody else looks inside. */
struct sm {
    struct sm_config config;
    struct subnet subnet;
    uint64_t guid;         /* of the manager's port */
    uint64_t now;          /* the time of the call from the owner; core.c sets it */
    struct outbox *outbox; /* core.c */
    struct transactions *transactions;
    struct mastership *mastership;
    struct discovery *discovery;
    struct reads *reads;   /* discovery_read.c */
    struct faults *faults; /* discovery_faults.c */
    struct sweeps *sweeps; /* change.c */
    struct reconfigure *reconfigure;
    struct report *report;
    struct lids *lids;
    struct plan *plan;
    struct distribution *distribution; /* distribute.c */
    struct program *program;
    struct port_writer *port_writer; /* program_ports.c */
    struct reregister *reregister;
    /* Services. */
    struct partitioning *partitioning; /* partitions.c */
    struct service *service;           /* qos.c */
    struct quiesce *quiesce;
    struct multicast *multicast;
    struct standby_copy *standby_copy; /* and its audit */
};

/* A part of struct sm; any of the functions may be NULL. core.c allocates and frees parts. */
struct sm_part {
    size_t offset, bytes; /* of the pointer in struct sm; of the part */
    void (*init)(struct sm *sm);
    void (*release)(struct sm *sm);
    void (*requests_dropped)(struct sm *sm); /* all requests were forgotten */
};
#define SM_PART(name, init, release, requests_dropped)                                             \
    const struct sm_part name##_part = {offsetof(struct sm, name), sizeof(struct name), init,      \
                                        release, requests_dropped}
extern const struct sm_part transactions_part, mastership_part, discovery_part, reads_part,
    faults_part, sweeps_part, reconfigure_part, report_part, lids_part, plan_part,
    distribution_part, program_part, port_writer_part, reregister_part, partitioning_part,
    service_part, quiesce_part, multicast_part, standby_copy_part;

static inline struct subnet_port *port_at(const struct sm *sm, uint32_t port)
{
    assert(port < sm->subnet.ports.count);
    return &sm->subnet.ports.items[port];
}

static inline struct subnet_node *node_at(const struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    return &sm->subnet.nodes.items[node];
}

/* core.c: what waits for the owner */
void sm_log(struct sm *sm, enum sm_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sm_reply(struct sm *sm, const struct sm_message *message);
void sm_persist(struct sm *sm, struct sm_fact fact);

/* core.c */
void sm_drop_requests(struct sm *sm); /* nobody waits for any request any more */

void plan_services(struct sm *sm); /* partitions, levels of service, groups, as they are now */

/* discovery.c */
bool discovery_is_complete(const struct sm *sm); /* no answer is awaited */
bool discovery_is_reading(struct sm *sm, uint32_t node);
/* Whether the port is left alone until the next sweep. */
void discovery_avoid_port(struct sm *sm, uint32_t port, bool avoid);
void discovery_retry_port(struct sm *sm, uint32_t port);
/* The switch does not let a port change be acknowledged; true for the first time. */
bool discovery_note_stuck_change(struct sm *sm, uint32_t node);
void discovery_start(struct sm *sm);
void discovery_restart(struct sm *sm); /* from scratch; LIDs are kept */
void discovery_lost_contact(struct sm *sm, uint32_t end_port);
void discovery_suspect(struct sm *sm, uint32_t end_port, uint32_t through);
/* True if there is more to ask, or something to wait for. */
bool discovery_continue(struct sm *sm);
void discovery_update_paths(struct sm *sm);
void discovery_explore_all(struct sm *sm);
uint64_t discovery_deadline(const struct sm *sm);
void discovery_forget_description(struct sm *sm, uint32_t node);
void discovery_read_port(struct sm *sm, uint32_t port);
void discovery_read_switch(struct sm *sm, uint32_t node); /* its SwitchInfo, and what follows */
void discovery_read_node(struct sm *sm, uint32_t node);
void discovery_read_all(struct sm *sm, uint32_t node); /* and what is not known of it yet */
void discovery_forget_tables(struct sm *sm, uint32_t node);
/* A block of a switch's forwarding table; NULL: it is not known. */
void discovery_store_block(struct sm *sm, uint32_t node, uint32_t block, const uint8_t *data);
void discovery_store_port(struct sm *sm, uint32_t port, const uint8_t *info);   /* PortInfo */
void discovery_learn_switch(struct sm *sm, uint32_t node, const uint8_t *data); /* SwitchInfo */
void discovery_refresh_switch(struct sm *sm, uint32_t node);

void faults_change_ended(struct sm *sm); /* a change was carried out, and nobody is missing */

/* lids.c */
/* After another master, what it gave counts more than what was given before. */
void lids_assign(struct sm *sm, bool after_another);
void lids_assign_port(struct sm *sm, uint32_t port);
void lids_remember(struct sm *sm, uint32_t port); /* the one it has now, if any */

/* plan.c */
/* Whose tables are in force or on their way; NULL: none. */
struct sm_job *plan_current(const struct sm *sm);
/* Whose tables were all acknowledged, and whose paths sources use; often the current one. */
struct sm_job *plan_serving(const struct sm *sm);
struct sm_job *plan_next_job(struct sm *sm); /* to be handed to the host, or NULL */
uint64_t plan_paths_generation(const struct sm *sm);
void plan_paths_changed(struct sm *sm); /* sm_paths() may have another answer */
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

/* repair_job.c */
void repair_job_prepare(struct sm *sm, struct sm_job *job, const uint32_t *index,
                        enum plan_reason reason);
int repair_job_run(struct sm_job *job, struct err *err);
bool repair_job_learn(struct repair_state *state, const struct network *network,
                      const struct dependency_graph *graph, struct verify_report *report,
                      const uint32_t *ranks);
void repair_job_rebalance(struct sm *sm); /* if repairs made that desirable */
bool repair_job_is_gain(struct sm *sm, const struct sm_job *job);

/* distribute.c */
enum reconfigure_event distribute_begin(struct sm *sm);
reconfigure_action distribute_keep_tables, distribute_next_wave, distribute_drained_wave;
reconfigure_action distribute_stop_sources, distribute_stop_all_sources, distribute_start_sources;
reconfigure_action distribute_drop_rest, distribute_drain, distribute_drain_quiesced;
reconfigure_action distribute_check_quiesced, distribute_write_all, distribute_write_wanted;
reconfigure_action distribute_stop_ports, distribute_start_ports;
/* EVENT_NONE until all that was wanted so far is confirmed, drains included. */
enum reconfigure_event distribute_progress(struct sm *sm);
bool distribute_has_written_waves(const struct sm *sm);
uint64_t distribute_deadline(const struct sm *sm);
void distribute_expire(struct sm *sm);
void distribute_reset(struct sm *sm); /* no distribution is under way any more */

/* quiesce.c */
enum {
    QUIESCE_MARK_VL = 14
}; /* with a weight of 0, in the first entry of tables that hold a lane */
bool quiesce_is_possible(struct sm *sm, const char **why_not);
void quiesce_begin(struct sm *sm,
                   uint16_t lanes); /* of routes; more than before, if some were held */
void quiesce_end(struct sm *sm);
bool quiesce_is_on(const struct sm *sm);
uint16_t quiesce_lanes(const struct sm *sm); /* on which sources wait */
uint32_t quiesce_count(const struct sm *sm); /* of beginnings and ends so far */
void quiesce_assume_none(struct sm *sm);     /* the last master was not in the middle of a change */
void quiesce_forget(struct sm *sm);      /* the next master sees to it: quiesce_find_inherited() */
bool quiesce_was_refused(struct sm *sm); /* some sources were told and do not listen */
void quiesce_find_inherited(struct sm *sm); /* whoever was master before may have left a hold */

/* report.c */
enum { REPORT_CAUSE_BYTES = 96 };
void report_begin(struct sm *sm, const char *cause);
void report_discovered(struct sm *sm);
void report_computed(struct sm *sm);
void report_end(struct sm *sm, bool up);
void report_nodes(struct sm *sm); /* that came or went */

/* reregister.c */
void reregister_set_port(struct sm *sm, uint32_t port, uint8_t *info); /* ClientReregister */
void reregister_sent(struct sm *sm, uint32_t port); /* the port took the question */
bool reregister_all(struct sm *sm); /* who have to register again; false: that was done */
void reregister_port(struct sm *sm, uint64_t guid); /* at this port */

/* program.c */
uint32_t program_blocks_sent(const struct sm *sm); /* Sets since the manager started */
/* Something was read or lost, or is wanted: all that is wanted is compared with what is. */
void program_schedule(struct sm *sm);
bool program_is_due(const struct sm *sm);
void program_if_due(struct sm *sm);
/* Nothing that leads over the node is on its way to it. */
bool program_tables_are_confirmed(struct sm *sm, uint32_t node);
bool program_is_writing_tables(const struct sm *sm, uint32_t node);
/* The switch has no room for the routes; true for the first time. */
bool program_first_lacks_room(struct sm *sm, uint32_t node);
void program_all(struct sm *sm);
/* Writes an end port once and for all, as soon as it is read (sm_policy.ports_once). */
void program_switch(struct sm *sm, uint32_t node);
void program_block(struct sm *sm, uint32_t node, unsigned block); /* if it differs */
/* For random_table.c: a block of its table was sent, and has been confirmed, refused or lost. */
void program_block_sent(struct sm *sm, uint32_t node);
void program_block_done(struct sm *sm, uint32_t node);
request_outcome program_block_ended, program_block_unanswered;
void program_report_refused_block(struct sm *sm, const struct request *request,
                                  const char *consequence);

/* program_ports.c */
uint32_t program_ports_sent(const struct sm *sm); /* Sets since the manager started */
void program_port(struct sm *sm, uint32_t port);
void program_link(struct sm *sm, uint32_t port); /* the port, and the other end */
bool program_links_rise(struct sm *sm);          /* before the first wave of tables */
void program_end_port_once(struct sm *sm, uint32_t port);
void program_node_ports(struct sm *sm, uint32_t node); /* and those at the other ends */

/* blocks.c */
void blocks_program(struct sm *sm);
void blocks_requests_dropped(struct sm *sm);
bool blocks_are_written(const struct sm *sm); /* none waits or is on its way */

/* Planners of blocks. Each is called at every turn and does nothing unless something that it
 * depends on has changed. */
void partitions_plan(struct sm *sm);
void partitions_forget(struct sm *sm); /* another manager may have written tables */
void partitions_rules_changed(struct sm *sm);
/* A function came up: it has the keys of its physical one, and so has the switch's port. */
void partitions_came_up(struct sm *sm, uint32_t socket);
/* The keys of a machine go to the function that it is about to have. */
void partitions_prepare(struct sm *sm, uint32_t socket);
/* Whether a port may become Active: its keys have been looked at. */
bool partitions_are_settled(struct sm *sm, uint32_t port);
/* Sets what a switch port is to enforce, in its PortInfo. */
void partitions_enforce(struct sm *sm, uint32_t port, uint8_t *info);
void qos_plan(struct sm *sm);
void qos_forget(struct sm *sm); /* another master may write tables from now on */
bool qos_is_asked_for(const struct sm *sm);
unsigned qos_lanes(const struct sm *sm);      /* that routes may use besides levels of service */
bool qos_writes_sources(const struct sm *sm); /* arbitration of adapters */
/* What sources are told. */
const struct qos *qos_served(const struct sm *sm, struct qos_layout *layout);
bool qos_configure(struct sm *sm, const struct qos *policy);    /* whether that changes anything */
unsigned qos_limit_lanes(struct sm *sm);                        /* that routes may use */
bool qos_is_settled(const struct sm *sm);                       /* no table is on its way */
void qos_serve(struct sm *sm);                                  /* sources may be told */
void qos_set_port(struct sm *sm, uint32_t port, uint8_t *info); /* VLHighLimit */
uint8_t qos_master_sl(struct sm *sm, const struct subnet_port *port);
bool qos_is_source(struct sm *sm, uint32_t port); /* an adapter's, with a link */
void qos_want_sources(struct sm *sm);             /* their arbitration, as it is now */
bool multicast_wants_lane(const struct sm *sm, unsigned lanes);
void multicast_plan(struct sm *sm); /* when routes are in force */
uint64_t multicast_deadline(const struct sm *sm);
bool multicast_is_settled(const struct sm *sm);
void multicast_forget(struct sm *sm);        /* another one may have made other trees */
uint16_t multicast_top(const struct sm *sm); /* the last MLID that switches have to know; 0: none */

/* functions.c */
request_outcome functions_read;
void functions_prepare(struct sm *sm); /* before LIDs are given */
void functions_program(struct sm *sm, uint32_t socket);
void functions_program_all(struct sm *sm, uint32_t vswitch);
bool functions_is_held(struct sm *sm, uint32_t port);
/* The outcome of an order to write a machine's keys, if there is one for this port's function. */
void functions_end_keys(struct sm *sm, uint32_t port, enum function_outcome outcome);
void functions_requests_dropped(struct sm *sm);

/* random_table.c */
bool random_table_is_used(const struct subnet_node *node);
unsigned random_table_default(const struct sm *sm, uint32_t node);
void random_table_program(struct sm *sm, uint32_t node);

/* change.c */
uint64_t sweep_deadline(const struct sm *sm); /* when the next sweep is due */
void sweep_schedule(struct sm *sm);
void sweep_stop(struct sm *sm);
void change_sweep(struct sm *sm);
void change_trap(struct sm *sm, const struct sm_message *message);

/* mastership.c */
bool mastership_handle(struct sm *sm, enum mastership_event event); /* false: it is ignored */
bool mastership_yield(struct sm *sm); /* hand over; false: there is no other manager */
void mastership_end(struct sm *sm);   /* hand over if possible, and go inactive */
void mastership_receive(struct sm *sm, const struct sm_message *message);
void mastership_expire(struct sm *sm);
uint64_t mastership_deadline(const struct sm *sm); /* of a standby: the next poll */
void mastership_count_smp(struct sm *sm);          /* another SMP arrived */

/* Asks the manager at a port for its SMInfo; discovery is not complete before it answers. */
void mastership_query(struct sm *sm, uint32_t port);
/* The same for a sweep: nothing waits for the answer. */
void mastership_query_in_sweep(struct sm *sm, uint32_t port);
/* Tells another manager that the master is about to write. */
void mastership_notify(struct sm *sm, uint32_t port);

/* The other master that was at this port is not there any more. */
void mastership_rival_gone(struct sm *sm, uint32_t port);

/* What was known of this port is out of date. */
void mastership_forget_rival(struct sm *sm, uint32_t port);

uint32_t mastership_number(const struct sm *sm); /* counts the times that this one was master */

/* standby_copy.c */
void standby_copy_start(struct sm *sm);
/* The bits of ActCount by which standbys know how long their copy holds; 0 if not master. */
uint32_t standby_copy_act_count_bits(const struct sm *sm);
void standby_copy_begin_change(struct sm *sm); /* the master is about to write */
void standby_copy_end_change(struct sm *sm);
void standby_copy_watch(struct sm *sm, uint64_t master);
bool standby_copy_master_answered(const struct sm *sm,
                                  bool *weft); /* of its master, and what it is */
void standby_copy_receive_info(struct sm *sm, const uint8_t *info); /* a master's SMInfo */
void standby_copy_advance(struct sm *sm);
void standby_copy_node_reading(struct sm *sm, uint32_t node); /* all of it is about to be read */
void standby_copy_node_read(struct sm *sm,
                            uint32_t node); /* nothing is being read of it any more */
void standby_copy_node_unread(struct sm *sm, uint32_t node); /* some of it was not answered */
/* False: the job is not one that checks the copy. Else takes it. */
bool standby_copy_checked(struct sm *sm, struct sm_job *job, bool right);
void standby_copy_discard_routes(struct sm *sm); /* tables are not what was checked */
bool standby_copy_may_send(struct sm *sm);       /* one more of those that nobody waits for */
uint64_t standby_copy_deadline(const struct sm *sm);
void standby_copy_expire(struct sm *sm);
/* Brings the copy up to date and asks other managers; false if there is none to start from. */
bool standby_copy_take_over(struct sm *sm);
/* What was checked, if it still fits, or NULL. Ends the mirror. */
struct sm_job *standby_copy_take_routes(struct sm *sm);
bool audit_begin(struct sm *sm); /* with a sweep, if it is due */
void audit_advance(struct sm *sm);
uint64_t audit_deadline(const struct sm *sm);

#endif
