#include "networks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned take_port(uint8_t *used, uint32_t at, unsigned ports)
{
    return used[at] < ports ? ++used[at] : 0;
}

static bool draft_link(struct draft *draft, uint8_t *used, uint32_t a, uint32_t b)
{
    if (a == b || used[a] >= draft->ports || used[b] >= draft->ports)
        return false;
    struct draft_link link = {.a = a, .b = b};
    link.a_port = (uint8_t)take_port(used, a, draft->ports);
    link.b_port = (uint8_t)take_port(used, b, draft->ports);
    vec_push(&draft->links, link);
    return true;
}

void draft_random(struct draft *draft, uint64_t seed, uint32_t largest)
{
    struct rng rng;
    rng_seed(&rng, seed, 0);
    *draft = (struct draft){0};
    draft->switches = (uint32_t)(4 + rng_below(&rng, largest - 3));
    draft->ports = (unsigned)(4 + rng_below(&rng, 13));
    draft->dead = mem_zalloc(draft->switches, sizeof *draft->dead);
    uint8_t *used = mem_zalloc(draft->switches, 1);
    for (uint32_t at = 1; at < draft->switches; at++)
        for (int attempt = 0; attempt < 64; attempt++)
            if (draft_link(draft, used, at, (uint32_t)rng_below(&rng, at)))
                break;
    uint64_t more = rng_below(&rng, (uint64_t)draft->switches * draft->ports / 3 + 1);
    for (uint64_t i = 0; i < more; i++) {
        uint32_t a = (uint32_t)rng_below(&rng, draft->switches);
        uint32_t b = (uint32_t)rng_below(&rng, draft->switches);
        draft_link(draft, used, a, b);
        if (rng_below(&rng, 8) == 0)
            draft_link(draft, used, a, b); /* parallel */
    }
    for (uint32_t at = 0; at < draft->switches; at++) {
        uint64_t hosts = rng_below(&rng, 4);
        while (hosts-- && used[at] < draft->ports)
            vec_push(&draft->hosts,
                     ((struct draft_host){at, (uint8_t)take_port(used, at, draft->ports)}));
    }
    mem_free(used);
}

void draft_break(struct draft *draft, uint64_t seed, unsigned links, unsigned switches)
{
    struct rng rng;
    rng_seed(&rng, seed, 1);
    while (links-- && draft->links.count)
        draft->links.items[rng_below(&rng, draft->links.count)].cut = true;
    while (switches--)
        draft->dead[rng_below(&rng, draft->switches)] = true;
}

void draft_release(struct draft *draft)
{
    vec_release(&draft->links);
    vec_release(&draft->hosts);
    mem_free(draft->dead);
}

void draft_build(const struct draft *draft, uint8_t lmc, struct network *network)
{
    uint32_t step = UINT32_C(1) << lmc;
    network_init(network);
    for (uint32_t at = 0; at < draft->switches; at++) {
        /* Not in order of index, so that LIDs and indices cannot be mistaken for each other. */
        uint32_t lid = draft->switches - at;
        network_add_switch(network, 0x1000 + at, draft->dead[at] ? 0 : (uint16_t)lid, 0,
                           draft->ports);
    }
    for (size_t i = 0; i < draft->links.count; i++) {
        const struct draft_link *link = &draft->links.items[i];
        if (!link->cut && !draft->dead[link->a] && !draft->dead[link->b])
            network_link(network, link->a, link->a_port, link->b, link->b_port);
    }
    uint32_t lid = (draft->switches / step + 1) * step;
    for (size_t i = 0; i < draft->hosts.count; i++, lid += step)
        if (!draft->dead[draft->hosts.items[i].at])
            network_add_terminal(network, 0x100000 + i, (uint16_t)lid, lmc,
                                 draft->hosts.items[i].at, draft->hosts.items[i].port);
    network_finish(network);
}

void build_kind(struct network *network, const char *kind, const char *const *words, size_t count,
                uint8_t lmc, uint64_t seed)
{
    struct topology topology;
    struct err err;
    topology_init(&topology);
    if (topology_generate(&topology, kind, words, count, seed, &err) ||
        network_from_topology_lmc(network, &topology, lmc, &err)) {
        fprintf(stderr, "%s: %s\n", kind, err.message);
        abort();
    }
    topology_release(&topology);
}

void cut_links(struct network *network, uint64_t seed, unsigned one_in)
{
    struct rng rng;
    rng_seed(&rng, seed, 2);
    for (uint32_t at = 0; at < network->switches.count; at++) {
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            if (edge->to < at || rng_below(&rng, one_in) > 0)
                continue;
            uint32_t near = network->switches.items[at].first_port + edge->port;
            uint32_t far = network->switches.items[edge->to].first_port + edge->to_port;
            network->ports.items[near].peer = network->ports.items[far].peer = NETWORK_NONE;
        }
    }
    network_finish(network);
}

