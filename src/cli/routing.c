/* Functions of the routing commands: a network is read, tables are computed and their cost is
 * measured. */
#include "cli/routing.h"

#include "base/line_reader.h"
#include "base/map.h"
#include "cli/command.h"
#include "routing/files/lfts.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RENAMING_LMC = 2, DUMP_LIMIT = 2000000000 };

int updown_tree_parse(enum updown_tree *tree, const char *text)
{
    *tree = TREE_BFS;
    for (unsigned i = 0; text && i < TREE_COUNT; i++)
        if (strcmp(text, updown_tree_names[i]) == 0) {
            *tree = (enum updown_tree)i;
            return 0;
        }
    return text ? command_usage("--tree %s: expected bfs, dfs, post or mdst", text) : 0;
}

int root_list_parse(struct root_list *roots, const char *text)
{
    static const char *const words[] = {
        [ROOT_MANAGER] = "manager", [ROOT_CENTRE] = "centre", [ROOT_DETECT] = "detect"};
    *roots = (struct root_list){.choice = ROOT_DEFAULT};
    if (!text)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i] && strcmp(text, words[i]) == 0) {
            roots->choice = (enum root_choice)i;
            return 0;
        }
    roots->choice = ROOT_LIST;
    for (const char *at = text; strncmp(at, "0x", 2) == 0;) {
        char *end;
        uint64_t guid = strtoull(at, &end, 16);
        if (end == at + 2 || (*end && *end != ','))
            break;
        vec_push(&roots->guids, guid);
        if (!*end)
            return 0;
        at = end + 1;
    }
    vec_release(&roots->guids);
    return command_usage("--root %s: expected GUIDs, manager, centre or detect", text);
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

static int take_lids_of(struct topology *topology, const char *lfts, uint32_t *changed,
                        struct err *err)
{
    uint64_t *guids = mem_alloc((NETWORK_TOP_LID + 1u) * sizeof *guids);
    int status = lfts_read_owners(guids, from_file(lfts, err));
    if (status == 0)
        status = take_lids(topology, guids, lfts, changed, err);
    mem_free(guids);
    return status;
}

int load_network(const char *path, const char *lmc, bool renames, const char *lfts,
                 struct network *network, struct err *err)
{
    struct topology topology;
    uint64_t wanted = RENAMING_LMC;
    uint32_t changed = 0;
    network_init(network);
    if (lmc && !parse_bounded(lmc, 0, NETWORK_TOP_LMC, &wanted))
        return command_usage("--lmc %s: expected 0 to %d", lmc, NETWORK_TOP_LMC);
    topology_init(&topology);
    int status = command_read_topology(path, &topology, err);
    if (status == 0 && lfts)
        status = take_lids_of(&topology, lfts, &changed, err);
    if (changed)
        fprintf(stderr,
                "weft verify: the LIDs of %s are used; %" PRIu32 " ports of %s have others\n", lfts,
                changed, path);
    bool has_own = false; /* LIDs */
    for (size_t i = 0; i < topology.ports.count; i++)
        has_own |= topology.ports.items[i].lid != 0;
    if (status == 0 && ((lmc && !(lfts && has_own)) || (renames && !has_own)))
        status = network_from_topology_lmc(network, &topology, (uint8_t)wanted, err);
    else if (status == 0)
        status = network_from_topology(network, &topology, err);
    topology_release(&topology);
    return status;
}

int load_network_of_dump(const char *path, struct network *network, struct err *err)
{
    struct line_reader *lines = from_file(path, err);
    struct topology topology;
    struct text links = {0};
    uint32_t changed = 0;
    lines->limit = DUMP_LIMIT;
    network_init(network);
    topology_init(&topology);
    for (unsigned kept = 0; line_reader_next_line(lines);) {
        if (lines->copy[0] != '{')
            continue;
        for (; kept + 1 < lines->number; kept++) /* errors name the line of the file */
            text_putc(&links, '\n');
        text_printf(&links, "%s\n", lines->copy);
        kept++;
    }
    int status = lines->status;
    if (status == 0 && !links.length)
        status =
            err_set(err, EINVAL, "%s has no links: expected the output of 'weft ctl subnet'", path);
    if (status == 0)
        status = topology_read(&topology, from_bytes(path, links.data, links.length, err));
    if (status == 0)
        status = take_lids_of(&topology, path, &changed, err);
    if (status == 0)
        status = network_from_topology(network, &topology, err);
    topology_release(&topology);
    text_release(&links);
    return status;
}

