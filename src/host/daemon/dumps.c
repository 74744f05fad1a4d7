#include "host/daemon/dumps.h"

#include "base/bitset.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PORT_NONE = 0xFF, NAME_ROOM = 65, UNKNOWN_HOPS = 0xFFFF, LOOPING_HOPS = 0xFFFE };
enum { GROUPS_A_BLOCK = 32, VL_CAP_ONE_LANE = 1, SERVICE_LEVELS = 16 };

/* Nodes and ports keep their indices; only what is printed is copied. */
struct picture_block {
    uint16_t part; /* as in subnet/blocks.h */
    uint8_t data[BLOCK_BYTES];
};
struct picture_node {
    uint64_t guid, system_guid;
    uint32_t first_port;
    uint32_t vendor, revision;
    uint16_t device;
    uint8_t kind, port_count;
    bool present;
    char name[NAME_ROOM];
    uint8_t *table; /* [top + 1], switches only */
    VEC(struct picture_block)
    blocks; /* of its multicast table, all positions of a block together */
};
struct picture_port {
    uint64_t guid;
    uint32_t node, peer;
    uint16_t lid;
    uint8_t number, state, width, speed, extended_speed;
    bool one_lane;                       /* for data */
    uint8_t (*maps)[SERVICE_LEVELS / 2]; /* by input, as confirmed; NULL: they are not known */
    bool one_map;                        /* the first is for all inputs */
};

struct dump_picture {
    struct arena memory;
    struct picture_node *nodes;
    struct picture_port *ports;
    uint32_t node_count, port_count;
    uint32_t manager; /* the node where the manager sits */
    uint32_t top;     /* the highest LID in use */
    uint32_t *owner;  /* by LID: end port, or SUBNET_NONE */
};

/* ---- taking ---- */

static void take_node(struct dump_picture *picture, const struct subnet_node *from, uint32_t index)
{
    struct picture_node *node = &picture->nodes[index];
    *node = (struct picture_node){.guid = from->guid,
                                  .system_guid = from->system_guid,
                                  .first_port = from->first_port,
                                  .vendor = from->vendor,
                                  .device = from->device,
                                  .revision = from->revision,
                                  .kind = from->kind,
                                  .port_count = from->port_count,
                                  .present = from->present};
    memcpy(node->name, from->description, sizeof node->name);
    node->name[sizeof node->name - 1] = 0;
    if (!from->present || !from->tables)
        return;
    node->table = arena_alloc(&picture->memory, picture->top + 1);
    for (uint32_t lid = 0; lid <= picture->top; lid++)
        node->table[lid] = subnet_block_known(from->tables, lid / LFT_BLOCK)
                               ? from->tables->actual[lid]
                               : PORT_NONE;
}

/* Of an output: all of them, or none. */
static void take_maps(struct dump_picture *picture, const struct subnet *subnet, uint32_t index)
{
    struct picture_port *port = &picture->ports[index];
    const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[index].node];
    const struct blocks *blocks = &subnet->blocks;
    const uint8_t *all = blocks_actual(blocks, index, BLOCK_SL2VL, BLOCK_ALL_INPUTS);
    unsigned inputs = node->kind == SUBNET_SWITCH && !all ? node->port_count + 1u : 1;
    if (!all && !blocks_actual(blocks, index, BLOCK_SL2VL, 0))
        return;
    port->one_map = all != NULL;
    port->maps = arena_alloc(&picture->memory, inputs * sizeof *port->maps);
    for (unsigned input = 0; input < inputs; input++) {
        const uint8_t *map = all ? all : blocks_actual(blocks, index, BLOCK_SL2VL, input);
        if (map)
            memcpy(port->maps[input], map, sizeof port->maps[input]);
    }
}

static int compare_blocks(const void *a, const void *b)
{
    const struct picture_block *x = a, *y = b;
    unsigned first = (x->part & 0x1FFu) << 7 | x->part >> 9;
    unsigned second = (y->part & 0x1FFu) << 7 | y->part >> 9;
    return (first > second) - (first < second);
}

