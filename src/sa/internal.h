/* Declarations shared by the files of the SA. */
#ifndef WEFT_SA_INTERNAL_H
#define WEFT_SA_INTERNAL_H

#include "base/err.h"
#include "base/outstanding.h"
#include "base/pool.h"
#include "base/rate_limit.h"
#include "base/text.h"
#include "base/time.h"
#include "sa/sa.h"

/* ---- queries and answers ---- */

struct query {
    uint32_t next;   /* query of the same client, or in the free list */
    uint32_t client; /* in the queue */
    struct sa_address address;
    uint64_t asked_at;
    size_t bytes;
    uint8_t *more; /* the whole message if it is longer than a MAD, or NULL */
    uint8_t mad[MAD_BYTES];
};

static inline const uint8_t *query_data(const struct query *query)
{
    return (query->more ? query->more : query->mad) + SA_DATA_OFFSET;
}
static inline uint64_t query_mask(const struct query *query)
{
    return wire_get(query->mad, SA_COMPONENT_MASK);
}
static inline unsigned query_method(const struct query *query)
{
    return (unsigned)wire_get(query->mad, MAD_METHOD);
}
static inline bool query_is_trusted(const struct query *query)
{
    return wire_get(query->mad, SA_SM_KEY) != 0; /* sa_receive() drops wrong SM_Keys */
}
static inline bool query_has(const struct query *query, unsigned component)
{
    return query_mask(query) >> component & 1;
}

struct matcher;
struct answer {
    uint8_t *bytes; /* header, then records */
    size_t used, capacity, limit;
    size_t record_bytes;
    uint32_t count;
    uint32_t considered; /* records that were compared with the query, or pairs */
    bool over;           /* it exceeds the limit; its content is not valid */
};
/* Adds a record, zeroed. Beyond the limit, records overwrite each other. */
uint8_t *answer_add(struct answer *answer);
void answer_drop(struct answer *answer); /* drops the last record */
/* Drops the last record unless it matches. */
bool answer_match(struct answer *answer, const struct matcher *matcher);

/* path_order.c: the most disjoint paths first; keeps at most `most`. */
void path_order(const struct sa *sa, struct answer *answer, unsigned most);

/* A query for many paths, which is answered in several turns. */
struct long_query {
    bool open;
    struct query query;
    struct answer answer;
    uint64_t generation;
    uint32_t source, destination; /* the next pair of end points */
};
enum { LONG_QUERIES = 8 };

/* ---- queue.c ---- */

struct client {
    uint32_t head, tail, count; /* queries */
    uint32_t place;             /* in the heap, if it has queries */
    uint64_t clock;             /* work that its queries caused, in records */
    uint64_t order;             /* breaks ties: the first one is served first */
    struct rate_flow answers;   /* long ones that are on their way */
    uint64_t last_bytes;        /* of the last long answer */
    uint32_t deferred;          /* answers that wait (deferred_replies.c) */
};
struct query_queue {
    POOL(struct query) queries;
    VEC(struct client) clients; /* every port that has sent a query */
    struct map by_guid;         /* port GUID → client */
    VEC(uint32_t) heap;         /* clients with queries */
    uint64_t clock;             /* of the client that was served last */
    uint64_t order;
    uint32_t waiting;
};
void queue_init(struct query_queue *queue);
void queue_release(struct query_queue *queue);
uint32_t queue_client(struct query_queue *queue, uint64_t guid); /* adds it if it is new */
/* False if a limit is reached. */
bool queue_put(struct query_queue *queue, const struct sa_config *config, uint64_t now,
               uint32_t client, const struct sa_message *message);
/* Removes the next query. The caller frees its `more`. */
bool queue_take(struct query_queue *queue, struct query *query);
/* Charges the client for the work that its query caused. */
void queue_charge(struct query_queue *queue, uint32_t client, uint32_t work);
/* Counts an answer of more than one MAD. False if too many bytes of answers are probably still
 * outstanding to this port. */
bool queue_may_answer(struct query_queue *queue, const struct sa_config *config, uint32_t client,
                      uint64_t now, size_t bytes);
