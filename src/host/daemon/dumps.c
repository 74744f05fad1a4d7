#include "host/daemon/dumps.h"

#include "base/bitset.h"

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
struct picture_node {
    uint64_t guid, system_guid;
    uint32_t first_port;
    uint32_t vendor, revision;
    uint16_t device;
    uint8_t kind, port_count;
    bool present;
    char name[NAME_ROOM];
    uint8_t *table; /* [top + 1], switches only */
    struct picture_block {
        uint16_t part; /* as in subnet/blocks.h */
        uint8_t data[BLOCK_BYTES];
    } * blocks; /* of its multicast table, in order, all positions of a block together */
    size_t block_count;
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
    struct picture_node *nodes;
    struct picture_port *ports;
    uint32_t node_count, port_count;
    uint32_t manager; /* the node where the manager sits */
    uint32_t top;     /* the highest LID in use */
    uint32_t *owner;  /* by LID: end port, or SUBNET_NONE */
};

/* ---- taking ---- */

static uint8_t *copy_table(const struct subnet_tables *tables, uint32_t top)
{
    uint8_t *table = mem_alloc(top + 1);
    for (uint32_t lid = 0; lid <= top; lid++)
        table[lid] = subnet_block_known(tables, lid / LFT_BLOCK) ? tables->actual[lid] : PORT_NONE;
    return table;
}

static void take_node(struct dump_picture *picture, const struct subnet_node *from, uint32_t index)
{
    struct picture_node *node = &picture->nodes[index];
    node->guid = from->guid;
    node->system_guid = from->system_guid;
    node->first_port = from->first_port;
    node->vendor = from->vendor;
    node->device = from->device;
    node->revision = from->revision;
    node->kind = from->kind;
    node->port_count = from->port_count;
    node->present = from->present;
    memcpy(node->name, from->description, sizeof node->name);
    node->name[sizeof node->name - 1] = 0;
    if (from->present && from->tables)
        node->table = copy_table(from->tables, picture->top);
}

/* Of an output: all of them, or none. */
static void take_maps(struct picture_port *port, const struct subnet *subnet, uint32_t index)
{
    const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[index].node];
    const struct blocks *blocks = &subnet->blocks;
    const uint8_t *all = blocks_actual(blocks, index, BLOCK_SL2VL, BLOCK_ALL_INPUTS);
    unsigned inputs = node->kind == SUBNET_SWITCH && !all ? node->port_count + 1u : 1;
    if (!all && !blocks_actual(blocks, index, BLOCK_SL2VL, 0))
        return;
    port->one_map = all != NULL;
    port->maps = mem_zalloc(inputs, sizeof *port->maps);
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
    size_t room = 0;
    for (uint32_t row = blocks_next_of_port(blocks, node->first_port, BLOCKS_NONE);
         row != BLOCKS_NONE; row = blocks_next_of_port(blocks, node->first_port, row)) {
        const struct block *block = &blocks->rows.items[row];
        const uint8_t *data = blocks_content(blocks, block->actual);
        if (block->kind != BLOCK_MULTICAST || !data)
            continue;
        node->blocks =
            mem_reserve(node->blocks, &room, node->block_count + 1, sizeof *node->blocks);
        node->blocks[node->block_count].part = block->part;
        memcpy(node->blocks[node->block_count++].data, data, BLOCK_BYTES);
    }
    if (node->block_count)
        qsort(node->blocks, node->block_count, sizeof *node->blocks, compare_blocks);
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
    picture->nodes = mem_zalloc(picture->node_count + 1, sizeof *picture->nodes);
    picture->ports = mem_zalloc(picture->port_count + 1, sizeof *picture->ports);
    picture->manager =
        subnet->own_port == SUBNET_NONE ? SUBNET_NONE : subnet->ports.items[subnet->own_port].node;
    picture->owner = mem_alloc(sizeof subnet->by_lid);
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
    for (uint32_t i = 0; i < picture->port_count; i++)
        take_port(picture, &subnet->ports.items[i], i);
    for (uint32_t i = 0; i < picture->port_count; i++)
        take_maps(&picture->ports[i], subnet, i);
    return picture;
}

