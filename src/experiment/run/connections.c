/* Connections of a scenario: binds the names of their hosts, begins each one when the run reaches
 * its statement, and publishes what they have measured (weft-scenario(5) lists the figures). */
#include "experiment/run/connections.h"

#include "base/map.h"
#include "base/quantity.h"
#include "base/record.h"
#include "base/rng.h"
#include "base/time.h"
#include "console/names.h"
#include "experiment/run/setup.h"

#include <errno.h>
#include <stdio.h>

enum { NAME_BYTES = 64, OWN_FIGURES = 100 /* of so many connections at most */ };

/* ---- names ---- */

static uint32_t first_port_with_cable(const struct topology *topology, uint32_t node)
{
    const struct topology_node *at = &topology->nodes.items[node];
    for (uint32_t port = at->first_port + 1; port <= at->first_port + at->port_count; port++)
        if (topology->ports.items[port].peer != TOPOLOGY_NONE)
            return port;
    return TOPOLOGY_NONE;
}

/* The port of a host: the given one, or the first one with a cable. */
static int bind_end(struct setup *setup, const struct word *word, uint32_t *port)
{
    const struct topology *topology = &setup->topology;
    struct named_place place;
    int status = bind_place(word, topology, &setup->cursor, 1, &place);
    if (status)
        return status;
    const struct topology_node *node = &topology->nodes.items[place.node];
    if (node->kind != NODE_ADAPTER)
        return word_error(&setup->cursor, word, "'%.80s' is not an adapter", word->text);
    if (place.count)
        status =
            bind_port_number(word, place.node, place.numbers[0], topology, &setup->cursor, port);
    else
        *port = first_port_with_cable(topology, place.node);
    if (status == 0 &&
        (*port == TOPOLOGY_NONE || topology->ports.items[*port].peer == TOPOLOGY_NONE))
        return word_error(&setup->cursor, word, "'%.80s' has no cable", word->text);
    return status;
}

static struct run_connection begin_item(const struct connection_spec *spec)
{
    static const uint8_t services[] = {
        [SPEC_RC] = TRANSPORT_RC, [SPEC_UC] = TRANSPORT_UC, [SPEC_UD] = TRANSPORT_UD};
    static const uint8_t operations[] = {[SPEC_SEND] = CONNECTION_SEND,
                                         [SPEC_WRITE] = CONNECTION_WRITE,
                                         [SPEC_READ] = CONNECTION_READ,
                                         [SPEC_SEND_IMMEDIATE] = CONNECTION_SEND_IMMEDIATE,
                                         [SPEC_WRITE_IMMEDIATE] = CONNECTION_WRITE_IMMEDIATE,
                                         [SPEC_COMPARE_SWAP] = CONNECTION_COMPARE_SWAP,
                                         [SPEC_FETCH_ADD] = CONNECTION_FETCH_ADD};
    return (struct run_connection){.spec = spec,
                                   .number = UINT32_MAX,
                                   .config = {.service = services[spec->service],
                                              .operation = operations[spec->operation],
                                              .message_bytes = (uint32_t)spec->message_bytes,
                                              .messages = spec->messages,
                                              .outstanding = (uint32_t)spec->outstanding,
                                              .q_key = (uint32_t)spec->q_key,
                                              .p_key = (uint16_t)spec->p_key,
                                              .timeout = (uint8_t)spec->timeout,
                                              .retry = (uint8_t)spec->retry,
                                              .reconnect_ps = spec->reconnect_ps,
                                              .has_alternate = spec->alternate.wanted,
                                              .alternate_lid = (uint16_t)spec->alternate.lid,
                                              .by_cm = spec->setup == SETUP_CM}};
}

static int bind_one(struct setup *setup, const struct statement *statement)
{
    struct run_connection item = begin_item(statement->connection);
    item.statement = statement;
    int status = bind_end(setup, &statement->connection->from, &item.config.from);
    if (status == 0)
        status = bind_end(setup, &statement->connection->to, &item.config.to);
    if (status == 0)
        vec_push(&setup->connections.items, item);
    return status;
}