/* False if another answer as long as the last one would be refused: the SA does not build it. */
bool queue_has_room(struct query_queue *queue, const struct sa_config *config, uint32_t client,
                    uint64_t now);

/* ---- components.c ---- */

/* Bits `first` to `last` of a component mask select the fields from `field` on. A table of them
 * ends with NO_COMPONENT. */
struct component {
    uint8_t first, last;
    uint16_t field; /* enum wire_field */
    uint8_t at;     /* offset in the record of the attribute with the fields, in bytes */
};
#define NO_COMPONENT                                                                               \
    {                                                                                              \
        .first = 64                                                                                \
    }
/* Compares records with the components that a query selects. */
struct matcher {
    const uint8_t *wanted;
    unsigned count;
    struct {
        uint16_t field;
        uint8_t at;
    } active[64];
};
void matcher_init(struct matcher *matcher, const struct component *components, uint64_t mask,
                  const uint8_t *wanted);
bool matcher_accepts(const struct matcher *matcher, const uint8_t *record);

enum selector { SELECT_GREATER, SELECT_LESS, SELECT_EXACTLY, SELECT_BEST };
struct selection { /* a selector and its value in a query */
    bool given;
    enum selector selector;
    uint8_t value;
};
/* Lowers the best value of a path to one that the selection allows. False if there is none. */
bool selection_apply(const struct selection *selection, uint8_t *value);
bool selection_apply_rate(const struct selection *selection, uint8_t *rate);

/* ---- rate.c ---- */

enum { RATE_LOWEST = 2, RATE_COUNT = 26 }; /* codes of PathRecord.Rate */
uint8_t rate_of_port(const uint8_t *port_info);
unsigned rate_order(unsigned code); /* the rate in Mb/s; 0: the code is not defined */
uint8_t rate_below(unsigned code);  /* code of the next lower rate; 0: none */

/* ---- access.c ---- */

struct key_set { /* the keys of a P_Key table, sorted by partition */
    uint32_t first, count;
    bool present; /* a port in the subnet has this set */
};
struct access {
    VEC(struct key_set) sets; /* no two are equal */
    VEC(uint16_t) keys;
    struct map by_guid, by_hash; /* port GUID, contents → set */
    struct map ports;            /* port GUID → port of the subnet */
    uint16_t *common;            /* by pair of sets: key of the first; NULL: too many sets */
    uint64_t keys_generation, subnet_generation, view_generation; /* of its input */
};
void access_update(struct sa *sa); /* call it after a change of the subnet */
void access_release(struct access *access);
/* True if the port is a full or limited member of the partition of this key. */
bool access_has_key(const struct sa *sa, uint64_t port_guid, unsigned p_key);
bool access_partition_has_members(const struct sa *sa, unsigned partition);
/* True if neither the known nor the wanted P_Key table of the port has this key's partition. False
 * while a table is still to be read or written. */
bool access_lost_key(const struct sa *sa, uint64_t port_guid, unsigned p_key);
/* True if both ports are members of this key's partition and one is a full member. */
bool access_shares_key(const struct sa *sa, uint64_t one_guid, uint64_t other_guid, unsigned p_key);
/* The requester for access_may_see(): ACCESS_TRUSTED for a query with the SM_Key, or a port GUID.
 */
#define ACCESS_TRUSTED UINT64_MAX
uint64_t access_requester(const struct sa *sa, const struct query *query);
bool access_may_see(const struct sa *sa, uint64_t requester, uint64_t port_guid);
bool access_may_see_group(const struct sa *sa, const struct query *query,
                          const struct group *group);
/* The key of the first port in a partition in which both can communicate; 0: none. */
unsigned access_common_key(const struct sa *sa, uint64_t one_guid, uint64_t other_guid);
/* A block of 32 keys of an end port or of an enforcing switch port; false if it does not exist. */
bool access_key_block(const struct sa *sa, uint32_t port, unsigned block, uint8_t data[64]);

/* ---- path_index.c ---- */

