/* Quality of service: levels, their share of a link, and the choice of a level for a path.
 *
 * One file or set of options configures either of:
 *   levels  named levels with an SL, a priority and a weight (qos_read.c). SL-to-VL maps and
 *           arbitration tables follow from them, for any number of VLs of a link.
 *   tables  OpenSM's qos_* options: maps and arbitration tables, written as they are, except for
 * VLs that a link does not have. A policy in either syntax (qos_read.c, qos_policy.c) assigns
 * levels to paths: the first rule that matches applies.
 *
 * The SL of a path must encode both its QoS level and the VL that the routing engine chose. The
 * layout maps both to sixteen SLs and the VLs of a link (docs/decisions/013-levels-and-lanes.md).
 * With levels, SL = SL of the level + VL of the routes * stride, and VL = number of the level + VL
 * of the routes * number of levels. Neither depends on the number of VLs that the current routes
 * use, so new routes need no new maps. */
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
    QOS_DISCARD = 15,    /* VL15 in a map: packets are discarded */
    QOS_NO_LEVEL = 0xFF, /* no level */
    QOS_UNLIMITED = 255, /* VLHighLimit: no limit, low priority may starve */
};

/* Classes of ports in OpenSM's options. */
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
struct qos_tables { /* values that are not given are those of QOS_ALL */
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
    uint8_t weight;    /* relative to other levels of the same priority */
    uint8_t limit;     /* percent; 0: not given */
    uint8_t mtu, rate; /* codes of the upper limits for a path; 0: none */
    uint8_t life;      /* code of PacketLifeTime; 0xFF: that of the subnet */
};

/* The component of a query that a range restricts. */
enum qos_subject { QOS_SERVICE, QOS_PARTITION, QOS_REQUEST_CLASS, QOS_TARGET };
struct qos_range {
    enum qos_subject subject;
    uint64_t first, last;
};
struct qos_rule { /* all conditions must hold; for each subject, one range must match */
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
    bool given, on;    /* something is configured; QoS is enabled */
    bool levels_first; /* tables follow from levels; else they are given */
    struct qos_tables tables[QOS_CLASSES];
    uint8_t fallback;             /* level if no rule matches, or QOS_NO_LEVEL */
    VEC(struct qos_level) levels; /* with levels_first: low priority before high */
    VEC(struct qos_group) groups;
    VEC(struct qos_member) members;
    VEC(struct qos_rule) rules;
    VEC(struct qos_range) ranges;
    VEC(struct qos_partition) partitions; /* partitions with an SL, sorted by key */
    VEC(struct qos_warning) warnings;     /* about lines that are ignored */
};

void qos_init(struct qos *qos);
void qos_release(struct qos *qos); /* accepts NULL */
void qos_copy(struct qos *to, const struct qos *from);
/* Sets the SL of a partition. It applies to paths that no rule matches. */
void qos_add_partition(struct qos *qos, uint16_t key, uint8_t sl);

/* ---- reading ---- */

/* One of OpenSM's options without its "qos_": "max_vls", "ca_vlarb_high" … */
int qos_set_option(struct qos *qos, const char *option, const char *value, struct err *err);
/* Reads a policy in either syntax. On an error nothing is changed. */
int qos_read(struct qos *qos, struct line_reader *lines);
/* Checks that options and policy are compatible. */
int qos_finish(struct qos *qos, struct err *err);
/* Used by the readers. */
bool qos_is_section(const char *word); /* of a policy in the syntax of OpenSM */
/* Reads from the current line on. */
int qos_read_opensm(struct qos *qos, struct line_reader *lines);
int qos_parse_ranges(struct qos *qos, enum qos_subject subject, const char *text, struct err *err);
/* Add members to the group with this number. False if the pattern is too long or the type is
 * unknown; `adapter` is the keyword for adapters. */
int qos_add_guids(struct qos *qos, unsigned group, const char *text, struct err *err);
bool qos_add_name(struct qos *qos, unsigned group, const char *pattern);
bool qos_add_type(struct qos *qos, unsigned group, const char *adapter, const char *type);
uint8_t qos_find_level(const struct qos *qos, const char *name);
int qos_find_group(const struct qos *qos, const char *name); /* -1: none */
void qos_warning(struct qos *qos, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- choice of levels ---- */

struct qos_endpoint {
    uint64_t port_guid;
    uint8_t type; /* as in NodeInfo */
    bool self;    /* the port of the manager */
    const char *description;
};
/* The groups with this end point, one bit each. The caller should cache them. */
uint64_t qos_groups_of(const struct qos *qos, const struct qos_endpoint *endpoint);
/* The groups of an end point of the subnet: node type and description are read from its node. */
struct subnet;
uint64_t qos_groups_at(const struct qos *qos, const struct subnet *subnet, uint64_t guid,
                       unsigned lid);

struct qos_request {
    uint64_t source_groups, destination_groups;
    uint64_t target_guid;
    uint64_t service;
    uint16_t p_key, class;
    bool has_service, has_p_key, has_class;
};

/* ---- levels and VLs ---- */

struct qos_layout {
    bool levels; /* levels are in force; else the SL is the VL of the routes, or from tables */
    uint8_t stride;
    uint8_t level_count;
    uint8_t vls;    /* most VLs that routes may use */
    uint8_t used;   /* VLs that the routes in force use */
    uint16_t valid; /* bit per SL: it maps to a VL */
};
/* The layout for links between switches with at least `vls` usable VLs (0: no such links). If there
 * are too few VLs for the levels, the layout has no levels, and *refusal has the reason. */
void qos_make_layout(const struct qos *qos, unsigned vls, struct qos_layout *layout,
                     struct err *refusal);
/* The SL of a path whose level has the SL `sl` and whose route uses the VL `route_vl`. */
uint8_t qos_service_level(const struct qos_layout *layout, uint8_t sl, uint8_t route_vl);
/* Returns the level of a path, or QOS_NO_LEVEL, and sets its SL. Without a policy the SL is the VL
 * of the route. */
uint8_t qos_resolve(const struct qos *qos, const struct qos_layout *layout,
                    const struct qos_request *request, uint8_t route_vl, uint8_t *sl);
/* True if a path on this VL of the routes can have the SL. */
bool qos_allows(const struct qos_layout *layout, uint8_t sl, uint8_t route_vl);

/* ---- tables of one port ---- */

struct qos_port {
    enum qos_class class;
    uint8_t vls;               /* data VLs of its link */
    uint8_t high_cap, low_cap; /* entries of its arbitration tables */
    uint16_t mtu;              /* bytes */
};
/* The number of VLs that can have an entry in the arbitration table. */
static inline unsigned qos_usable_vls(const struct qos_port *port)
{
    return port->low_cap && port->low_cap < port->vls ? port->low_cap : port->vls;
}
/* An SL-to-VL map, the first eight bytes of a block. */
void qos_make_map(const struct qos *qos, const struct qos_layout *layout,
                  const struct qos_port *port, uint8_t map[QOS_SLS / 2]);
void qos_make_arbitration(const struct qos *qos, const struct qos_layout *layout,
                          const struct qos_port *port, bool high, struct qos_list *list);
uint8_t qos_high_limit(const struct qos *qos, const struct qos_layout *layout,
                       const struct qos_port *port);

#endif
