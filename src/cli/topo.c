/* weft topo: generates, inspects, draws and converts topologies.
 *
 * Topologies are written in the format of ibnetdiscover, which all commands and ibsim read. */
#include "base/parse.h"
#include "base/record.h"
#include "cli/command.h"
#include "experiment/chart/program.h"
#include "subnet/node_names.h"
#include "topology/analysis/diff.h"
#include "topology/analysis/summary.h"
#include "topology/drawing/export.h"
#include "topology/generators/generate.h"
#include "topology/generators/join.h"
#include "topology/virtual.h"
#include "wire/vswitch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct {
    const char *out, *to, *node_names, *layout;
    uint64_t seed, hosts, vfs, hypervisors;
    bool json, kinds;
} given = {.seed = 1, .hosts = 80};

static const struct option_spec options[] = {
    {"--seed N", "seed of random kinds (default 1); the same seed gives the same fabric",
     .number = &given.seed},
    {"--json", "print JSON", .flag = &given.json},
    {"-o, --out FILE", "output file (default: standard output; draw then writes dot)",
     .value = &given.out},
    {"--hosts N", "draw single hosts if there are at most N (default 80)", .number = &given.hosts,
     .high = TOPOLOGY_MAX_NODES},
    {"--layout LAYOUT",
     "draw: 'structure' (default) places switches by the links between them, 'rooms' by names "
     "such as rack07-sw1 or row2-rack3-leaf4",
     .value = &given.layout},
    {"--node-names FILE",
     "info, draw, convert: names of nodes, from a node name map of OpenSM, instead of their "
     "descriptions",
     .value = &given.node_names},
    {"--to FORMAT", "output format; slurm is topology.conf of the tree plugin", .value = &given.to},
    {"--vfs N", "gen, convert: make every host a hypervisor with N virtual functions",
     .number = &given.vfs, .low = 1, .high = VSWITCH_VFS_LIMIT},
    {"--hypervisors N", "only the first N hosts become hypervisors", .number = &given.hypervisors,
     .low = 1, .high = TOPOLOGY_MAX_NODES},
    {"--kinds", "list the kinds of fabric and their parameters", .flag = &given.kinds},
    {0}};

/* Writes to standard output, or to the file of -o. */
static int put_text(struct text *text, struct err *err)
{
    return command_write(given.out ? given.out : "-", text, err);
}

/* Makes hosts hypervisors, with --vfs. */
static int virtualise(struct topology *topology, struct err *err)
{
    uint32_t most = given.hypervisors ? (uint32_t)given.hypervisors : UINT32_MAX;
    if (!given.vfs)
        return given.hypervisors ? command_usage("--hypervisors without --vfs") : EXIT_HOLDS;
    return topology_virtualise(topology, (unsigned)given.vfs, most, err);
}

/* Words of 'gen join': net files, routers=N and shape=SHAPE. */
static int join_files(struct topology *topology, char **words, int count, struct err *err)
{
    struct topology parts[JOIN_PARTS];
    enum join_shape shape = JOIN_STAR;
    uint64_t routers = 1;
    size_t read = 0;
    int status = 0;
    for (int i = 0; i < count && status == 0; i++) {
        const char *value = strchr(words[i], '=');
        if (strncmp(words[i], "routers=", 8) == 0) {
            if (!parse_bounded(value + 1, 1, JOIN_ROUTERS, &routers))
                status =
                    command_usage("%s: expected a number from 1 to %d", words[i], JOIN_ROUTERS);
        } else if (strncmp(words[i], "shape=", 6) == 0) {
            if (!join_shape_parse(value + 1, &shape))
                status = command_usage("%s: expected star, chain or ring", words[i]);
        } else if (read == JOIN_PARTS) {
            status = command_usage("join: expected 2 to %d net files", JOIN_PARTS);
        } else {
            topology_init(&parts[read++]);
            status = command_read_topology(words[i], &parts[read - 1], err);
        }
    }
    if (status == 0)
        status = topology_join(topology, parts, read, shape, (unsigned)routers, err);
    for (size_t i = 0; i < read; i++)
        topology_release(&parts[i]);
    return status;
}