static void take_groups(struct picture_node *node, const struct blocks *blocks)
{
    for (uint32_t row = blocks_next_of_port(blocks, node->first_port, BLOCKS_NONE);
         row != BLOCKS_NONE; row = blocks_next_of_port(blocks, node->first_port, row)) {
        const struct block *block = &blocks->rows.items[row];
        const uint8_t *data = blocks_content(blocks, block->actual);
        if (block->kind != BLOCK_MULTICAST || !data)
            continue;
        struct picture_block copy = {.part = block->part};
        memcpy(copy.data, data, BLOCK_BYTES);
        vec_push(&node->blocks, copy);
    }
    if (node->blocks.count)
        qsort(node->blocks.items, node->blocks.count, sizeof *node->blocks.items, compare_blocks);
}

static void take_port(struct dump_picture *picture, const struct subnet_port *from, uint32_t index)
{
    picture->ports[index] = (struct picture_port){
        .guid = from->guid,
        .node = from->node,
        .peer = from->peer,
        .lid = from->lid,
        .number = from->number,
        .state = (uint8_t)wire_get(from->info, PORT_INFO_PORT_STATE),
        .width = (uint8_t)wire_get(from->info, PORT_INFO_LINK_WIDTH_ACTIVE),
        .speed = (uint8_t)wire_get(from->info, PORT_INFO_LINK_SPEED_ACTIVE),
        .extended_speed = (uint8_t)wire_get(from->info, PORT_INFO_LINK_SPEED_EXT_ACTIVE),
        .one_lane = wire_get(from->info, PORT_INFO_VL_CAP) == VL_CAP_ONE_LANE,
    };
}

struct dump_picture *dump_picture_take(const struct subnet *subnet)
{
    struct dump_picture *picture = mem_zalloc(1, sizeof *picture);
    picture->node_count = (uint32_t)subnet->nodes.count;
    picture->port_count = (uint32_t)subnet->ports.count;
    picture->nodes =
        arena_alloc(&picture->memory, (picture->node_count + 1) * sizeof *picture->nodes);
    picture->ports =
        arena_alloc(&picture->memory, (picture->port_count + 1) * sizeof *picture->ports);
    picture->manager =
        subnet->own_port == SUBNET_NONE ? SUBNET_NONE : subnet->ports.items[subnet->own_port].node;
    picture->owner = arena_alloc(&picture->memory, sizeof subnet->by_lid);
    for (uint32_t lid = 0; lid < LFT_ENTRIES; lid++) {
        uint32_t port = subnet->by_lid[lid];
        bool there =
            port != SUBNET_NONE && subnet->nodes.items[subnet->ports.items[port].node].present;
        picture->owner[lid] = there ? port : SUBNET_NONE;
        if (there)
            picture->top = lid;
    }
    for (uint32_t i = 0; i < picture->node_count; i++) {
        take_node(picture, &subnet->nodes.items[i], i);
        if (picture->nodes[i].table)
            take_groups(&picture->nodes[i], &subnet->blocks);
    }
    for (uint32_t i = 0; i < picture->port_count; i++) {
        take_port(picture, &subnet->ports.items[i], i);
        take_maps(picture, subnet, i);
    }
    return picture;
}

void dump_picture_free(struct dump_picture *picture)
{
    if (!picture)
        return;
    for (uint32_t i = 0; i < picture->node_count; i++)
        vec_release(&picture->nodes[i].blocks);
    arena_release(&picture->memory);
    mem_free(picture);
}

/* ---- opensm-lfts.dump ---- */

static const char *kind_name(unsigned kind)
{
    return kind == SUBNET_SWITCH ? "Switch" : kind == SUBNET_ROUTER ? "Router" : "Channel Adapter";
}

