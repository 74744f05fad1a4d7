/* Interfaces between the manager's files. */
#ifndef WEFT_SM_INTERNAL_H
#define WEFT_SM_INTERNAL_H

#include "base/time.h"
#include "sm/mastership_table.h"
#include "sm/policy.h"
#include "sm/reconfigure.h"
#include "sm/sm.h"
#include "sm/transactions.h"

#include <assert.h>

enum { CAPABILITY_IS_SM = 1 << 1 }; /* in PortInfo.CapabilityMask */

/* Each part is private to one file: the one named beside it, or the one with its name. */
struct sm {
    struct sm_config config;
    struct subnet subnet;
    const struct alias_guids *alias_guids; /* the owner's; NULL: none */
    struct alias_plan alias_plan;
    uint64_t guid;         /* of the manager's port */
    uint64_t now;          /* of the owner's call; set by core.c alone */
    struct outbox *outbox; /* core.c */
    struct transactions *transactions;
    struct mastership *mastership;
    struct peers *peers;         /* guard/peers.c */
    struct port_keys *port_keys; /* guard/port_keys.c */
    struct watch *watch;         /* guard/watch.c */
    struct recheck *recheck;     /* guard/recheck.c */
    struct discovery *discovery;
    struct reads *reads;   /* discovery_read.c */
    struct faults *faults; /* faults/ */
    struct sweeps *sweeps; /* change_detection.c */
    struct admission *admission;
    struct reconfigure *reconfigure;
    struct report *report;
    struct lids *lids;
    struct plan *plan;
    struct distribution *distribution; /* distribute.c */
    struct program *program;
    struct port_writer *port_writer; /* program_ports.c */
    struct reregister *reregister;
    struct partitioning *partitioning; /* partitions.c */
    struct service *service;           /* qos.c */
    struct quiesce *quiesce;
    struct multicast *multicast;
    struct standby_copy *standby_copy;
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
extern const struct sm_part transactions_part, mastership_part, peers_part, port_keys_part,
    watch_part, recheck_part, discovery_part, reads_part, faults_part, sweeps_part, admission_part,
    reconfigure_part, report_part, lids_part, plan_part, distribution_part, program_part,
    port_writer_part, reregister_part, partitioning_part, service_part, quiesce_part,
    multicast_part, standby_copy_part;

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

/* core.c: output for the owner */
void sm_log(struct sm *sm, enum sm_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, about a port of the subnet, or about a node: its port 0. */
void sm_log_at(struct sm *sm, enum sm_event_kind kind, uint32_t port, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* sm_log() for a problem that sm_problems() lists. */
void sm_log_listed(struct sm *sm, enum sm_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sm_reply(struct sm *sm, const struct sm_message *message);
void sm_persist(struct sm *sm, struct sm_lid_fact fact);
void sm_drop_requests(struct sm *sm); /* forgets all requests, outstanding ones included */

/* discovery.c and its files (discovery.h) */
bool discovery_is_complete(const struct sm *sm); /* no request of discovery is under way */
void discovery_start(struct sm *sm);
/* Whether the manager's own port was read. If not, discovery restarts after a while: discovery of
 * the subnet starts at that port. */
bool discovery_knows_itself(struct sm *sm);
void discovery_restart(struct sm *sm); /* from scratch; LIDs are kept */
/* Sends the next probe or restarts; false: there is nothing to continue with or to wait for. */
bool discovery_continue(struct sm *sm);
void discovery_update_paths(struct sm *sm); /* directed routes, if a link or node was lost */
void discovery_explore_all(struct sm *sm);  /* restart soon */
uint64_t discovery_deadline(const struct sm *sm);
/* Whether the manager leaves this port alone until the next sweep; see sm_is_avoiding_port(). */
void discovery_avoid_port(struct sm *sm, uint32_t port, bool avoid);
void discovery_retry_port(struct sm *sm,
                          uint32_t port); /* reads a port that is avoided or unread */
bool discovery_has_unread_port(const struct sm *sm, uint32_t port);
/* A switch does not clear PortStateChange; true for the first time. */
bool discovery_note_stuck_change(struct sm *sm, uint32_t node);
void discovery_lost_contact(struct sm *sm, uint32_t end_port);
void discovery_suspect(struct sm *sm, uint32_t end_port, uint32_t through);
bool discovery_is_reading(struct sm *sm, uint32_t node);
void discovery_read_port(struct sm *sm, uint32_t port);
/* Of PortInfo: the port's number, and bit 31 once its node is known to understand it. */
uint32_t sm_port_info_modifier(const struct sm *sm, uint32_t port);
void discovery_read_switch(struct sm *sm, uint32_t node);    /* SwitchInfo and unknown blocks */
void discovery_read_node(struct sm *sm, uint32_t node);      /* SwitchInfo and known ports */
void discovery_read_all(struct sm *sm, uint32_t node);       /* everything, known or not */
void discovery_refresh_switch(struct sm *sm, uint32_t node); /* clear PortStateChange, read ports */
void discovery_forget_description(struct sm *sm, uint32_t node);
void discovery_forget_tables(struct sm *sm, uint32_t node);
/* A block of a switch's forwarding table; NULL: it is not known. */
void discovery_store_block(struct sm *sm, uint32_t node, uint32_t block, const uint8_t *data);
void discovery_store_random_table(struct sm *sm, uint32_t node);
void discovery_store_port(struct sm *sm, uint32_t port, const uint8_t *info); /* PortInfo */
void discovery_note_manager(struct sm *sm, uint32_t port); /* by IsSM of the stored PortInfo */
void discovery_learn_switch(struct sm *sm, uint32_t node, const uint8_t *info);
/* A port reported trap 129, 130 or 131. */
void faults_note_errors(struct sm *sm, uint32_t port, unsigned trap);
void faults_isolate_babbling(struct sm *sm, uint32_t port); /* an adapter's, if so configured */
void faults_guid_changed(struct sm *sm, uint32_t node, uint64_t guid);
void faults_retry_disabled(struct sm *sm); /* enables ports whose time is over */
void faults_list_problems(struct sm *sm, struct problems *problems);
bool faults_doubt_links(const struct sm *sm); /* nodes with the same GUID may be mixed up */
uint64_t faults_restart_deadline(const struct sm *sm);
bool faults_take_restart(struct sm *sm); /* discovery is to start from scratch now */
void faults_verify_links(struct sm *sm); /* in a sweep, if GUIDs are in doubt */
bool faults_probe_links(struct sm *sm);  /* the same, between sweeps; false: no doubt */
void faults_change_ended(struct sm *sm); /* all nodes that are present have answered */

/* lids.c */
/* `after_another`: LIDs that another master assigned take precedence over remembered ones. */
void lids_assign(struct sm *sm, bool after_another);
void lids_assign_port(struct sm *sm, uint32_t port);
void lids_remember(struct sm *sm, uint32_t port); /* the port's LID, if it has one */

/* plan.c */
/* The job whose tables are in force or being distributed; NULL: none. */
struct sm_job *plan_current(const struct sm *sm);
/* The last job whose tables were all acknowledged: sources use its paths. */
struct sm_job *plan_serving(const struct sm *sm);
struct sm_job *plan_next_job(struct sm *sm); /* for the host; NULL: none */
uint64_t plan_paths_generation(const struct sm *sm);
void plan_paths_changed(struct sm *sm); /* the result of sm_paths() changed */
void plan_use_first_levels(struct sm *sm);
void plan_edit_entries(struct sm *sm, const struct sm_entry *entries, size_t count);
/* Queues a job for the host; returns its number. */
uint64_t plan_routes(struct sm *sm, const struct engine *engine, bool provisional,
                     enum plan_reason reason);
void plan_receive(struct sm *sm, struct sm_job *job); /* takes a computed job */
void plan_take_routes(struct sm *sm);                 /* makes the received job the current one */
void plan_break_off(struct sm *sm); /* the current tables will not all be written */
void plan_serve(struct sm *sm);     /* all current tables are acknowledged */
void plan_drop(struct sm *sm);      /* this manager is no longer master */
/* Runs the independent check. On success stores its results in the job for the next repair. */
int plan_check(struct sm_job *job, const struct routes *routes, struct err *err);

/* repair_job.c */
void repair_job_prepare(struct sm *sm, struct sm_job *job, const uint32_t *index,
                        enum plan_reason reason);
int repair_job_run(struct sm_job *job, struct err *err);
void repair_job_set_state(struct sm_job *job, const struct dependency_graph *graph,
                          struct verify_report *report, const uint32_t *ranks);
void plan_rebalance(struct sm *sm); /* starts a change if repairs have unbalanced links */
bool plan_is_improvement(struct sm *sm, const struct sm_job *job);

/* distribute.c */
enum reconfigure_event distribute_begin(struct sm *sm);
reconfigure_action distribute_keep_tables, distribute_next_wave, distribute_drained_wave;
reconfigure_action distribute_stop_sources, distribute_stop_all_sources, distribute_start_sources;
reconfigure_action distribute_drop_rest, distribute_drain, distribute_drain_quiesced;
void distribute_want_entry(struct sm *sm, uint32_t node, const struct sm_entry *entry);
reconfigure_action distribute_check_quiesced, distribute_write_all, distribute_write_wanted;
reconfigure_action distribute_stop_ports, distribute_start_ports;
/* EVENT_NONE until all wanted entries are confirmed and drains are over. */
enum reconfigure_event distribute_progress(struct sm *sm);
bool distribute_has_written_waves(const struct sm *sm);
uint64_t distribute_drains(const struct sm *sm); /* since the manager started */
uint64_t distribute_deadline(const struct sm *sm);
void distribute_expire(struct sm *sm);
void distribute_reset(struct sm *sm); /* no distribution is under way */

/* quiesce.c */
/* Marks arbitration tables of quiesced sources: their first entry, with weight 0. */
enum { QUIESCE_MARK_VL = 14 };
bool quiesce_is_possible(struct sm *sm, const char **why_not);
void quiesce_begin(struct sm *sm, uint16_t lanes); /* in addition to those quiesced already */
void quiesce_end(struct sm *sm);
bool quiesce_is_on(const struct sm *sm);
uint16_t quiesce_lanes(const struct sm *sm); /* the VLs of routes that are quiesced */
uint32_t quiesce_count(const struct sm *sm); /* begins and ends so far */
void quiesce_assume_none(struct sm *sm);     /* the previous master left no source quiesced */
void quiesce_forget(struct sm *sm);          /* no longer master; the next one ends the quiesce */
bool quiesce_was_refused(struct sm *sm);     /* by at least one source */
/* Looks for sources that the last master left quiesced. */
void quiesce_find_inherited(struct sm *sm);
void quiesce_audit(struct sm *sm); /* the same, although a copy showed none */

/* report.c */
void report_begin(struct sm *sm, const char *cause);
/* Begins a change for a loss or a return at a port, and logs it even if a change is under way. */
void report_loss(struct sm *sm, uint32_t port, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_discovered(struct sm *sm);
void report_computed(struct sm *sm);
void report_end(struct sm *sm, bool up);
void report_nodes(struct sm *sm); /* logs nodes that appeared or vanished */

/* reregister.c */
void reregister_set_port(struct sm *sm, uint32_t port, uint8_t *info); /* ClientReregister */
void reregister_sent(struct sm *sm, uint32_t port); /* the port accepted ClientReregister */
bool reregister_all(struct sm *sm);                 /* false: done in this mastership */
void reregister_port(struct sm *sm, uint64_t guid);
void reregister_doubt(struct sm *sm); /* another master was in the subnet */

/* program.c */
uint32_t program_blocks_sent(const struct sm *sm);     /* Sets since the manager started */
uint64_t program_entries_changed(const struct sm *sm); /* by those Sets, of linear tables */
void program_schedule(struct sm *sm); /* compare everything wanted with actual soon */
bool program_is_due(const struct sm *sm);
void program_if_due(struct sm *sm);
void program_all(struct sm *sm);
/* No Set of this switch's tables or SwitchInfo is under way; true for other nodes. */
bool program_tables_are_confirmed(struct sm *sm, uint32_t node);
bool program_is_writing_tables(const struct sm *sm, uint32_t node);
/* The switch has no room for the routes; true for the first time. */
bool program_first_lacks_room(struct sm *sm, uint32_t node);
void program_switch(struct sm *sm, uint32_t node);
void program_block(struct sm *sm, uint32_t node, unsigned block); /* if it differs */
/* For random_table.c: a block was sent; its request has ended. */
void program_block_sent(struct sm *sm, uint32_t node);
void program_block_done(struct sm *sm, uint32_t node);
request_outcome program_block_ended, program_block_unanswered;
void program_report_refused_block(struct sm *sm, const struct request *request,
                                  const char *consequence);
void program_list_problems(struct sm *sm, struct problems *problems);

/* program_ports.c */
uint32_t program_ports_sent(const struct sm *sm); /* Sets since the manager started */
void program_port(struct sm *sm, uint32_t port);
bool program_port_was_written(const struct sm *sm, uint32_t port); /* in the last seconds */
bool program_port_is_refused(const struct sm *sm, uint32_t port);  /* its settings */
void program_ports_list_problems(struct sm *sm, struct problems *problems);
void program_link(struct sm *sm, uint32_t port);       /* both ends */
void program_node_ports(struct sm *sm, uint32_t node); /* all links of a node */
/* Disables or enables a port of a switch. An isolated port gets a mark in PortInfo, which the other
 * commands remove. */
enum port_command { PORT_ENABLE, PORT_DISABLE, PORT_ISOLATE, PORT_UNMARK };
void program_switch_port(struct sm *sm, uint32_t port, enum port_command command);
bool program_port_is_marked(const uint8_t *info);
bool program_links_rise(struct sm *sm); /* a link between switches is not Active yet */
/* Writes an end port once, when it is first read (sm_policy.ports_once). */
void program_end_port_once(struct sm *sm, uint32_t port);

/* blocks.c */
void blocks_program(struct sm *sm);
void blocks_requests_dropped(struct sm *sm);
void blocks_list_problems(struct sm *sm, struct problems *problems);
bool blocks_are_written(const struct sm *sm); /* none is queued or under way */

/* Planners of blocks. They are called after every input and return at once if nothing changed. */
void plan_services(struct sm *sm); /* calls all but multicast_plan() */
void partitions_plan(struct sm *sm);
void partitions_forget(struct sm *sm); /* another manager may have written tables */
void partitions_rules_changed(struct sm *sm);
/* A function came up with the keys of its PF, and so did the switch port. */
void partitions_came_up(struct sm *sm, uint32_t socket);
void partitions_prepare(struct sm *sm, uint32_t socket);   /* writes keys before an attach */
bool partitions_are_settled(struct sm *sm, uint32_t port); /* the port may become Active */
void partitions_enforce(struct sm *sm, uint32_t port, uint8_t *info); /* PartitionEnforcement */
void qos_plan(struct sm *sm);
void qos_forget(struct sm *sm); /* another master may write tables from now on */
bool qos_is_asked_for(const struct sm *sm);
bool qos_configure(struct sm *sm, const struct qos *policy); /* true: something changed */
unsigned qos_lanes(const struct sm *sm);                     /* VLs that remain for routes */
unsigned qos_limit_lanes(struct sm *sm);      /* the same, limited by the configuration */
bool qos_writes_sources(const struct sm *sm); /* arbitration of adapters */
void qos_want_sources(struct sm *sm);
bool qos_is_source(struct sm *sm, uint32_t port); /* a port of an adapter with a link */
bool qos_is_settled(const struct sm *sm);         /* all tables are written */
void qos_serve(struct sm *sm);                    /* puts the written levels into force */
const struct qos *qos_served(const struct sm *sm, struct qos_layout *layout); /* in force */
void qos_set_port(struct sm *sm, uint32_t port, uint8_t *info);               /* VLHighLimit */
uint8_t qos_master_sl(struct sm *sm, const struct subnet_port *port);
void multicast_plan(struct sm *sm);
void multicast_forget(struct sm *sm); /* another manager may have written tables */
bool multicast_wants_lane(const struct sm *sm, unsigned lanes);
uint64_t multicast_deadline(const struct sm *sm);
bool multicast_is_settled(const struct sm *sm);
uint16_t multicast_top(const struct sm *sm); /* the highest MLID that is used; 0: none */

/* functions.c */
request_outcome functions_read;
void functions_prepare(struct sm *sm); /* before LIDs are assigned */
void functions_program(struct sm *sm, uint32_t socket);
void functions_program_all(struct sm *sm, uint32_t vswitch);
bool functions_is_held(struct sm *sm, uint32_t port); /* its address is about to change */
/* The outcome of an order to write keys, if there is one for this port's function. */
void functions_end_keys(struct sm *sm, uint32_t port, enum function_outcome outcome);
void functions_requests_dropped(struct sm *sm);

/* random_table.c */
bool random_table_is_used(const struct subnet_node *node);
unsigned random_table_default(const struct sm *sm, uint32_t node);
void random_table_program(struct sm *sm, uint32_t node);

/* change_detection.c */
uint64_t sweep_deadline(const struct sm *sm);
void sweep_schedule(struct sm *sm);
void sweep_stop(struct sm *sm);
/* Somebody else writes MasterSMLID. A full sweep finds the link of that master: it has read, and so
 * cleared, the PortStateChange of the switch. */
void sweep_for_unknown_master(struct sm *sm);
void change_sweep(struct sm *sm);
/* True if the trap should be reported to subscribers. */
bool change_trap(struct sm *sm, const struct sm_message *message);
uint64_t storm_deadline(const struct sm *sm);
void storm_expire(struct sm *sm); /* reads all switches during a storm of traps */

/* admission.c */
enum admission_kind { ADMIT_TRAP, ADMIT_VIOLATION, ADMIT_FORGED, ADMIT_SM_INFO, ADMIT_KINDS };
/* The end port that a message came from; SUBNET_NONE: not known. */
uint32_t admission_origin(const struct sm *sm, const struct sm_message *message);
/* Counts an SMP of that port. False if it is beyond the port's budget and must be ignored. */
bool admission_take(struct sm *sm, uint32_t origin, enum admission_kind kind);
uint64_t admission_deadline(const struct sm *sm);
void admission_expire(struct sm *sm); /* logs how many SMPs were ignored */
/* The link of the manager's own port is read from time to time. */
void own_link_schedule(struct sm *sm);
void own_link_expire(struct sm *sm);
uint64_t own_link_deadline(const struct sm *sm);
/* The own port was read in this state; true: its link went down or came back. */
bool own_link_changes(struct sm *sm, unsigned state);
void own_link_was_down(struct sm *sm); /* and is up now */

/* mastership.c */
bool mastership_handle(struct sm *sm, enum mastership_event event); /* false: it is ignored */
void mastership_complete_discovery(struct sm *sm);                  /* of a discovering manager */
bool mastership_yield(struct sm *sm); /* hand over; false: there is no other manager */
void mastership_end(struct sm *sm);   /* hand over if possible, and become inactive */
void mastership_receive(struct sm *sm, const struct sm_message *message);
void mastership_expire(struct sm *sm);
uint64_t mastership_deadline(const struct sm *sm); /* the next poll of a standby */
void mastership_count_smp(struct sm *sm);
/* Reads SMInfo of the manager at a port; discovery is not complete before it answers. */
void mastership_query(struct sm *sm, uint32_t port);
void mastership_query_in_sweep(struct sm *sm, uint32_t port); /* nothing waits for the answer */
void mastership_notify(struct sm *sm, uint32_t port);         /* the master is about to write */
void mastership_rival_gone(struct sm *sm, uint32_t port);     /* it is not master, or not there */
void mastership_forget_rival(struct sm *sm, uint32_t port);
void mastership_list_problems(struct sm *sm, struct problems *problems);
uint32_t mastership_number(const struct sm *sm); /* counts the masterships of this manager */

/* guard/peers.c */
void peers_seal_request(struct sm *sm, struct request *request); /* of SMInfo */
bool peers_accept(struct sm *sm, const struct request *request); /* an answer of a peer */
void peers_seal_answer(struct sm *sm, const uint8_t *request, uint8_t *answer);
/* The sender of this Get(SMInfo) is a peer. */
bool peers_believe_request(const struct sm *sm, const struct sm_message *message);
/* The sender of this Set(SMInfo) may send it. */
bool peers_may_control(struct sm *sm, enum mastership_event event,
                       const struct sm_message *message);
void peers_list_problems(struct sm *sm, struct problems *problems);

/* guard/port_keys.c */
uint64_t port_keys_of(const struct sm *sm, uint32_t end_port); /* the wanted M_Key */
uint64_t port_keys_for_request(const struct sm *sm, const struct request *request);
/* Of the port that is or was behind this one. */
uint64_t port_keys_behind(const struct sm *sm, uint32_t port);
void port_keys_learn_link(struct sm *sm, uint32_t port);
/* The sender of the SMP that trap 256 of this port reports; SUBNET_NONE: unknown. */
uint32_t port_keys_offender(const struct sm *sm, uint32_t reporter, const uint8_t *details);
/* A port reports an SMP without its key (trap 256). */
void port_keys_violated(struct sm *sm, uint32_t reporter, const uint8_t *details);
void port_keys_list_problems(struct sm *sm, struct problems *problems);

/* guard/watch.c */
uint64_t watch_deadline(const struct sm *sm);
void watch_expire(struct sm *sm);

/* guard/recheck.c */
uint64_t recheck_deadline(const struct sm *sm);
void recheck_schedule(struct sm *sm); /* a port is avoided, or GUIDs are in doubt */
void recheck_resume(struct sm *sm);   /* a manager becomes master */
void recheck_expire(struct sm *sm);

/* standby_copy.c */
void standby_copy_start(struct sm *sm);
uint32_t standby_copy_act_count_bits(const struct sm *sm); /* 0 if not master */
void standby_copy_begin_change(struct sm *sm);             /* the master is about to write */
void standby_copy_end_change(struct sm *sm);
void standby_copy_watch(struct sm *sm, uint64_t master);
bool standby_copy_master_answered(const struct sm *sm, bool *weft); /* `weft`: it is a weft SM */
void standby_copy_receive_info(struct sm *sm, const uint8_t *info); /* SMInfo of a master */
void standby_copy_advance(struct sm *sm);
void standby_copy_node_reading(struct sm *sm, uint32_t node); /* a read of the whole node begins */
void standby_copy_node_read(struct sm *sm, uint32_t node);    /* a read ended; perhaps the last */
void standby_copy_node_unread(struct sm *sm, uint32_t node);  /* a read was not answered */
/* Takes the job if it is the check of the copy; else returns false. */
bool standby_copy_checked(struct sm *sm, struct sm_job *job, bool right);
void standby_copy_discard_routes(struct sm *sm);
bool standby_copy_may_send(struct sm *sm); /* one more request without priority */
uint64_t standby_copy_deadline(const struct sm *sm);
void standby_copy_expire(struct sm *sm);
/* Reads what the copy lacks and queries other managers; false: there is no copy. */
bool standby_copy_take_over(struct sm *sm);
/* Ends the copy. Returns the checked job if it fits the subnet, else NULL. */
struct sm_job *standby_copy_take_routes(struct sm *sm);
bool audit_begin(struct sm *sm); /* with a sweep; false: no audit is due */
void audit_advance(struct sm *sm);
uint64_t audit_deadline(const struct sm *sm);

#endif
