/* Quality of service: levels, what they are worth, and who gets which.
 *
 * There are two ways to say it, and one file or set of options holds one of them:
 *   levels  named, with a service level, a priority and a weight each (qos_read.c): tables follow
 *           from them, for links of any number of lanes, beside the lanes that routes need
 *   tables  OpenSM's qos_* options: SL to VL maps and arbitration tables as they are to be written,
 *           but for lanes that a link does not have
 * A policy, of either syntax (qos_read.c, qos_policy.c), says who gets which level: the first rule
 * that fits does.
 *
 * A path has two things that its service level must say: the level of whoever asked, and the lane
 * that the routing engine chose. How both fit into sixteen service levels and a link's lanes is the
 * layout (docs/decisions/013-levels-and-lanes.md). With levels, SL = level's SL + lane * stride and
 * VL = number of the level + lane * number of levels: neither depends on how many lanes the
 * routes of the day use, so new routes need no new maps. */
#ifndef WEFT_SUBNET_QOS_H
#define WEFT_SUBNET_QOS_H

#include "base/line_reader.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QOS_SLS = 16,
    QOS_LEVELS = 16,
    QOS_GROUPS = 64,
    QOS_RULES = 4096,
    QOS_RANGES = 65536,
    QOS_ENTRIES = 64, /* of an arbitration table */
    QOS_NAME = 64,
    QOS_DISCARD = 15,    /* not a data lane */
    QOS_NO_LEVEL = 0xFF, /* nobody said anything */
    QOS_UNLIMITED = 255, /* VLHighLimit: low priority waits for ever */
};

/* Classes of ports that OpenSM's options tell apart; the first stands for all. */
enum qos_class {
    QOS_ALL,
    QOS_ADAPTER,
    QOS_ROUTER,
    QOS_SWITCH_0,
    QOS_SWITCH_EXTERNAL,
    QOS_CLASSES,
};

struct qos_entry {
    uint8_t vl, weight; /* in units of 64 bytes */
};
struct qos_list {
    uint8_t count; /* 0: not given */
    struct qos_entry entries[QOS_ENTRIES];
};
struct qos_tables { /* what is not given is as for all ports */
    uint8_t max_vls;
    int high_limit; /* -1: not given */
    bool has_map;
    uint8_t map[QOS_SLS];
    struct qos_list high, low;
};

struct qos_level {
    char name[QOS_NAME];
    uint8_t sl;
    bool high;         /* priority */
    uint8_t weight;    /* beside the others of its priority */
    uint8_t limit;     /* percent; 0: none given */
    uint8_t mtu, rate; /* codes that a path has at the most; 0: any */
    uint8_t life;      /* PacketLifeTime's code; 0xFF: as the subnet has it */
};

/* What a range is about. */
enum qos_subject { QOS_SERVICE, QOS_PARTITION, QOS_REQUEST_CLASS, QOS_TARGET, QOS_SUBJECTS };
struct qos_range {
    enum qos_subject subject;
    uint64_t first, last;
};
struct qos_rule { /* all that is said must fit; of the ranges of one subject one must */
    uint64_t sources, destinations, either; /* groups by bit; 0: any */
    uint32_t first_range, range_count;
    uint8_t level;
};

enum qos_kind { QOS_BY_GUID, QOS_BY_NAME, QOS_BY_TYPE, QOS_BY_SELF };
struct qos_member {
    enum qos_kind kind;
    uint8_t group, type; /* type: as in NodeInfo; 0: all */
    uint64_t first, last;
    char pattern[QOS_NAME]; /* of node descriptions; '*' and '?' */
};
struct qos_group {
    char name[QOS_NAME];
};
struct qos_partition {
    uint16_t key; /* without the bit of full members */
    uint8_t sl;
};
struct qos_warning {
    char text[160];
};

struct qos {
    bool given, on;    /* anything was said; it is in force */
    bool levels_first; /* tables follow from levels, else they are given */
    struct qos_tables tables[QOS_CLASSES];
    uint8_t fallback;             /* level of those whom no rule names, or QOS_NO_LEVEL */
    VEC(struct qos_level) levels; /* with levels_first: low priority before high */
    VEC(struct qos_group) groups;
    VEC(struct qos_member) members;
    VEC(struct qos_rule) rules;
    VEC(struct qos_range) ranges;
    VEC(struct qos_partition) partitions; /* those with a service level of their own, by key */
    VEC(struct qos_warning) warnings;     /* what was read and is not heeded */
};

