/* The subnet manager's core: discovery, LIDs, routes, tables, ports, change and mastership.
 *
 * It has no clock, no socket, no thread and prints nothing. Its owner feeds it MADs, the time and
 * computed routes, and pulls out what it wants done: MADs to send, routes to compute, events to
 * tell, facts to keep. The same object runs on a simulated fabric, on ibsim and on hardware. All
 * times are in nanoseconds, as in `subnet`, `sa` and `vswitch` (base/time.h).
 *
 *   core.c            birth, the four verbs, and when which part gets its turn
 *   transactions.c    a bounded window of outstanding SMPs, time-outs, retries
 *   mastership.c      who is master (SMInfo); mastership_table.c has its state machine
 *   discovery.c       who is there and how it is connected (discovery.h lists its files)
 *   change.c          sweeps and traps
 *   reconfigure.c     the phases from a change to tables in force, as one table
 *   report.c          what people are told of a change
 *   lids.c            addresses, kept wherever possible
 *   plan.c            the job that computes tables, and what became of it
 *   repair_job.c      what of the last tables stays after a change
 *   distribute.c      in which order tables go out
 *   quiesce.c         sources are stopped where tables have no safe order
 *   program.c         the difference between wanted and actual, written to switches …
 *   program_ports.c   … and to ports
 *   random_table.c    the same for switches without linear tables
 *   reregister.c      clients that are asked to register again
 *   functions.c       virtual functions of hypervisors' adapters, read and written
 *   vm_tables.c       routes in force that are changed without computing any
 *   blocks.c          partitions, VLs and multicast, written the same way …
 *   partitions.c      … and what they should be: who is in which partition
 *   qos.c             service levels on virtual lanes
 *   multicast.c       a tree for each group
 *   standby_copy.c    a standby's copy of the subnet, taking over with it, and its audit
 *   policy.h          how it goes about all that; paper_policy.c is the managers' of the papers
 *
 * The state of each part is private to its file; internal.h has what they offer each other. */
#ifndef WEFT_SM_SM_H
#define WEFT_SM_SM_H

#include "base/err.h"
#include "base/text.h"
#include "routing/check/verify_change.h"
#include "routing/engines/engine_list.h"
#include "routing/model/network.h"
#include "routing/model/routes.h"
#include "routing/repair/repair.h"
#include "routing/update/make_plan.h"
#include "subnet/groups.h"
#include "subnet/partitions.h"
#include "subnet/qos.h"
#include "subnet/subnet.h"

enum sm_state { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY, SM_MASTER }; /* as in SMInfo */
enum sm_mode { SM_ORDERED, SM_STATIC, SM_NAIVE }; /* of distribution: see distribute.c */
/* Where a switch checks the keys of what passes a port with an adapter behind it. */
enum sm_enforcement { SM_ENFORCE_NOT, SM_ENFORCE_IN, SM_ENFORCE_OUT, SM_ENFORCE_BOTH };
enum sm_order { SM_ORDER_PROPAGATION, SM_ORDER_BREADTH, SM_ORDER_DEPTH };

struct sm_config {
    const struct engine *engine;
    struct engine_list others; /* tried in this order when it refuses; if there are any, none, nor
                                  it, is a hybrid or renames */
    struct engine_options engine_options;
    uint8_t priority; /* 0 … 15 */
    uint8_t lmc;      /* of adapter ports */
    uint64_t m_key, sm_key;
    uint64_t subnet_prefix; /* of GIDs, told to every end port */
    uint16_t m_key_lease_s;
    uint8_t m_key_protect;
    uint8_t subnet_timeout; /* 4.096 us * 2^n, told to every port */
    uint32_t window;        /* most SMPs outstanding at once */
    uint64_t timeout_ns;    /* of one SMP */
    unsigned retries;
    uint64_t sweep_ns;   /* between light sweeps; TIME_NEVER: none */
    unsigned full_every; /* every so many sweeps reads every port; 0: never */
    uint64_t poll_ns;    /* of a standby that watches its master */
    unsigned poll_retries;
    uint32_t copy_rate; /* SMPs a second that a standby spends on its copy; 0: it keeps none */
    enum sm_order order;
    enum sm_mode mode;
    uint8_t life_time;  /* of a packet in a switch: 4.096 us * 2^n, told to every switch */
    uint64_t drain_ns;  /* how long a packet can stay in the fabric at the most; 0: its life in a
                           switch times the longest route */
    bool hold;          /* where tables have no safe order sources wait; else packets are lost */
    bool repair;        /* after a change only what it broke is routed anew */
    unsigned rebalance; /* percent of the most used link's load at the last computation: above that
                           repaired tables are computed anew when there is time; 0: never */
    bool scope_full;    /* explore everything after every change */
    bool lid_route;     /* SMPs go by tables as far as these are known to be good */
    const struct partitions *partitions; /* the owner's; NULL: tables are left as they are */
    enum sm_enforcement part_enforce;
    const struct qos *qos;          /* levels of service; copied; NULL: none */
    const struct sm_policy *policy; /* policy.h */
    bool dynamic_lids;              /* virtual functions have none until a machine is attached */
};
void sm_config_init(struct sm_config *config); /* the defaults */

extern const struct sm_policy sm_policy_default, sm_policy_paper;

struct sm_message {
    uint8_t mad[MAD_BYTES];
    uint16_t lid; /* where to, or where from; LID_PERMISSIVE for directed routes */
    uint8_t sl;
    uint64_t patience_ns; /* requests sent: how long the core waits for the answer; else 0 */
};

