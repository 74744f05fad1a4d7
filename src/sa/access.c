/* Visibility of ports by partition (15.4.1).
 *
 * Two ports share a partition if both have its P_Key and at least one is a full member. A client
 * without the SM_Key sees only ports with which it shares a partition. The known P_Key tables
 * (subnet/blocks.h) count, not the wanted ones. Until the manager has read a table, every port is a
 * full member of the default partition, which is the initial state of a port.
 *
 * An alias GUID stands for its port.
 *
 * A fabric has many ports and few different P_Key tables. Each table is kept once, as a set sorted
 * by partition, and the common key of two sets is computed once. */
#include "sa/internal.h"
#include "subnet/partitions.h"
#include "wire/packet.h"

#include <assert.h>
#include <stdlib.h>

enum { SETS_CACHED = 1024 };    /* sets up to which common keys are cached */
enum { NOT_COMPUTED = 0x8000 }; /* the P_Key of no partition */

static unsigned partition_of(unsigned key)
{
    return key & PARTITION_DEFAULT;
}

/* ---- sets ---- */

void access_release(struct access *access)
{
    vec_release(&access->sets);
    vec_release(&access->keys);
    map_release(&access->by_guid);
    map_release(&access->ports);
    map_release(&access->by_hash);
    mem_free(access->common);
    *access = (struct access){0};
}

/* Sorts by partition, and full membership before limited. */
static int compare_keys(const void *a, const void *b)
{
    unsigned x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    if (partition_of(x) != partition_of(y))
        return partition_of(x) < partition_of(y) ? -1 : 1;
    return (int)(y >> 15) - (int)(x >> 15);
}

/* Makes a set of the keys from `first` on, or returns the set that already has these keys. */
static uint32_t make_set(struct access *access, uint32_t first)
{
    uint16_t *keys = &access->keys.items[first];
    uint32_t count = (uint32_t)access->keys.count - first;
    uint64_t hash = count;
    if (count)
        qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; i++)
        hash = hash_mix(hash ^ keys[i]) + i;
    uint32_t fresh = (uint32_t)access->sets.count;
    uint32_t set = map_add(&access->by_hash, hash, fresh);
    if (set != fresh) {
        const struct key_set *old = &access->sets.items[set];
        if (old->count == count &&
            (!count || memcmp(&access->keys.items[old->first], keys, count * sizeof *keys) == 0)) {
            access->keys.count = first;
            return set;
        }
    }
    vec_push(&access->sets, ((struct key_set){.first = first, .count = count}));
    return fresh;
}

/* The set of the known P_Key table of a port, or of the wanted one if it is not known. */
static uint32_t set_of_port(struct access *access, const struct subnet *subnet, uint32_t port)
{
    uint32_t first = (uint32_t)access->keys.count;
    bool known = false;
    for (unsigned part = 0;; part++) {
        const uint8_t *block = blocks_actual(&subnet->blocks, port, BLOCK_PARTITIONS, part);
        if (!block)
            block = blocks_wanted(&subnet->blocks, port, BLOCK_PARTITIONS, part);
        if (!block)
            break;
        known = true;
        for (unsigned i = 0; i < PARTITION_BLOCK; i++) {
            uint16_t key = (uint16_t)wire_get_at(block, P_KEY_TABLE_P_KEY, i);
            if (partition_of(key))
                vec_push(&access->keys, key);
        }
    }
    if (!known)
        vec_push(&access->keys, (uint16_t)P_KEY_DEFAULT);
    return make_set(access, first);
}

