/* JSON for programs, and Slurm's topology.conf for schedulers.
 *
 * The tree plugin of Slurm requires a tree, but the leaves of a fat tree have many parents. Since
 * it only uses the distance between leaves, upper switches are merged: leaves that the switches of
 * the next level connect become one virtual switch, and so on up to one for all. Host names are the
 * first word of the description ("node17 HCA-1" is node17), once per leaf. */
#include "topology/drawing/export.h"

#include "topology/analysis/summary.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"adapter", "adapter", "switch", "router"};

static void write_json_node(const struct topology *topology, const struct topology_node *node,
                            struct json *json)
{
    json_begin_object(json, NULL);
    json_string(json, "name", node->name);
    json_string(json, "kind", kind_names[node->kind & 3]);
    json_string(json, "description", node->description);
    json_stringf(json, "guid", "0x%016llx", (unsigned long long)node->guid);
    json_stringf(json, "system_guid", "0x%016llx", (unsigned long long)node->system_guid);
    json_unsigned(json, "vendor_id", node->vendor_id);
    json_unsigned(json, "device_id", node->device_id);
    json_unsigned(json, "ports", node->port_count);
    if (node->kind == NODE_SWITCH) {
        json_unsigned(json, "lid", topology->ports.items[node->first_port].lid);
        json_bool(json, "enhanced_port0", node->enhanced_port0);
    } else {
        json_begin_array(json, "port_guids");
        for (unsigned p = 1; p <= node->port_count; p++)
            json_stringf(json, NULL, "0x%016llx",
                         (unsigned long long)topology->ports.items[node->first_port + p].guid);
        json_end_array(json);
        json_begin_array(json, "lids");
        for (unsigned p = 1; p <= node->port_count; p++)
            json_unsigned(json, NULL, topology->ports.items[node->first_port + p].lid);
        json_end_array(json);
    }
    json_end_object(json);
}

void topology_write_json(const struct topology *topology, struct text *out)
{
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_begin_array(&json, "nodes");
    for (size_t i = 0; i < topology->nodes.count; i++)
        write_json_node(topology, &topology->nodes.items[i], &json);
    json_end_array(&json);
    json_begin_array(&json, "links");
    for (uint32_t i = 0; i < topology->ports.count; i++) {
        const struct topology_port *port = &topology->ports.items[i];
        if (port->peer == TOPOLOGY_NONE || port->peer < i)
            continue;
        const struct topology_port *peer = &topology->ports.items[port->peer];
        json_begin_object(&json, NULL);
        json_string(&json, "a", topology->nodes.items[port->node].name);
        json_unsigned(&json, "a_port", topology_port_number(topology, i));
        json_string(&json, "b", topology->nodes.items[peer->node].name);
        json_unsigned(&json, "b_port", topology_port_number(topology, port->peer));
        json_string(&json, "width", link_width_name(port->width));
        json_string(&json, "speed", link_speed_name(port->speed));
        json_unsigned(&json, "length_mm", port->length_mm);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
}

/* The first word; characters that Slurm does not accept in a name become '_'. */
static char *slurm_name(struct arena *arena, const char *description)
{
    size_t length = strcspn(description, " \t");
    char *name = arena_strndup(arena, length ? description : "_", length ? length : 1);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '_';
    return name;
}

/* "node007" is the stem "node" and the digits "007". */
static size_t stem_length(const char *name)
{
    size_t length = strlen(name);
    while (length && isdigit((unsigned char)name[length - 1]))
        length--;
    return length;
}

/* Whether `next` is `name` with its number incremented. */
static bool is_successor(const char *name, const char *next)
{
    size_t stem = stem_length(name), digits = strlen(name) - stem;
    return digits && digits < 10 && stem == stem_length(next) && strncmp(name, next, stem) == 0 &&
           strlen(next + stem) >= digits && (next[stem] != '0' || digits == strlen(next + stem)) &&
           (name[stem] != '0' || digits == strlen(next + stem)) &&
           strtoull(name + stem, NULL, 10) + 1 == strtoull(next + stem, NULL, 10);
}

/* node1,node2,node3 is node[1-3] in the notation of Slurm. */
static void write_names(char *const *names, size_t count, struct text *out)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && is_successor(names[end - 1], names[end]);)
            end++;
        text_puts(out, i ? "," : "");
        if (end - i < 3) {
            text_puts(out, names[i]);
            end = i + 1;
            continue;
        }
        size_t stem = stem_length(names[i]);
        text_append(out, names[i], stem);
        text_printf(out, "[%s-%s]", names[i] + stem, names[end - 1] + stem);
    }
}