void dump_print_lfts(const struct dump_picture *picture, FILE *out)
{
    /* What follows an entry is the same in every table: printed once for each LID. */
    struct arena memory = {0};
    char **texts = arena_alloc(&memory, (picture->top + 1) * sizeof *texts);
    for (uint32_t lid = 0; lid <= picture->top; lid++) {
        uint32_t owner = picture->owner[lid];
        const struct picture_node *node =
            owner == SUBNET_NONE ? NULL : &picture->nodes[picture->ports[owner].node];
        texts[lid] =
            node ? arena_printf(&memory, "%s portguid 0x%016" PRIx64 ": '%s'\n",
                                kind_name(node->kind), picture->ports[owner].guid, node->name)
                 : "unknown node and type\n";
    }
    for (uint32_t i = 0; i < picture->node_count; i++) {
        const struct picture_node *node = &picture->nodes[i];
        if (!node->table)
            continue;
        fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n",
                picture->top, picture->ports[node->first_port].lid, node->guid, node->name);
        for (uint32_t lid = 0; lid <= picture->top; lid++) {
            if (node->table[lid] == PORT_NONE)
                continue;
            fprintf(out, "0x%04x %03u # ", lid, node->table[lid]);
            fputs(texts[lid], out);
        }
        fprintf(out, "%u lids dumped\n", picture->top);
    }
    arena_release(&memory);
}

/* ---- opensm-subnet.lst ---- */

/* By the encodings of PortInfo; NULL: there is no such. */
static const char *const width_names[] = {
    [1] = "1x", [2] = "4x", [4] = "8x", [8] = "12x", [16] = "2x"};
static const char *const speed_names[] = {[1] = "2.5", [2] = "5", [4] = "10"};
static const char *const extended_speed_names[] = {[1] = "14", [2] = "25", [4] = "50", [8] = "100"};
static const char *const state_names[] = {"NOP", "DWN", "INI", "ARM", "ACT"};

#define NAME_OF(names, value, otherwise)                                                           \
    ((value) < sizeof(names) / sizeof *(names) && (names)[value] ? (names)[value] : (otherwise))

static void print_end(const struct dump_picture *picture, uint32_t port, FILE *out)
{
    const struct picture_node *node = &picture->nodes[picture->ports[port].node];
    const struct picture_port *end =
        &picture->ports[node->kind == SUBNET_SWITCH ? node->first_port : port];
    fprintf(out,
            "{ %s%s Ports:%02X SystemGUID:%016" PRIX64 " NodeGUID:%016" PRIX64
            " PortGUID:%016" PRIX64 " VenID:%08X DevID:%04X Rev:%08X {%s} LID:%04X PN:%02X } ",
            node->kind == SUBNET_SWITCH   ? "SW"
            : node->kind == SUBNET_ROUTER ? "RT"
                                          : "CA",
            picture->ports[port].node == picture->manager ? "-SM" : "", node->port_count,
            node->system_guid, node->guid, end->guid, node->vendor, node->device, node->revision,
            node->name, end->lid, picture->ports[port].number);
}

void dump_print_links(const struct dump_picture *picture, FILE *out)
{
    for (uint32_t i = 0; i < picture->port_count; i++) {
        const struct picture_port *port = &picture->ports[i];
        if (port->peer == SUBNET_NONE || !picture->nodes[port->node].present)
            continue;
        print_end(picture, i, out);
        print_end(picture, port->peer, out);
        fprintf(out, "PHY=%s LOG=%s SPD=%s\n", NAME_OF(width_names, port->width, "?x"),
                NAME_OF(state_names, port->state, "???"),
                NAME_OF(extended_speed_names, port->extended_speed,
                        NAME_OF(speed_names, port->speed, "??")));
    }
}

/* ---- opensm.fdbs ---- */

/* The switch behind a port of a switch, or SUBNET_NONE. */
static uint32_t next_switch(const struct dump_picture *picture, uint32_t at, unsigned number)
{
    const struct picture_node *node = &picture->nodes[at];
    if (number == 0 || number > node->port_count)
        return SUBNET_NONE;
    uint32_t peer = picture->ports[node->first_port + number].peer;
    assert(peer == SUBNET_NONE || peer < picture->port_count);
    if (peer == SUBNET_NONE || !picture->nodes[picture->ports[peer].node].table)
        return SUBNET_NONE;
    return picture->ports[peer].node;
}

/* Hops from every switch to a LID, as the tables lead: follow until a switch whose answer is known,
 * then write the answers down on the way back. */
