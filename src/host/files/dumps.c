/* Copies the subnet with its confirmed tables and prints the copy in OpenSM's formats. Hops are
 * found by following the LFTs, and the least possible ones by breadth-first search. Each function
 * that prints reads the copy only, so it can run in another thread (file_task.c). */
#include "host/files/dumps.h"

#include "base/map.h"
#include "host/files/dump_border.h"
#include "subnet/names.h"
#include "wire/link_rate.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PORT_NONE = 0xFF, NAME_ROOM = 65, UNKNOWN_HOPS = 0xFFFF, LOOPING_HOPS = 0xFFFE };
enum { GROUPS_PER_BLOCK = 32, VL_CAP_ONE_VL = 1, SERVICE_LEVELS = 16 };

/* Copies of what is printed. Nodes and ports have the indices of the subnet. */
struct snapshot_block {
    uint16_t part; /* as in subnet/blocks.h */
    uint8_t data[BLOCK_BYTES];
};
struct snapshot_node {
    uint64_t guid, system_guid;
    uint32_t first_port;
    uint32_t vendor, revision;
    uint16_t device;
    uint8_t kind, port_count;
    bool present;
    char name[NAME_ROOM];
    uint8_t *table; /* [top + 1], switches only */
    VEC(struct snapshot_block)
    blocks; /* of its multicast table, all positions of a block together */
};
struct snapshot_port {
    uint64_t guid;
    uint32_t node, peer;
    uint16_t lid;
    uint8_t number, state, lanes;
    uint32_t lane_rate;                  /* Mb/s */
    bool one_vl;                         /* for data */
    uint8_t (*maps)[SERVICE_LEVELS / 2]; /* SL-to-VL by input port, confirmed; NULL: unknown */
    bool one_map;                        /* the first is for all input ports */
};

struct dump_snapshot {
    struct arena memory;
    struct snapshot_node *nodes;
    struct snapshot_port *ports;
    uint32_t node_count, port_count;
    uint32_t manager; /* the node of the manager */
    uint32_t top;     /* the highest LID in use */
    uint32_t *owner;  /* by LID: end port, or SUBNET_NONE */
    struct text border;
};

/* ---- copying ---- */

static void copy_node(struct dump_snapshot *snapshot, const struct subnet_node *from,
                      uint32_t index, const char *name)
{
    struct snapshot_node *node = &snapshot->nodes[index];
    *node = (struct snapshot_node){.guid = from->guid,
                                   .system_guid = from->system_guid,
                                   .first_port = from->first_port,
                                   .vendor = from->vendor,
                                   .device = from->device,
                                   .revision = from->revision,
                                   .kind = from->kind,
                                   .port_count = from->port_count,
                                   .present = from->present};
    snprintf(node->name, sizeof node->name, "%s", name);
    if (!from->present || !from->tables)
        return;
    node->table = arena_alloc(&snapshot->memory, snapshot->top + 1);
    for (uint32_t lid = 0; lid <= snapshot->top; lid++)
        node->table[lid] = subnet_block_known(from->tables, lid / LFT_BLOCK)
                               ? from->tables->actual[lid]
                               : PORT_NONE;
}

/* Copies all SL-to-VL tables of an output port. */
static void copy_sl2vl(struct dump_snapshot *snapshot, const struct subnet *subnet, uint32_t index)
{
    struct snapshot_port *port = &snapshot->ports[index];
    const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[index].node];
    const struct blocks *blocks = &subnet->blocks;
    const uint8_t *all = blocks_actual(blocks, index, BLOCK_SL2VL, BLOCK_ALL_INPUTS);
    unsigned inputs = node->kind == SUBNET_SWITCH && !all ? node->port_count + 1u : 1;
    if (!all && !blocks_actual(blocks, index, BLOCK_SL2VL, 0))
        return;
    port->one_map = all != NULL;
    port->maps = arena_alloc(&snapshot->memory, inputs * sizeof *port->maps);
    for (unsigned input = 0; input < inputs; input++) {
        const uint8_t *map = all ? all : blocks_actual(blocks, index, BLOCK_SL2VL, input);
        if (map)
            memcpy(port->maps[input], map, sizeof port->maps[input]);
    }
}