void dump_picture_free(struct dump_picture *picture)
{
    if (!picture)
        return;
    for (uint32_t i = 0; i < picture->node_count; i++) {
        mem_free(picture->nodes[i].table);
        mem_free(picture->nodes[i].blocks);
    }
    for (uint32_t i = 0; i < picture->port_count; i++)
        mem_free(picture->ports[i].maps);
    mem_free(picture->nodes);
    mem_free(picture->ports);
    mem_free(picture->owner);
    mem_free(picture);
}

static const struct picture_port *end_port(const struct dump_picture *picture, uint32_t port)
{
    const struct picture_node *node = &picture->nodes[picture->ports[port].node];
    return &picture->ports[node->kind == SUBNET_SWITCH ? node->first_port : port];
}

/* ---- opensm-lfts.dump ---- */

static const char *kind_name(unsigned kind)
{
    return kind == SUBNET_SWITCH ? "Switch" : kind == SUBNET_ROUTER ? "Router" : "Channel Adapter";
}

/* What follows an entry is the same in every table: printed once for each LID. */
static char **describe_lids(const struct dump_picture *picture)
{
    char **texts = mem_zalloc(picture->top + 1, sizeof *texts);
    for (uint32_t lid = 0; lid <= picture->top; lid++) {
        char line[160];
        uint32_t owner = picture->owner[lid];
        if (owner == SUBNET_NONE) {
            snprintf(line, sizeof line, "unknown node and type\n");
        } else {
            const struct picture_node *node = &picture->nodes[picture->ports[owner].node];
            snprintf(line, sizeof line, "%s portguid 0x%016" PRIx64 ": '%s'\n",
                     kind_name(node->kind), picture->ports[owner].guid, node->name);
        }
        texts[lid] = mem_strdup(line);
    }
    return texts;
}

void dump_print_lfts(const struct dump_picture *picture, FILE *out)
{
    char **texts = describe_lids(picture);
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
    for (uint32_t lid = 0; lid <= picture->top; lid++)
        mem_free(texts[lid]);
    mem_free(texts);
}

/* ---- opensm-subnet.lst ---- */

static const char *width_name(unsigned width)
{
    switch (width) {
    case 1: return "1x";
    case 2: return "4x";
    case 4: return "8x";
    case 8: return "12x";
    case 16: return "2x";
    default: return "?x";
    }
}

static const char *speed_name(const struct picture_port *port)
{
    switch (port->extended_speed) {
    case 1: return "14";
    case 2: return "25";
    case 4: return "50";
    case 8: return "100";
    default: break;
    }
    switch (port->speed) {
    case 1: return "2.5";
    case 2: return "5";
    case 4: return "10";
    default: return "??";
    }
}

static const char *state_name(unsigned state)
{
    static const char *const names[] = {"NOP", "DWN", "INI", "ARM", "ACT"};
    return state < sizeof names / sizeof *names ? names[state] : "???";
}

