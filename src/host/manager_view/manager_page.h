/* What a manager shows of its subnet on a page (host/api): `weft sm` and `weft live` use it.
 *
 *   manager_page.c      states of nodes and links, tables that are written, paths
 *   page_sections.c     managers, problems, machines
 *   page_members.c      multicast groups and partitions
 *   page_versions.c     forwarding tables of the past
 *   cabling.c           differences from a plan of the cables
 *   subnet_describe.c   the subnet as a topology
 *
 * The topology of the page is that of the subnet, or that of a simulated fabric; nodes of both are
 * the same if their GUIDs are. */
#ifndef WEFT_HOST_MANAGER_VIEW_MANAGER_PAGE_H
#define WEFT_HOST_MANAGER_VIEW_MANAGER_PAGE_H

#include "host/api/api.h"
#include "perf/perf.h"
#include "sm/sm.h"
#include "subnet/groups.h"
#include "subnet/partitions.h"
#include "vswitch/vswitch.h"

struct manager_page {
    const struct sm *sm; /* NULL: no manager runs, so that lists are empty */
    const struct topology *topology;
    const struct api_links *links;
};

/* ---- subnet_describe.c ---- */

/* Appends nodes and links. `past`: also nodes that are gone, and the last links of ports. */
void subnet_describe(const struct subnet *subnet, bool past, struct topology *topology);

/* ---- manager_page.c ---- */

/* The node of the page for a row of the subnet, or TOPOLOGY_NONE. */
uint32_t manager_page_node(const struct manager_page *page, uint32_t row);
/* States of nodes and links, loads and errors of links. */
void manager_page_read(const struct manager_page *page, const struct perf *perf,
                       struct api_tick *tick);
/* How far the tables of the present change are. `touched`, by node: it has a new table in this
 * change. */
void manager_page_read_waves(const struct manager_page *page, bool *touched, uint8_t *waves);
/* The path by the tables that the switches have confirmed. */
void manager_page_put_path(const struct manager_page *page, uint32_t from, uint32_t to,
                           struct text *out);

/* ---- page_sections.c: each a JSON array ---- */

/* The members that a manager knows of itself; the caller adds id, node and name. */
struct api_manager manager_page_own(const struct sm *sm, const struct sm_config *config);
/* This manager, then those that it knows, with the state of their last SMInfo. */
void manager_page_put_managers(const struct manager_page *page, const struct sm_config *config,
                               struct text *out);
/* Times are those since `origin_ns` on the clock of the manager. */
void manager_page_put_changes(const struct manager_page *page, uint64_t origin_ns,
                              struct text *out);
void manager_page_put_problems(const struct manager_page *page, const struct problems *problems,
                               uint64_t origin_ns, struct text *out);
void manager_page_put_machines(const struct manager_page *page, const struct vswitch *machines,
                               struct text *vms, struct text *hypervisors);

/* ---- page_members.c ---- */

/* Groups with their members, and with the links of their trees by the tables that switches have
 * confirmed. */
void manager_page_put_groups(const struct manager_page *page, const struct groups *groups,
                             struct text *out);

/* The same in two steps: a copy of what is shown, and the answer, which another thread may write.
 */
struct page_group {
    uint8_t mgid[16];
    uint16_t mlid;
    uint32_t members;
};
struct page_block { /* of the MFT of a switch */
    uint64_t node;
    uint16_t part;
    uint8_t data[BLOCK_BYTES];
};
struct page_port { /* its GUID and that of its node */
    uint64_t guid;
    uint64_t node;
};
struct page_groups {
    size_t total;
    VEC(struct page_group) groups;
    VEC(uint64_t) members; /* port GUIDs, group by group */
    VEC(struct page_block) blocks;
    VEC(struct page_port) ports; /* of adapters, and port 0 of switches */
};
void page_groups_copy(struct page_groups *copy, const struct manager_page *page,
                      const struct groups *groups);
void page_groups_write(const struct page_groups *copy, const struct topology *topology,
                       const struct api_links *links, struct text *out);
void page_groups_release(struct page_groups *copy);

/* By partition, limited members first, by node. */
struct page_member {
    uint32_t node;
    uint16_t key; /* with the bit of full members */
};
struct page_members {
    VEC(struct page_member) items;
};
/* The memberships by the P_Key tables that adapters have confirmed. An adapter of which none is
 * known has the table of its start: it is a full member of the default partition. */
void manager_page_find_members(const struct manager_page *page, struct page_members *found);
/* `partitions` has the names; NULL: only that of the default partition is known. */
const char *manager_page_partition_name(const struct partitions *partitions, unsigned key);
void manager_page_put_partitions(const struct manager_page *page,
                                 const struct partitions *partitions, struct text *out);

/* The same in two steps. */
struct page_partitions {
    struct page_members members;
    struct partitions names; /* only `all` and `names` */
};
void page_partitions_copy(struct page_partitions *copy, const struct manager_page *page,
                          const struct partitions *partitions);
void page_partitions_write(struct page_partitions *copy, struct text *out);
void page_partitions_release(struct page_partitions *copy);

/* ---- page_versions.c ---- */

/* Keeps the confirmed tables of all switches; `about` has time, manager and cause. */
void manager_page_keep_tables(const struct manager_page *page, struct api_versions *versions,
                              struct api_version about, bool if_changed);
/* A move of a virtual machine changes entries without a change of the subnet: keeps the tables if a
 * request has ended since *seen_ns. */
void manager_page_keep_moved(const struct manager_page *page, struct api_versions *versions,
                             const struct vswitch *machines, uint64_t manager, uint64_t origin_ns,
                             uint64_t *seen_ns);

/* ---- cabling.c ---- */

/* Appends every difference as a problem, except those that follow from a listed problem. */
void cabling_list_problems(const struct topology *plan, const struct subnet *subnet,
                           struct problems *problems);
/* All differences; `name` is that of the plan. */
void manager_page_put_cabling(const struct manager_page *page, const struct topology *plan,
                              const char *name, struct text *out);

#endif