void build_odd(struct network *network, uint64_t seed, uint32_t largest)
{
    struct rng rng;
    uint16_t lid = 1;
    rng_seed(&rng, seed, 3);
    uint32_t switches = (uint32_t)rng_below(&rng, largest + 1);
    unsigned lmc = (unsigned)rng_below(&rng, 3), most_ports = 1 + (unsigned)rng_below(&rng, 12);
    network_init(network);
    for (uint32_t at = 0; at < switches; at++) {
        lid = (uint16_t)(lid + rng_below(&rng, 3));
        network_add_switch(network, 0x1000 + at, rng_below(&rng, 20) ? lid++ : 0, 0,
                           1 + (unsigned)rng_below(&rng, most_ports));
    }
    uint64_t links = switches ? rng_below(&rng, switches * (uint64_t)most_ports) : 0;
    for (uint64_t i = 0; i < links; i++)
        network_link(network, (uint32_t)rng_below(&rng, switches),
                     1 + (unsigned)rng_below(&rng, most_ports), (uint32_t)rng_below(&rng, switches),
                     1 + (unsigned)rng_below(&rng, most_ports));
    uint64_t hosts = switches ? rng_below(&rng, switches * UINT64_C(3)) : 0;
    for (uint64_t i = 0; i < hosts; i++) {
        lid = (uint16_t)((lid + (1u << lmc) - 1) >> lmc << lmc);
        if (network_add_terminal(network, 0x100000 + i, lid, (uint8_t)lmc,
                                 (uint32_t)rng_below(&rng, switches),
                                 1 + (unsigned)rng_below(&rng, most_ports)) != NETWORK_NONE)
            lid = (uint16_t)(lid + (1u << lmc));
    }
    network_finish(network);
}

void build_ring(struct network *network, unsigned switches)
{
    char name[32];
    network_init(network);
    for (unsigned i = 0; i < switches; i++) {
        network_add_switch(network, 0xA0 + i, (uint16_t)(1 + i), 0, 4);
        snprintf(name, sizeof name, "ring%u", i);
        network_name(network, NETWORK_SWITCH | i, name);
    }
    for (unsigned i = 0; i < switches; i++) {
        network_link(network, i, 1, (i + 1) % switches, 2);
        network_add_terminal(network, 0xB0 + i, (uint16_t)(1 + switches + i), 0, i, 3);
    }
    network_finish(network);
}

void build_torn_tree(struct network *network)
{
    network_init(network);
    for (unsigned i = 0; i < 5; i++)
        network_add_switch(network, 1 + i, (uint16_t)(1 + i), 0, 4);
    for (unsigned leaf = 0; leaf < 3; leaf++)
        network_add_terminal(network, 100 + leaf, (uint16_t)(10 + leaf), 0, leaf, 4);
    network_link(network, 0, 1, 3, 1);
    network_link(network, 1, 1, 3, 2);
    network_link(network, 1, 2, 4, 1);
    network_link(network, 2, 2, 4, 2);
    network_finish(network);
}

void golden_read(const char *name, struct text *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", GOLDEN_FOLDER, name);
    FILE *file = fopen(path, "r");
    *text = (struct text){0};
    if (!file || text_read(text, file, 1 << 20)) {
        fprintf(stderr, "cannot read %s\n", path);
        abort();
    }
    fclose(file);
}

size_t golden_numbers(const char *text, const char *key, long *numbers, size_t limit)
{
    char quoted[64];
    size_t count = 0;
    int depth = 0;
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(text, quoted);
    if (!at)
        return 0;
    for (at += strlen(quoted); *at; at++) {
        depth += (*at == '[') - (*at == ']');
        if (isdigit((unsigned char)*at) && count < limit) {
            char *end;
            numbers[count++] = strtol(at, &end, 10);
            at = end - 1;
        }
        if (depth == 0 && (*at == ']' || *at == ',' || *at == '}'))
            break;
    }
    return count;
}

static void build_paper(struct network *network, const char *kind)
{
    struct topology topology;
    struct err err;
    topology_init(&topology);
    if (topology_generate(&topology, kind, NULL, 0, 0, &err) ||
        network_from_topology(network, &topology, &err)) {
        fprintf(stderr, "%s: %s\n", kind, err.message);
        abort();
    }
    topology_release(&topology);
}

void build_figure1(struct network *network)
{
    build_paper(network, "figure1");
}

void build_thesis(struct network *network)
{
    build_paper(network, "thesis");
}

void build_counterexample(struct network *network)
{
    struct text text;
    long links[256], switches[32];
    uint32_t index[64];
    golden_read("mixed_counterexample.json", &text);
    size_t link_numbers = golden_numbers(text.data, "links", links, 256);
    size_t switch_count = golden_numbers(text.data, "switches", switches, 32);
    network_init(network);
    for (int i = 0; i < 64; i++)
        index[i] = NETWORK_NONE;
    for (size_t i = 0; i < switch_count; i++)
        index[switches[i]] =
            network_add_switch(network, (uint64_t)switches[i], (uint16_t)switches[i], 0, 4);
    for (size_t i = 0; i + 3 < link_numbers; i += 4) {
        uint32_t a = index[links[i]], b = index[links[i + 2]];
        if (b == NETWORK_NONE)
            network_add_terminal(network, 0x100 + (uint64_t)links[i + 2], (uint16_t)links[i + 2], 0,
                                 a, (unsigned)links[i + 1]);
        else
            network_link(network, a, (unsigned)links[i + 1], b, (unsigned)links[i + 3]);
    }
    network->manager = index[1];
    network_finish(network);
    text_release(&text);
}

static void run_backwards(const struct workers *workers, size_t jobs,
                          void (*job)(void *context, size_t index), void *context)
{
    (void)workers;
    while (jobs--)
        job(context, jobs);
}

const struct workers backwards = {.count = 3, .run = run_backwards};