/* `connect all`: between the first ports with a cable of all hosts, in the order of the fabric. */
static int bind_all(struct setup *setup, const struct statement *statement)
{
    const struct topology *topology = &setup->topology;
    struct run_connection item = begin_item(statement->connection);
    VEC(uint32_t) hosts = {0};
    uint32_t sink = TOPOLOGY_NONE;
    item.statement = statement;
    struct rng rng;
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        uint32_t port = first_port_with_cable(topology, i);
        if (node->kind == NODE_ADAPTER && port != TOPOLOGY_NONE)
            vec_push(&hosts, port);
    }
    size_t count = hosts.count, half = count / 2;
    unsigned pattern = statement->connection->pattern;
    int status = 0;
    if (count < 2)
        status = word_error(&setup->cursor, &statement->word, "there are no two hosts with cables");
    else if (pattern == CONNECT_INCAST)
        sink = hosts.items[0];
    if (status == 0 && statement->connection->to.text)
        status = bind_end(setup, &statement->connection->to, &sink);
    rng_seed(&rng, setup->record->seed, hash_fnv1a("connect", 7));
    if (pattern == CONNECT_PERMUTATION) /* one cycle through all: nobody is its own partner */
        rng_shuffle(&rng, hosts.items, count);
    for (size_t i = 0; i < count && status == 0; i++) {
        bool many = pattern == CONNECT_ALL_TO_ALL;
        for (size_t j = 0; j < (many ? count : 1); j++) {
            item.config.from = hosts.items[i];
            item.config.to = many                             ? hosts.items[j]
                             : pattern == CONNECT_INCAST      ? sink
                             : pattern == CONNECT_PERMUTATION ? hosts.items[(i + 1) % count]
                             : i < half                       ? hosts.items[i + half]
                                                              : item.config.from;
            if (item.config.from != item.config.to)
                vec_push(&setup->connections.items, item);
        }
    }
    vec_release(&hosts);
    return status;
}

int connections_bind(struct setup *setup)
{
    int status = 0;
    for (const struct statement *statement = NULL;
         status == 0 &&
         (statement = scenario_next(setup->scenario, STATEMENT_CONNECTION, statement));) {
        const struct connection_spec *spec = statement->connection;
        status =
            spec->pattern == CONNECT_ONE ? bind_one(setup, statement) : bind_all(setup, statement);
        if (status == 0 && spec->setup == SETUP_CM && setup->machines.is_shared)
            status = word_error(&setup->cursor, &statement->word,
                                "'setup cm' does not go with machines at shared ports");
        setup->connections.by_cm |= spec->setup == SETUP_CM;
    }
    return status;
}

/* ---- running ---- */

static void note_completed(void *context, uint64_t now, uint32_t number, uint64_t latency)
{
    struct run_connections *connections = &((struct setup *)context)->connections;
    (void)now;
    distribution_add(&connections->items.items[connections->started.items[number]].latency,
                     latency);
    distribution_add(&connections->latency, latency);
}

/* The names of the ends of a connection. */
static const char *ends_text(struct setup *setup, const struct connection_config *config)
{
    const struct topology *topology = &setup->topology;
    return arena_printf(&setup->record->arena, "%s to %s",
                        node_label(topology, topology->ports.items[config->from].node),
                        node_label(topology, topology->ports.items[config->to].node));
}

static void note_migrated(void *context, uint64_t now, uint32_t number)
{
    struct setup *setup = context;
    uint32_t item = setup->connections.started.items[number];
    run_record_add_event(setup->record, RUN_RECORD_EVENT, now, "transport",
                         "connection %u, %s, uses its alternate path", item + 1,
                         ends_text(setup, &setup->connections.items.items[item].config));
}

static void note_refused(void *context, uint64_t now, uint32_t number)
{
    struct setup *setup = context;
    uint32_t item = setup->connections.started.items[number];
    struct connection_view view;
    sim_connections_view(setup->connections.sim, number, &view);
    run_record_add_event(
        setup->record, RUN_RECORD_ALARM, now, "transport", "connection %u, %s, was not set up: %s",
        item + 1, ends_text(setup, &view.config),
        view.reason ? cm_reason_text(view.reason) : "no path from the subnet administration");
}

static void note_not_loaded(void *context, uint64_t now, uint32_t number)
{
    struct setup *setup = context;
    uint32_t item = setup->connections.started.items[number];
    run_record_add_event(setup->record, RUN_RECORD_ALARM, now, "transport",
                         "connection %u, %s, has got no new alternate path", item + 1,
                         ends_text(setup, &setup->connections.items.items[item].config));
}

static void note_reconnected(void *context, uint64_t now, uint32_t number, uint64_t broken)
{
    struct setup *setup = context;
    uint32_t item = setup->connections.started.items[number];
    char waited[TIME_TEXT_BYTES];
    run_record_add_event(setup->record, RUN_RECORD_EVENT, now, "transport",
                         "connection %u, %s, is connected again, %s after it broke", item + 1,
                         ends_text(setup, &setup->connections.items.items[item].config),
                         time_text(now - broken, waited));
}

