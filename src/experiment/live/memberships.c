/* Partitions by the P_Key tables of adapters, multicast groups by the tables of switches, and the
 * rules that a painted partition becomes.
 *
 * A painted partition applies to all managers. Its members become limited members of the default
 * partition, so that they reach managers and nothing else there; adapters with a manager stay full
 * members. */
#include "experiment/live/memberships.h"

#include "subnet/groups.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { PORT_KEYS = 128, DEFAULT_KEY = 0x7FFF, KEYS = 0x8000 };

/* The first port of an adapter with a cable, or TOPOLOGY_NONE. */
static uint32_t adapter_port(const struct topology *topology, uint32_t node)
{
    const struct topology_node *entry = &topology->nodes.items[node];
    for (unsigned number = 1; entry->kind != NODE_SWITCH && number <= entry->port_count; number++)
        if (topology->ports.items[entry->first_port + number].peer != TOPOLOGY_NONE)
            return entry->first_port + number;
    return TOPOLOGY_NONE;
}

static unsigned read_keys(const struct setup *setup, uint32_t node, uint16_t keys[PORT_KEYS])
{
    uint32_t port = adapter_port(&setup->topology, node);
    return port == TOPOLOGY_NONE ? 0 : fabric_p_keys(setup->fabric, port, keys, PORT_KEYS);
}

/* ---- partitions ---- */

static void write_members(const struct setup *setup, unsigned key, bool full, struct json *json)
{
    uint16_t keys[PORT_KEYS];
    json_begin_array(json, full ? "full" : "limited");
    for (uint32_t node = 0; node < setup->topology.nodes.count; node++) {
        unsigned count = read_keys(setup, node, keys);
        for (unsigned i = 0; i < count; i++)
            if ((keys[i] & 0x7FFFu) == key && (keys[i] >> 15) == full) {
                json_unsigned(json, NULL, node);
                break;
            }
    }
    json_end_array(json);
}

static const char *partition_name(const struct setup *setup, unsigned key)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct partitions *partitions = &setup->instances.items[i]->config.partitions;
        for (size_t j = 0; j < partitions->all.count; j++)
            if ((partitions->all.items[j].key & 0x7FFFu) == key)
                return partitions->all.items[j].name;
    }
    return key == 0x7FFF ? "Default" : "";
}

/* The P_Keys of all adapters; the caller frees them. */
static bool *find_keys(const struct setup *setup)
{
    bool *seen = mem_zalloc(KEYS, sizeof *seen);
    uint16_t keys[PORT_KEYS];
    for (uint32_t node = 0; node < setup->topology.nodes.count; node++) {
        unsigned count = read_keys(setup, node, keys);
        for (unsigned i = 0; i < count; i++)
            seen[keys[i] & 0x7FFF] = true;
    }
    seen[0] = false;
    return seen;
}