static void build_sets(struct access *access, const struct subnet *subnet)
{
    access_release(access);
    for (uint32_t port = 0; port < subnet->ports.count; port++) {
        const struct subnet_port *p = &subnet->ports.items[port];
        bool present = subnet->nodes.items[p->node].present;
        if (!p->guid || !subnet_is_end_port(subnet, port))
            continue; /* nodes that left stay: reports about them go to their partitions */
        uint32_t set = set_of_port(access, subnet, port);
        access->sets.items[set].present |= present;
        if (!present && map_get(&access->by_guid, p->guid) != MAP_NONE)
            continue; /* the GUID of a virtual machine that has moved */
        map_set(&access->by_guid, p->guid, set);
        map_set(&access->ports, p->guid, port);
    }
    size_t count = access->sets.count;
    if (!count || count > SETS_CACHED)
        return;
    access->common = mem_alloc(count * count * sizeof *access->common);
    for (size_t i = 0; i < count * count; i++)
        access->common[i] = NOT_COMPUTED;
}

void access_update(struct sa *sa)
{
    struct access *access = &sa->access;
    const struct subnet *subnet = sa->view.subnet;
    uint64_t keys = subnet->blocks.keys_generation;
    if (keys == access->keys_generation &&
        (!keys || (subnet->generation == access->subnet_generation &&
                   sa->view.generation == access->view_generation)))
        return;
    build_sets(access, subnet);
    access->keys_generation = keys;
    access->subnet_generation = subnet->generation;
    access->view_generation = sa->view.generation;
    groups_remove_members(sa, false);
    if (sa->index.guids.count)
        partition_groups_make(sa); /* a partition may have its first member, or no member now */
}

/* ---- queries ---- */

/* The entry of a port or of the port with this alias. */
static uint32_t find_by_guid(const struct sa *sa, const struct map *map, uint64_t guid)
{
    uint32_t found = map_get(map, guid);
    return found != MAP_NONE ? found : map_get(map, alias_guids_port(&sa->registry.aliases, guid));
}

static const uint16_t *keys_of(const struct access *access, uint32_t set, uint32_t *count)
{
    *count = access->sets.items[set].count;
    return access->keys.items + access->sets.items[set].first;
}

/* The key that the first set has of the lowest partition that both sets share; 0: none. In a set,
 * the full key of a partition precedes the limited one. */
static uint16_t find_common(const struct access *access, uint32_t one, uint32_t other)
{
    uint32_t count, other_count, j = 0;
    const uint16_t *keys = keys_of(access, one, &count);
    assert(one < access->sets.count && other < access->sets.count);
    const uint16_t *others = keys_of(access, other, &other_count);
    for (uint32_t i = 0; i < count; i++) {
        while (j < other_count && partition_of(others[j]) < partition_of(keys[i]))
            j++;
        if (j < other_count && partition_of(others[j]) == partition_of(keys[i]) &&
            (keys[i] | others[j]) & PARTITION_FULL)
            return keys[i];
    }
    return 0;
}

unsigned access_common_key(const struct sa *sa, uint64_t one_guid, uint64_t other_guid)
{
    const struct access *access = &sa->access;
    if (!access->keys_generation)
        return P_KEY_DEFAULT;
    uint32_t one = find_by_guid(sa, &access->by_guid, one_guid);
    uint32_t other = find_by_guid(sa, &access->by_guid, other_guid);
    if (one == MAP_NONE || other == MAP_NONE)
        return 0;
    if (!access->common)
        return find_common(access, one, other);
    uint16_t *cached = &access->common[one * access->sets.count + other];
    if (*cached == NOT_COMPUTED)
        *cached = find_common(access, one, other);
    return *cached;
}

/* The key of a partition in the set, the full one if it has both; 0: none. */
static unsigned key_in_set(const struct access *access, uint32_t set, unsigned partition)
{
    assert(set < access->sets.count);
    uint32_t count;
    const uint16_t *keys = keys_of(access, set, &count);
    size_t at;
    lower_bound(at, count, partition_of(keys[at]) < partition);
    return at < count && partition_of(keys[at]) == partition ? keys[at] : 0;
}

static unsigned key_in(const struct sa *sa, uint64_t guid, unsigned partition)
{
    uint32_t set = find_by_guid(sa, &sa->access.by_guid, guid);
    return set == MAP_NONE ? 0 : key_in_set(&sa->access, set, partition);
}

