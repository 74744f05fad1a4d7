/* The subnet manager's core: discovery, LIDs, routes, tables, ports, change and mastership.
 *
 * It has no clock, no socket, no thread and prints nothing. Its owner passes in MADs, the time and
 * computed routes, and takes out MADs to send, routes to compute, events to log and LIDs to store.
 * The same object runs on a simulated fabric, on ibsim and on hardware. All times are nanoseconds,
 * as in `subnet`, `sa` and `vswitch` (base/time.h).
 *
 * README.md lists the parts. The state of each is private to its file; internal.h has what all of
 * them see. */
#ifndef WEFT_SM_SM_H
#define WEFT_SM_SM_H

#include "base/err.h"
#include "base/log_levels.h"
#include "base/text.h"
#include "base/time.h"
#include "routing/engine/engine.h"
#include "routing/model/network.h"
#include "routing/model/routes.h"
#include "sm/change.h"
#include "subnet/alias_guids.h"
#include "subnet/groups.h"
#include "subnet/link_settings.h"
#include "subnet/partitions.h"
#include "subnet/problems.h"
#include "subnet/qos.h"
#include "subnet/subnet.h"
#include "vswitch/model/move.h"

enum sm_state { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY, SM_MASTER }; /* as in SMInfo */
extern const char *const sm_state_names[];
enum sm_mode { SM_ORDERED, SM_STATIC, SM_NAIVE }; /* of distribution: see distribute.c */
/* In which direction a switch port with an adapter behind it checks P_Keys. */
enum sm_enforcement { SM_ENFORCE_NOT, SM_ENFORCE_IN, SM_ENFORCE_OUT, SM_ENFORCE_BOTH };
/* Links that the manager disables for a while. */
enum sm_isolate {
    SM_ISOLATE_NONE,
    SM_ISOLATE_FLAPPING,
    SM_ISOLATE_ERRORS,
    SM_ISOLATE_ALL,
    SM_ISOLATE_BABBLING = 4 /* see isolate_babbling */
};
enum sm_order { SM_ORDER_PROPAGATION, SM_ORDER_BREADTH, SM_ORDER_DEPTH };

struct sm_config {
    const struct engine *engine;
    struct engine_list others; /* tried in this order if `engine` refuses; if there are any, no
                                  engine may be a hybrid or rename destinations */
    struct engine_options engine_options;
    uint8_t priority;   /* 0 … 15 */
    uint8_t lmc;        /* of adapter ports */
    bool reassign_lids; /* at the start, ignore the LIDs that ports have or had */
    uint64_t m_key, sm_key;
    const uint64_t
        *allowed_sm_guids; /* ports of other managers; all are allowed if there is none */
    size_t allowed_sm_guid_count;
    uint64_t salt;                           /* random in each run: see subnet/trust.h */
    uint64_t subnet_prefix;                  /* of GIDs, written to every end port */
    const struct prefix_rules *prefix_rules; /* the owner's; NULL: none */
    uint16_t m_key_lease_s;
    bool m_key_per_port; /* m_key is the secret from which keys of ports are derived */
    uint8_t m_key_protect;
    uint8_t subnet_timeout; /* 4.096 us * 2^n, written to every port */
    struct link_settings links;
    uint32_t window;     /* most SMPs outstanding at once */
    uint64_t timeout_ns; /* of one SMP */
    unsigned retries;
    uint64_t sweep_ns;     /* between light sweeps; TIME_NEVER: none */
    unsigned full_every;   /* each sweep with this number reads every port; 0: none does */
    uint64_t link_poll_ns; /* between reads of the manager's own port; TIME_NEVER: only sweeps do */
    uint64_t poll_ns;      /* between polls of a standby */
    uint32_t watch_ports;  /* end ports read in each poll interval by a master; 0: none */
    unsigned poll_retries;
    uint32_t copy_rate; /* SMPs a second that a standby sends for its copy; 0: no copy */
    enum sm_order order;
    enum sm_mode mode;
    uint8_t life_time; /* of a packet in a switch: 4.096 us * 2^n, written to every switch */
    uint64_t drain_ns; /* longest time of a packet in the fabric; 0: its lifetime in a switch times
                          the longest route */
    uint8_t drain_life_time; /* life_time while all sources are stopped */
    bool quiesce;            /* sources if tables have no safe order; else packets are lost */
    bool repair;             /* after a change reroute broken entries only */
    unsigned rebalance; /* load of the most used link, in percent of that at the last computation,
                           above which repaired tables are computed again; 0: never */
    bool alone;         /* there is no other manager: this one starts as master */
    bool scope_full;    /* explore everything after every change */
    bool lid_route;     /* send SMPs by LID as far as the tables are in force */
    const struct node_names *names;      /* the owner's; NULL: none */
    const struct partitions *partitions; /* the owner's; NULL: do not write partition tables */
    enum sm_enforcement part_enforce;
    const struct qos *qos;          /* service levels; copied; NULL: none */
    const struct sm_policy *policy; /* policy.h */
    uint16_t linear_entries; /* of every switch, for a policy that does not read SwitchInfo; 0:
                                random tables */
    bool probe_back;         /* for a policy that probes every port: also through the port of
                                arrival */
    enum sm_isolate isolate;
    bool isolate_babbling; /* also ports of adapters that send too many traps */
    uint64_t isolate_ns;   /* a disabled port is tried again after this time */
    bool dynamic_lids;     /* only virtual functions in use have LIDs */
    uint32_t debug;        /* parts that explain what they do: bit n is enum log_part n */
};