static void walk_tables(const struct dump_picture *picture, uint32_t lid, uint16_t *hops,
                        uint32_t *trail)
{
    uint32_t target = picture->owner[lid];
    for (uint32_t i = 0; i < picture->node_count; i++)
        hops[i] = UNKNOWN_HOPS;
    for (uint32_t start = 0; start < picture->node_count; start++) {
        uint32_t length = 0, at = start;
        uint16_t known = LOOPING_HOPS;
        while (at != SUBNET_NONE && picture->nodes[at].table && hops[at] == UNKNOWN_HOPS) {
            unsigned out = picture->nodes[at].table[lid];
            hops[at] = LOOPING_HOPS;
            trail[length++] = at;
            if (out == 0 && target != SUBNET_NONE && picture->ports[target].node == at) {
                known = (uint16_t)-1; /* its own entry counts none */
                at = SUBNET_NONE;
            } else if (out && out <= picture->nodes[at].port_count &&
                       picture->ports[picture->nodes[at].first_port + out].peer == target &&
                       target != SUBNET_NONE &&
                       !picture->nodes[picture->ports[target].node].table) {
                known = 0;
                at = SUBNET_NONE;
            } else {
                at = next_switch(picture, at, out);
            }
        }
        if (at != SUBNET_NONE && picture->nodes[at].table)
            known = hops[at];
        while (length--) {
            if (known != LOOPING_HOPS)
                known++;
            hops[trail[length]] = known;
        }
    }
}