/* ---- computing and measuring ---- */

/* The value of a line of /proc/self/status in bytes; 0: no such line. */
static uint64_t memory_status(const char *key)
{
    char line[128];
    uint64_t bytes = 0;
    FILE *file = fopen("/proc/self/status", "re");
    if (!file)
        return 0;
    while (!bytes && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            bytes = strtoull(line + strlen(key), NULL, 10) * 1024;
    fclose(file);
    return bytes;
}

void route_verify(const struct network *network, const struct routes *routes,
                  const struct workers *workers, struct route_cost *cost,
                  struct verify_report *report)
{
    struct verify_options options = {.workers = workers, .reversible = routes->reversible};
    double start = clock_seconds();
    verify_routes(network, routes, &options, report);
    cost->verify_seconds = clock_seconds() - start;
}

int route_compute(const struct engine_list *engines, const struct network *network,
                  const struct engine_options *options, struct routes *routes,
                  const struct engine **chosen, struct route_cost *cost,
                  struct verify_report *report, struct err *err)
{
    struct engine_options wanted = *options;
    wanted.caller_verifies = true;
    *report = (struct verify_report){0};
    *cost = (struct route_cost){.repeat = cost->repeat};
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (file) { /* resets the kernel's peak of the resident memory */
        fputs("5", file);
        fclose(file);
    }
    uint64_t before = memory_status("VmRSS:");
    double start = clock_seconds();
    int rc = engine_list_compute(engines, network, &wanted, routes, chosen, err);
    cost->seconds = clock_seconds() - start;
    uint64_t peak = memory_status("VmHWM:");
    cost->peak_bytes = peak > before ? peak - before : 0;
    if (rc)
        return rc;
    route_verify(network, routes, options->workers, cost, report);
    rc = engine_judge(report, options, routes, err);
    for (uint64_t i = 1; i < cost->repeat && !rc; i++) { /* to find the best times */
        struct routes again;
        struct route_cost other = {0};
        struct verify_report ignored;
        struct err err_again;
        start = clock_seconds();
        if (engine_list_compute(engines, network, &wanted, &again, NULL, &err_again) == 0)
            cost->seconds = fmin(cost->seconds, clock_seconds() - start);
        routes_release(&again);
        route_verify(network, routes, options->workers, &other, &ignored);
        cost->verify_seconds = fmin(cost->verify_seconds, other.verify_seconds);
        verify_report_release(&ignored);
    }
    if (!rc)
        return 0;
    if (engines->count > 1) { /* the note has the engines that refused before */
        struct err last = *err;
        err_set(err, -rc, "%.200s, refused: %.400s", routes->note, last.message);
    }
    routes_release(routes);
    return rc;
}

struct route_entries route_count_entries(const struct network *network, const struct routes *routes)
{
    struct route_entries entries = {0};
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        entries.defaults += routes->default_ports && routes->default_ports[at] != PORT_NONE;
        for (uint32_t lid = 1; lid <= network->top_lid; lid++)
            entries.all += routes_port(routes, at, lid) != PORT_NONE;
        for (uint32_t lid = 1; routes->explicit_bits && lid <= network->top_lid; lid++)
            entries.explicit += routes_is_explicit(routes, at, lid);
    }
    if (!routes->explicit_bits)
        entries.explicit = entries.all;
    return entries;
}

double route_ratio(uint64_t sum, uint64_t count)
{
    return count ? (double)sum / (double)count : 0;
}