static void make_sim(struct setup *setup)
{
    struct run_connections *connections = &setup->connections;
    connections->sim = sim_connections_new(setup->sim, setup->fabric, setup->paths);
    if (connections->by_cm) { /* hosts request paths */
        struct sim_administration_options options;
        sim_administration_options_init(&options);
        sim_add_administrations(setup->sim, &options);
        connections->clients = sim_clients_new(setup->sim, setup->fabric);
        sim_connections_use_clients(connections->sim, connections->clients);
    }
    sim_connections_listen(connections->sim, &(struct connection_listener){
                                                 setup, note_completed, note_migrated, note_refused,
                                                 note_not_loaded, note_reconnected});
}

void connections_begin(struct setup *setup)
{
    if (setup->connections.items.count)
        make_sim(setup);
}

void connections_release(struct setup *setup)
{
    struct run_connections *connections = &setup->connections;
    for (size_t i = 0; i < connections->items.count; i++)
        histogram_release(&connections->items.items[i].latency.histogram);
    histogram_release(&connections->latency.histogram);
    sim_connections_free(connections->sim);
    sim_clients_free(connections->clients);
    vec_release(&connections->items);
    vec_release(&connections->started);
}

int connections_set_alternate(struct setup *setup, const struct statement *statement)
{
    const struct run_connections *connections = &setup->connections;
    uint64_t item = statement->number - 1;
    if (item >= connections->items.count || connections->items.items[item].number == UINT32_MAX)
        return word_error(&setup->cursor, &statement->word, "connection %llu has not begun",
                          (unsigned long long)statement->number);
    const uint16_t lids[] = {0, (uint16_t)statement->alternate.lid};
    struct err reason = {0};
    if (sim_connections_set_alternate(connections->sim, connections->items.items[item].number, lids,
                                      &reason))
        return word_error(&setup->cursor, &statement->word, "%.400s", reason.message);
    run_record_add_event(setup->record, RUN_RECORD_EVENT, sim_now(setup->sim), "scenario", "%s",
                         statement->line);
    return 0;
}

static void set_pace(const struct setup *setup, const struct pace *pace,
                     struct connection_config *config)
{
    config->every_ps = pace_interval_ps(pace, config->message_bytes,
                                        sim_connections_wire_bytes(setup->fabric, config),
                                        topology_link_rate(&setup->topology, config->from));
    config->keeps_rate = pace->kind > PACE_EVERY;
}

int connections_start(struct setup *setup, const struct statement *statement)
{
    struct run_connections *connections = &setup->connections;
    struct err reason = {0};
    run_record_add_event(setup->record, RUN_RECORD_EVENT, sim_now(setup->sim), "scenario", "%s",
                         statement->line);
    for (size_t i = 0; i < connections->items.count; i++) {
        struct run_connection *connection = &connections->items.items[i];
        if (connection->statement != statement)
            continue;
        connection->number = (uint32_t)connections->started.count;
        set_pace(setup, &connection->spec->pace, &connection->config);
        vec_push(&connections->started, (uint32_t)i); /* completions may come at once */
        int status = sim_connections_add(connections->sim, &connection->config, &reason);
        if (status == 0)
            continue;
        connections->started.count--;
        connection->number = UINT32_MAX;
        if (status == -EHOSTUNREACH && statement->connection->pattern != CONNECT_ONE) {
            connections->unreachable++;
            continue;
        }
        return word_error(
            &setup->cursor, &statement->word, "%.400s%s", reason.message,
            status == -EHOSTUNREACH
                ? ": a connection needs the routes of a manager, as after 'run until settled'"
                : "");
    }
    return 0;
}

/* The first port of an adapter with a cable. */
static int find_host(const struct topology *topology, uint32_t node, uint32_t *port,
                     struct err *err)
{
    *port = first_port_with_cable(topology, node);
    if (topology->nodes.items[node].kind != NODE_ADAPTER || *port == TOPOLOGY_NONE)
        return err_set(err, EINVAL, "'%.80s' is not an adapter with a cable",
                       node_label(topology, node));
    return 0;
}

