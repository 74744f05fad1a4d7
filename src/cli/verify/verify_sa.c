/* Reads path SLs from the SA and SL-to-VL tables from the switches of a running subnet. */
#include "cli/verify/verify.h"

#include "cli/command.h"
#include "host/device/subnet_client.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- path SLs ---- */

/* Checks that the network has this port at this LID, since its file may be out of date. Not checked
 * for switches, whose ports may have another GUID than the node. */
static int check_owner(const struct network *network, unsigned lid, const uint8_t *gid,
                       struct err *err)
{
    char label[NETWORK_LABEL_BYTES];
    uint32_t owner = network_owner(network, lid);
    uint64_t guid = wire_get_bits(gid, 64, 64);
    if (owner == NETWORK_NONE)
        return err_set(err, EINVAL,
                       "the SA has LID %u (port 0x%016" PRIx64
                       "), which the network does not have: its file is old or of another fabric",
                       lid, guid);
    if (!(owner & NETWORK_SWITCH) && network->terminals.items[owner].guid != guid)
        return err_set(err, EINVAL,
                       "LID %u is port 0x%016" PRIx64
                       " at the SA, but %s in the network, whose file is old or of another fabric",
                       lid, guid, network_label(network, owner, label));
    return 0;
}

static int read_paths(struct subnet_client *client, struct vl_map *map, uint32_t source,
                      struct err *err)
{
    enum { SLID = 5, NUMB_PATH = 12, MOST_PATHS = 127 };
    const struct network *network = map->network;
    uint8_t record[WIRE_BYTES_PATH_RECORD] = {0};
    struct sa_table table;
    char label[NETWORK_LABEL_BYTES];
    uint64_t mask = UINT64_C(1) << SLID;
    uint16_t slid = network_lid(network, source);
    wire_set(record, PATH_RECORD_SLID, slid);
    wire_set(record, PATH_RECORD_NUMB_PATH, MOST_PATHS);
    if (network_lmc(network, source) < NETWORK_TOP_LMC) /* else a pair has 128 paths */
        mask |= UINT64_C(1) << NUMB_PATH;
    int rc = subnet_client_query(client, WIRE_PATH_RECORD, mask, record, &table, err);
    for (size_t i = 0; i < table.count && !rc; i++) {
        const uint8_t *path = table.records + i * table.stride;
        unsigned dlid = (unsigned)wire_get(path, PATH_RECORD_DLID);
        rc = check_owner(network, (unsigned)wire_get(path, PATH_RECORD_SLID),
                         wire_bytes_const(path, PATH_RECORD_SGID), err);
        if (!rc)
            rc = check_owner(network, dlid, wire_bytes_const(path, PATH_RECORD_DGID), err);
        if (!rc)
            vl_map_set_sl(map, source, (uint16_t)dlid, (uint8_t)wire_get(path, PATH_RECORD_SL));
    }
    if (!rc && !table.count)
        rc = err_set(err, EINVAL,
                     "the SA has no path from %s (LID %u): the file of the network is old or of "
                     "another fabric, or this host may not query that port",
                     network_label(network, source, label), slid);
    return rc;
}

static int read_all_paths(struct subnet_client *client, struct vl_map *map, bool adapters,
                          struct err *err)
{
    const struct network *network = map->network;
    size_t terminals = network->terminals.count;
    size_t sources = terminals + (adapters ? 0 : network->switches.count);
    int rc = 0;
    for (size_t i = 0; i < sources && !rc; i++) {
        uint32_t source = i < terminals ? (uint32_t)i : NETWORK_SWITCH | (uint32_t)(i - terminals);
        if (!network_lid(network, source))
            continue;
        progress_show("paths from %zu of %zu ports", i, sources);
        rc = read_paths(client, map, source, err);
        /* The SA has answered for this source: destinations that are still unset have no path. */
        for (uint32_t lid = 1; lid <= network->top_lid; lid++)
            if (network->owner[lid] != NETWORK_NONE && !vl_map_is_set(map, source, (uint16_t)lid))
                vl_map_set_sl(map, source, (uint16_t)lid, VL_MAP_NO_PATH);
    }
    progress_clear();
    return rc;
}