static int compare_blocks(const void *a, const void *b)
{
    const struct snapshot_block *x = a, *y = b;
    unsigned first = (x->part & 0x1FFu) << 7 | x->part >> 9;
    unsigned second = (y->part & 0x1FFu) << 7 | y->part >> 9;
    return (first > second) - (first < second);
}

static void copy_multicast(struct snapshot_node *node, const struct blocks *blocks)
{
    for (uint32_t row = blocks_next_of_port(blocks, node->first_port, BLOCKS_NONE);
         row != BLOCKS_NONE; row = blocks_next_of_port(blocks, node->first_port, row)) {
        const struct block *block = &blocks->rows.items[row];
        const uint8_t *data = blocks_content(blocks, block->actual);
        if (block->kind != BLOCK_MULTICAST || !data)
            continue;
        struct snapshot_block copy = {.part = block->part};
        memcpy(copy.data, data, BLOCK_BYTES);
        vec_push(&node->blocks, copy);
    }
    if (node->blocks.count)
        qsort(node->blocks.items, node->blocks.count, sizeof *node->blocks.items, compare_blocks);
}

static void copy_port(struct dump_snapshot *snapshot, const struct subnet_port *from,
                      uint32_t index)
{
    snapshot->ports[index] = (struct snapshot_port){
        .guid = from->guid,
        .node = from->node,
        .peer = from->peer,
        .lid = from->lid,
        .number = from->number,
        .state = (uint8_t)wire_get(from->info, PORT_INFO_PORT_STATE),
        .lanes = (uint8_t)link_lanes(from->info),
        .lane_rate = link_lane_rate(from->info),
        .one_vl = wire_get(from->info, PORT_INFO_VL_CAP) == VL_CAP_ONE_VL,
    };
}

struct dump_snapshot *dump_snapshot_take(const struct subnet *subnet)
{
    struct dump_snapshot *snapshot = mem_zalloc(1, sizeof *snapshot);
    snapshot->node_count = (uint32_t)subnet->nodes.count;
    snapshot->port_count = (uint32_t)subnet->ports.count;
    snapshot->nodes =
        arena_alloc(&snapshot->memory, (snapshot->node_count + 1) * sizeof *snapshot->nodes);
    snapshot->ports =
        arena_alloc(&snapshot->memory, (snapshot->port_count + 1) * sizeof *snapshot->ports);
    snapshot->manager =
        subnet->own_port == SUBNET_NONE ? SUBNET_NONE : subnet->ports.items[subnet->own_port].node;
    snapshot->owner = arena_alloc(&snapshot->memory, sizeof subnet->by_lid);
    for (uint32_t lid = 0; lid < LFT_ENTRIES; lid++) {
        uint32_t port = subnet->by_lid[lid];
        bool there =
            port != SUBNET_NONE && subnet->nodes.items[subnet->ports.items[port].node].present;
        snapshot->owner[lid] = there ? port : SUBNET_NONE;
        if (there)
            snapshot->top = lid;
    }
    for (uint32_t i = 0; i < snapshot->node_count; i++) {
        copy_node(snapshot, &subnet->nodes.items[i], i,
                  subnet_node_label(subnet, &subnet->nodes.items[i]));
        if (snapshot->nodes[i].table)
            copy_multicast(&snapshot->nodes[i], &subnet->blocks);
    }
    for (uint32_t i = 0; i < snapshot->port_count; i++) {
        copy_port(snapshot, &subnet->ports.items[i], i);
        copy_sl2vl(snapshot, subnet, i);
    }
    dump_put_border(subnet, &snapshot->border);
    return snapshot;
}

void dump_snapshot_free(struct dump_snapshot *snapshot)
{
    if (!snapshot)
        return;
    for (uint32_t i = 0; i < snapshot->node_count; i++)
        vec_release(&snapshot->nodes[i].blocks);
    text_release(&snapshot->border);
    arena_release(&snapshot->memory);
    mem_free(snapshot);
}

/* ---- opensm-lfts.dump ---- */

static const char *kind_name(unsigned kind)
{
    return kind == SUBNET_SWITCH ? "Switch" : kind == SUBNET_ROUTER ? "Router" : "Channel Adapter";
}