static int run_gen(int argc, char **argv, struct err *err)
{
    struct topology topology;
    struct text text = {0};
    if (argc < 1)
        return command_usage("gen: expected a kind of fabric; --kinds lists them");
    topology_init(&topology);
    int status = strcmp(argv[0], "join") == 0
                     ? join_files(&topology, argv + 1, argc - 1, err)
                     : topology_generate(&topology, argv[0], (const char *const *)argv + 1,
                                         (size_t)argc - 1, given.seed, err);
    if (status == 0)
        status = virtualise(&topology, err);
    if (status == 0) {
        topology_write_ibnetdiscover(&topology, &text);
        status = put_text(&text, err);
    }
    topology_release(&topology);
    return status;
}

static void put_summary(struct record *record, const struct topology *topology,
                        const struct topology_summary *s, const struct virtual_counts *virtual)
{
    uint32_t levels = s->level_count < SUMMARY_LEVELS ? s->level_count : SUMMARY_LEVELS;
    struct link_count counts[LINK_COUNTS];
    size_t count = topology_count_links(topology, counts);
    record_begin(record, NULL);
    record_string(record, "kind", "looks like    %s\n", s->kind);
    record_number(record, "switches", "switches      %llu", s->switches);
    for (uint32_t i = 0; s->layered && i < levels; i++)
        record_text(record, "%s%u%s", i ? " + " : " (levels, from the hosts up: ", s->level[i],
                    i + 1 == levels ? ")" : "");
    record_number(record, "adapters", "\nadapters      %llu", s->adapters);
    if (s->loose_nodes)
        record_text(record, " (%u without a link)", s->loose_nodes);
    if (virtual->hypervisors)
        record_text(record, "\nhypervisors   %u, functions %u", virtual->hypervisors,
                    virtual->functions);
    record_number(record, "routers", s->routers ? "\nrouters       %llu" : NULL, s->routers);
    record_number(record, "hypervisors", NULL, virtual->hypervisors);
    record_number(record, "functions", NULL, virtual->functions);
    record_number(record, "switch_links", "\nlinks         %llu between switches", s->switch_links);
    record_number(record, "parallel_links", s->parallel_links ? " (%llu of them parallel)" : NULL,
                  s->parallel_links);
    record_number(record, "host_links", ", %llu to hosts", s->host_links);
    record_number(record, "other_links", s->other_links ? ", %llu others" : NULL, s->other_links);
    record_text(record, "\n              ");
    record_begin(record, "links");
    for (size_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s%s", link_width_name(counts[i].width),
                 link_speed_name(counts[i].speed));
        record_text(record, "%s%u of %s", i ? ", " : "", counts[i].links, name);
        record_number(record, name, NULL, counts[i].links);
    }
    record_end(record);
    record_number(record, "free_ports", "\nfree ports    %llu of switches\n", s->free_ports);
    record_number(record, "loose_nodes", NULL, s->loose_nodes);
    record_number(record, "parts", NULL, s->parts);
    record_begin_list(record, "levels");
    for (uint32_t i = 0; record->as_json && i < levels; i++)
        json_unsigned(&record->json, NULL, s->level[i]);
    record_end_list(record);
    record_number(record, "degree_least", "degree        %llu", s->degree_least);
    record_number(record, "degree_most", " to %llu links from switch to switch\n", s->degree_most);
    record_text(record, "distance      %s", s->diameter_is_exact ? "" : "at least ");
    record_number(record, "diameter", "%llu hops at most", s->diameter);
    record_flag(record, "diameter_is_exact", NULL, s->diameter_is_exact);
    record_real(record, "distance_mean", ", %.2f on average\n", s->distance_mean);
    record_number(record, "bisection_links", "bisection     about %llu links", s->bisection);
    if (s->host_links)
        record_text(record, " for %u host ports", s->host_links);
    record_text(record, "\n");
    if (s->parts > 1 && s->routers)
        record_text(record, "subnets       %u; routers join them\n", s->parts);
    else if (s->parts > 1)
        record_text(record, "not connected: %u separate parts\n", s->parts);
    record_end(record);
}

/* Summarises the physical topology, without the virtual functions of hypervisors. */
static int run_info(const struct topology *topology, struct err *err)
{
    struct graph graph;
    struct topology plain;
    struct virtual_counts virtual;
    struct topology_summary summary;
    struct text text = {0};
    topology_init(&plain);
    topology_without_functions(&plain, topology, &virtual);
    graph_init(&graph, &plain);
    topology_summarise(&plain, &graph, &summary);
    struct record record = record_to(&text, given.json, true);
    put_summary(&record, &plain, &summary, &virtual);
    graph_release(&graph);
    topology_release(&plain);
    return put_text(&text, err);
}