void qos_init(struct qos *qos);
void qos_release(struct qos *qos); /* accepts NULL */
void qos_copy(struct qos *to, const struct qos *from);
/* What no rule names gets its partition's service level, if that has one. */
void qos_add_partition(struct qos *qos, uint16_t key, uint8_t sl);

/* ---- reading ---- */

/* One of OpenSM's options without its "qos_": "max_vls", "ca_vlarb_high" … */
int qos_set_option(struct qos *qos, const char *option, const char *value, struct err *err);
/* A policy of either syntax; on error nothing is changed. */
int qos_read(struct qos *qos, struct line_reader *lines);
/* What follows from everything together, or why it does not go together. */
int qos_finish(struct qos *qos, struct err *err);
/* For readers. */
bool qos_is_section(const char *word); /* with which a policy of OpenSM's begins */
/* From the current line on, which is the first that says something. */
int qos_read_opensm(struct qos *qos, struct line_reader *lines);
int qos_parse_ranges(struct qos *qos, enum qos_subject subject, const char *text, struct err *err);
/* Members of the group with this number. A name may be too long; of a type there may be none, and
 * an adapter's is spelt in two ways. */
int qos_add_guids(struct qos *qos, unsigned group, const char *text, struct err *err);
bool qos_add_name(struct qos *qos, unsigned group, const char *pattern);
bool qos_add_type(struct qos *qos, unsigned group, const char *adapter, const char *type);
uint8_t qos_find_level(const struct qos *qos, const char *name);
int qos_find_group(const struct qos *qos, const char *name); /* -1: there is none */
void qos_warning(struct qos *qos, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- who gets which level ---- */

struct qos_endpoint {
    uint64_t port_guid;
    uint8_t type; /* as in NodeInfo */
    bool self;    /* the manager's own port */
    const char *description;
};
/* The groups that it is in, by bit: worth keeping. */
uint64_t qos_groups_of(const struct qos *qos, const struct qos_endpoint *endpoint);

struct qos_request {
    uint64_t source_groups, destination_groups;
    uint64_t target_guid;
    uint64_t service;
    uint16_t p_key, class;
    bool has_service, has_p_key, has_class;
};

/* ---- levels and lanes ---- */

struct qos_layout {
    bool levels; /* in force; else a service level is the routes' lane, or what the tables say */
    uint8_t stride;
    uint8_t level_count;
    uint8_t lanes;  /* that routes may use at the most */
    uint8_t used;   /* by the routes in force */
    uint16_t valid; /* service levels that have a lane */
};
/* For links between switches with at least so many usable lanes (0: there are no such links). If
 * levels and lanes do not fit, the layout is that without levels, and *refusal says why. */
void qos_make_layout(const struct qos *qos, unsigned lanes, struct qos_layout *layout,
                     struct err *refusal);
/* The service level of a path: `sl` of the level that was chosen, on a lane of the routes. */
uint8_t qos_service_level(const struct qos_layout *layout, uint8_t sl, uint8_t lane);
/* All in one, for whoever answers: the level that the question gets (QOS_NO_LEVEL: none), and the
 * path's service level. Without a policy the lane is the service level. */
uint8_t qos_resolve(const struct qos *qos, const struct qos_layout *layout,
                    const struct qos_request *request, uint8_t lane, uint8_t *sl);
/* Whether a path on this lane can have that service level. */
bool qos_allows(const struct qos_layout *layout, uint8_t sl, uint8_t lane);

/* ---- tables of one port ---- */

struct qos_port {
    enum qos_class class;
    uint8_t lanes;             /* data lanes of its link */
    uint8_t high_cap, low_cap; /* entries of its arbitration tables */
    uint16_t mtu;              /* bytes */
};
/* Lanes that can be told apart: each needs an entry. */
static inline unsigned qos_usable_vls(const struct qos_port *port)
{
    return port->low_cap && port->low_cap < port->lanes ? port->low_cap : port->lanes;
}
/* A packed SL to VL map, the first eight bytes of a block. */
void qos_make_map(const struct qos *qos, const struct qos_layout *layout,
                  const struct qos_port *port, uint8_t map[QOS_SLS / 2]);
void qos_make_arbitration(const struct qos *qos, const struct qos_layout *layout,
                          const struct qos_port *port, bool high, struct qos_list *list);
uint8_t qos_high_limit(const struct qos *qos, const struct qos_layout *layout,
                       const struct qos_port *port);

#endif