static void print_end(const struct dump_picture *picture, uint32_t port, FILE *out)
{
    const struct picture_node *node = &picture->nodes[picture->ports[port].node];
    const struct picture_port *end = end_port(picture, port);
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
        fprintf(out, "PHY=%s LOG=%s SPD=%s\n", width_name(port->width), state_name(port->state),
                speed_name(port));
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

/* Both walks give a column for a LID, the file has a row for a switch: this holds them in between.
 */
struct columns {
    uint32_t *switches; /* their nodes, in order */
    uint32_t switch_count;
    uint16_t *hops, *least; /* [lid * switch_count + switch] */
};

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

static void fill_columns(const struct dump_picture *picture, struct columns *columns)
{
    uint16_t *hops = mem_alloc((picture->node_count + 1) * sizeof *hops);
    uint16_t *least = mem_alloc((picture->node_count + 1) * sizeof *least);
    uint32_t *scratch = mem_alloc((picture->node_count + 1) * sizeof *scratch);
    uint32_t last = SUBNET_NONE; /* LIDs of one port have the same least hops */
    for (uint32_t lid = 1; lid <= picture->top; lid++) {
        uint32_t target = picture->owner[lid];
        if (target == SUBNET_NONE)
            continue;
        walk_tables(picture, lid, hops, scratch);
        if (target != last)
            walk_links(picture, target, least, scratch);
        last = target;
        for (uint32_t i = 0; i < columns->switch_count; i++) {
            size_t cell = (size_t)lid * columns->switch_count + i;
            columns->hops[cell] = hops[columns->switches[i]];
            columns->least[cell] = least[columns->switches[i]];
        }
    }
    mem_free(hops);
    mem_free(least);
    mem_free(scratch);
}

static void print_table(const struct dump_picture *picture, const struct columns *columns,
                        uint32_t at, FILE *out)
{
    const struct picture_node *node = &picture->nodes[columns->switches[at]];
    fprintf(out, "dump_ucast_routes: Switch 0x%016" PRIx64 "\nLID    : Port : Hops : Optimal\n",
            node->guid);
    for (uint32_t lid = 1; lid <= picture->top; lid++) {
        size_t cell = (size_t)lid * columns->switch_count + at;
        if (picture->owner[lid] == SUBNET_NONE)
            print_route(PORT_NONE, 0, 0, lid, out);
        else
            print_route(node->table[lid], columns->hops[cell], columns->least[cell], lid, out);
    }
}

void dump_print_routes(const struct dump_picture *picture, FILE *out)
{
    struct columns columns = {.switches = mem_alloc((picture->node_count + 1) * sizeof(uint32_t))};
    for (uint32_t i = 0; i < picture->node_count; i++)
        if (picture->nodes[i].table)
            columns.switches[columns.switch_count++] = i;
    size_t cells = ((size_t)picture->top + 1) * columns.switch_count + 1;
    columns.hops = mem_alloc(cells * sizeof *columns.hops);
    columns.least = mem_alloc(cells * sizeof *columns.least);
    fill_columns(picture, &columns);
    for (uint32_t at = 0; at < columns.switch_count; at++)
        print_table(picture, &columns, at, out);
    mem_free(columns.switches);
    mem_free(columns.hops);
    mem_free(columns.least);
}

/* ---- opensm-sl2vl.dump ---- */

/* The lane that a service level takes out of this port. Where the manager neither writes nor reads
 * these tables, the only ones it knows are those that leave no choice: where there is one data
 * lane, all levels take it. */
static unsigned lane_at(const struct picture_port *port, unsigned input, unsigned level)
{
    if (!port->maps)
        return 0;
    const uint8_t *map = port->maps[port->one_map ? 0 : input];
    return map[level / 2] >> (level % 2 ? 0 : 4) & 15;
}

static void print_lanes(const struct picture_port *port, unsigned inputs, unsigned out_number,
                        FILE *out)
{
    if (!port->one_lane && !port->maps) {
        fprintf(out, "#port %u has several lanes, its tables were not read\n", port->number);
        return;
    }
    for (unsigned in = 0; in < inputs; in++) {
        fprintf(out, "%-3u %-3u :", in, out_number);
        for (unsigned level = 0; level < SERVICE_LEVELS; level++)
            fprintf(out, " %-2u", lane_at(port, in, level));
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

/* A switch without groups has its name there all the same: ibdmchk does not mind. */
static void print_switch_groups(const struct picture_node *node, FILE *out)
{
    if (node->block_count)
        fprintf(out, "\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n", node->guid);
    for (size_t i = 0, count; i < node->block_count; i += count) {
        const struct picture_block *blocks = &node->blocks[i];
        for (count = 1;
             i + count < node->block_count && !((blocks[count].part ^ blocks->part) & 0x1FF);)
            count++;
        for (unsigned entry = 0; entry < GROUPS_A_BLOCK; entry++)
            print_ports(blocks, count, entry, out);
    }
}

void dump_print_groups(const struct dump_picture *picture, FILE *out)
{
    for (uint32_t i = 0; i < picture->node_count; i++)
        print_switch_groups(&picture->nodes[i], out);
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