static int run_draw(const struct topology *topology, struct err *err)
{
    struct drawing_limits limits = DRAWING_LIMITS;
    struct text text = {0}, picture = {0};
    struct graph graph;
    const char *end = given.out ? strrchr(given.out, '.') : ".dot";
    const char *format = end ? end + 1 : "";
    bool is_dot = strcmp(format, "dot") == 0, is_svg = strcmp(format, "svg") == 0;
    if (!is_dot && !is_svg && strcmp(format, "png") != 0 && strcmp(format, "pdf") != 0)
        return command_usage("draw: -o %s: expected a name that ends in .svg, .png, .pdf or .dot",
                             given.out);
    limits.by_rooms = given.layout && strcmp(given.layout, "rooms") == 0;
    if (given.layout && !limits.by_rooms && strcmp(given.layout, "structure") != 0)
        return command_usage("--layout %s: expected structure or rooms", given.layout);
    limits.host_limit = (uint32_t)given.hosts;
    graph_init(&graph, topology);
    bool drawn = topology_draw(topology, &graph, limits, is_dot ? DRAWING_DOT : DRAWING_SVG, &text);
    graph_release(&graph);
    if (!drawn)
        return err_set(err, EINVAL, "draw: the names of the switches do not begin with rooms");
    if (is_dot || is_svg)
        return put_text(&text, err);
    const char *const converter[] = {"rsvg-convert", "--unlimited", "--format", format, NULL};
    int status = program_filter(converter, "librsvg2-bin", &text, &picture, err);
    text_release(&text);
    if (status == 0)
        return put_text(&picture, err);
    text_release(&picture);
    return status;
}

static int run_convert(const struct topology *topology, struct err *err)
{
    struct text text = {0};
    struct graph graph;
    const char *to = given.to;
    if (!to)
        return command_usage("convert: expected --to ibnetdiscover, dot, json or slurm");
    graph_init(&graph, topology);
    int status = 0;
    if (strcmp(to, "ibnetdiscover") == 0)
        topology_write_ibnetdiscover(topology, &text);
    else if (strcmp(to, "json") == 0)
        topology_write_json(topology, &text);
    else if (strcmp(to, "slurm") == 0)
        topology_write_slurm(topology, &graph, &text);
    else if (strcmp(to, "dot") == 0)
        topology_draw(topology, &graph, DRAWING_LIMITS, DRAWING_DOT, &text);
    else
        status = command_usage("--to %s: expected ibnetdiscover, dot, json or slurm", to);
    graph_release(&graph);
    return status ? status : put_text(&text, err);
}

/* Reads a fabric without its virtual switches and functions. */
static int read_plain(struct topology *plain, const char *path, struct err *err)
{
    struct topology topology;
    struct virtual_counts counts;
    topology_init(&topology);
    int status = command_read_topology(path, &topology, err);
    if (status == 0)
        topology_without_functions(plain, &topology, &counts);
    topology_release(&topology);
    return status;
}

static void put_differences(struct record *record, const struct topology_diff *diff)
{
    record_begin_list(record, NULL);
    for (size_t i = 0; i < diff->items.count; i++) {
        struct text place = {0};
        topology_diff_print(diff, &diff->items.items[i], &place);
        record_begin(record, NULL);
        record_string(record, "kind", "%s", difference_kind_name(diff->items.items[i].kind));
        record_string(record, "place", ": %s\n", place.data);
        record_end(record);
        text_release(&place);
    }
    record_end_list(record);
    if (!diff->items.count)
        record_text(record, "no difference\n");
}

static int run_diff(int argc, char **argv, struct err *err)
{
    struct topology plan, actual;
    struct topology_diff diff;
    struct text text = {0};
    if (argc != 2)
        return command_usage("diff: expected two net files: PLAN and ACTUAL");
    topology_init(&plan);
    topology_init(&actual);
    int status = read_plain(&plan, argv[0], err);
    if (status == 0)
        status = read_plain(&actual, argv[1], err);
    if (status == 0) {
        topology_diff(&diff, &plan, &actual);
        struct record record = record_to(&text, given.json, true);
        put_differences(&record, &diff);
        bool same = diff.items.count == 0;
        topology_diff_release(&diff);
        status = put_text(&text, err);
        status = status == 0 && !same ? EXIT_FAILS : status;
    }
    topology_release(&plan);
    topology_release(&actual);
    return status;
}