struct path_quality {
    uint8_t mtu, rate; /* codes */
};
struct path_index {
    struct map by_guid;             /* port GUID → end point of the network */
    VEC(uint64_t) guids;            /* the keys of by_guid */
    struct path_quality *links;     /* by index in network.ports */
    struct path_quality *terminals; /* of adapter ports, by terminal */
    uint64_t *switch_guids;         /* of port 0, by switch */
    uint64_t *groups;               /* of the QoS policy, by end point; or NULL */
    uint32_t *clients;              /* of the queue, by end point; 0: not known, else 1 more */
    uint16_t last_mlid;             /* highest MLID that fits into all multicast tables */
    struct arena arena;             /* owns the arrays */
};
void path_index_build(struct path_index *index, const struct sa_view *view);
void path_index_release(struct path_index *index);
uint64_t path_index_guid(const struct sa *sa, uint32_t end_point);
/* The place of an end point in arrays: terminals, then switches. */
size_t path_index_place(const struct sa *sa, uint32_t end_point);
/* Follows the tables to a LID of the destination. False if they do not lead there. */
bool path_index_follow(const struct sa *sa, uint32_t source, uint32_t destination, unsigned dlid,
                       struct path_quality *quality);
/* Follows them to the LIDs of both ends; `returns` is false if there is no way back. */
bool path_index_follow_both(const struct sa *sa, uint32_t source, unsigned slid,
                            uint32_t destination, unsigned dlid, struct path_quality *there,
                            bool *returns, struct path_quality *back);

/* ---- registrations ---- */

enum { CHAIN_END = UINT32_MAX };
struct chain_link {
    uint32_t item;
    uint32_t before; /* of the first link: the last one */
    uint32_t next;   /* or in the free list */
};
struct chains {
    struct map first; /* key → its first link */
    POOL(struct chain_link) links;
};
uint32_t chains_add(struct chains *chains, uint64_t key, uint32_t item); /* returns the link */
void chains_remove(struct chains *chains, uint64_t key, uint32_t link);
uint32_t chains_first(const struct chains *chains, uint64_t key); /* or CHAIN_END */
/* The number of items with this key, but at most `most`. */
uint32_t chains_count(const struct chains *chains, uint64_t key, uint32_t most);
void chains_release(struct chains *chains);
static inline uint32_t chains_next(const struct chains *chains, uint32_t link)
{
    return chains->links.items[link].next;
}
static inline uint32_t chains_item(const struct chains *chains, uint32_t link)
{
    return chains->links.items[link].item;
}

enum service_index {
    SERVICE_BY_IDENTITY,
    SERVICE_BY_ID,
    SERVICE_BY_GID,
    SERVICE_BY_NAME,
    SERVICE_BY_OWNER,
    SERVICE_INDEXES
};
struct service {
    uint8_t record[WIRE_BYTES_SERVICE_RECORD];
    uint64_t owner; /* GUID of the port that registered it; after a restart, that of its GID */
    uint32_t links[SERVICE_INDEXES];
    uint64_t expires; /* end of the lease, or TIME_NEVER */
    uint64_t changed; /* generation of the registry at the last change */
    uint32_t number;
};

enum subscription_index { SUBSCRIPTION_BY_PORT, SUBSCRIPTION_BY_TRAP, SUBSCRIPTION_INDEXES };
struct subscription {
    uint64_t guid; /* of the subscriber's port */
    uint32_t links[SUBSCRIPTION_INDEXES];
    struct sa_address address;
    uint8_t inform[WIRE_BYTES_INFORM_INFO];
    uint32_t number;
    uint64_t absent_since;
    uint64_t changed;
};

/* The persistent state of the SA. */
struct registry {
    struct groups groups;
    struct alias_guids aliases;
    struct wanted_machines machines;
    VEC(struct service) services;           /* sorted by number */
    VEC(struct subscription) subscriptions; /* sorted by number */
    struct chains service_index[SERVICE_INDEXES];
    struct chains subscription_index[SUBSCRIPTION_INDEXES];
    uint32_t next_service, next_subscription, next_mgid; /* counters for new numbers */
    uint64_t generation; /* counts changes, except those of groups */
    uint64_t removed;    /* generation at the last removal of a service or subscription */
};