/* A routing job: the host computes, verifies, and hands it back with sm_computed(). */
struct sm_job {
    uint64_t number;     /* counts jobs */
    uint64_t generation; /* of the subnet */
    const struct engine *engine;
    struct engine_list others;
    struct engine_options options;
    struct network network;
    bool spares_vl; /* the engine gets one less than there are: groups have that */
    enum sm_mode mode;
    bool provisional;     /* of a hybrid: the quick tables that go out first */
    bool adopt;           /* a new master: keep the tables that are there if they are right … */
    bool only_adopt;      /* … and compute none */
    bool has_before;      /* there are tables in the switches to start from */
    bool levels_known;    /* … with the service levels that sources use */
    bool quiesced;        /* … that are a mixture, and sources wait (sm/quiesce.c) */
    struct routes before; /* these */
    struct routes routes; /* sm_job_run() fills this … */
    struct update_plan plan; /* … and this, */
    uint32_t longest;        /* and the longest route of old and new tables, … */
    uint32_t longest_before; /* … and of the old ones alone, where it matters; */
    bool urgent;             /* there is no time for the plan's waves if sources can be held */
    VEC(uint32_t) nodes;     /* the subnet's node, by switch of the network */
    bool try_repair;         /* try to try_repair the tables that are there first … */
    bool repaired;           /* … which is what was done */
    bool optional;           /* nothing is wrong with the present tables */
    unsigned imbalance;      /* of repaired tables: see repair.h */
    uint64_t uneven;         /* pairs on the most used link when that was found to be too many */
    struct repair repair;
    struct repair_state repair_state; /* what is known of the tables that came out … */
    struct dependency_graph checked;  /* … and what the check knows of them */
    struct verify_change change;      /* what the check of a repair has to look at */
    uint64_t *edited; /* LIDs with entries that virtual machines changed since then; NULL: none */
    uint64_t edits;   /* such changes, … */
    uint64_t edits_checked; /* … and those that the last check of the routes has seen */
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

/* While a standby's owner learns what was registered with the master, nothing is handed over to it,
 * for a while: the master tries again later. */
void sm_set_syncing(struct sm *sm, bool learns);
/* Clients' registrations are the owner's business; the manager asks for them where they are missing
 * (ClientReregister), once. A port that was active under another master than the one with this LID,
 * whose registrations the owner has (0: it has none), is found out about when this manager becomes
 * master, and asked when the owner says that it is ready to serve. */
void sm_set_registry_master(struct sm *sm, uint16_t master_lid);
void sm_ask_clients(struct sm *sm, uint64_t now);
void sm_ask_client(struct sm *sm, uint64_t now, uint64_t guid); /* whoever its master was */
/* The master that a standby watches. */
struct sm_master {
    uint16_t lid;
    uint8_t sl;
    bool weft; /* of our own kind */
};
bool sm_master(const struct sm *sm, struct sm_master *master); /* false: none is known */

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
    const struct qos *qos; /* levels in force, and how they and the routes' lanes go together */
    struct qos_layout layout;
    uint64_t generation; /* another one whenever the answer may be another */
    uint64_t job;        /* number of the job that computed them */
    bool overlaid;       /* the user's own routes lie over them: ranks do not tell all */
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

/* For vswitch, which changes what is wanted of virtual functions (subnet/functions.h), and the
 * addresses and entries of routes in force as machines move. */
struct subnet *sm_edit_subnet(struct sm *sm);
/* Something else is wanted of a virtual function: it is written. If nothing is wanted any more,
 * what is there is read. */
void sm_program_function(struct sm *sm, uint32_t socket);
/* Whether the manager is writing settings of this port; whether it leaves this port alone until the
 * next sweep, since it refused something or did not answer. */
bool sm_is_writing_port(const struct sm *sm, uint32_t port);
bool sm_is_avoiding_port(const struct sm *sm, uint32_t port);
bool sm_uses_partitions(const struct sm *sm);
/* Whether a machine may start, move or end now: nothing else is going on. */
bool sm_is_quiet(const struct sm *sm);
/* What sm_paths() shows, to be changed; NULL unless the manager is quiet. */
struct sm_in_force {
    struct network *network;
    struct routes *routes;
};
struct sm_in_force sm_edit_paths(struct sm *sm);
/* Functions have other LIDs than before. If the network of sm_edit_paths() has followed, no routes
 * are planned for that. Sockets; SUBNET_NONE: there is no other. */
void sm_addresses_moved(struct sm *sm, uint32_t socket, uint32_t other, bool followed);
/* Entries of tables are changed: those of sm_paths() at once, those in the fabric as fast as
 * switches acknowledge them. Only while the manager is quiet and tables are written. Returns how
 * many blocks these entries are in. */
struct sm_entry {
    uint32_t at; /* switch of sm_paths().network */
    uint16_t lid;
    uint8_t port;
};
uint32_t sm_change_entries(struct sm *sm, const struct sm_entry *entries, size_t count);
bool sm_tables_are_written(const struct sm *sm);
/* How long a packet can stay in the fabric that passes so many switches at the most. */
uint64_t sm_drain_time(const struct sm *sm, unsigned hops);

/* Requests sent, by attribute. */
struct sm_counts {
    uint64_t sent, answered, timeouts, gave_up;
    uint64_t node_info, port_info_get, port_info_set, switch_info, tables, tables_read, functions,
        other;
};
void sm_counts(const struct sm *sm, struct sm_counts *counts);

#endif
