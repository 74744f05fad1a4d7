/* `check machines`: every machine is at one place with the LID it was given, no LID got lost,
 * whoever has a function has its own partition keys and nobody else's, and nobody lost packets
 * through the moves of others. Asked of the fabric: what agents hold. */
#include "experiment/stage.h"
#include "topology/virtual.h"

#include <stdio.h>
#include <stdlib.h>

static bool complain(struct complaint *complaint, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool complain(struct complaint *complaint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint->text, sizeof complaint->text, format, arguments);
    va_end(arguments);
    return false;
}

/* Ports of functions by the GUID they have now; those that two have are lost here, and counted. A
 * function whose hypervisor is not there is none. */
struct functions {
    struct map by_guid;
    uint32_t twice, with_lid, all;
};

static bool has_hypervisor(const struct stage *stage, uint32_t port)
{
    uint32_t socket = stage->topology.ports.items[port].peer;
    return topology_function(&stage->topology, port) > 0 &&
           fabric_node_is_up(stage->fabric, stage->topology.ports.items[socket].node);
}

static void find_functions(const struct stage *stage, struct functions *functions)
{
    for (uint32_t port = 0; port < stage->topology.ports.count; port++) {
        if (!has_hypervisor(stage, port))
            continue;
        uint64_t lid = wire_get(fabric_port_info(stage->fabric, port), PORT_INFO_LID);
        uint64_t guid = fabric_port_guid(stage->fabric, port, 0);
        if (!fabric_link_is_up(stage->fabric, stage->topology.ports.items[port].peer) &&
            !fabric_link_is_up(stage->fabric, port))
            lid = 0;
        functions->all++;
        functions->with_lid += lid != 0;
        if (lid && guid)
            functions->twice += map_add(&functions->by_guid, guid, port) != port;
    }
}

static bool is_in_place(const struct stage *stage, const struct machine *machine,
                        const struct functions *functions, struct complaint *complaint)
{
    uint32_t port = map_get(&functions->by_guid, machine->guid);
    if (!machine->wanted)
        return port == MAP_NONE ||
               complain(complaint, "'%.80s' is still at '%.80s'", machine->name,
                        stage_node_name(stage, stage->topology.ports.items[port].node));
    if (port == MAP_NONE)
        return complain(complaint, "'%.80s' is nowhere", machine->name);
    uint64_t lid = wire_get(fabric_port_info(stage->fabric, port), PORT_INFO_LID);
    return lid == machine->lid || complain(complaint, "'%.80s' has LID %u where %u is its own",
                                           machine->name, (unsigned)lid, machine->lid);
}

static bool are_lids_conserved(const struct stage *stage, const struct functions *functions,
                               struct complaint *complaint)
{
    bool dynamic = stage->seats.count && stage->seats.items[0]->config.sm.dynamic_lids;
    uint32_t wanted = functions->all;
    if (dynamic)
        wanted = 0;
    for (size_t i = 0; dynamic && i < stage->machines.items.count; i++)
        wanted += stage->machines.items.items[i].wanted;
    return functions->with_lid == wanted ||
           complain(complaint, "%u functions have a LID where %u should", functions->with_lid,
                    wanted);
}

/* ---- partitions ---- */

enum { KEYS_MOST = 1024 };

static int ascending(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Sorts them, the blanks taken out; how many are left. */
static unsigned tidy_keys(uint16_t *keys, unsigned count)
{
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++)
        if (keys[i])
            keys[left++] = keys[i];
    qsort(keys, left, sizeof *keys, ascending);
    return left;
}

static bool has_its_keys(const struct stage *stage, const struct partitions *rules, uint32_t port,
                         struct partition_keys *wanted, struct complaint *complaint)
{
    uint64_t guid = fabric_port_guid(stage->fabric, port, 0);
    struct partition_port who = {.guid = guid, .kind = SUBNET_ADAPTER};
    uint16_t keys[KEYS_MOST];
    unsigned count = tidy_keys(keys, fabric_p_keys(stage->fabric, port, keys, KEYS_MOST));
    partitions_find_keys(rules, &who, wanted);
    unsigned due = tidy_keys(wanted->keys.items, (unsigned)wanted->keys.count);
    for (unsigned i = 0; i < count && i < due; i++)
        if (keys[i] != wanted->keys.items[i])
            return complain(complaint,
                            "0x%016llx at '%.80s' has the key 0x%04x where 0x%04x is due",
                            (unsigned long long)guid,
                            stage_node_name(stage, stage->topology.ports.items[port].node), keys[i],
                            wanted->keys.items[i]);
    return count == due ||
           complain(complaint, "0x%016llx at '%.80s' has %u keys where %u are due",
                    (unsigned long long)guid,
                    stage_node_name(stage, stage->topology.ports.items[port].node), count, due);
}

static bool have_their_keys(const struct stage *stage, struct complaint *complaint)
{
    const struct partitions *rules =
        stage->seats.count ? stage->seats.items[0]->config.sm.partitions : NULL;
    struct partition_keys wanted = {0};
    bool fine = true;
    for (uint32_t port = 0; rules && fine && port < stage->topology.ports.count; port++)
        if (has_hypervisor(stage, port) &&
            wire_get(fabric_port_info(stage->fabric, port), PORT_INFO_LID))
            fine = has_its_keys(stage, rules, port, &wanted, complaint);
    partition_keys_release(&wanted);
    return fine;
}

bool machines_hold(const struct stage *stage, struct complaint *complaint)
{
    static const enum check_kind kinds[] = {CHECK_LIDS_UNIQUE, CHECK_REACHABLE};
    struct check_view view = stage_view(stage);
    struct functions functions = {0};
    bool fine = stage->machines.items.count > 0 || complain(complaint, "there are no machines");
    if (fine && !machines_are_settled(stage, complaint))
        return false;
    find_functions(stage, &functions);
    if (fine && functions.twice)
        fine = complain(complaint, "%u GUIDs are at two places", functions.twice);
    for (size_t i = 0; fine && i < stage->machines.items.count; i++)
        fine = is_in_place(stage, &stage->machines.items.items[i], &functions, complaint);
    fine = fine && are_lids_conserved(stage, &functions, complaint) &&
           have_their_keys(stage, complaint);
    map_release(&functions.by_guid);
    for (unsigned i = 0; fine && i < 2; i++)
        fine = check_holds(&view, kinds[i], complaint);
    return fine;
}

bool machines_hold_others(const struct stage *stage, struct complaint *complaint)
{
    uint64_t lost = stage->machines.others_lost;
    return lost == 0 || complain(complaint, "%llu packets of those who did not move were lost",
                                 (unsigned long long)lost);
}