int connections_connect(struct setup *setup, const struct action *action, struct err *err)
{
    /* About 3 Gbit/s: enough to be seen, and a session keeps its pace. */
    static const struct connection_spec spec = {.pattern = CONNECT_ONE,
                                                .service = SPEC_RC,
                                                .operation = SPEC_WRITE,
                                                .message_bytes = 4096,
                                                .messages = TIME_NEVER,
                                                .outstanding = 16,
                                                .timeout = 14,
                                                .retry = 7};
    static const struct pace usual = {.kind = PACE_EVERY, .every_ps = 10 * TIME_US};
    struct run_connections *connections = &setup->connections;
    struct run_connection item = begin_item(&spec);
    int status = find_host(&setup->topology, action->node, &item.config.from, err);
    if (status == 0)
        status = find_host(&setup->topology, (uint32_t)action->value, &item.config.to, err);
    if (status)
        return status;
    if (!connections->sim)
        make_sim(setup);
    set_pace(setup, action->pace.kind == PACE_NONE ? &usual : &action->pace, &item.config);
    if (action->pace.kind <= PACE_EVERY)
        item.config.outstanding = 1;
    item.number = (uint32_t)connections->started.count;
    vec_push(&connections->items, item);
    vec_push(&connections->started, (uint32_t)connections->items.count - 1);
    status = sim_connections_add(connections->sim, &item.config, err);
    if (status) {
        connections->items.count--;
        connections->started.count--;
    }
    return status;
}

/* ---- figures ---- */

static double goodput(const struct connection_view *view)
{
    uint64_t time = view->begun_ps ? view->last_ps - view->begun_ps : 0;
    return time ? (double)view->completed_bytes * 8e12 / (double)time : 0;
}

void connections_put(const struct setup *setup, const char *key, size_t most, struct record *record)
{
    const struct run_connections *connections = &setup->connections;
    const struct topology *topology = &setup->topology;
    size_t begun = connections->started.count, skipped = begun > most ? begun - most : 0;
    record_begin_list(record, key);
    for (size_t i = 0; connections->sim && i < connections->items.count; i++) {
        const struct run_connection *item = &connections->items.items[i];
        struct connection_view view;
        if (item->number == UINT32_MAX)
            continue;
        if (skipped) {
            skipped--;
            continue;
        }
        sim_connections_view(connections->sim, item->number, &view);
        uint32_t from = topology->ports.items[item->config.from].node;
        uint32_t to = topology->ports.items[item->config.to].node;
        record_begin(record, NULL);
        record_number(record, "number", "%3llu ", i + 1);
        record_number(record, "node", NULL, from);
        record_number(record, "peer", NULL, to);
        record_string(record, "from", " %s", node_label(topology, from));
        record_string(record, "to", " to %s", node_label(topology, to));
        record_string(record, "service", ": %s", connection_service_names[item->spec->service]);
        record_string(record, "operation", " %s",
                      connection_operation_names[item->spec->operation]);
        record_string(record, "state", ", %s",
                      view.broken ? "broken" : connection_stage_names[view.stage]);
        if (view.broken)
            record_string(record, "reason", " (%s)", transport_status_names[view.status]);
        record_number(record, "messages", ", %llu messages", view.completed);
        char text[QUANTITY_BYTES];
        record_real(record, "goodput", NULL, goodput(&view));
        record_text(record, ", %s", quantity_text(goodput(&view), "bits/s", text));
        record_number(record, "retries", ", %llu retries",
                      (uint64_t)view.timeouts + view.sequence_naks + view.rnr_naks);
        double outage = time_seconds((double)view.longest_ps);
        record_real(record, "outage", NULL, outage);
        record_text(record, ", outage %s\n", quantity_text(outage, "s", text));
        record_end(record);
    }
    record_end_list(record);
}

static void set(struct setup *setup, const char *who, const char *what, double value,
                const char *unit)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.30s.%.30s", who, what);
    results_set(&setup->record->results, name, value, unit);
}

/* The figures that one connection and all of them have. */
static void set_figures(struct setup *setup, const char *who, const struct connection_view *view,
                        double bits_per_second, const struct value_distribution *latency)
{
    char name[NAME_BYTES];
    set(setup, who, "messages", (double)view->completed, "messages");
    set(setup, who, "goodput", bits_per_second, "bits/s");
    set(setup, who, "lost", (double)view->lost, "messages");
    set(setup, who, "outage", time_seconds((double)view->longest_ps), "s");
    set(setup, who, "timeouts", view->timeouts, "times");
    set(setup, who, "sequence-naks", view->sequence_naks, "times");
    set(setup, who, "rnr-naks", view->rnr_naks, "times");
    set(setup, who, "resent", view->resent_packets, "packets");
    set(setup, who, "migrations", view->migrations, "times");
    set(setup, who, "reconnections", view->reconnections, "times");
    snprintf(name, sizeof name, "%.30s.latency", who);
    if (latency->summary.count)
        results_set_distribution(&setup->record->results, name, latency, 1e12, "s");
}