void dump_print_lfts(const struct dump_snapshot *snapshot, FILE *out)
{
    /* The text after an entry is the same in all tables. */
    struct arena memory = {0};
    char **texts = arena_alloc(&memory, (snapshot->top + 1) * sizeof *texts);
    assert(snapshot->nodes || !snapshot->node_count);
    for (uint32_t lid = 0; lid <= snapshot->top; lid++) {
        uint32_t owner = snapshot->owner[lid];
        const struct snapshot_node *node =
            owner == SUBNET_NONE ? NULL : &snapshot->nodes[snapshot->ports[owner].node];
        texts[lid] =
            node ? arena_printf(&memory, "%s portguid 0x%016" PRIx64 ": '%s'\n",
                                kind_name(node->kind), snapshot->ports[owner].guid, node->name)
                 : "unknown node and type\n";
    }
    for (uint32_t i = 0; i < snapshot->node_count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[i];
        if (!node->table)
            continue;
        fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n",
                snapshot->top, snapshot->ports[node->first_port].lid, node->guid, node->name);
        for (uint32_t lid = 0; lid <= snapshot->top; lid++) {
            if (node->table[lid] == PORT_NONE)
                continue;
            fprintf(out, "0x%04x %03u # ", lid, node->table[lid]);
            fputs(texts[lid], out);
        }
        fprintf(out, "%u lids dumped\n", snapshot->top);
    }
    arena_release(&memory);
}

void dump_print_lfts_json(const struct dump_snapshot *snapshot, struct text *out)
{
    struct json json = {.out = out};
    json_begin_array(&json, NULL);
    for (uint32_t i = 0; i < snapshot->node_count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[i];
        if (!node->table)
            continue;
        json_begin_object(&json, NULL);
        json_stringf(&json, "guid", "0x%016" PRIx64, node->guid);
        json_unsigned(&json, "lid", snapshot->ports[node->first_port].lid);
        json_string(&json, "description", node->name);
        json_begin_array(&json, "entries");
        for (uint32_t lid = 0; lid <= snapshot->top; lid++) {
            if (node->table[lid] == PORT_NONE)
                continue;
            json_begin_object(&json, NULL);
            json_unsigned(&json, "lid", lid);
            json_unsigned(&json, "port", node->table[lid]);
            json_end_object(&json);
        }
        json_end_array(&json);
        json_end_object(&json);
    }
    json_end_array(&json);
}

/* ---- opensm-subnet.lst ---- */

static const char *const state_names[] = {"NOP", "DWN", "INI", "ARM", "ACT"};

static void print_link_end(const struct dump_snapshot *snapshot, uint32_t port, FILE *out)
{
    assert(port < snapshot->port_count);
    const struct snapshot_node *node = &snapshot->nodes[snapshot->ports[port].node];
    const struct snapshot_port *end =
        &snapshot->ports[node->kind == SUBNET_SWITCH ? node->first_port : port];
    fprintf(out,
            "{ %s%s Ports:%02X SystemGUID:%016" PRIX64 " NodeGUID:%016" PRIX64
            " PortGUID:%016" PRIX64 " VenID:%08X DevID:%04X Rev:%08X {%s} LID:%04X PN:%02X } ",
            node->kind == SUBNET_SWITCH   ? "SW"
            : node->kind == SUBNET_ROUTER ? "RT"
                                          : "CA",
            snapshot->ports[port].node == snapshot->manager ? "-SM" : "", node->port_count,
            node->system_guid, node->guid, end->guid, node->vendor, node->device, node->revision,
            node->name, end->lid, snapshot->ports[port].number);
}

void dump_print_links(const struct dump_snapshot *snapshot, FILE *out)
{
    for (uint32_t i = 0; i < snapshot->port_count; i++) {
        const struct snapshot_port *port = &snapshot->ports[i];
        if (port->peer == SUBNET_NONE || !snapshot->nodes[port->node].present)
            continue;
        print_link_end(snapshot, i, out);
        print_link_end(snapshot, port->peer, out);
        fprintf(out, "PHY=%ux LOG=%s SPD=%g\n", port->lanes,
                port->state < sizeof state_names / sizeof *state_names ? state_names[port->state]
                                                                       : "???",
                port->lane_rate / 1000.0);
    }
}

/* ---- weft-subnet.dump ---- */