enum { SM_DRAIN_LIFE_TIME_AUTO = 255 }; /* from ports, VLs and rates of the switches */

extern const struct sm_policy sm_policy_default, sm_policy_paper;

/* The defaults. */
static inline void sm_config_init(struct sm_config *config)
{
    *config = (struct sm_config){
        .engine = &engine_updn,
        .subnet_prefix = GID_PREFIX_LOCAL,
        .subnet_timeout = 18,
        .window = 64, /* fills the link; a larger window only lengthens the queue */
        .linear_entries = 1024,
        .timeout_ns = 200 * NS_PER_MS,
        .retries = 3,
        .sweep_ns = 10 * NS_PER_S,
        .full_every = 6,
        .life_time = 10,
        .drain_life_time = SM_DRAIN_LIFE_TIME_AUTO,
        .link_poll_ns = TIME_NEVER,
        .poll_ns = 100 * NS_PER_MS,
        .poll_retries = 24,
        .copy_rate = 80000,
        .quiesce = true,
        .repair = true,
        .rebalance = 150,
        .isolate_ns = 600 * NS_PER_S,
        .part_enforce = SM_ENFORCE_BOTH,
        .policy = &sm_policy_default,
    };
    link_settings_init(&config->links);
}

struct sm_message {
    uint8_t mad[MAD_BYTES];
    uint16_t lid; /* destination, or source; LID_PERMISSIVE for directed routes */
    uint8_t sl;
    uint64_t request_timeout_ns; /* time-out of a request that is sent; else 0 */
};

/* A routing job (job.h): the host runs it with sm_job_run() and returns it with sm_computed(). */
struct sm_job;
void sm_job_free(struct sm_job *job);

/* What a job has done, for its host. The pointers are valid as long as the job. */
struct sm_job_report {
    const struct network *network;
    const struct engine *engine; /* of the tables */
    const struct engine_options *options;
    struct engine_list refusing;           /* engines that refused the network */
    uint64_t operations;                   /* see sm_job_report() */
    uint32_t proofs_passed, proofs_failed; /* checks of tables that this job has computed */
    bool repaired;                         /* the tables are a repair of those in the switches */
    bool kept;                             /* they are those of the previous master */
};
/* The operations are those of the engine, of the check of its tables (and of the existing ones, if
 * a new master could not keep them), and of the update plan. */
struct sm_job_report sm_job_report(const struct sm_job *job);

enum sm_event_kind {
    SM_EVENT_STATE,    /* mastership changed */
    SM_EVENT_NODE_IN,  /* a node appeared */
    SM_EVENT_NODE_OUT, /* a node vanished */
    SM_EVENT_CHANGE,   /* the cause of a change that begins, or a note about tables */
    SM_EVENT_UP,       /* the summary of a change that finished */
    SM_EVENT_LINK,     /* a link went down or came up, a node stopped answering */
    SM_EVENT_TRAP,
    SM_EVENT_WARNING,
    SM_EVENT_ERROR,
    SM_EVENT_DEBUG, /* a request, an answer or a decision of a part that sm_config.debug names */
};
struct sm_event {
    enum sm_event_kind kind;
    enum log_part part; /* of SM_EVENT_DEBUG */
    bool listed;        /* sm_problems() lists it, too */
    uint32_t at; /* the port of the subnet that it is about, or SUBNET_NONE; port 0: the node */
    /* A change that begins (SM_EVENT_CHANGE) or has ended (any other kind); NULL: neither. */
    const struct sm_change *change;
    const char *text; /* valid until the next sm_next_output(), as `change` */
};