/* The least hops from every switch to the end port: breadth first from its switch. */
static void walk_links(const struct dump_picture *picture, uint32_t target, uint16_t *hops,
                       uint32_t *queue)
{
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; i < picture->node_count; i++)
        hops[i] = UNKNOWN_HOPS;
    uint32_t node = picture->ports[target].node;
    if (picture->nodes[node].table) {
        hops[node] = 0;
        queue[tail++] = node;
    } else if (picture->ports[target].peer != SUBNET_NONE) {
        node = picture->ports[picture->ports[target].peer].node;
        hops[node] = 1;
        queue[tail++] = node;
    }
    while (head < tail) {
        uint32_t at = queue[head++];
        for (unsigned number = 1; number <= picture->nodes[at].port_count; number++) {
            uint32_t next = next_switch(picture, at, number);
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

/* Both walks give a column for a LID, the file has a row for a switch: all columns are kept. */
void dump_print_routes(const struct dump_picture *picture, FILE *out)
{
    struct arena memory = {0};
    size_t nodes = picture->node_count + 1, count = 0;
    uint32_t *switches = arena_alloc(&memory, nodes * sizeof *switches);
    uint32_t *scratch = arena_alloc(&memory, nodes * sizeof *scratch);
    uint16_t *hops = arena_alloc(&memory, nodes * sizeof *hops); /* to one LID, by node */
    uint16_t *least = arena_alloc(&memory, nodes * sizeof *least);
    for (uint32_t i = 0; i < picture->node_count; i++)
        if (picture->nodes[i].table)
            switches[count++] = i;
    struct {
        uint16_t hops, least;
    } *cells = arena_alloc(&memory, ((picture->top + 1) * count + 1) * sizeof *cells);
    uint32_t last = SUBNET_NONE; /* LIDs of one port have the same least hops */
    for (uint32_t lid = 1; lid <= picture->top; lid++) {
        uint32_t target = picture->owner[lid];
        if (target == SUBNET_NONE)
            continue;
        walk_tables(picture, lid, hops, scratch);
        if (target != last)
            walk_links(picture, target, least, scratch);
        last = target;
        for (size_t i = 0; i < count; i++) {
            cells[lid * count + i].hops = hops[switches[i]];
            cells[lid * count + i].least = least[switches[i]];
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct picture_node *node = &picture->nodes[switches[i]];
        fprintf(out, "dump_ucast_routes: Switch 0x%016" PRIx64 "\nLID    : Port : Hops : Optimal\n",
                node->guid);
        for (uint32_t lid = 1; lid <= picture->top; lid++)
            print_route(picture->owner[lid] == SUBNET_NONE ? PORT_NONE : node->table[lid],
                        cells[lid * count + i].hops, cells[lid * count + i].least, lid, out);
    }
    arena_release(&memory);
}

/* ---- opensm-sl2vl.dump ---- */

/* Where the manager neither writes nor reads the SL-to-VL tables, only those of ports with one data
 * VL are known. */
static void print_lanes(const struct picture_port *port, unsigned inputs, unsigned out_number,
                        FILE *out)
{
    static const uint8_t only_vl_0[SERVICE_LEVELS / 2];
    if (!port->one_lane && !port->maps) {
        fprintf(out, "#port %u has several lanes, its tables were not read\n", port->number);
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

/* A switch has a table for every pair of its ports, an adapter's port one, which is called 0 0. */
static void print_lane_block(const struct dump_picture *picture, uint32_t end, FILE *out)
{
    const struct picture_node *node = &picture->nodes[picture->ports[end].node];
    fprintf(out, "%s 0x%016" PRIx64 ", base LID %u, \"%s\"\n", kind_name(node->kind),
            picture->ports[end].guid, picture->ports[end].lid, node->name);
    fputs("#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n", out);
    fputs("#--------------------------------------------------------\n", out);
    if (node->kind != SUBNET_SWITCH)
        print_lanes(&picture->ports[end], 1, 0, out);
    for (unsigned number = 1; node->kind == SUBNET_SWITCH && number <= node->port_count; number++)
        if (picture->ports[node->first_port + number].peer != SUBNET_NONE)
            print_lanes(&picture->ports[node->first_port + number], node->port_count + 1u, number,
                        out);
    fputs("#--------------------------------------------------------\n\n", out);
}

void dump_print_lanes(const struct dump_picture *picture, FILE *out)
{
    for (uint32_t i = 0; i < picture->port_count; i++) {
        const struct picture_port *port = &picture->ports[i];
        const struct picture_node *node = &picture->nodes[port->node];
        bool is_end = (port->number == 0) == (node->kind == SUBNET_SWITCH);
        if (is_end && node->present && (port->number == 0 || port->peer != SUBNET_NONE))
            print_lane_block(picture, i, out);
    }
}

/* ---- opensm.mcfdbs ---- */

/* The ports of one group at a switch: `blocks` are those of its 32, one for each position. */
static void print_ports(const struct picture_block *blocks, size_t count, unsigned entry, FILE *out)
{
    unsigned lid = LID_MULTICAST_FIRST + (blocks->part & 0x1FFu) * GROUPS_A_BLOCK + entry;
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

static void dump_print_groups(const struct dump_picture *picture, FILE *out)
{
    for (uint32_t at = 0; at < picture->node_count; at++) {
        const struct picture_node *node = &picture->nodes[at];
        size_t all = node->blocks.count;
        if (all)
            fprintf(out, "\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n", node->guid);
        for (size_t i = 0, count; i < all; i += count) {
            const struct picture_block *blocks = &node->blocks.items[i];
            for (count = 1; i + count < all && !((blocks[count].part ^ blocks->part) & 0x1FF);)
                count++;
            for (unsigned entry = 0; entry < GROUPS_A_BLOCK; entry++)
                print_ports(blocks, count, entry, out);
        }
    }
}

/* ---- files ---- */

typedef void print_function(const struct dump_picture *picture, FILE *out);

static int write_file(const struct dump_picture *picture, const char *directory, const char *name,
                      print_function *print, struct err *err)
{
    char path[4096], temporary[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(temporary, sizeof temporary, "%s/.%s.new", directory, name);
    FILE *file = fopen(temporary, "we");
    if (!file)
        return err_at(err, errno, temporary, 0, "%s", strerror(errno));
    print(picture, file);
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

int dump_write(const struct dump_picture *picture, const char *directory, struct err *err)
{
    static const struct {
        const char *name;
        print_function *print;
    } files[] = {{"opensm-lfts.dump", dump_print_lfts},
                 {"opensm-subnet.lst", dump_print_links},
                 {"opensm.fdbs", dump_print_routes},
                 {"opensm-sl2vl.dump", dump_print_lanes},
                 {"opensm.mcfdbs", dump_print_groups}};
    if (mkdir(directory, 0755) < 0 && errno != EEXIST)
        return err_set(err, errno, "cannot make '%s': %s", directory, strerror(errno));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int status = write_file(picture, directory, files[i].name, files[i].print, err);
        if (status < 0)
            return status;
    }
    return 0;
}