bool access_has_key(const struct sa *sa, uint64_t port_guid, unsigned p_key)
{
    if (!sa->access.keys_generation)
        return partition_of(p_key) == PARTITION_DEFAULT;
    return partition_of(p_key) && key_in(sa, port_guid, partition_of(p_key));
}

static bool table_has(const struct blocks *blocks, uint32_t port, bool wanted, unsigned partition)
{
    for (unsigned part = 0;; part++) {
        const uint8_t *block = wanted ? blocks_wanted(blocks, port, BLOCK_PARTITIONS, part)
                                      : blocks_actual(blocks, port, BLOCK_PARTITIONS, part);
        if (!block)
            return false;
        for (unsigned i = 0; i < PARTITION_BLOCK; i++)
            if (partition_of((unsigned)wire_get_at(block, P_KEY_TABLE_P_KEY, i)) == partition)
                return true;
    }
}

bool access_lost_key(const struct sa *sa, uint64_t port_guid, unsigned p_key)
{
    const struct blocks *blocks = &sa->view.subnet->blocks;
    uint32_t port = find_by_guid(sa, &sa->access.ports, port_guid);
    return sa->access.keys_generation && port != MAP_NONE &&
           blocks_wanted(blocks, port, BLOCK_PARTITIONS, 0) &&
           blocks_actual(blocks, port, BLOCK_PARTITIONS, 0) &&
           !table_has(blocks, port, true, partition_of(p_key)) &&
           !table_has(blocks, port, false, partition_of(p_key));
}

bool access_shares_key(const struct sa *sa, uint64_t one_guid, uint64_t other_guid, unsigned p_key)
{
    if (!sa->access.keys_generation)
        return partition_of(p_key) == PARTITION_DEFAULT;
    if (!partition_of(p_key))
        return false;
    unsigned one = key_in(sa, one_guid, partition_of(p_key));
    unsigned other = key_in(sa, other_guid, partition_of(p_key));
    return one && other && (one | other) & PARTITION_FULL;
}

bool access_partition_has_members(const struct sa *sa, unsigned partition)
{
    const struct access *access = &sa->access;
    if (!access->keys_generation)
        return partition_of(partition) == PARTITION_DEFAULT;
    for (uint32_t set = 0; set < access->sets.count; set++)
        if (access->sets.items[set].present && key_in_set(access, set, partition_of(partition)))
            return true;
    return false;
}

uint64_t access_requester(const struct sa *sa, const struct query *query)
{
    return query_is_trusted(query) ? ACCESS_TRUSTED : sa_requester_guid(sa, query);
}

bool access_may_see(const struct sa *sa, uint64_t requester, uint64_t port_guid)
{
    return requester == ACCESS_TRUSTED || requester == port_guid ||
           requester == alias_guids_port(&sa->registry.aliases, port_guid) ||
           access_common_key(sa, requester, port_guid);
}

bool access_may_see_group(const struct sa *sa, const struct query *query, const struct group *group)
{
    return query_is_trusted(query) ||
           access_has_key(sa, sa_requester_guid(sa, query), group->p_key);
}

bool access_key_block(const struct sa *sa, uint32_t port, unsigned block, uint8_t data[64])
{
    const struct subnet *subnet = sa->view.subnet;
    const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[port].node];
    bool end = subnet_is_end_port(subnet, port);
    unsigned capacity =
        end ? node->partition_cap
            : (unsigned)wire_get(node->switch_info, SWITCH_INFO_PARTITION_ENFORCEMENT_CAP);
    const uint8_t *known = blocks_actual(&subnet->blocks, port, BLOCK_PARTITIONS, block);
    if (block * PARTITION_BLOCK >= capacity || (!end && !known))
        return false;
    memset(data, 0, WIRE_BYTES_P_KEY_TABLE);
    if (known)
        memcpy(data, known, WIRE_BYTES_P_KEY_TABLE);
    else if (block == 0)
        wire_set_at(data, P_KEY_TABLE_P_KEY, 0, P_KEY_DEFAULT);
    return true;
}