/* A standby that polls this master. */
struct standby {
    bool polling; /* a poll is to be answered */
    uint64_t polled_at, answered_at, not_before;
    struct sa_address address;
    uint64_t guid; /* of its port */
    uint64_t instance;
    struct sa_generations since, sent; /* what it has; what it was last sent */
    uint64_t leased_until;             /* answers to clients wait for it until then */
    uint64_t late_until;               /* it gets no lease before */
    uint8_t lateness;                  /* how often it was late: doubles that time */
    uint8_t mad[MAD_BYTES];
};
enum { STANDBYS = 8 };
/* Replication state of this standby. */
struct sync_client {
    bool active;
    uint16_t master;             /* LID of the master */
    struct redirect_trail trail; /* from the master to its SA */
    bool redirect_failed;        /* reported once per master */
    struct err error;            /* to be reported; empty message: none */
    uint64_t instance;           /* of the master whose generations `have` has; 0: none */
    struct sa_generations have;
    uint64_t next_at; /* time of the next poll */
    uint64_t wait;    /* for the answer to it; longer after each poll */
    uint32_t tid, polls;
    uint64_t nonce, challenge; /* of the last poll; of the master */
    uint64_t polled_at;        /* time of the last poll */
    uint64_t leased_at;        /* time of the last poll whose answer has a lease */
};

/* An answer that waits until its registration is durable (deferred_replies.c). */
struct deferred_answer {
    uint32_t client; /* in the queue */
    struct sa_address address;
    uint64_t asked_at;
    struct sa_generations after; /* must be durable before it is sent */
    uint64_t until;
    uint8_t mad[MAD_BYTES];
};
struct deferred_answers {
    VEC(struct deferred_answer) answers; /* in the order of their generations */
    size_t taken;                        /* number of answers that were sent */
    bool journaled;                      /* the owner saves registrations */
    struct sa_generations kept;          /* the last saved generations */
    uint8_t mad[MAD_BYTES];              /* the last output */
};

struct sa_report {
    uint32_t next;         /* in the free list */
    uint32_t subscription; /* number */
    uint32_t subscriber;
    uint32_t tid;
    unsigned tries;
    uint8_t notice[WIRE_BYTES_NOTICE];
};
enum { REPORT_WINDOW = 8 };
struct report_target { /* a port with reports */
    uint32_t waiting, in_flight;
    bool ready; /* it is in `ready` */
};
struct reports {
    POOL(struct sa_report) pool;
    VEC(struct report_target) subscribers; /* since the view had a network */
    struct map by_guid;                    /* port GUID → subscriber */
    struct chains waiting;                 /* reports, by subscriber */
    struct chains ready;                   /* subscribers that a report can be sent to */
    struct chains due;                     /* reports that must be sent again */
    struct outstanding sent;               /* the others in flight */
    uint32_t next_tid;
};

struct sa {
    struct sa_config config;
    uint64_t guid;
    struct sa_view view;
    bool serves;                 /* the view has a network */
    bool incomplete;             /* see sa_set_incomplete() */
    struct redirect redirection; /* of all clients; LID 0: none */
    struct path_index index;
    struct access access;
    struct map port_guids;          /* all known ones; alias_records.c makes it when it needs it */
    uint64_t port_guids_generation; /* of the subnet */
    struct query_queue queue;
    struct long_query long_queries[LONG_QUERIES];
    unsigned long_turn;
    struct registry registry;
    struct reports reports;
    VEC(struct query) busy; /* queries to answer with BUSY */
    size_t busy_taken;
    uint64_t now;               /* time of the current call */
    int64_t budget;             /* work left in this turn */
    uint64_t registrations_due; /* earliest end of a lease or an absence */
    struct answer out;          /* the last output */
    uint8_t report_mad[MAD_BYTES];
    struct standby standbys[STANDBYS];
    struct standby challenged; /* the last poll without a proof; it gets a challenge */
    struct sync_client sync;
    struct deferred_answers deferred;
    uint16_t registry_source_lid; /* LID of the master whose registrations these are; 0: none */
    bool registry_copied;         /* from another master, which may acknowledge more at any time */
    struct copied {               /* the last copy of another master's registrations */
        uint64_t instance;        /* of that master; 0: none */
        struct sa_generations base; /* own generations with that copy */
    } copied;
    uint64_t
        former;  /* instance of the run that wrote the file, if this run has no other registry */
    bool offers; /* it was master: the next master is to merge what has changed since then */
    struct text offer;            /* the poll with these changes */
    struct map expired_ports;     /* GUIDs of absent ports whose registrations were removed */
    VEC(uint64_t) returned_ports; /* GUIDs of such ports that are present again */
    struct sa_counts counts;
};

