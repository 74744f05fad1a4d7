/* repair: the cost of a repair of the tables of a large fat tree after one failure.
 *
 * On the 11,664-host tree a link or a switch of each level fails. The tables that an engine
 * computed are repaired (routing/repair/repair.h), the order of the updates is planned, and both
 * are checked (routing/check/verify_change.h). Prints the best of several times and their parts,
 * the entries that changed and that were examined, and the time of the engine and the full check.
 */
#include "routing/repair/repair.h"
#include "routing/check/verify.h"
#include "routing/check/verify_change.h"
#include "routing/engine/engine.h"
#include "topology/generators/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CPU time: there is one thread, and others may use the machine. */
static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The failure: a switch, or the link at one of its ports. */
struct loss {
    const char *name;
    uint32_t at;
    uint8_t port; /* 0: the switch */
};

static bool is_lost(const struct network *network, const struct loss *loss, uint32_t at,
                    unsigned port)
{
    const struct network_port *link =
        &network->ports.items[network->switches.items[at].first_port + port];
    uint32_t far = link->peer & ~NETWORK_SWITCH;
    if (loss->port == 0)
        return far == loss->at && (link->peer & NETWORK_SWITCH);
    return (at == loss->at && port == loss->port) ||
           ((link->peer & NETWORK_SWITCH) && far == loss->at && link->peer_port == loss->port);
}

static void copy_without(struct network *to, const struct network *from, const struct loss *loss,
                         uint32_t *to_new)
{
    network_init(to);
    for (uint32_t i = 0; i < from->switches.count; i++) {
        const struct network_switch *node = &from->switches.items[i];
        to_new[i] = loss->port == 0 && i == loss->at
                        ? NETWORK_NONE
                        : network_add_switch(to, node->guid, node->lid, 0, node->port_count);
    }
    for (uint32_t i = 0; i < from->switches.count; i++)
        for (unsigned port = 1; port <= from->switches.items[i].port_count; port++) {
            const struct network_port *link =
                &from->ports.items[from->switches.items[i].first_port + port];
            uint32_t far = link->peer & ~NETWORK_SWITCH;
            if (to_new[i] == NETWORK_NONE || link->peer == NETWORK_NONE ||
                is_lost(from, loss, i, port))
                continue;
            if (!(link->peer & NETWORK_SWITCH))
                network_add_terminal(to, from->terminals.items[far].guid,
                                     from->terminals.items[far].lid, 0, to_new[i], port);
            else if (far > i)
                network_link(to, to_new[i], port, to_new[far], link->peer_port);
        }
    network_finish(to);
    to->manager = 0;
}

struct state {
    struct network network;
    struct routes routes;
    struct repair_state known;
    struct dependency_graph checked;
};

/* The fabric after the failure, and the tables of its switches. */
struct rest {
    struct network network;
    struct routes held;
    uint32_t *to_new;
};

static void take_away(struct rest *rest, const struct state *state, const struct loss *loss)
{
    rest->to_new = mem_alloc(state->network.switches.count * sizeof *rest->to_new);
    copy_without(&rest->network, &state->network, loss, rest->to_new);
    routes_init(&rest->held, &rest->network, state->routes.engine);
    rest->held.vls = state->routes.vls;
    for (uint32_t old = 0; old < state->network.switches.count; old++)
        if (rest->to_new[old] != NETWORK_NONE)
            memcpy(routes_row(&rest->held, rest->to_new[old]), routes_row(&state->routes, old),
                   rest->held.stride);
}

enum { COMPARE, REPAIR, ORDER, CHECK, PARTS, REPEATS = 15 };

struct outcome {
    double part[PARTS], all; /* ms */
    size_t entries, waves;
    unsigned long long broken;
    unsigned drains;
    const char *fault;
};

