/* Subnet administration: what hosts ask of the subnet, and what they register with it.
 *
 * A core like the manager's: no clock, no socket, no thread. Its owner shows it the subnet, feeds
 * it messages and the time, and pulls out answers and reports. It reads the subnet and the routes
 * in force, and changes only what is registered: groups (subnet/groups.h), services, subscriptions.
 * Messages are whole: a table is one run of bytes, which RMPP cuts up further down.
 *
 *   core.c           birth, the verbs, who handles what, how an answer is made
 *   class_port_info.c  what it can do, and where it is
 *   queue.c          who is answered next, and who is told that we are busy
 *   components.c     component masks, selectors
 *   access.c         partitions: who may know of whom
 *   rate.c           rates of links, and their order
 *   node_records.c   nodes, ports, switches, links, managers, GUIDs
 *   table_records.c  forwarding, partition and lane tables
 *   path_index.c     end points by GUID, and what a path is good for
 *   path_records.c   PathRecord, MultiPathRecord and TraceRecord
 *   group_records.c  MCMemberRecord: joining, leaving, looking up
 *   partition_groups.c  groups that partitions bring along
 *   services.c       ServiceRecord, with leases
 *   subscriptions.c  InformInfo and InformInfoRecord
 *   reports.c        notices on their way to subscribers
 *   deferred_replies.c           answers that wait until what they say is safe
 *   persist.c        registrations as text …
 *   persist_read.c   … and back
 *   sync.c           how standbys come by them
 *
 * Queries wait in a queue for each client (source LID); clients are answered in turn. Bounds: at
 * most `queue_limit` queries wait in all and `client_limit` of one client, then the answer is BUSY;
 * what cannot be told so in half a turn hears nothing. One call of sa_expire() lets
 * sa_next_output() do about `turn_work` records' worth of work before it says that there is nothing
 * now, so that the owner gets to do other things; a table of paths is made in as many turns as it
 * takes. */
#ifndef WEFT_SA_SA_H
#define WEFT_SA_SA_H

#include "base/err.h"
#include "base/text.h"
#include "routing/model/routes.h"
#include "subnet/groups.h"
#include "subnet/partitions.h"
#include "subnet/qos.h"
#include "subnet/subnet.h"
#include "wire/redirect.h"

struct sa_config {
    uint64_t key;           /* SM_Key of trusted queries */
    uint64_t prefix;        /* of GIDs */
    uint8_t subnet_timeout; /* told as the packet life time: 4.096 us * 2^n */
    uint8_t response_time;  /* of ClassPortInfo */
    uint32_t queue_limit, client_limit;
    uint32_t turn_work;  /* records considered before others get their turn */
    size_t answer_limit; /* bytes of one answer; more is refused with NO_RESOURCES */
    uint32_t service_limit, subscription_limit, report_limit;
    uint64_t report_timeout_ns;
    unsigned report_retries;
    uint64_t absence_ns; /* registrations of a port that went are kept for so long */
    bool ipoib_group;    /* make the broadcast group of the default partition */
    const struct partitions *partitions; /* the owner's: groups to be made instead; NULL: none */
    uint64_t instance; /* another one for each life of a manager; told to standbys */
};
void sa_config_init(struct sa_config *config); /* the defaults */

/* What the administration sees of the subnet. Everything must stay as it is until the next call of
 * sa_look(); the network and routes are those in force, and `generation` is another one whenever
 * they are others. Without a network nothing is answered. */
struct sa_view {
    const struct subnet *subnet;
    const struct network *network;
    const struct routes *routes;
    const struct qos *qos; /* levels of service, and how they and lanes go together; or NULL */
    struct qos_layout layout;
    uint64_t generation;
    uint8_t priority; /* the manager's own, for SMInfoRecord */
    uint32_t act_count;
};

/* The other end of a message. */
struct sa_address {
    uint16_t lid;
    uint8_t sl, path_bits;
    uint16_t p_key_index;
    uint32_t qp, q_key;
};
struct sa_message {
    struct sa_address address;
    const uint8_t *data; /* header (56 bytes) and all of the data */
    size_t bytes;
    uint64_t patience_ns; /* requests of ours: how long an answer is waited for; else 0 */
};