void dump_print_subnet(const struct dump_snapshot *snapshot, FILE *out)
{
    fputs(snapshot->border.data, out);
    dump_print_links(snapshot, out);
    dump_print_lfts(snapshot, out);
}

/* ---- opensm.fdbs ---- */

/* The switch at the other end of a port, or SUBNET_NONE. */
static uint32_t next_switch(const struct dump_snapshot *snapshot, uint32_t at, unsigned number)
{
    const struct snapshot_node *node = &snapshot->nodes[at];
    if (number == 0 || number > node->port_count)
        return SUBNET_NONE;
    uint32_t peer = snapshot->ports[node->first_port + number].peer;
    assert(peer == SUBNET_NONE || peer < snapshot->port_count);
    if (peer == SUBNET_NONE || !snapshot->nodes[snapshot->ports[peer].node].table)
        return SUBNET_NONE;
    return snapshot->ports[peer].node;
}

/* Hops from every switch to a LID by the forwarding tables: follows the tables to a switch with
 * known hops, then sets the hops of all switches on that path. */
static void count_table_hops(const struct dump_snapshot *snapshot, uint32_t lid, uint16_t *hops,
                             uint32_t *trail)
{
    uint32_t target = snapshot->owner[lid];
    for (uint32_t i = 0; i < snapshot->node_count; i++)
        hops[i] = UNKNOWN_HOPS;
    for (uint32_t start = 0; start < snapshot->node_count; start++) {
        uint32_t length = 0, at = start;
        uint16_t known = LOOPING_HOPS;
        while (at != SUBNET_NONE && snapshot->nodes[at].table && hops[at] == UNKNOWN_HOPS) {
            unsigned out = snapshot->nodes[at].table[lid];
            hops[at] = LOOPING_HOPS;
            trail[length++] = at;
            if (out == 0 && target != SUBNET_NONE && snapshot->ports[target].node == at) {
                known = (uint16_t)-1; /* becomes 0 for the switch itself */
                at = SUBNET_NONE;
            } else if (out && out <= snapshot->nodes[at].port_count &&
                       snapshot->ports[snapshot->nodes[at].first_port + out].peer == target &&
                       target != SUBNET_NONE &&
                       !snapshot->nodes[snapshot->ports[target].node].table) {
                known = 0;
                at = SUBNET_NONE;
            } else {
                at = next_switch(snapshot, at, out);
            }
        }
        if (at != SUBNET_NONE && snapshot->nodes[at].table)
            known = hops[at];
        while (length--) {
            if (known != LOOPING_HOPS)
                known++;
            hops[trail[length]] = known;
        }
    }
}

/* The fewest hops from every switch to an end port, by a breadth-first search. */
static void count_fewest_hops(const struct dump_snapshot *snapshot, uint32_t target, uint16_t *hops,
                              uint32_t *queue)
{
    uint32_t head = 0, tail = 0;
    assert(target < snapshot->port_count);
    for (uint32_t i = 0; i < snapshot->node_count; i++)
        hops[i] = UNKNOWN_HOPS;
    uint32_t node = snapshot->ports[target].node;
    if (snapshot->nodes[node].table) {
        hops[node] = 0;
        queue[tail++] = node;
    } else if (snapshot->ports[target].peer != SUBNET_NONE) {
        node = snapshot->ports[snapshot->ports[target].peer].node;
        hops[node] = 1;
        queue[tail++] = node;
    }
    while (head < tail) {
        uint32_t at = queue[head++];
        for (unsigned number = 1; number <= snapshot->nodes[at].port_count; number++) {
            uint32_t next = next_switch(snapshot, at, number);
            if (next == SUBNET_NONE || hops[next] != UNKNOWN_HOPS)
                continue;
            hops[next] = (uint16_t)(hops[at] + 1);
            queue[tail++] = next;
        }
    }
}

static void print_route(unsigned port, unsigned hops, unsigned least, uint32_t lid, FILE *out)
{
    if (port == PORT_NONE || hops >= LOOPING_HOPS)
        fprintf(out, "0x%04X : UNREACHABLE\n", lid);
    else if (hops == least)
        fprintf(out, "0x%04X : %03u  : %02u   : yes\n", lid, port, hops);
    else
        fprintf(out, "0x%04X : %03u  : %02u   : No %u hop path possible via port %u!\n", lid, port,
                hops, least, port);
}