/* ---- records: each returns a status ---- */

typedef uint16_t query_handler(struct sa *sa, const struct query *query, struct answer *answer);
query_handler class_port_info, port_records, path_records, multi_path_records, trace_records,
    group_records, service_records, inform_info, inform_info_records, alias_records;

/* core.c, view.c */
void sa_drop_queries(struct sa *sa);
uint64_t sa_port_guid_at(const struct sa *sa, unsigned lid); /* 0: there is none */
/* The end port with this LID, or SUBNET_NONE. */
uint32_t sa_port_at(const struct sa *sa, unsigned lid);
/* Charges an output that is not an answer to a query in the queue. False: such outputs have used
 * their half of the turn, and queries wait. */
bool sa_may_send_aside(struct sa *sa);
/* Makes sa->out the answer to this query, with the text as its data. */
void answer_text(struct sa *sa, const struct query *query, const struct text *text);
/* The end point with this LID in the routes in force; NETWORK_NONE: none. */
uint32_t sa_end_point_at(const struct sa *sa, unsigned lid);
/* The GUID of the requesting port; 0 if no port has its LID. */
uint64_t sa_requester_guid(const struct sa *sa, const struct query *query);
/* The end point with this port GUID or alias GUID; NETWORK_NONE: none. */
uint32_t sa_find_end_point(const struct sa *sa, uint64_t guid);
/* The GUID of the port with this alias, or else the GUID itself. */
uint64_t sa_port_guid(const struct sa *sa, uint64_t guid);
bool sa_is_local_prefix(const struct sa *sa, uint64_t prefix);
/* True if a port has `limit` items in an index by port. No limit: 0, or a trusted query. */
bool sa_port_limit_reached(const struct query *query, const struct chains *by_port, uint64_t guid,
                           uint32_t limit);
/* True if a registered port has been absent for too long. Updates *absent_since. */
bool sa_is_lost(struct sa *sa, uint64_t guid, uint64_t *absent_since);
static inline uint64_t gid_prefix(const uint8_t *gid)
{
    return wire_get_bits(gid, 0, 64);
}
static inline uint64_t gid_guid(const uint8_t *gid)
{
    return wire_get_bits(gid, 64, 64);
}
static inline void gid_set(uint8_t *gid, uint64_t prefix, uint64_t guid)
{
    wire_set_bits(gid, 0, 64, prefix);
    wire_set_bits(gid, 64, 64, guid);
}

/* path_records.c */
/* Continues a long query. True if its answer is complete. */
bool long_query_continue(struct sa *sa, struct long_query *query);
/* True if the query is for many pairs of end points. */
bool path_query_is_long(const struct sa *sa, const struct query *query);

/* alias_records.c */
/* Fills the GUIDs of a GUIDInfoRecord. */
void alias_fill_block(const struct sa *sa, uint64_t port_guid, unsigned number, uint8_t *guids);
/* Compares them with the places that a query selects. */
bool alias_block_matches(const struct query *query, const uint8_t *guids);
/* Reports that all alias GIDs of a port are in service or out of service. */
void alias_report(struct sa *sa, unsigned trap, uint64_t port_guid);
void alias_put(struct sa *sa, uint64_t port_guid, unsigned number,
               const uint64_t guids[ALIAS_PLACES]);
void aliases_clear(struct sa *sa);
/* Removes those of ports that are absent for too long, and those that are GUIDs of ports now. */
void aliases_remove_invalid(struct sa *sa);

/* partition_groups.c */
void partition_groups_make(struct sa *sa);

