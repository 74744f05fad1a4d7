/* `check machines`: looks for the GUID of every virtual machine among the virtual functions of
 * running hypervisors, and compares LIDs and P_Keys with what they should be. */
#include "experiment/check/checks.h"

#include "base/map.h"
#include "console/names.h"
#include "subnet/partitions.h"
#include "topology/virtual.h"

#include <stdlib.h>

/* Ports of functions by their present GUID; duplicates are counted. Functions of a hypervisor that
 * is down are left out. */
struct functions {
    struct map by_guid;
    uint32_t twice, with_lid, all;
};

/* The port of the hypervisor's device that a function uses. */
static uint32_t device_port(const struct topology *topology, uint32_t port)
{
    const struct topology_port *at = &topology->ports.items[port];
    return at->shares == TOPOLOGY_NONE ? at->peer : at->shares;
}

static bool has_hypervisor(const struct check_view *view, uint32_t port)
{
    const struct topology *topology = fabric_topology(view->fabric);
    return topology_function(topology, port) > 0 &&
           fabric_node_is_up(view->fabric, topology->ports.items[device_port(topology, port)].node);
}

static void find_functions(const struct check_view *view, struct functions *functions)
{
    const struct topology *topology = fabric_topology(view->fabric);
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        if (!has_hypervisor(view, port))
            continue;
        uint64_t lid = wire_get(fabric_port_info(view->fabric, port), PORT_INFO_LID);
        uint64_t guid = fabric_port_guid(view->fabric, port, 0);
        if (!fabric_link_is_up(view->fabric, device_port(topology, port)) &&
            !fabric_link_is_up(view->fabric, port))
            lid = 0;
        bool has_own_lid = topology->ports.items[port].shares == TOPOLOGY_NONE;
        functions->all += has_own_lid;
        functions->with_lid += has_own_lid && lid != 0;
        if (lid && guid)
            functions->twice += map_add(&functions->by_guid, guid, port) != port;
    }
}

static const char *name_at(const struct check_view *view, uint32_t port)
{
    const struct topology *topology = fabric_topology(view->fabric);
    return node_label(topology, topology->ports.items[port].node);
}

static bool is_in_place(const struct check_view *view, const struct expected_machine *machine,
                        const struct functions *functions, struct check_failure *failure)
{
    uint32_t port = map_get(&functions->by_guid, machine->guid);
    if (!machine->wanted)
        return port == MAP_NONE || check_fail(failure, "'%.80s' is still at '%.80s'", machine->name,
                                              name_at(view, port));
    if (port == MAP_NONE)
        return check_fail(failure, "'%.80s' has no function", machine->name);
    uint64_t lid = wire_get(fabric_port_info(view->fabric, port), PORT_INFO_LID);
    return lid == machine->lid || check_fail(failure, "'%.80s' has LID %u instead of %u",
                                             machine->name, (unsigned)lid, machine->lid);
}

static bool are_lids_conserved(const struct expected_machines *expected,
                               const struct functions *functions, struct check_failure *failure)
{
    uint32_t wanted = expected->dynamic_lids ? 0 : functions->all;
    for (size_t i = 0; expected->dynamic_lids && functions->all && i < expected->count; i++)
        wanted += expected->items[i].wanted;
    return functions->with_lid == wanted ||
           check_fail(failure, "%u functions have a LID, %u should", functions->with_lid, wanted);
}

enum { KEYS_MOST = 1024 };

static int ascending(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Removes zero keys and sorts the rest; returns their number. */
static unsigned tidy_keys(uint16_t *keys, unsigned count)
{
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++)
        if (keys[i])
            keys[left++] = keys[i];
    qsort(keys, left, sizeof *keys, ascending);
    return left;
}

static bool has_its_keys(const struct check_view *view, const struct partitions *rules,
                         uint32_t port, struct partition_keys *wanted,
                         struct check_failure *failure)
{
    uint64_t guid = fabric_port_guid(view->fabric, port, 0);
    struct partition_port who = {.guid = guid, .kind = SUBNET_ADAPTER};
    uint16_t keys[KEYS_MOST];
    unsigned count = tidy_keys(keys, fabric_p_keys(view->fabric, port, keys, KEYS_MOST));
    partitions_find_keys(rules, &who, wanted);
    unsigned due = tidy_keys(wanted->keys.items, (unsigned)wanted->keys.count);
    for (unsigned i = 0; i < count && i < due; i++)
        if (keys[i] != wanted->keys.items[i])
            return check_fail(failure, "0x%016llx at '%.80s' has P_Key 0x%04x instead of 0x%04x",
                              (unsigned long long)guid, name_at(view, port), keys[i],
                              wanted->keys.items[i]);
    return count == due || check_fail(failure, "0x%016llx at '%.80s' has %u P_Keys instead of %u",
                                      (unsigned long long)guid, name_at(view, port), count, due);
}

static bool have_their_keys(const struct check_view *view, const struct partitions *rules,
                            struct check_failure *failure)
{
    const struct topology *topology = fabric_topology(view->fabric);
    struct partition_keys wanted = {0};
    bool fine = true;
    for (uint32_t port = 0; rules && fine && port < topology->ports.count; port++)
        if (has_hypervisor(view, port) && topology->ports.items[port].shares == TOPOLOGY_NONE &&
            wire_get(fabric_port_info(view->fabric, port), PORT_INFO_LID))
            fine = has_its_keys(view, rules, port, &wanted, failure);
    partition_keys_release(&wanted);
    return fine;
}

bool check_machines(const struct check_view *view, const struct expected_machines *expected,
                    struct check_failure *failure)
{
    struct functions functions = {0};
    bool fine = true;
    find_functions(view, &functions);
    if (functions.twice)
        fine = check_fail(failure, "%u GUIDs are duplicate", functions.twice);
    for (size_t i = 0; fine && i < expected->count; i++)
        fine = is_in_place(view, &expected->items[i], &functions, failure);
    fine = fine && are_lids_conserved(expected, &functions, failure) &&
           have_their_keys(view, expected->partitions, failure) &&
           check_holds(view, CHECK_LIDS_UNIQUE, failure) &&
           check_holds(view, CHECK_REACHABLE, failure);
    map_release(&functions.by_guid);
    return fine;
}
