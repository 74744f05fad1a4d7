/* Subnet administration (SA): queries of hosts, and their registrations.
 *
 * A core without clock, socket or thread. Its owner passes it a view of the subnet, messages and
 * the time, and pulls out answers and reports. It reads the subnet and the routes in force, and
 * changes only registrations: groups (subnet/groups.h), services, subscriptions, alias GUIDs
 * (subnet/alias_guids.h). Messages are whole; RMPP segments them in a lower layer.
 *
 *   core.c           creation, message handling, dispatch, answers
 *   view.c           ports by LID and GUID, changes of the subnet
 *   class_port_info.c  ClassPortInfo, redirection
 *   queue.c          fair queue of queries
 *   chains.c         indexes of registrations
 *   components.c     component masks, selectors
 *   access.c         visibility of ports by partition
 *   rate.c           rates of links, and their order
 *   port_records.c   nodes, ports, switches, links, managers, GUIDs, tables
 *   alias_records.c  Set and Delete of GUIDInfoRecord: alias GUIDs
 *   path_index.c     end points by GUID, MTU and rate of paths
 *   path_records.c   PathRecord, MultiPathRecord and TraceRecord
 *   group_records.c  MCMemberRecord: joining, leaving, looking up
 *   partition_groups.c  groups that partitions define
 *   services.c       ServiceRecord, with leases
 *   subscriptions.c  InformInfo and InformInfoRecord
 *   reports.c        notices to subscribers
 *   deferred_replies.c  answers that wait until a registration is durable
 *   persist.c        writes registrations as text (persist.h: the format)
 *   persist_read.c   reads them
 *   sync.c           replicates them to standbys
 *
 * Each client (port) has a queue of queries; the client whose queries have caused the least work is
 * served next. A query is charged for the records that it is compared with. At most `queue_limit`
 * queries wait in all and `client_limit` of one client; further ones are answered with BUSY. BUSY
 * answers and reports take at most half of a turn; BUSY answers beyond that are dropped. After one
 * call of sa_expire(), sa_next_output() works for about `turn_work` records before it returns
 * false, so that the owner can do other work; a large table of paths takes several turns. */
#ifndef WEFT_SA_SA_H
#define WEFT_SA_SA_H

#include "base/err.h"
#include "base/text.h"
#include "routing/model/routes.h"
#include "subnet/alias_guids.h"
#include "subnet/groups.h"
#include "subnet/machines.h"
#include "subnet/partitions.h"
#include "subnet/qos.h"
#include "subnet/subnet.h"
#include "wire/redirect.h"

struct sa_config {
    uint64_t key;    /* SM_Key field of trusted queries: sa_key, not the manager's SM_Key */
    uint64_t sm_key; /* which standbys prove to have (subnet/trust.h) */
    uint64_t salt;   /* random in each run: makes challenges unpredictable */
    bool check_sgid_spoofing; /* drop a query whose GRH has the GID of another port */
    bool consolidate_snm;     /* IPv6 solicited-node addresses of a partition share one group */
    bool enhanced_trust;      /* only trusted clients join groups for other ports */
    uint64_t prefix;          /* of GIDs */
    uint8_t subnet_timeout;   /* packet life time of paths: 4.096 us * 2^n */
    uint8_t response_time;    /* of ClassPortInfo */
    uint32_t queue_limit, client_limit;
    uint32_t turn_work;  /* records per turn */
    size_t answer_limit; /* bytes of one answer; beyond it, the status is NO_RESOURCES */
    size_t client_bytes; /* of long answers on their way to one port; one answer is always sent */
    uint32_t service_limit, subscription_limit, alias_block_limit;
    uint32_t report_limit; /* waiting reports of one port */
    /* Limits of one port; 0: none. A trusted query is not limited. */
    uint32_t port_groups, port_mlids, port_services, port_subscriptions, port_aliases;
    uint8_t assigned_guid; /* byte of alias GUIDs that the SA assigns */
    uint64_t report_timeout_ns;
    unsigned report_retries;
    uint64_t absence_ns; /* time for which registrations of an absent port are kept */
    bool ipoib_group;    /* create the broadcast group of the default partition */
    const struct partitions *partitions; /* of the owner; its groups replace that one; or NULL */
    uint64_t instance;                   /* identifies this run of the manager to standbys */
};
void sa_config_init(struct sa_config *config); /* the defaults */

/* The SA's view of the subnet. It must not change until the next call of sa_update_view().
 * `network` and `routes` are those in force; `generation` differs whenever they do. Without a
 * network the SA answers no query. */
struct sa_view {
    const struct subnet *subnet;
    const struct network *network;
    const struct routes *routes;
    const struct qos *qos; /* QoS policy, or NULL */
    struct qos_layout layout;
    uint64_t generation;
    uint8_t priority; /* of the manager, for SMInfoRecord */
    uint32_t act_count;
};

/* Address of the peer of a message. */
struct sa_address {
    uint16_t lid;
    uint8_t sl, path_bits;
    uint16_t p_key_index;
    uint32_t qp, q_key;
    bool has_gid; /* the message has a GRH */
    uint8_t gid[16];
};
struct sa_message {
    struct sa_address address;
    const uint8_t *data; /* header (56 bytes) and all of the data */
    size_t bytes;
    uint64_t request_timeout_ns; /* timeout of a request that the SA sends; else 0 */
    uint64_t asked_at; /* of an answer: the time at which sa_receive() took the query; else 0 */
};