struct slurm {
    const struct topology *topology;
    const struct graph *graph;
    struct arena arena;
    uint32_t *level, *set; /* set: the merged switches to which a switch belongs */
    char **name;           /* at the lowest switch of a set: its name; NULL: no hosts */
    VEC(char *) list;
    struct text *out;
};

/* Writes the line of a leaf; false if it has no hosts. */
static bool write_leaf(struct slurm *slurm, uint32_t leaf, const char *leaf_name)
{
    const struct graph *graph = slurm->graph;
    struct name_map seen = {0};
    slurm->list.count = 0;
    for (uint32_t h = graph->first_host[leaf]; h < graph->first_host[leaf + 1]; h++) {
        uint32_t node = slurm->topology->ports.items[graph->host[h]].node;
        char *name = slurm_name(&slurm->arena, slurm->topology->nodes.items[node].description);
        if (slurm->topology->nodes.items[node].kind == NODE_ADAPTER &&
            name_map_add(&seen, name, h) == h)
            vec_push(&slurm->list, name);
    }
    if (slurm->list.count) {
        text_printf(slurm->out, "SwitchName=%s Nodes=", leaf_name);
        write_names(slurm->list.items, slurm->list.count, slurm->out);
        text_putc(slurm->out, '\n');
    }
    name_map_release(&seen);
    return slurm->list.count > 0;
}

/* Writes a line for each set that merges several named ones. The name of a set is kept at its
 * lowest switch, so that lines are in the order of the file. */
static void merge_level(struct slurm *slurm, uint32_t level, const char *prefix)
{
    uint32_t switches = slurm->graph->switch_count, merged = 0;
    struct arena scratch = {0};
    uint32_t *head = arena_alloc(&scratch, switches * sizeof *head);
    uint32_t *next = arena_alloc(&scratch, switches * sizeof *next);
    uint32_t *lowest = arena_alloc(&scratch, switches * sizeof *lowest);
    uint32_t sets = graph_components(slurm->graph, slurm->level, level + 1, slurm->set);
    memset(head, 0xff, switches * sizeof *head);
    for (uint32_t i = switches; i-- > 0;) {
        uint32_t set = slurm->set[i];
        if (set == TOPOLOGY_NONE)
            continue;
        lowest[set] = i;
        if (!slurm->name[i])
            continue;
        next[i] = head[set];
        head[set] = i;
    }
    for (uint32_t set = 0; set < sets; set++) {
        char *name = head[set] == TOPOLOGY_NONE ? NULL : slurm->name[head[set]];
        slurm->list.count = 0;
        for (uint32_t i = head[set], after; i != TOPOLOGY_NONE; i = after) {
            after = next[i];
            vec_push(&slurm->list, slurm->name[i]);
            slurm->name[i] = NULL;
        }
        if (slurm->list.count > 1) {
            name = arena_printf(&slurm->arena, "%s%u", prefix, merged++);
            text_printf(slurm->out, "SwitchName=%s Switches=", name);
            write_names(slurm->list.items, slurm->list.count, slurm->out);
            text_putc(slurm->out, '\n');
        }
        if (name)
            slurm->name[lowest[set]] = name;
    }
    arena_release(&scratch);
}

void topology_write_slurm(const struct topology *topology, const struct graph *graph,
                          struct text *out)
{
    uint32_t count = graph->switch_count;
    struct slurm slurm = {.topology = topology, .graph = graph, .out = out};
    struct name_map seen = {0};
    slurm.level = arena_alloc(&slurm.arena, count * sizeof *slurm.level);
    slurm.set = arena_alloc(&slurm.arena, count * sizeof *slurm.set);
    slurm.name = arena_alloc(&slurm.arena, count * sizeof *slurm.name);
    uint32_t levels = topology_levels(graph, slurm.level);
    text_puts(out, "# topology.conf for Slurm's topology/tree, written by weft\n");
    for (uint32_t i = 0; i < count; i++) {
        /* Switch names must be unique, descriptions need not be. */
        const struct topology_node *node = &topology->nodes.items[graph->node[i]];
        char *name = slurm_name(&slurm.arena, node->description), key[NODE_KEY_BYTES];
        if (name_map_add(&seen, name, i) != i) {
            topology_node_key(node, key);
            name = arena_strdup(&slurm.arena, key);
            name_map_add(&seen, name, i);
        }
        slurm.name[i] = write_leaf(&slurm, i, name) ? name : NULL;
    }
    for (uint32_t level = levels > 1 ? 1 : 0; level < levels; level++)
        merge_level(&slurm, level,
                    level + 1 == levels ? "top"
                                        : arena_printf(&slurm.arena, "level%u_", level + 1));
    name_map_release(&seen);
    vec_release(&slurm.list);
    arena_release(&slurm.arena);
}
