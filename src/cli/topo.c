/* weft topo: makes, inspects, draws and converts topologies.
 *
 * Whatever comes out as ibnetdiscover text is a fabric for every other command, for ibsim and for
 * the scripts that people have. Layout of drawings is graphviz's work, run as a child. */
#include "base/file.h"
#include "base/line_reader.h"
#include "cli/command.h"
#include "experiment/chart/program.h"
#include "topology/export.h"
#include "topology/generate.h"
#include "topology/summary.h"
#include "topology/virtual.h"
#include "wire/vswitch.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "weft topo: make, inspect, draw and convert topologies\n"
    "\n"
    "usage: weft topo gen KIND [NAME=VALUE ...] [--seed N]\n"
    "       weft topo info NET [--json]\n"
    "       weft topo draw NET [-o FILE] [--hosts N]\n"
    "       weft topo convert NET --to FORMAT [-o FILE]\n"
    "\n"
    "gen writes a new fabric to standard output; info prints counts, levels and what\n"
    "the fabric looks like; draw makes SVG, PNG, PDF or dot, by FILE's name; convert\n"
    "writes ibnetdiscover, dot, json or slurm.\n"
    "\n"
    "NET is the output of ibnetdiscover or a net file of ibsim; '-' is standard\n"
    "input.\n"
    "\n"
    "  --seed N     for the kinds that are random (default 1); the same seed, the\n"
    "               same fabric\n"
    "  --json       for programs\n"
    "  -o FILE      where to write; default: standard output (draw then writes dot)\n"
    "  --hosts N    draw hosts one by one if there are no more than N (default 80)\n"
    "  --to FORMAT  slurm is topology.conf of the tree plugin\n"
    "  --vfs N      gen, convert: make a hypervisor with N virtual functions of\n"
    "               every host\n"
    "  --hypervisors N\n"
    "               the same of no more than the first N\n"
    "  --kinds      list the kinds of fabric and their parameters\n"
    "\n"
    "Bare values are taken in the order in which --kinds lists the parameters. Every\n"
    "kind also takes width=4x, speed=SDR and length=20m for its links, and vfs= and\n"
    "hypervisors=, which mean the same as the options.\n"
    "\n"
    "examples:\n"
    "  weft topo gen fattree 648 speed=HDR >net      36 leaves, 18 spines, 648 hosts\n"
    "  weft topo gen irregular 16 hosts=14 --seed 7  16 four-port switches, 14 hosts\n"
    "  weft topo gen torus dims=4x4x4 hosts=2\n"
    "  ibnetdiscover | weft topo info -\n"
    "  weft topo draw net -o net.svg\n"
    "  weft topo convert net --to slurm >topology.conf\n"
    "  weft topo convert net --to ibnetdiscover --vfs 16 >cloud\n";

struct options {
    const char *out, *to;
    uint64_t seed, hosts, vfs, hypervisors;
    bool json, kinds;
};

/* To standard output, or the file that -o names. */
static int put_text(struct text *text, const char *path)
{
    struct err err;
    int status = file_write(path ? path : "-", text, &err);
    text_release(text);
    return status ? command_error("topo", &err) : EXIT_HOLDS;
}

/* Hosts become hypervisors, if that is asked for. */
static int virtualise(struct topology *topology, const struct options *options)
{
    uint32_t most = options->hypervisors ? (uint32_t)options->hypervisors : UINT32_MAX;
    struct err err;
    if (!options->vfs)
        return options->hypervisors ? command_usage("topo", "--hypervisors without --vfs")
                                    : EXIT_HOLDS;
    if (topology_virtualise(topology, (unsigned)options->vfs, most, &err))
        return command_error("topo", &err);
    return EXIT_HOLDS;
}

static int run_gen(int argc, char **argv, const struct options *options)
{
    struct topology topology;
    struct text text = {0};
    struct err err;
    if (argc < 1)
        return command_usage("topo", "gen: expected a kind of fabric; --kinds lists them");
    topology_init(&topology);
    if (topology_generate(&topology, argv[0], (const char *const *)argv + 1, (size_t)argc - 1,
                          options->seed, &err))
        return command_error("topo", &err);
    int status = virtualise(&topology, options);
    if (status == EXIT_HOLDS) {
        topology_write_ibnetdiscover(&topology, &text);
        status = put_text(&text, options->out);
    }
    topology_release(&topology);
    return status;
}