static void add_row(struct setup *setup, const struct run_connection *connection,
                    const struct connection_view *view, double bits_per_second)
{
    const struct connection_spec *spec = connection->spec;
    struct run_record_connection row = {
        .name = ends_text(setup, &connection->config),
        .service = connection_service_names[spec->service],
        .operation = connection_operation_names[spec->operation],
        .messages = view->completed,
        .lost = view->lost,
        .goodput = bits_per_second,
        .outage_ps = view->longest_ps,
        .median_ps = histogram_percentile(&connection->latency.histogram, 50),
        .p99_ps = histogram_percentile(&connection->latency.histogram, 99),
        .timeouts = view->timeouts,
        .sequence_naks = view->sequence_naks,
        .rnr_naks = view->rnr_naks,
        .resent_packets = view->resent_packets,
        .migrations = view->migrations,
        .reconnections = view->reconnections,
        .broken = view->broken                        ? transport_status_names[view->status]
                  : view->stage == CONNECTION_REFUSED ? "not set up"
                                                      : NULL,
    };
    vec_push(&setup->record->connections, row);
}

static void set_own_figures(struct setup *setup, const char *who,
                            const struct run_connection *connection,
                            const struct connection_view *view)
{
    set_figures(setup, who, view, goodput(view), &connection->latency);
    set(setup, who, "broken", view->broken, "");
    set(setup, who, "established", view->begun_ps != 0, "");
    if (connection->config.by_cm && view->begun_ps)
        set(setup, who, "setup", time_seconds((double)(view->begun_ps - view->requested_ps)), "s");
    set(setup, who, "armed", view->migration == MIGRATION_ARMED, "");
    if (connection->config.has_alternate) {
        set(setup, who, "shared-links", view->shared_cables, "links");
        set(setup, who, "shared-switches", view->shared_switches, "switches");
    }
}

void connections_publish(struct setup *setup)
{
    const struct run_connections *connections = &setup->connections;
    struct connection_view sum = {0};
    double bits_per_second = 0;
    uint64_t longest_setup = 0;
    unsigned stood_still = 0, waited = 0, broken = 0, armed = 0, refused = 0, established = 0;
    uint64_t longest_wait = 0;
    setup->record->connections.count = 0;
    if (!connections->sim)
        return;
    for (size_t i = 0; i < connections->items.count; i++) {
        const struct run_connection *connection = &connections->items.items[i];
        struct connection_view view;
        char who[NAME_BYTES];
        if (connection->number == UINT32_MAX)
            continue;
        sim_connections_view(connections->sim, connection->number, &view);
        if (connections->items.count <= OWN_FIGURES) {
            snprintf(who, sizeof who, "connection.%zu", i + 1);
            set_own_figures(setup, who, connection, &view);
        }
        if (view.begun_ps && view.begun_ps - view.requested_ps > longest_setup)
            longest_setup = view.begun_ps - view.requested_ps;
        refused += view.stage == CONNECTION_REFUSED;
        established += view.begun_ps != 0;
        add_row(setup, connection, &view, goodput(&view));
        bits_per_second += goodput(&view);
        broken += view.broken;
        armed += view.migration == MIGRATION_ARMED;
        sum.completed += view.completed;
        sum.lost += view.lost;
        sum.timeouts += view.timeouts;
        sum.sequence_naks += view.sequence_naks;
        sum.rnr_naks += view.rnr_naks;
        sum.resent_packets += view.resent_packets;
        sum.migrations += view.migrations;
        sum.reconnections += view.reconnections;
        if (connection_waited(&view)) {
            waited++;
            longest_wait = view.longest_ps > longest_wait ? view.longest_ps : longest_wait;
        }
        if (!connection_stood_still(&view))
            continue;
        stood_still++;
        if (view.longest_ps > sum.longest_ps)
            sum.longest_ps = view.longest_ps;
    }
    results_set(&setup->record->results, "connections",
                (double)sim_connections_count(connections->sim), "");
    set(setup, "connections", "stood-still", stood_still, "");
    set(setup, "connections", "waited", waited, "");
    set(setup, "connections", "wait", time_seconds((double)longest_wait), "s");
    set(setup, "connections", "broken", broken, "");
    set(setup, "connections", "established", established, "");
    set(setup, "connections", "refused", refused, "");
    set(setup, "connections", "unreachable", connections->unreachable, "");
    if (connections->by_cm)
        set(setup, "connections", "setup", time_seconds((double)longest_setup), "s");
    set(setup, "connections", "armed", armed, "");
    set_figures(setup, "connections", &sum, bits_per_second, &connections->latency);
}