/* The hops are computed for one LID at a time and printed for one switch at a time. */
void dump_print_routes(const struct dump_snapshot *snapshot, FILE *out)
{
    struct arena memory = {0};
    size_t nodes = snapshot->node_count + 1, count = 0;
    uint32_t *switches = arena_alloc(&memory, nodes * sizeof *switches);
    uint32_t *scratch = arena_alloc(&memory, nodes * sizeof *scratch);
    uint16_t *hops = arena_alloc(&memory, nodes * sizeof *hops); /* by node, to one LID */
    uint16_t *least = arena_alloc(&memory, nodes * sizeof *least);
    for (uint32_t i = 0; i < snapshot->node_count; i++)
        if (snapshot->nodes[i].table)
            switches[count++] = i;
    struct {
        uint16_t hops, least;
    } *cells = arena_alloc(&memory, ((snapshot->top + 1) * count + 1) * sizeof *cells);
    uint32_t last = SUBNET_NONE; /* LIDs of one port have the same fewest hops */
    for (uint32_t lid = 1; lid <= snapshot->top; lid++) {
        uint32_t target = snapshot->owner[lid];
        if (target == SUBNET_NONE)
            continue;
        count_table_hops(snapshot, lid, hops, scratch);
        if (target != last)
            count_fewest_hops(snapshot, target, least, scratch);
        last = target;
        for (size_t i = 0; i < count; i++) {
            cells[lid * count + i].hops = hops[switches[i]];
            cells[lid * count + i].least = least[switches[i]];
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[switches[i]];
        fprintf(out, "dump_ucast_routes: Switch 0x%016" PRIx64 "\nLID    : Port : Hops : Optimal\n",
                node->guid);
        for (uint32_t lid = 1; lid <= snapshot->top; lid++)
            print_route(snapshot->owner[lid] == SUBNET_NONE ? PORT_NONE : node->table[lid],
                        cells[lid * count + i].hops, cells[lid * count + i].least, lid, out);
    }
    arena_release(&memory);
}

/* ---- opensm-sl2vl.dump ---- */

/* If the manager neither writes nor reads SL-to-VL tables, only those of ports with one data VL are
 * known. */
static void print_sl2vl(const struct snapshot_port *port, unsigned inputs, unsigned out_number,
                        FILE *out)
{
    static const uint8_t only_vl_0[SERVICE_LEVELS / 2];
    if (!port->one_vl && !port->maps) {
        fprintf(out, "#port %u has several VLs, its tables were not read\n", port->number);
        return;
    }
    for (unsigned in = 0; in < inputs; in++) {
        fprintf(out, "%-3u %-3u :", in, out_number);
        const uint8_t *map = port->maps ? port->maps[port->one_map ? 0 : in] : only_vl_0;
        for (unsigned sl = 0; sl < SERVICE_LEVELS; sl++)
            fprintf(out, " %-2u", map[sl / 2] >> (sl % 2 ? 0 : 4) & 15u);
        fputc('\n', out);
    }
}

/* A switch has a table for every pair of ports, an adapter port has one for "0 0". */
static void print_sl2vl_block(const struct dump_snapshot *snapshot, uint32_t end, FILE *out)
{
    const struct snapshot_node *node = &snapshot->nodes[snapshot->ports[end].node];
    fprintf(out, "%s 0x%016" PRIx64 ", base LID %u, \"%s\"\n", kind_name(node->kind),
            snapshot->ports[end].guid, snapshot->ports[end].lid, node->name);
    fputs("#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n", out);
    fputs("#--------------------------------------------------------\n", out);
    if (node->kind != SUBNET_SWITCH)
        print_sl2vl(&snapshot->ports[end], 1, 0, out);
    for (unsigned number = 1; node->kind == SUBNET_SWITCH && number <= node->port_count; number++)
        if (snapshot->ports[node->first_port + number].peer != SUBNET_NONE)
            print_sl2vl(&snapshot->ports[node->first_port + number], node->port_count + 1u, number,
                        out);
    fputs("#--------------------------------------------------------\n\n", out);
}

void dump_print_sl2vl(const struct dump_snapshot *snapshot, FILE *out)
{
    for (uint32_t i = 0; i < snapshot->port_count; i++) {
        const struct snapshot_port *port = &snapshot->ports[i];
        const struct snapshot_node *node = &snapshot->nodes[port->node];
        bool is_end = (port->number == 0) == (node->kind == SUBNET_SWITCH);
        if (is_end && node->present && (port->number == 0 || port->peer != SUBNET_NONE))
            print_sl2vl_block(snapshot, i, out);
    }
}

/* ---- opensm.mcfdbs ---- */

/* The ports of one multicast LID; `blocks` are the positions of its block. */
static void print_group_ports(const struct snapshot_block *blocks, size_t count, unsigned entry,
                              FILE *out)
{
    assert(count > 0 && entry < GROUPS_PER_BLOCK);
    unsigned lid = LID_MULTICAST_FIRST + (blocks->part & 0x1FFu) * GROUPS_PER_BLOCK + entry;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        uint64_t mask = wire_get_at(blocks[i].data, MULTICAST_FORWARDING_TABLE_PORT_MASK, entry);
        for (unsigned bit = 0; bit < 16; bit++) {
            if (!(mask >> bit & 1))
                continue;
            if (!any)
                fprintf(out, "0x%04X :", lid);
            any = true;
            fprintf(out, " 0x%03X ", (blocks[i].part >> 9) * 16u + bit);
        }
    }
    if (any)
        fputc('\n', out);
}