void memberships_write_partitions(const struct watch *watch, struct text *out)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct json json = {.out = out};
    bool *seen = find_keys(setup);
    json_begin_object(&json, NULL);
    json_begin_array(&json, "partitions");
    for (unsigned key = 1; key < KEYS; key++) {
        if (!seen[key])
            continue;
        json_begin_object(&json, NULL);
        json_unsigned(&json, "pkey", key);
        json_string(&json, "name", partition_name(setup, key));
        write_members(setup, key, true, &json);
        write_members(setup, key, false, &json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    mem_free(seen);
}

/* ---- painting ---- */

enum { NOT_MEMBER, LIMITED_MEMBER, FULL_MEMBER };

/* Reads ids joined by commas. */
static int read_members(const struct topology *topology, const char *text, uint8_t membership,
                        uint8_t *members, struct err *err)
{
    while (text && *text) {
        char *end;
        unsigned long long id = strtoull(text, &end, 10);
        if (!isdigit((unsigned char)*text) || (*end && *end != ',') ||
            id >= topology->nodes.count || topology->nodes.items[id].kind == NODE_SWITCH)
            return err_set(err, EINVAL, "expected ids of adapters, joined by commas: '%.40s'",
                           text);
        members[id] = membership;
        text = end + (*end == ',');
    }
    return 0;
}

static void put_rule(const struct setup *setup, const uint8_t *members, const char *name,
                     unsigned key, struct text *out)
{
    bool first = true;
    text_printf(out, "%s=0x%04x: ", name, key);
    for (uint32_t node = 0; node < setup->topology.nodes.count; node++) {
        uint32_t port = members[node] ? adapter_port(&setup->topology, node) : TOPOLOGY_NONE;
        if (port == TOPOLOGY_NONE)
            continue;
        text_printf(out, "%s0x%" PRIx64 "=%s", first ? "" : ", ",
                    fabric_port_guid(setup->fabric, port, 0),
                    members[node] == FULL_MEMBER ? "full" : "limited");
        first = false;
    }
    text_puts(out, "; ");
}

/* The present members of a partition. */
static void copy_members(const struct setup *setup, unsigned key, uint8_t *members)
{
    uint16_t keys[PORT_KEYS];
    for (uint32_t node = 0; node < setup->topology.nodes.count; node++) {
        unsigned count = read_keys(setup, node, keys);
        members[node] = NOT_MEMBER;
        for (unsigned i = 0; i < count; i++)
            if ((keys[i] & 0x7FFFu) == key)
                members[node] = keys[i] >> 15 ? FULL_MEMBER : LIMITED_MEMBER;
    }
}

/* Full members of the default partition are those of no other one, and adapters with a manager. */
static void find_default_members(const struct setup *setup, const uint8_t *painted,
                                 const bool *seen, unsigned key, uint8_t *members)
{
    uint16_t keys[PORT_KEYS];
    for (uint32_t node = 0; node < setup->topology.nodes.count; node++) {
        unsigned count = read_keys(setup, node, keys);
        bool special = painted[node] != NOT_MEMBER;
        for (unsigned i = 0; i < count; i++) {
            unsigned other = keys[i] & 0x7FFFu;
            special |= other != DEFAULT_KEY && other != key && seen[other];
        }
        members[node] =
            special && setup_find_instance(setup, node) < 0 ? LIMITED_MEMBER : FULL_MEMBER;
    }
}

/* A name that a rule can have. */
static void put_partition_name(const char *name, unsigned key, char *out, size_t size)
{
    bool plain = name[0] != 0 && strlen(name) < size;
    for (const char *c = name; *c; c++)
        plain &= isalnum((unsigned char)*c) || *c == '_' || *c == '-';
    if (plain)
        snprintf(out, size, "%s", name);
    else
        snprintf(out, size, "p%04x", key);
}

int memberships_put_rules(const struct watch *watch, const struct painted_partition *partition,
                          struct text *out, struct err *err)
{
    const struct setup *setup = live_session_setup(watch->session);
    size_t nodes = setup->topology.nodes.count;
    uint8_t *painted = mem_zalloc(nodes + 1, 1), *members = mem_zalloc(nodes + 1, 1);
    bool *seen = find_keys(setup);
    char name[64];
    int status = read_members(&setup->topology, partition->limited, LIMITED_MEMBER, painted, err);
    if (status == 0)
        status = read_members(&setup->topology, partition->full, FULL_MEMBER, painted, err);
    if (status == 0) {
        find_default_members(setup, painted, seen, partition->key, members);
        put_rule(setup, members, "Default", DEFAULT_KEY, out);
        put_partition_name(partition->name, partition->key, name, sizeof name);
        put_rule(setup, painted, name, partition->key, out);
        for (unsigned key = 1; key < DEFAULT_KEY; key++) {
            if (!seen[key] || key == partition->key)
                continue;
            copy_members(setup, key, members);
            put_partition_name(partition_name(setup, key), key, name, sizeof name);
            put_rule(setup, members, name, key, out);
        }
    }
    mem_free(painted);
    mem_free(members);
    mem_free(seen);
    return status;
}

/* ---- multicast groups ---- */

/* The links by which switches forward packets of a group. */
static void find_tree(const struct watch *watch, unsigned mlid, bool *used)
{
    const struct setup *setup = live_session_setup(watch->session);
    const struct topology *topology = &setup->topology;
    memset(used, 0, watch->view.links.count * sizeof *used);
    for (uint32_t node = 0; node < topology->nodes.count; node++) {
        const struct topology_node *entry = &topology->nodes.items[node];
        for (unsigned port = 1; entry->kind == NODE_SWITCH && port <= entry->port_count; port++) {
            uint32_t link = watch->view.links.of_port[entry->first_port + port];
            if (link != TOPOLOGY_NONE && fabric_route_multicast(setup->fabric, node, mlid, port))
                used[link] = true;
        }
    }
}

void memberships_write_groups(const struct watch *watch, struct text *out)
{
    const struct setup *setup = live_session_setup(watch->session);
    uint32_t nodes = (uint32_t)setup->topology.nodes.count, links = watch->view.links.count;
    bool *members = mem_zalloc(nodes + 1, sizeof *members);
    bool *tree = mem_zalloc(links + 1, sizeof *tree);
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_begin_array(&json, "groups");
    for (size_t i = 0; setup->groups && i < setup->groups->all.count; i++) {
        const struct group *group = setup->groups->all.items[i];
        memset(members, 0, nodes * sizeof *members);
        for (size_t j = 0; j < group->members.count; j++) {
            uint32_t node = map_get(&setup->topology.by_guid, group->members.items[j].guid);
            if (node != MAP_NONE)
                members[node] = true;
        }
        find_tree(watch, group->mlid, tree);
        api_group_write(group->mlid, group->mgid, members, nodes, tree, links, &json);
    }
    json_end_array(&json);
    json_end_object(&json);
    mem_free(members);
    mem_free(tree);
}