/* group_records.c */
/* Removes a group without full members, or the members of a permanent one. */
void groups_remove_if_unused(struct sa *sa, struct group *group);
/* The group for this MGID: its own, or the one that solicited-node addresses share; NULL: none. */
struct group *groups_find_requested(const struct sa *sa, const uint8_t *mgid);
/* Removes members that are absent for too long, or those that left the group's partition. */
void groups_remove_members(struct sa *sa, bool absent);

/* services.c, subscriptions.c */
void services_expire(struct sa *sa);
void service_put(struct sa *sa, const struct service *service);
struct service *service_find(struct sa *sa, const uint8_t *record); /* by its identity, or NULL */
/* The end of a lease of so many seconds from now. A lease of UINT32_MAX seconds does not end. */
uint64_t service_lease_end(const struct sa *sa, uint64_t seconds);
void service_drop(struct sa *sa, struct service *service);
void services_remove_if(struct sa *sa, bool (*unwanted)(void *context, const struct service *),
                        void *context);
void subscriptions_remove_if(struct sa *sa, bool (*unwanted)(void *context, struct subscription *),
                             void *context);
void subscriptions_remove_absent(struct sa *sa);
/* Updates the LIDs of subscribers after a change of routes. */
void subscriptions_update_lids(struct sa *sa);
void subscription_put(struct sa *sa, const struct subscription *subscription);
void subscription_drop(struct sa *sa, struct subscription *subscription);
struct subscription *subscription_find(struct sa *sa, uint32_t number);

/* persist.c, persist_read.c */
struct registry_header { /* the first "# weft:" line */
    bool given;
    uint16_t master; /* LID */
    uint64_t instance;
    struct sa_generations generations, since;
    uint32_t next_service, next_subscription, next_mgid;
};
typedef bool registry_accept(const struct sa *sa, const struct registry_header *header);
/* `accept` may be NULL. */
int registry_read(struct sa *sa, const struct sa_registry_file *file, registry_accept *accept,
                  struct registry_header *header, struct err *err);
/* Adds the changes of another registry, except where they contradict what this one has changed
 * since `base`. What the text does not have any more is removed if it has not changed since. */
int registry_merge(struct sa *sa, const struct sa_registry_file *file,
                   const struct sa_generations *base, struct err *err);
void registry_clear(struct sa *sa);
/* What an earlier run wanted of virtual machines, with those that ended. */
void registry_print_machines(const struct sa *sa, uint64_t instance, struct text *out);

/* sync.c */
enum { SA_ATTRIBUTE_REGISTRATIONS = 0xFF57 };
void sync_receive_request(struct sa *sa, const struct sa_message *message);
void sync_receive(struct sa *sa, const struct sa_message *message);
uint64_t sync_deadline(const struct sa *sa);
/* Sets `standbys` and `standby_lag`. */
void sync_count_standbys(const struct sa *sa, struct sa_counts *counts);
bool sync_next(struct sa *sa, struct sa_message *message);

/* deferred_replies.c */
bool generations_cover(const struct sa_generations *known, const struct sa_generations *needed);
/* True if the answer to this query would have to wait, and no more answers, or no more of this
 * client, can. */
bool deferred_is_full(const struct sa *sa, const struct query *query);
/* Defers the answer in sa->out unless its registration is durable. True if it is deferred. */
bool deferred_keep(struct sa *sa, const struct query *query);
bool deferred_next(struct sa *sa, struct sa_message *message);
uint64_t deferred_deadline(const struct sa *sa);
/* True if answers wait and this standby has a lease. */
bool deferred_awaits(const struct sa *sa, const struct standby *standby);

/* reports.c */
/* Reports traps 64 to 67: a GID in or out of service, a group created or deleted. `p_key` is that
 * of the group, or 0. */
void report_change(struct sa *sa, unsigned trap, const uint8_t gid[16], unsigned p_key);
void report_notice(struct sa *sa, const uint8_t *notice);
void reports_receive(struct sa *sa, const struct sa_message *message);
void reports_expire(struct sa *sa);
uint64_t reports_deadline(const struct sa *sa);
bool reports_next(struct sa *sa, struct sa_message *message);
void reports_clear(struct sa *sa);

#endif