/* ---- SL-to-VL tables ---- */

/* All inputs, to the outputs that lead to switches. Packets to adapters wait for no further
 * channel. */
static size_t list_reads(const struct network *network, uint32_t at, struct agent_read *reads)
{
    const struct network_switch *node = &network->switches.items[at];
    size_t count = 0;
    for (unsigned out = 1; out <= node->port_count; out++) {
        uint32_t peer = network->ports.items[node->first_port + out].peer;
        if (peer == NETWORK_NONE || !(peer & NETWORK_SWITCH))
            continue;
        for (unsigned in = 0; in <= node->port_count; in++)
            if (in == 0 || network->ports.items[node->first_port + in].peer != NETWORK_NONE)
                reads[count++] = (struct agent_read){.lid = node->lid, .modifier = in << 8 | out};
    }
    return count;
}

static int read_tables_of(struct subnet_client *client, struct vl_map *map, uint32_t at,
                          struct agent_read *reads, struct err *err)
{
    const struct network *network = map->network;
    char label[NETWORK_LABEL_BYTES];
    size_t count = list_reads(network, at, reads);
    int rc = subnet_client_read(client, WIRE_SL2VL_TABLE, reads, count, err);
    for (size_t i = 0; i < count && !rc; i++) {
        uint8_t vls[VL_MAP_SLS];
        if (reads[i].status == -ETIMEDOUT)
            return err_set(err, ETIMEDOUT,
                           "%s (LID %u) does not answer; --sl2vl FILE gives SL-to-VL tables",
                           network_label(network, NETWORK_SWITCH | at, label), reads[i].lid);
        if (reads[i].status == STATUS_BAD_ATTRIBUTE) /* a switch with one data VL has no table */
            memset(reads[i].data, 0, sizeof reads[i].data);
        else if (reads[i].status)
            return err_set(err, EIO,
                           "%s (LID %u) refuses to send its SL-to-VL tables: status 0x%04x; "
                           "--sl2vl FILE gives them",
                           network_label(network, NETWORK_SWITCH | at, label), reads[i].lid,
                           (unsigned)reads[i].status);
        for (unsigned sl = 0; sl < VL_MAP_SLS; sl++)
            vls[sl] = (uint8_t)wire_get_at(reads[i].data, SL2VL_TABLE_VL, sl);
        vl_map_set_vls(map, at, (uint8_t)(reads[i].modifier >> 8),
                       (uint8_t)(reads[i].modifier & 0xFF), vls);
    }
    return rc;
}

static int read_all_tables(struct subnet_client *client, struct vl_map *map, struct err *err)
{
    enum { PORTS = NETWORK_TOP_PORT + 1 };
    size_t switches = map->network->switches.count;
    struct agent_read *reads = mem_alloc((size_t)PORTS * PORTS * sizeof *reads);
    int rc = 0;
    for (uint32_t at = 0; at < switches && !rc; at++) {
        progress_show("SL-to-VL tables of %" PRIu32 " of %zu switches", at, switches);
        if (map->network->switches.items[at].lid)
            rc = read_tables_of(client, map, at, reads, err);
    }
    progress_clear();
    mem_free(reads);
    return rc;
}

int verify_sa_read(struct vl_map *map, struct verify_sa *options, struct err *err)
{
    struct subnet_client *client;
    int rc = subnet_client_open(&client, &options->port, err);
    if (!rc) {
        options->sm_lid = subnet_client_sm_lid(client);
        rc = read_all_paths(client, map, options->adapters, err);
        if (!rc && !options->has_tables)
            rc = read_all_tables(client, map, err);
        subnet_client_close(client);
    }
    if (rc == -ENODEV || rc == -ENOTCONN) {
        size_t length = strlen(err->message);
        snprintf(err->message + length, sizeof err->message - length,
                 "; run this at a host of a subnet that is up, or give --path-sl FILE");
    }
    return rc;
}