struct sa;
struct sa *sa_new(const struct sa_config *config, uint64_t port_guid);
void sa_free(struct sa *sa); /* accepts NULL */

/* Call it before sa_next_output() after every change of the manager's state. */
void sa_update_view(struct sa *sa, uint64_t now, const struct sa_view *view);
/* A message to the SA. It copies the bytes. */
void sa_receive(struct sa *sa, uint64_t now, const struct sa_message *message);
/* A notice (64 bytes, without IssuerGID) that the manager received as a trap. */
void sa_notice(struct sa *sa, uint64_t now, const uint8_t *notice);
void sa_expire(struct sa *sa, uint64_t now);
/* 0 if there is work to do now. */
uint64_t sa_deadline(const struct sa *sa);
/* The next message to send. Its bytes are valid until the next call. */
bool sa_next_output(struct sa *sa, uint64_t now, struct sa_message *message);

void sa_set_subnet_timeout(struct sa *sa, uint8_t subnet_timeout); /* as in sa_config */
/* Sets the limits of ports and `assigned_guid` to those of the configuration. Registrations beyond
 * the limits stay. */
void sa_set_limits(struct sa *sa, const struct sa_config *config);
/* Sets the partitions and creates their groups. */
void sa_set_partitions(struct sa *sa, const struct partitions *partitions);

/* Redirects all clients; NULL: none. */
void sa_redirect(struct sa *sa, const struct redirect *to);

const struct groups *sa_groups(const struct sa *sa);
const struct alias_guids *sa_alias_guids(const struct sa *sa);
/* The owner changes them; see sa_update_kept(). */
struct wanted_machines *sa_machines(struct sa *sa);
/* Counts changes of both, which the manager writes to the fabric. */
uint64_t sa_fabric_generation(const struct sa *sa);

/* ---- registrations over restarts and fail-over ---- */

/* Counters of changes: of groups, and of all other registrations. */
struct sa_generations {
    uint64_t groups, others;
};
struct sa_generations sa_registry_generations(const struct sa *sa);
/* Prints all registrations in the format of persist.c. `wall_s` is the time of the wall clock:
 * leases continue while no manager runs. */
void sa_registry_print(const struct sa *sa, uint64_t wall_s, struct text *out);
/* Prints only the changes since these generations. */
void sa_registry_print_changes(const struct sa *sa, uint64_t wall_s,
                               const struct sa_generations *since, struct text *out);
struct sa_registry_file {
    const char *path; /* for error messages */
    const char *content;
    size_t bytes;
    uint64_t wall_s;
};
/* Replaces all registrations. On an error, returns -EINVAL with its line and changes nothing. */
int sa_registry_read(struct sa *sa, uint64_t now, const struct sa_registry_file *file,
                     struct err *err);

/* The header of a text in this format: it has the changes of one instance of a manager after
 * `since` up to `generations`. */
struct sa_registry_mark {
    uint64_t instance;
    struct sa_generations since, generations;
};
bool sa_registry_mark(const char *content, struct sa_registry_mark *mark);

/* The owner has saved all registrations in a file. From now on answers to Set and Delete wait for
 * sa_registrations_saved(). */
void sa_await_saves(struct sa *sa, bool kept);
bool sa_waits_for_save(const struct sa *sa);
/* Tells the wanted virtual machines which changes are in the file and at every standby with a
 * lease. */
void sa_update_kept(struct sa *sa, uint64_t now);
void sa_registrations_saved(struct sa *sa, const struct sa_generations *generations);

/* Sets the master of this standby; NULL: none. If the master replicates its registrations, the SA
 * polls them; otherwise it discards its own, which are stale. */
struct sa_master {
    uint16_t lid;
    uint8_t sl;
    bool tells;
};
void sa_follow(struct sa *sa, uint64_t now, const struct sa_master *master);
/* Returns each error of the replication once. */
bool sa_next_sync_error(struct sa *sa, struct err *err);
/* The LID of the master whose registrations these are: its clients need not reregister. 0: none. */
uint16_t sa_registry_master(const struct sa *sa);
/* Of a master: clients that may have to register again were not asked yet, so no standby may claim
 * that it has all registrations. */
void sa_set_incomplete(struct sa *sa, bool incomplete);
/* Ports that are back after their registrations expired: they need client reregistration. */
bool sa_next_reregistration(struct sa *sa, uint64_t *guid);

struct sa_counts {
    uint64_t queries, answers, refusals, busy, dropped, reports, reports_lost;
    uint64_t spoofed; /* queries with the GID of another port; `dropped` includes them */
    uint32_t waiting, groups, services, subscriptions;
    uint32_t free_mlids;
    uint32_t standbys;    /* that have asked for registrations in the last seconds */
    uint64_t standby_lag; /* changes that the last of them has not confirmed */
};
void sa_counts(const struct sa *sa, struct sa_counts *counts);
/* What the standby at the port with this GUID has; false: it asks for no registrations. */
struct sa_standby {
    uint64_t lag;    /* changes that it has not confirmed */
    uint64_t age_ns; /* since it asked last */
};
bool sa_standby(const struct sa *sa, uint64_t now, uint64_t guid, struct sa_standby *standby);

#endif