struct sa;
struct sa *sa_new(const struct sa_config *config, uint64_t port_guid);
void sa_free(struct sa *sa); /* accepts NULL */

/* Before sa_next_output() whenever the manager may have changed anything. */
void sa_look(struct sa *sa, uint64_t now, const struct sa_view *view);
/* A message for the administration; its bytes are copied. */
void sa_receive(struct sa *sa, uint64_t now, const struct sa_message *message);
/* A notice (64 bytes, without IssuerGID) that the manager got as a trap. */
void sa_notice(struct sa *sa, uint64_t now, const uint8_t *notice);
void sa_expire(struct sa *sa, uint64_t now);
/* 0: there is work to do now. */
uint64_t sa_deadline(const struct sa *sa);
/* The next message to send; its bytes last until the next call. */
bool sa_next_output(struct sa *sa, uint64_t now, struct sa_message *message);

void sa_use_timeout(struct sa *sa, uint8_t subnet_timeout); /* as in the configuration */
/* Other partitions, and so other groups that are there without members. */
void sa_use_partitions(struct sa *sa, const struct partitions *partitions);

/* From now on everybody is told to ask there; NULL: we answer. */
void sa_redirect(struct sa *sa, const struct redirect *to);

/* What hosts joined; for whoever makes multicast trees. */
const struct groups *sa_groups(const struct sa *sa);

/* ---- registrations over restarts and fail-over ---- */

/* Count changes: of groups, and of services and subscriptions. */
struct sa_generations {
    uint64_t groups, others;
};
struct sa_generations sa_registry_generations(const struct sa *sa);
/* All that is registered, in the format of persist.c; `wall_s` is the wall clock's time, by which
 * leases go on while nobody is there. */
void sa_registry_print(const struct sa *sa, uint64_t wall_s, struct text *out);
/* Only what changed since. */
void sa_registry_print_changes(const struct sa *sa, uint64_t wall_s,
                               const struct sa_generations *since, struct text *out);
struct sa_registry_file {
    const char *path; /* for messages */
    const char *content;
    size_t bytes;
    uint64_t wall_s;
};
/* Puts it in the place of all that is registered. -EINVAL, with the line that is wrong: then
 * nothing has changed. */
int sa_registry_read(struct sa *sa, uint64_t now, const struct sa_registry_file *file,
                     struct err *err);

/* What a text of this format says that it is: changes of one life of a manager, from … to. */
struct sa_registry_mark {
    uint64_t instance;
    struct sa_generations since, generations;
};
bool sa_registry_mark(const char *content, struct sa_registry_mark *mark);

/* Registrations are kept in a file from now on, which has all so far: answers to who registers wait
 * until the owner says that what was registered is in it. */
void sa_keep_registrations(struct sa *sa, bool kept);
bool sa_waits_for_keeping(const struct sa *sa);
void sa_kept(struct sa *sa, const struct sa_generations *generations);

/* The master that this one stands by. If it tells us its registrations we ask for them from now on;
 * if it does not, ours are out of date and go. NULL: there is no such master. */
struct sa_master {
    uint16_t lid;
    uint8_t sl;
    bool tells;
};
void sa_follow(struct sa *sa, uint64_t now, const struct sa_master *master);
/* Why the master's registrations do not come, each trouble once. */
bool sa_next_trouble(struct sa *sa, struct err *err);
/* The LID of the master whose clients need not register again, since what they registered is here;
 * 0: there is none. */
uint16_t sa_registry_master(const struct sa *sa);
/* Ports whose registrations were given up and that are back: they should be asked to register. */
bool sa_next_ask(struct sa *sa, uint64_t *guid);

struct sa_counts {
    uint64_t queries, answers, refusals, busy, dropped, reports, reports_lost;
    uint32_t waiting, groups, services, subscriptions;
};
void sa_counts(const struct sa *sa, struct sa_counts *counts);

#endif