/* info, draw and convert read a topology first, and replace descriptions by --node-names. */
static int run_on_net(const char *verb, int argc, char **argv, struct err *err)
{
    static const struct {
        const char *name;
        int (*run)(const struct topology *topology, struct err *err);
    } verbs[] = {{"info", run_info}, {"draw", run_draw}, {"convert", run_convert}};
    size_t chosen = 0, count = sizeof verbs / sizeof verbs[0];
    struct topology topology;
    struct node_names names = {0};
    while (chosen < count && strcmp(verb, verbs[chosen].name) != 0)
        chosen++;
    if (chosen == count)
        return command_usage("'%s': expected gen, info, diff, draw or convert", verb);
    if (argc != 1)
        return command_usage("%s: expected one net file", verb);
    topology_init(&topology);
    int status = command_read_topology(argv[0], &topology, err);
    if (status == 0 && given.node_names)
        status = node_names_read(&names, from_file(given.node_names, err));
    for (uint32_t i = 0; i < topology.nodes.count && status == 0; i++) {
        const char *name = node_names_find(&names, topology.nodes.items[i].guid);
        if (name)
            topology_set_description(&topology, i, name, strlen(name));
    }
    if (status == 0)
        status = virtualise(&topology, err);
    if (status == 0)
        status = verbs[chosen].run(&topology, err);
    node_names_release(&names);
    topology_release(&topology);
    return status;
}

static int run_topo(int argc, char **argv, struct err *err)
{
    if (given.kinds) {
        struct text text = {0};
        topology_describe_kinds(&text);
        return put_text(&text, err);
    }
    if (argc < 2)
        return command_usage("expected gen, info, diff, draw or convert");
    if (strcmp(argv[1], "gen") == 0)
        return run_gen(argc - 2, argv + 2, err);
    if (strcmp(argv[1], "diff") == 0)
        return run_diff(argc - 2, argv + 2, err);
    return run_on_net(argv[1], argc - 2, argv + 2, err);
}

const struct command command_topo = {
    .name = "topo",
    .summary = "make, inspect, compare, draw and convert topologies",
    .usage = "weft topo: make, inspect, compare, draw and convert topologies\n"
             "\n"
             "usage: weft topo gen KIND [NAME=VALUE ...] [--seed N]\n"
             "       weft topo gen join NET NET ... [routers=N] [shape=star|chain|ring]\n"
             "       weft topo info NET [--json]\n"
             "       weft topo diff PLAN ACTUAL [--json]\n"
             "       weft topo draw NET [-o FILE] [--hosts N] [--layout LAYOUT]\n"
             "       weft topo convert NET --to FORMAT [-o FILE]\n"
             "\n"
             "gen writes a new fabric to standard output; info prints counts, levels and the\n"
             "detected kind; diff lists the cables of ACTUAL that differ from those of PLAN:\n"
             "missing, extra, moved and swapped ones, and wrong widths or speeds; draw makes\n"
             "SVG, PNG, PDF or dot, by FILE's name; convert writes ibnetdiscover, dot, json or\n"
             "slurm.\n"
             "\n"
             "NET is a dump of ibnetdiscover, iblinkinfo or OpenSM (opensm-subnet.lst), or a\n"
             "net file of ibsim; '-' is standard input. All commands keep the LIDs of NET;\n"
             "ports without one get the lowest free LID, breadth-first from the switch with\n"
             "the lowest GUID.\n"
             "\n",
    .column = 15,
    .options = options,
    .more = "\n"
            "Values without a name are assigned in the order in which --kinds lists the\n"
            "parameters. Every kind also has width=4x, speed=NDR and length=20m of its links,\n"
            "and vfs= and hypervisors=, which mean the same as the options. join puts net\n"
            "files beside each other as subnets, joined by routers.\n"
            "\n"
            "diff matches nodes by description, or by GUID where several nodes have the same\n"
            "one. Its exit status is 0 if nothing differs, 1 if something does.\n"
            "\n"
            "examples:\n"
            "  weft topo gen fattree 648 speed=HDR >net      36 leaves, 18 spines, 648 hosts\n"
            "  weft topo gen irregular 16 hosts=14 --seed 7  16 four-port switches, 14 hosts\n"
            "  weft topo gen torus dims=4x4x4 hosts=2\n"
            "  weft topo gen join a.net b.net routers=2 >two  two subnets\n"
            "  ibnetdiscover | weft topo info -\n"
            "  ibnetdiscover | weft topo diff plan -\n"
            "  weft topo draw net -o net.svg\n"
            "  weft topo convert net --to slurm >topology.conf\n"
            "  weft topo convert net --to ibnetdiscover --vfs 16 >cloud\n",
    .run = run_topo,
};