struct sm_lid_fact { /* the LID of a port, to be stored for the next run */
    uint64_t guid;
    uint16_t lid;
    uint8_t lmc;
};

struct sm_neighbour { /* a link, to be stored for the next run if each port has its own M_Key */
    uint64_t guid, peer_guid; /* of the end ports */
    uint8_t number, peer_number;
};

struct sm_output {
    enum { SM_SEND, SM_COMPUTE, SM_EVENT, SM_PERSIST } kind;
    struct sm_message message;
    struct sm_job *job; /* owned by the host until sm_computed() */
    struct sm_event event;
    struct sm_lid_fact fact;
};

struct sm;

struct sm *sm_new(const struct sm_config *config, uint64_t port_guid);
void sm_free(struct sm *sm);
/* A fact of an earlier run; before sm_start(). */
void sm_restore_lid(struct sm *sm, const struct sm_lid_fact *fact);
void sm_restore_neighbour(struct sm *sm, const struct sm_neighbour *neighbour); /* the same */
/* The same, of a link between switches, by the GUIDs of these. If it is not up after the first
 * change it is a lost link. */
void sm_restore_link(struct sm *sm, const struct sm_neighbour *link);
void sm_start(struct sm *sm, uint64_t now);
void sm_stop(struct sm *sm, uint64_t now); /* hand over and become inactive */

/* True if it is a trap that should be reported to subscribers. */
bool sm_receive(struct sm *sm, uint64_t now, const struct sm_message *message);
void sm_expire(struct sm *sm, uint64_t now);
uint64_t sm_deadline(const struct sm *sm);
bool sm_next_output(struct sm *sm, uint64_t now, struct sm_output *output);
/* Runs a job, in any thread: it uses nothing but the job. 0, or -errno with the reason. */
int sm_job_run(struct sm_job *job, struct err *err);
/* Takes the job back. `refusal`: why there are no routes; NULL: there are. */
void sm_computed(struct sm *sm, uint64_t now, struct sm_job *job, const struct err *refusal);
/* Why the last plan gave no routes, so that the previous tables stay in force; NULL: it gave some.
 */
const struct err *sm_refusal(const struct sm *sm);

/* The multicast groups to build trees for, and the alias GUIDs to write to ports. They belong to
 * the owner, which calls sm_registrations_changed() when the generation of either changes. */
void sm_set_groups(struct sm *sm, const struct groups *groups);
void sm_set_alias_guids(struct sm *sm, const struct alias_guids *aliases);
void sm_registrations_changed(struct sm *sm, uint64_t now);

/* While a standby's owner copies registrations from the master, the standby refuses a handover, for
 * a limited time. The master hands over later. */
void sm_set_syncing(struct sm *sm, bool syncing);
/* The owner keeps the registrations of clients and has those of the master with this LID (0: none).
 * Ports that were active under another master need ClientReregister. The manager finds them when it
 * becomes master and sends ClientReregister once, after sm_reregister_clients(). */
void sm_set_registry_master(struct sm *sm, uint16_t master_lid);
void sm_reregister_clients(struct sm *sm, uint64_t now);
/* Whether all of them were asked: another master that comes now need not ask any. */
bool sm_has_asked_clients(const struct sm *sm, uint64_t now);
void sm_reregister_client(struct sm *sm, uint64_t now,
                          uint64_t guid); /* at this port, in any case */
/* The master that a standby polls. */
struct sm_master {
    uint32_t port; /* of the subnet */
    uint16_t lid;
    uint8_t sl;
    bool weft; /* it is a weft SM */
};
bool sm_master(const struct sm *sm, struct sm_master *master); /* false: none is known */
/* Another manager that was found. `cursor`: 0 at first. False: no more. */
struct sm_other {
    uint32_t port;
    unsigned priority;
    enum sm_state state; /* when it answered last */
    bool ended;          /* its port says that no manager runs there */
    bool peer;
    uint64_t silent_since; /* the first request without an answer; 0: it answers */
};
bool sm_next_other(const struct sm *sm, uint32_t *cursor, struct sm_other *other);

