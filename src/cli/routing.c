#include "cli/routing.h"

#include "base/line_reader.h"
#include "base/map.h"
#include "cli/command.h"
#include "routing/files/lfts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RENAMING_LMC = 2 };

bool root_list_parse(struct root_list *roots, const char *text)
{
    static const struct {
        const char *name;
        enum root_choice choice;
    } words[] = {{"manager", ROOT_MANAGER}, {"centre", ROOT_CENTRE}, {"detect", ROOT_DETECT}};
    *roots = (struct root_list){.choice = ROOT_DEFAULT};
    if (!text)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i].name) == 0) {
            roots->choice = words[i].choice;
            return true;
        }
    }
    roots->choice = ROOT_LIST;
    while (strncmp(text, "0x", 2) == 0) {
        char *end;
        uint64_t guid = strtoull(text, &end, 16);
        if (end == text + 2 || (*end && *end != ','))
            break;
        vec_push(&roots->guids, guid);
        if (!*end)
            return true;
        text = end + 1;
    }
    vec_release(&roots->guids);
    return false;
}

void put_parts(struct record *record, const struct network *network,
               const struct verify_report *report)
{
    uint32_t *part = mem_alloc(network->switches.count * sizeof *part);
    uint32_t parts = network_parts(network, part);
    uint64_t terminals = network->terminals.count;
    record_number(record, "parts", parts > 1 ? "NOT CONNECTED: %llu separate parts" : NULL, parts);
    if (parts > 1)
        record_text(record, ", %" PRIu64 " pairs of adapter ports without a path\n",
                    terminals * (terminals - 1) - report->pairs);
    mem_free(part);
}

void print_engines(FILE *out, int indent)
{
    enum { NAME = 11 };
    struct text text = {0};
    for (size_t i = 0; engine_at(i); i++) {
        text_printf(&text, "%*s%-*s", indent, "", NAME, engine_at(i)->name);
        text_put_wrapped(&text, (unsigned)(indent + NAME), "%s", engine_at(i)->summary);
    }
    fputs(text.data, out);
    text_release(&text);
}

static bool has_lids(const struct topology *topology)
{
    for (size_t i = 0; i < topology->ports.count; i++)
        if (topology->ports.items[i].lid)
            return true;
    return false;
}

/* Gives the ports of the topology the LIDs that the tables name for them: those of the net file may
 * be older, or of another manager. A dump without GUIDs changes nothing. */
static int take_lids(struct topology *topology, const uint64_t *guids, const char *lfts,
                     uint32_t *changed, struct err *err)
{
    struct topology_port *ports = topology->ports.items;
    uint16_t *lids = mem_zalloc(topology->ports.count + 1, sizeof *lids);
    struct map by_guid = {0};
    bool named = false;
    int status = 0;
    for (uint32_t i = 0; i < topology->ports.count; i++)
        if (ports[i].guid)
            map_set(&by_guid, ports[i].guid, i);
    for (uint32_t lid = 1; lid <= NETWORK_TOP_LID; lid++) {
        if (!guids[lid])
            continue;
        uint32_t port = map_get(&by_guid, guids[lid]);
        if (port == MAP_NONE) {
            status =
                err_set(err, EINVAL,
                        "%s: LID %" PRIu32 " belongs to port 0x%016" PRIx64
                        ", which the network does not have: older tables, or of another fabric",
                        lfts, lid, guids[lid]);
            break;
        }
        if (!lids[port])
            lids[port] = (uint16_t)lid, ports[port].lmc = 0;
        while (lid >= lids[port] + (1u << ports[port].lmc))
            ports[port].lmc++;
        named = true;
    }
    for (size_t i = 0; i < topology->ports.count && named; i++) {
        *changed += ports[i].lid && ports[i].lid != lids[i];
        ports[i].lid = lids[i];
    }
    map_release(&by_guid);
    mem_free(lids);
    return status;
}

static int read_lids(struct topology *topology, const char *lfts, uint32_t *changed,
                     struct err *err)
{
    uint64_t *guids = mem_alloc((NETWORK_TOP_LID + 1u) * sizeof *guids);
    int status = lfts_read_owners(guids, from_file(lfts, err));
    if (status == 0)
        status = take_lids(topology, guids, lfts, changed, err);
    mem_free(guids);
    return status;
}

int load_network(const char *command, const char *path, const char *lmc, bool renames,
                 const char *lfts, struct network *network)
{
    struct topology topology;
    struct err err;
    uint64_t wanted = RENAMING_LMC;
    network_init(network);
    if (lmc && !parse_bounded(lmc, 0, NETWORK_TOP_LMC, &wanted))
        return command_usage(command, "--lmc %s: expected 0 to %d", lmc, NETWORK_TOP_LMC);
    topology_init(&topology);
    if (command_read_topology(command, path, &topology, &err))
        return command_error(command, &err);
    uint32_t changed = 0;
    if (lfts && read_lids(&topology, lfts, &changed, &err)) {
        topology_release(&topology);
        return command_error(command, &err);
    }
    if (changed)
        fprintf(stderr, "weft %s: the LIDs of %s are used; %" PRIu32 " ports of %s have others\n",
                command, lfts, changed, path);
    int rc = (lmc && !(lfts && has_lids(&topology))) || (renames && !has_lids(&topology))
                 ? network_from_topology_lmc(network, &topology, (uint8_t)wanted, &err)
                 : network_from_topology(network, &topology, &err);
    topology_release(&topology);
    return rc ? command_error(command, &err) : EXIT_HOLDS;
}
