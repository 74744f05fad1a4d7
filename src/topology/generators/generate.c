/* The table of kinds, and their parameters read from words. */
#include "topology/generators/generate.h"

#include "base/parse.h"

#include "topology/generators/plan.h"
#include "topology/virtual.h"
#include "wire/vswitch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct parameter {
    const char *name;
    const char *fallback; /* default value; NULL: the generator computes it */
    uint64_t low, high;   /* of each item */
    enum { NUMBER, LIST, RULE } form;
    const char *help;
};

/* Rules of irregular networks (generate_random.c). */
static const char *const rules[] = {"even", "paper"};

struct kind {
    const char *name, *help;
    int (*generate)(struct fabric_plan *plan);
    struct parameter parameters[PLAN_PARAMETERS]; /* ends at a name of NULL */
};

enum { MANY = 1000000, PORTS = TOPOLOGY_PORTS_PER_NODE };

static const struct kind kinds[] = {
    {"irregular",
     "switches linked at random, connected, with some ports left free",
     generate_irregular,
     {{"switches", "16", 1, MANY, NUMBER, "how many"},
      {"hosts", NULL, 0, MANY, NUMBER, "spread evenly; default: one per switch with a free port"},
      {"ports", "4", 1, PORTS, NUMBER, "of each switch"},
      {"links", NULL, 0, 4 * MANY, NUMBER,
       "between switches; default: half way from a tree to full"},
      {"parallel", "0", 0, 1, NUMBER, "1 allows several links between two switches"},
      {"rule", "even", 0, 1, RULE, "paper: a switch without a host has no free port"}}},
    {"jellyfish",
     "a random regular graph",
     generate_jellyfish,
     {{"switches", "20", 2, MANY, NUMBER, "how many"},
      {"ports", "8", 1, PORTS, NUMBER, "of each switch"},
      {"degree", "5", 1, PORTS, NUMBER, "ports of each switch that lead to other switches"},
      {"hosts", NULL, 0, PORTS, NUMBER, "at each switch; default: all other ports"}}},
    {"clos",
     "folded Clos: m middle switches, r edge switches with n hosts each",
     generate_clos,
     {{"m", "3", 1, MANY, NUMBER, "middle switches"},
      {"n", "1", 0, PORTS, NUMBER, "hosts at each edge switch"},
      {"r", "4", 1, MANY, NUMBER, "edge switches"}}},
    {"fattree",
     "extended generalised fat tree XGFT(h; m1 … mh; w1 … wh)",
     generate_fattree,
     {{"size", NULL, 1, MANY, NUMBER, "hosts: 324, 648, 5832 or 11664, of 36-port switches"},
      {"m", NULL, 1, MANY, LIST, "children of a node of each level, from the leaves up"},
      {"w", NULL, 1, MANY, LIST, "parents of a node of each level, from the hosts up"},
      {"ports", NULL, 1, PORTS, NUMBER, "of each switch; default: as many as it needs"},
      {"parallel", "1", 1, PORTS, NUMBER, "cables for each link between switches"}}},
    {"kary",
     "k-ary n-tree",
     generate_kary,
     {{"k", "4", 1, PORTS, NUMBER, "half the ports of a switch"},
      {"n", "2", 1, PLAN_LIST_ITEMS, NUMBER, "levels"}}},
    {"torus",
     "grid whose lines are rings",
     generate_torus,
     {{"dims", "4x4", 1, MANY, LIST, "switches along each dimension, such as 4x4x8"},
      {"hosts", "1", 0, PORTS, NUMBER, "at each switch"},
      {"parallel", "1", 1, PORTS, NUMBER, "cables for each link between switches"}}},
    {"mesh",
     "grid with edges",
     generate_mesh,
     {{"dims", "4x4", 1, MANY, LIST, "switches along each dimension, such as 4x4x8"},
      {"hosts", "1", 0, PORTS, NUMBER, "at each switch"},
      {"parallel", "1", 1, PORTS, NUMBER, "cables for each link between switches"}}},
    {"ring",
     "a torus of one dimension",
     generate_torus,
     {{"switches", "6", 1, MANY, NUMBER, "how many"},
      {"hosts", "1", 0, PORTS, NUMBER, "at each switch"},
      {"parallel", "1", 1, PORTS, NUMBER, "cables for each link between switches"}}},
    {"hypercube",
     "two switches along each of n dimensions",
     generate_hypercube,
     {{"n", "4", 1, 19, NUMBER, "dimensions"}, {"hosts", "1", 0, PORTS, NUMBER, "at each switch"}}},
    {"hyperx",
     "grid whose lines are fully meshed",
     generate_hyperx,
     {{"dims", "4x4", 1, MANY, LIST, "switches along each dimension, such as 4x4"},
      {"hosts", "4", 0, PORTS, NUMBER, "at each switch"},
      {"parallel", "1", 1, PORTS, NUMBER, "cables for each link between switches"}}},
    {"dragonfly",
     "fully meshed groups, and links between all groups",
     generate_dragonfly,
     {{"p", "2", 0, PORTS, NUMBER, "hosts at each switch"},
      {"a", "4", 1, PORTS, NUMBER, "switches in a group"},
      {"h", "2", 1, PORTS, NUMBER, "links of each switch to other groups"},
      {"g", NULL, 1, MANY, NUMBER, "groups; default: a*h+1"}}},
    {"figure1",
     "the 8 switches and 7 hosts on which FERa and PIRa were published",
     generate_figure1,
     {{0}}},
    {"thesis",
     "the 5 switches and 7 adapter ports whose tables a thesis on OpenSM prints, with its LIDs",
     generate_thesis,
     {{0}}},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

/* Options of every kind. */
struct common_options {
    enum link_width width;
    enum link_speed speed;
    uint32_t length_mm;
    unsigned vfs; /* of each hypervisor; 0: hosts are plain adapters */
    uint32_t hypervisors;
};

static int unknown_parameter(const struct kind *kind, const char *word, struct err *err)
{
    struct text names = {0};
    for (int i = 0; i < PLAN_PARAMETERS && kind->parameters[i].name; i++)
        text_printf(&names, "%s, ", kind->parameters[i].name);
    int error = err_set(err, EINVAL, "%s has no parameter '%.40s'; it takes %swidth, speed, length",
                        kind->name, word, names.length ? names.data : "");
    text_release(&names);
    return error;
}

/* Items are separated by ',' or 'x'. */
static bool parse_items(const struct parameter *parameter, const char *text,
                        struct plan_argument *argument)
{
    argument->count = 0;
    for (unsigned i = 0; parameter->form == RULE && i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(text, rules[i]) == 0) {
            argument->values[argument->count++] = i;
            return argument->given = true;
        }
    while (parameter->form != RULE) {
        char *end;
        if (*text < '0' || *text > '9' || argument->count == PLAN_LIST_ITEMS)
            return false;
        errno = 0;
        unsigned long long value = strtoull(text, &end, 10);
        if (errno || value < parameter->low || value > parameter->high)
            return false;
        argument->values[argument->count++] = value;
        if (*end == '\0')
            break;
        if (parameter->form != LIST || (*end != ',' && *end != 'x'))
            return false;
        text = end + 1;
    }
    argument->given = argument->count > 0;
    return argument->given;
}

static int take_value(const struct parameter *parameter, const char *text, struct fabric_plan *plan,
                      unsigned at)
{
    if (parse_items(parameter, text, &plan->arguments[at]))
        return 0;
    if (parameter->form == RULE)
        return err_set(plan->err, EINVAL, "%s=%.40s: expected %s or %s", parameter->name, text,
                       rules[0], rules[1]);
    return err_set(plan->err, EINVAL, "%s=%.40s: expected %s from %llu to %llu%s", parameter->name,
                   text, parameter->form == LIST ? "numbers" : "a number",
                   (unsigned long long)parameter->low, (unsigned long long)parameter->high,
                   parameter->form == LIST ? ", such as 4x4 or 18,36" : "");
}

/* 1 if the word was one of the common options, 0 if not, or an error. */
static int take_common_option(const char *word, struct common_options *options, struct err *err)
{
    const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : "", *expected;
    uint64_t number = 0;
    bool sound;
    if (strncmp(word, "width=", 6) == 0) {
        sound = link_width_parse(value, &options->width);
        expected = "1x, 2x, 4x, 8x or 12x";
    } else if (strncmp(word, "speed=", 6) == 0) {
        sound = link_speed_parse(value, &options->speed);
        expected = "SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR";
    } else if (strncmp(word, "length=", 7) == 0) {
        sound = link_length_parse(value, &options->length_mm);
        expected = "a length such as 20m or 1500mm";
    } else if (strncmp(word, "vfs=", 4) == 0) {
        if (!parse_bounded(value, 1, VSWITCH_VFS_LIMIT, &number))
            return err_set(err, EINVAL, "%.40s: expected 1 to %d virtual functions", word,
                           VSWITCH_VFS_LIMIT);
        options->vfs = (unsigned)number;
        return 1;
    } else if (strncmp(word, "hypervisors=", 12) == 0) {
        sound = parse_bounded(value, 1, TOPOLOGY_MAX_NODES, &number);
        options->hypervisors = (uint32_t)number;
        expected = "a number of hosts from 1 on";
    } else {
        return 0;
    }
    return sound ? 1 : err_set(err, EINVAL, "%.40s: expected %s", word, expected);
}

static int take_word(const struct kind *kind, const char *word, unsigned *position,
                     struct fabric_plan *plan)
{
    const char *equals = strchr(word, '=');
    if (!equals) {
        if (*position >= PLAN_PARAMETERS || !kind->parameters[*position].name)
            return unknown_parameter(kind, word, plan->err);
        unsigned at = (*position)++;
        return take_value(&kind->parameters[at], word, plan, at);
    }
    for (unsigned i = 0; i < PLAN_PARAMETERS && kind->parameters[i].name; i++) {
        const char *name = kind->parameters[i].name;
        if (strlen(name) != (size_t)(equals - word) || strncmp(name, word, strlen(name)) != 0)
            continue;
        if (plan->arguments[i].given)
            return err_set(plan->err, EINVAL, "%s is given twice", name);
        return take_value(&kind->parameters[i], equals + 1, plan, i);
    }
    return unknown_parameter(kind, word, plan->err);
}

static int take_words(const struct kind *kind, const char *const *words, size_t count,
                      struct fabric_plan *plan, struct common_options *options)
{
    unsigned position = 0;
    for (size_t i = 0; i < count; i++) {
        int error = take_common_option(words[i], options, plan->err);
        if (error == 0)
            error = take_word(kind, words[i], &position, plan);
        if (error < 0)
            return error;
    }
    for (unsigned i = 0; i < PLAN_PARAMETERS && kind->parameters[i].name; i++) {
        if (plan->arguments[i].given || !kind->parameters[i].fallback)
            continue;
        int error = take_value(&kind->parameters[i], kind->parameters[i].fallback, plan, i);
        if (error)
            return error;
    }
    return 0;
}

int topology_generate(struct topology *topology, const char *kind, const char *const *words,
                      size_t count, uint64_t seed, struct err *err)
{
    const struct kind *entry = kinds;
    while (entry < kinds + KIND_COUNT && strcmp(entry->name, kind) != 0)
        entry++;
    if (entry == kinds + KIND_COUNT) {
        struct text names = {0};
        for (int i = 0; i < KIND_COUNT; i++)
            text_printf(&names, "%s%s", i ? ", " : "", kinds[i].name);
        err_set(err, EINVAL, "no kind of fabric is called '%.40s'; there are %s", kind, names.data);
        text_release(&names);
        return -EINVAL;
    }
    struct fabric_plan plan = {.err = err};
    struct common_options options = {WIDTH_4X, SPEED_NDR, TOPOLOGY_LENGTH_MM,
                                     .hypervisors = UINT32_MAX};
    struct topology built;
    topology_init(&built);
    rng_seed(&plan.rng, seed, 0);
    int error = take_words(entry, words, count, &plan, &options);
    if (!error)
        error = entry->generate(&plan);
    if (!error)
        error = plan_build(&plan, &built);
    plan_release(&plan);
    for (size_t i = 0; i < built.ports.count; i++) {
        struct topology_port *port = &built.ports.items[i];
        if (port->peer == TOPOLOGY_NONE)
            continue;
        port->width = (uint8_t)options.width;
        port->speed = (uint8_t)options.speed;
        port->length_mm = options.length_mm;
    }
    if (!error && options.vfs)
        error = topology_virtualise(&built, options.vfs, options.hypervisors, err);
    if (error) {
        topology_release(&built);
        return error;
    }
    topology_release(topology);
    *topology = built;
    return 0;
}

void topology_describe_kinds(struct text *out)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        text_printf(out, "  %-10s %s\n", kinds[i].name, kinds[i].help);
        for (int j = 0; j < PLAN_PARAMETERS && kinds[i].parameters[j].name; j++) {
            const struct parameter *parameter = &kinds[i].parameters[j];
            text_printf(out, "      %s=%-*s %s\n", parameter->name,
                        (int)(12 - strlen(parameter->name)),
                        parameter->fallback ? parameter->fallback : "", parameter->help);
        }
    }
    text_puts(out, "\n"
                   "  every kind also takes width=4x, speed=NDR and length=20m for its links;\n"
                   "  vfs=N turns hosts into hypervisors with N virtual functions,\n"
                   "  hypervisors=M only the first M of them\n");
}