/* The links seen so far; valid until the next call with a non-const manager. Returns their number.
 */
size_t sm_neighbours(const struct sm *sm, const struct sm_neighbour **neighbours);
uint64_t sm_port_key(const struct sm *sm, uint32_t end_port); /* its M_Key: a secret */
uint64_t sm_m_key_violations(const struct sm *sm);            /* SMPs without the M_Key, reported */

enum sm_state sm_state(const struct sm *sm);
uint32_t sm_act_count(const struct sm *sm); /* as in SMInfo */
const struct subnet *sm_subnet(const struct sm *sm);
/* The paths in force: the last tables of which every block is acknowledged, and the network that
 * they were computed for. They stay in force until the last block of new tables is acknowledged.
 * The pointers are valid until the next call with a non-const manager. */
struct sm_paths {
    const struct network *network; /* NULL: not master, or not up yet */
    const struct routes *routes;
    const struct qos *qos; /* service levels in force */
    struct qos_layout layout;
    uint64_t generation; /* changes whenever the paths may have changed */
    uint64_t job;        /* number of the job that computed them */
};
struct sm_paths sm_paths(const struct sm *sm);

/* A path as a PathRecord of the default partition has it, and as simulated packets use it: DLID and
 * VL of the routes in force, SL of the QoS policy. dlid 0: there is none. */
struct sm_path {
    uint16_t dlid;
    uint8_t vl, sl;
};
struct sm_path_end {
    uint32_t point;        /* of the network */
    uint64_t guid, groups; /* of its port; of the QoS policy (qos_groups_at()) */
};
struct sm_path sm_paths_resolve(const struct sm_paths *paths, const struct sm_path_end *from,
                                const struct sm_path_end *to);
/* The same to one LID of the destination. */
struct sm_path sm_paths_resolve_lid(const struct sm_paths *paths, const struct sm_path_end *from,
                                    const struct sm_path_end *to, uint16_t dlid);