static void print_links(const struct topology *topology, struct text *text, struct json *json)
{
    static const uint8_t widths[] = {WIDTH_1X, WIDTH_2X, WIDTH_4X, WIDTH_8X, WIDTH_12X};
    uint32_t count[WIDTH_2X + 1][SPEED_COUNT] = {0};
    bool first = true;
    for (uint32_t i = 0; i < topology->ports.count; i++) {
        const struct topology_port *port = &topology->ports.items[i];
        if (port->peer != TOPOLOGY_NONE && port->peer > i)
            count[port->width][port->speed]++;
    }
    for (size_t w = 0; w < sizeof widths; w++) {
        for (unsigned s = 0; s < SPEED_COUNT; s++) {
            char name[16];
            uint32_t links = count[widths[w]][s];
            if (!links)
                continue;
            snprintf(name, sizeof name, "%s%s", link_width_name(widths[w]), link_speed_name(s));
            if (json)
                json_unsigned(json, name, links);
            else
                text_printf(text, "%s%u of %s", first ? "" : ", ", links, name);
            first = false;
        }
    }
}

static void print_summary(const struct topology *topology, const struct topology_summary *s,
                          const struct virtual_counts *virtual, struct text *text)
{
    text_printf(text, "looks like    %s\n", s->kind);
    text_printf(text, "switches      %u", s->switches);
    if (s->layered)
        for (uint32_t i = 0; i < s->level_count && i < SUMMARY_LEVELS; i++)
            text_printf(text, "%s%u%s", i ? " + " : " (levels, from the hosts up: ", s->level[i],
                        i + 1 == s->level_count || i + 1 == SUMMARY_LEVELS ? ")" : "");
    text_printf(text, "\nadapters      %u", s->adapters);
    if (s->loose_nodes)
        text_printf(text, " (%u without a link)", s->loose_nodes);
    if (virtual->hypervisors)
        text_printf(text, "\nhypervisors   %u, functions %u", virtual->hypervisors,
                    virtual->functions);
    if (s->routers)
        text_printf(text, "\nrouters       %u", s->routers);
    text_printf(text, "\nlinks         %u between switches", s->switch_links);
    if (s->parallel_links)
        text_printf(text, " (%u of them parallel)", s->parallel_links);
    text_printf(text, ", %u to hosts", s->host_links);
    if (s->other_links)
        text_printf(text, ", %u others", s->other_links);
    text_puts(text, "\n              ");
    print_links(topology, text, NULL);
    text_printf(text, "\nfree ports    %u of switches\n", s->free_ports);
    text_printf(text, "degree        %u to %u links from switch to switch\n", s->degree_least,
                s->degree_most);
    text_printf(text, "distance      %s%u hops at most, %.2f on average\n",
                s->diameter_is_exact ? "" : "at least ", s->diameter, s->distance_mean);
    text_printf(text, "bisection     about %u links", s->bisection);
    if (s->host_links)
        text_printf(text, " for %u host ports", s->host_links);
    text_putc(text, '\n');
    if (s->parts > 1)
        text_printf(text, "not connected: %u separate parts\n", s->parts);
}

static void print_summary_json(const struct topology *topology, const struct topology_summary *s,
                               const struct virtual_counts *virtual, struct text *text)
{
    struct json json = {.out = text, .pretty = true};
    json_begin_object(&json, NULL);
    json_string(&json, "kind", s->kind);
    json_unsigned(&json, "switches", s->switches);
    json_unsigned(&json, "adapters", s->adapters);
    json_unsigned(&json, "routers", s->routers);
    json_unsigned(&json, "hypervisors", virtual->hypervisors);
    json_unsigned(&json, "functions", virtual->functions);
    json_unsigned(&json, "switch_links", s->switch_links);
    json_unsigned(&json, "parallel_links", s->parallel_links);
    json_unsigned(&json, "host_links", s->host_links);
    json_unsigned(&json, "other_links", s->other_links);
    json_begin_object(&json, "links");
    print_links(topology, text, &json);
    json_end_object(&json);
    json_unsigned(&json, "free_ports", s->free_ports);
    json_unsigned(&json, "loose_nodes", s->loose_nodes);
    json_unsigned(&json, "parts", s->parts);
    json_begin_array(&json, "levels");
    for (uint32_t i = 0; i < s->level_count && i < SUMMARY_LEVELS; i++)
        json_unsigned(&json, NULL, s->level[i]);
    json_end_array(&json);
    json_unsigned(&json, "degree_least", s->degree_least);
    json_unsigned(&json, "degree_most", s->degree_most);
    json_unsigned(&json, "diameter", s->diameter);
    json_bool(&json, "diameter_is_exact", s->diameter_is_exact);
    json_double(&json, "distance_mean", s->distance_mean);
    json_unsigned(&json, "bisection_links", s->bisection);
    json_end_object(&json);
}

/* Of cables and boxes: what is inside a hypervisor's adapter has no shape of its own. */
static int run_info(const struct topology *topology, const struct options *options)
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
    if (options->json)
        print_summary_json(&plain, &summary, &virtual, &text);
    else
        print_summary(&plain, &summary, &virtual, &text);
    int status = put_text(&text, options->out);
    graph_release(&graph);
    topology_release(&plain);
    return status;
}