static void repair_and_check(const struct state *state, struct rest *rest, bool judge,
                             struct outcome *outcome)
{
    struct repair repair = {0};
    struct verify_change change;
    struct update_plan plan = {0};
    struct verify_report report;
    struct err err = {0};
    double times[PARTS + 1] = {now_ms()};
    repair_compare(&repair, &state->known, &state->network, &state->routes, &rest->network,
                   &rest->held, rest->to_new);
    verify_change_begin(&change, &state->network, &state->checked, &rest->network, rest->to_new);
    times[1] = now_ms();
    int status = repair_tables(&repair, &rest->network, &rest->held, &err);
    times[2] = now_ms();
    if (!status && !repair_plan(&repair, &rest->held, &plan))
        status = -1;
    times[3] = now_ms();
    if (!status)
        status = verify_change(&change, &rest->held, repair.entries.items, repair.entries.count,
                               &plan, &err);
    times[4] = now_ms();
    *outcome = (struct outcome){.all = times[PARTS] - times[0],
                                .entries = repair.entries.count,
                                .waves = plan.waves.count,
                                .broken = repair.broken,
                                .drains = update_plan_drains(&plan),
                                .fault = status ? ", NOT REPAIRED" : ""};
    for (unsigned i = 0; i < PARTS; i++)
        outcome->part[i] = times[i + 1] - times[i];
    if (judge && !status) {
        verify_routes(&rest->network, &rest->held, &(struct verify_options){0}, &report);
        outcome->fault = verify_passes(&report) ? "" : ", WRONG";
        verify_report_release(&report);
    }
    update_plan_release(&plan);
    repair_release(&repair);
    verify_change_release(&change);
}

/* The quality of the tables is measured once. */
static struct outcome lose(const struct state *state, const struct loss *loss)
{
    struct outcome best = {0}, outcome;
    for (unsigned i = 0; i < REPEATS && !*(i ? best.fault : ""); i++) {
        struct rest rest;
        take_away(&rest, state, loss);
        repair_and_check(state, &rest, i == 0, &outcome);
        if (i == 0 || outcome.all < best.all || *outcome.fault)
            best = outcome;
        routes_release(&rest.held);
        network_release(&rest.network);
        mem_free(rest.to_new);
    }
    return best;
}

static void lose_and_tell(const struct state *state, const struct loss *loss)
{
    struct outcome best = lose(state, loss);
    printf("  %-14s %6.2f ms (compare %.2f, repair %.2f, order %.2f, check %.2f); %zu entries for "
           "%llu broken, %zu waves, %u drains%s\n",
           loss->name, best.all, best.part[COMPARE], best.part[REPAIR], best.part[ORDER],
           best.part[CHECK], best.entries, best.broken, best.waves, best.drains, best.fault);
}

/* A switch `level` levels above the last leaf. */
static uint32_t switch_at_level(const struct network *network, unsigned level)
{
    uint32_t at = network->terminals.items[network->terminals.count - 1].at;
    for (; level; level--)
        at = network->edges[network->first_edge[at + 1] - 1].to;
    return at;
}

static void measure(const struct network *network, const char *engine)
{
    struct state state = {.network = *network};
    struct engine_options options = {.caller_verifies = true};
    struct verify_report report;
    struct err err;
    double begin = now_ms();
    if (engine_find(engine)->compute(&state.network, &options, &state.routes, &err)) {
        fprintf(stderr, "repair: %s: %s\n", engine, err.message);
        exit(1);
    }
    double computed = now_ms();
    verify_routes(&state.network, &state.routes, &(struct verify_options){.keep = &state.checked},
                  &report);
    printf("%s: %zu hosts; all computed in %.1f ms and checked in %.1f ms\n", engine,
           network->terminals.count, computed - begin, now_ms() - computed);
    repair_state_begin(&state.known, &state.network, state.checked.vls, state.routes.ranks);
    dependency_each(&state.checked, repair_state_note, &state.known);
    repair_state_end(&state.known, report.load, report.load_max);
    report.load = NULL;
    verify_report_release(&report);
    uint32_t leaf = switch_at_level(network, 0), middle = switch_at_level(network, 1);
    uint32_t top = switch_at_level(network, 2);
    const struct loss losses[] = {
        {"leaf link", leaf, network->edges[network->first_edge[leaf + 1] - 1].port},
        {"top link", middle, network->edges[network->first_edge[middle + 1] - 1].port},
        {"leaf switch", leaf, 0},
        {"middle switch", middle, 0},
        {"top switch", top, 0},
    };
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        lose_and_tell(&state, &losses[i]);
    repair_state_release(&state.known);
    dependency_release(&state.checked);
    routes_release(&state.routes);
}

int main(void)
{
    const char *words[] = {"size=11664"};
    struct topology topology;
    struct network network;
    struct err err;
    topology_init(&topology);
    if (topology_generate(&topology, "fattree", words, 1, 1, &err) ||
        network_from_topology(&network, &topology, &err)) {
        fprintf(stderr, "repair: %s\n", err.message);
        return 1;
    }
    measure(&network, "ftree");
    measure(&network, "updn");
    measure(&network, "minhop");
    network_release(&network);
    topology_release(&topology);
    return 0;
}