/* Between two end ports of the subnet. */
struct sm_path sm_path_between(const struct sm *sm, uint32_t from, uint32_t to);
bool sm_has_copy(const struct sm *sm); /* standby with a complete copy of the subnet */
/* The manager waits for the link of its own port; it keeps what it knows. */
bool sm_own_link_is_down(const struct sm *sm);
bool sm_is_settled(const struct sm *sm); /* master, and no change is under way */
void sm_reroute(struct sm *sm, uint64_t now);
/* Hands over to a standby and keeps priority 0 from then on; false: there is no standby. */
bool sm_hand_over(struct sm *sm, uint64_t now);
enum sm_handover { SM_HANDOVER_NONE, SM_HANDOVER_PENDING, SM_HANDOVER_DONE };
/* The state of the last sm_hand_over(), as a sentence too. */
enum sm_handover sm_handover_state(const struct sm *sm, char *text, size_t size);
void sm_rediscover(struct sm *sm, uint64_t now); /* restarts discovery from scratch */
/* New settings for a running manager; keys and LMC must not change. */
void sm_configure(struct sm *sm, uint64_t now, const struct sm_config *config);
/* Changes sm_config.debug alone. */
void sm_set_debug(struct sm *sm, uint32_t parts);
/* Adds an event SM_EVENT_DEBUG of a part beside the manager, if sm_config.debug names the part. */
void sm_explain(struct sm *sm, enum log_part part, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The phase of the change that a manager works on. */
struct sm_progress {
    enum sm_phase phase;
    uint32_t wave, waves; /* the wave that is written, from 1, and their number */
    bool draining;
};
struct sm_progress sm_progress(const struct sm *sm);
/* How far the new table of a switch is; SM_TABLE_IN_FORCE also if none is being distributed. */
enum sm_table_progress { SM_TABLE_IN_FORCE, SM_TABLE_WAITS, SM_TABLE_WRITTEN };
enum sm_table_progress sm_table_progress(const struct sm *sm, uint32_t node);

/* For vswitch, which decides what is wanted of virtual machines (vswitch/model/move.h).
 *
 * The functions of a move: held until the addresses have moved or the functions are released. The
 * result of a step is functions_outcome() of the VF port that it returns. */
void sm_hold_functions(struct sm *sm, const struct move *move);
uint32_t sm_step_move(struct sm *sm, const struct move *move, enum move_step step);
void sm_release_functions(struct sm *sm, const struct move *move); /* and reads what they have */
void sm_remove_machine(struct sm *sm, uint64_t guid); /* whose hypervisor is not present */
/* After the last step: the LIDs of the move change, and table entries follow, in SM_PHASE "move" of
 * sm_progress(). Returns the number of the change. */
uint64_t sm_move_addresses(struct sm *sm, const struct move *move, bool minimal);
enum sm_move_state { SM_MOVE_PENDING, SM_MOVE_DONE, SM_MOVE_FAILED };
struct sm_move_result {
    enum sm_move_state state;      /* failed: there are no routes to the new place */
    unsigned table_smps, switches; /* LFT blocks and switches written for it; not valid if
                                      `rerouted` */
    unsigned waves, drains;
    uint64_t drained_ns; /* time in drains, also of the routes that were recomputed for it */
    bool rerouted;       /* routes were recomputed */
};
/* Plans and writes the entries of new changes: of all of a turn together, since they share blocks.
 * True if a change is over whose result was not taken. */
bool sm_write_moves(struct sm *sm, uint64_t now);
/* The result of a change, which is forgotten if it is over. */
struct sm_move_result sm_take_move(struct sm *sm, uint64_t number);
bool sm_is_writing_port(const struct sm *sm, uint32_t port); /* a Set of PortInfo is under way */
/* A port that refused a request or did not answer is left alone until the next sweep. */
bool sm_is_avoiding_port(const struct sm *sm, uint32_t port);
bool sm_uses_partitions(const struct sm *sm);
/* No change but that of addresses is under way: a virtual machine may start, move or end. */
bool sm_is_quiet(const struct sm *sm);
void sm_counts(const struct sm *sm, struct sm_counts *counts); /* since the manager started */
enum { SM_CHANGES_KEPT = 50 };
/* The change that began `back` changes before the last one; false: there is none, or not any more.
 * Its texts are valid until the next call with a non-const manager. */
bool sm_change_at(const struct sm *sm, unsigned back, struct sm_change *change);

/* What changes of the subnet have cost since the manager started. */
struct sm_totals {
    uint64_t changes, failed_changes; /* that ended; with no routes */
    uint64_t step_ns[SM_STEPS];       /* sums of all changes that did not fail */
    uint64_t last_ns[SM_STEPS];       /* of the last one */
    uint64_t blocks, entries;         /* of forwarding tables: written, and changed by that */
    uint64_t port_settings;           /* Sets of PortInfo */
    uint64_t quiesces;                /* times that sources were stopped */
    bool quiesced;                    /* they are now */
    uint64_t drains, drained_ns;
};
void sm_totals(const struct sm *sm, struct sm_totals *totals);

/* Disables the link at a port, or enables it again: at the port of a switch, so that it can be
 * enabled. `node` is a description or a GUID (0x…). -errno if this is not possible. */
int sm_set_port(struct sm *sm, uint64_t now, const char *node, unsigned port, bool enable,
                struct err *err);

/* Forgets what is lost, as its removal is intended: a node that is gone with what is behind it, or
 * lost links and ended standbys of a node (`port` 0: all), and what links that are up have counted.
 */
int sm_clear_problems(struct sm *sm, uint64_t now, const char *node, unsigned port,
                      struct err *err);

/* Errors that a port reported, by its counters or by a trap. */
struct sm_link_errors {
    uint8_t trap;     /* 129, 130 or 131; 0: counters */
    uint32_t port;    /* that counted them */
    const char *what; /* "symbol errors" */
    uint64_t count, period_ns;
    uint32_t limit; /* in a minute */
};
/* The owner has read counters of a port: its error rate is above the configured limit. */
void sm_note_error_rate(struct sm *sm, uint64_t now, const struct sm_link_errors *errors);

/* Appends what the manager knows to be wrong now (subnet/problems.h). */
void sm_problems(struct sm *sm, uint64_t now, struct problems *problems);
/* The number of problems because of which the subnet is not up completely: nodes that do not answer
 * or are ignored, ports that were not read, tables and settings that are refused. */
unsigned sm_exceptions(struct sm *sm, uint64_t now, struct text *first);
/* The manager's own port did not answer since the manager started. */
bool sm_own_port_is_silent(const struct sm *sm);

#endif