static int run_graphviz(const char *program, const char *format, const char *path,
                        struct text *text)
{
    enum { MOST = 1 << 20 };
    char option[16];
    const char *const argv[] = {program, option, "-o", path, NULL};
    struct text said = {0};
    struct err err;
    snprintf(option, sizeof option, "-T%s", format);
    int status = program_run(argv, "graphviz", text, MOST, &said, &err);
    text_release(text);
    text_release(&said);
    return status ? command_error("topo", &err) : EXIT_HOLDS;
}

static int run_draw(const struct topology *topology, const struct options *options)
{
    static const char *const formats[] = {"svg", "png", "pdf"};
    struct drawing_limits limits = DRAWING_LIMITS;
    struct text text = {0};
    struct graph graph;
    const char *format = options->out ? strrchr(options->out, '.') : ".dot";
    bool is_dot = format && strcmp(format, ".dot") == 0, known = is_dot;
    for (size_t i = 0; format && i < sizeof formats / sizeof formats[0]; i++)
        known |= strcmp(format + 1, formats[i]) == 0;
    if (!known)
        return command_usage("topo", "draw: -o %s: expected a name in .svg, .png, .pdf or .dot",
                             options->out);
    limits.host_limit = (uint32_t)options->hosts;
    graph_init(&graph, topology);
    const char *program = topology_write_dot(topology, &graph, limits, &text);
    int status = is_dot ? put_text(&text, options->out)
                        : run_graphviz(program, format + 1, options->out, &text);
    graph_release(&graph);
    return status;
}

static int run_convert(const struct topology *topology, const struct options *options)
{
    struct text text = {0};
    struct graph graph;
    int status = EXIT_HOLDS;
    graph_init(&graph, topology);
    if (!options->to)
        status = command_usage("topo", "convert: --to ibnetdiscover, dot, json or slurm?");
    else if (strcmp(options->to, "ibnetdiscover") == 0)
        topology_write_ibnetdiscover(topology, &text);
    else if (strcmp(options->to, "json") == 0)
        topology_write_json(topology, &text);
    else if (strcmp(options->to, "slurm") == 0)
        topology_write_slurm(topology, &graph, &text);
    else if (strcmp(options->to, "dot") == 0)
        topology_write_dot(topology, &graph, DRAWING_LIMITS, &text);
    else
        status = command_usage("topo", "--to %s: expected ibnetdiscover, dot, json or slurm",
                               options->to);
    if (status == EXIT_HOLDS)
        status = put_text(&text, options->out);
    graph_release(&graph);
    return status;
}

/* info, draw and convert begin alike. */
static int run_on_net(const char *verb, int argc, char **argv, const struct options *options)
{
    static const struct {
        const char *name;
        int (*run)(const struct topology *topology, const struct options *options);
    } verbs[] = {{"info", run_info}, {"draw", run_draw}, {"convert", run_convert}};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        struct topology topology;
        struct err err;
        if (strcmp(verb, verbs[i].name) != 0)
            continue;
        if (argc != 1)
            return command_usage("topo", "%s: expected one net file", verb);
        topology_init(&topology);
        if (topology_read(&topology, from_file(argv[0], &err)))
            return command_error("topo", &err);
        int status = virtualise(&topology, options);
        if (status == EXIT_HOLDS)
            status = verbs[i].run(&topology, options);
        topology_release(&topology);
        return status;
    }
    return command_usage("topo", "'%s': expected gen, info, draw or convert", verb);
}

static int run_topo(int argc, char **argv)
{
    struct options options = {.seed = 1, .hosts = DRAWING_LIMITS.host_limit};
    const struct option_spec specs[] = {
        {.name = "seed", .number = &options.seed},
        {.name = "out", .letter = 'o', .value = &options.out},
        {.name = "to", .value = &options.to},
        {.name = "hosts", .number = &options.hosts, .high = TOPOLOGY_MAX_NODES},
        {.name = "vfs", .number = &options.vfs, .low = 1, .high = VSWITCH_VFS_LIMIT},
        {.name = "hypervisors",
         .number = &options.hypervisors,
         .low = 1,
         .high = TOPOLOGY_MAX_NODES},
        {.name = "json", .flag = &options.json},
        {.name = "kinds", .flag = &options.kinds},
        {0},
    };
    argc = command_options("topo", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (options.kinds) {
        struct text text = {0};
        topology_describe_kinds(&text);
        return put_text(&text, options.out);
    }
    if (argc < 2)
        return command_usage("topo", "expected gen, info, draw or convert");
    if (strcmp(argv[1], "gen") == 0)
        return run_gen(argc - 2, argv + 2, &options);
    return run_on_net(argv[1], argc - 2, argv + 2, &options);
}

const struct command command_topo = {
    .name = "topo",
    .summary = "make, inspect, draw and convert topologies",
    .help = help,
    .run = run_topo,
};