static void dump_print_groups(const struct dump_snapshot *snapshot, FILE *out)
{
    for (uint32_t at = 0; at < snapshot->node_count; at++) {
        const struct snapshot_node *node = &snapshot->nodes[at];
        size_t all = node->blocks.count;
        if (all)
            fprintf(out, "\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n", node->guid);
        for (size_t i = 0, count; i < all; i += count) {
            const struct snapshot_block *blocks = &node->blocks.items[i];
            for (count = 1; i + count < all && !((blocks[count].part ^ blocks->part) & 0x1FF);)
                count++;
            for (unsigned entry = 0; entry < GROUPS_PER_BLOCK; entry++)
                print_group_ports(blocks, count, entry, out);
        }
    }
}

/* ---- files ---- */

typedef void print_function(const struct dump_snapshot *snapshot, FILE *out);

static int write_file(const struct dump_snapshot *snapshot, const char *directory, const char *name,
                      print_function *print, struct err *err)
{
    char path[4096], temporary[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(temporary, sizeof temporary, "%s/.%s.new", directory, name);
    FILE *file = fopen(temporary, "we");
    if (!file)
        return err_at(err, errno, temporary, 0, "%s", strerror(errno));
    print(snapshot, file);
    int error = ferror(file) ? EIO : 0;
    if (fclose(file) != 0)
        error = errno;
    if (!error && rename(temporary, path) < 0)
        error = errno;
    if (!error)
        return 0;
    unlink(temporary);
    return err_at(err, error, path, 0, "%s", strerror(error));
}

static int make_directory(const char *directory, struct err *err)
{
    if (mkdir(directory, 0755) == 0 || errno == EEXIST)
        return 0;
    return err_set(err, errno, "cannot make '%s': %s", directory, strerror(errno));
}

int dump_write_subnet(const struct dump_snapshot *snapshot, const char *directory, const char *name,
                      struct err *err)
{
    int status = make_directory(directory, err);
    return status < 0 ? status : write_file(snapshot, directory, name, dump_print_subnet, err);
}

int dump_write(const struct dump_snapshot *snapshot, const char *directory, struct err *err)
{
    static const struct {
        const char *name;
        print_function *print;
    } files[] = {{"weft-subnet.dump", dump_print_subnet}, {"opensm-lfts.dump", dump_print_lfts},
                 {"opensm-subnet.lst", dump_print_links}, {"opensm.fdbs", dump_print_routes},
                 {"opensm-sl2vl.dump", dump_print_sl2vl}, {"opensm.mcfdbs", dump_print_groups}};
    bool alone = !strstr(snapshot->border.data, "\nRouter "); /* a subnet without routers */
    int status = make_directory(directory, err);
    for (size_t i = alone; i < sizeof files / sizeof *files && status == 0; i++)
        status = write_file(snapshot, directory, files[i].name, files[i].print, err);
    return status;
}
