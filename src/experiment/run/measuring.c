/* The data observer of the fabric: passes each packet to the metrics, the machines and the check of
 * unaffected pairs. */
#include "experiment/run/setup.h"

#include "base/map.h"
#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"

#include <string.h>

int measuring_check_names(struct setup *setup)
{
    struct name_map names = {0};
    int status = 0;
    for (const struct statement *statement = NULL;
         (statement = scenario_next(setup->scenario, STATEMENT_COLLECT, statement));)
        for (size_t j = 0; j < statement->collection_count && status == 0; j++) {
            const struct collection *collection = &statement->collections[j];
            uint32_t line = collection->word.line;
            uint32_t first = name_map_get(&names, collection->name);
            if (first != MAP_NONE)
                status = word_error(&setup->cursor, &collection->word,
                                    "line %u collects '%.80s' already: use 'called NAME'", first,
                                    collection->name);
            else
                name_map_add(&names, collection->name, line);
        }
    name_map_release(&names);
    return status;
}

/* Whether a check needs the unaffected pairs. */
static bool checks_unaffected(const struct scenario *scenario)
{
    for (const struct statement *statement = NULL;
         (statement = scenario_next(scenario, STATEMENT_CHECK, statement));) {
        const struct check_statement *check = &statement->check;
        if (check->kind == CHECK_STATEMENT_UNAFFECTED ||
            (check->kind == CHECK_STATEMENT_FIGURE && strcmp(check->text, "unaffected.lost") == 0))
            return true;
    }
    return false;
}

static void observe_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct setup *setup = context;
    metrics_delivered(setup->metrics, now, packet);
    machines_delivered(setup, now, packet);
    if (setup->observer && setup->observer->delivered)
        setup->observer->delivered(setup->observer->context, now, packet);
}

static void observe_lost(void *context, uint64_t now, const struct packet_view *packet,
                         enum loss cause, uint32_t port)
{
    struct setup *setup = context;
    metrics_lost(setup->metrics, now, packet, cause, port);
    unaffected_lost(setup->unaffected, now, packet, cause);
    machines_lost(setup, packet);
    if (setup->observer && setup->observer->lost)
        setup->observer->lost(setup->observer->context, now, packet, cause, port);
}

static void observe_port(void *context, uint64_t now, uint32_t port, bool open)
{
    struct setup *setup = context;
    metrics_port_changed(setup->metrics, now, port, open);
}

/* By default figures are measured from the first traffic, or from the start of the run. */
void measuring_begin(struct setup *setup)
{
    const struct scenario *scenario = setup->scenario;
    const struct statement *measure = scenario_last(scenario, STATEMENT_MEASURE);
    const struct statement *steady = scenario_last(scenario, STATEMENT_ON_STEADY);
    setup->metrics = metrics_new(setup->fabric, &setup->options, setup->record);
    if (steady && steady->number)
        metrics_stop_when_steady(setup->metrics, (double)steady->number / RNG_CERTAIN);
    if (measure)
        metrics_set_window(setup->metrics, moment_time(&measure->window.from, TIME_NEVER),
                           moment_time(&measure->window.to, TIME_NEVER));
    else if (!setup->flows.count)
        metrics_set_window(setup->metrics, 0, TIME_NEVER);
    if (setup->flows.count) /* without traffic the fabric has no data path */
        fabric_observe_data(setup->fabric, &(struct data_observer){.context = setup,
                                                                   .delivered = observe_delivered,
                                                                   .lost = observe_lost,
                                                                   .port_changed = observe_port});
    setup->traffics = mem_alloc((setup->flows.count + 1) * sizeof *setup->traffics);
    for (size_t i = 0; i < setup->flows.count; i++)
        setup->traffics[i] = &setup->flows.items[i].traffic;
    metrics_know_traffic(setup->metrics, setup->traffics, setup->flows.count);
    for (size_t i = 0; i < scenario->statements.count; i++)
        for (size_t j = 0; j < scenario->statements.items[i].collection_count; j++)
            metrics_collect(setup->metrics, &scenario->statements.items[i].collections[j]);
    if (checks_unaffected(scenario))
        setup->unaffected = unaffected_new(setup->fabric, setup->paths);
    for (size_t i = 0; setup->unaffected && i < setup->flows.count; i++)
        unaffected_add(setup->unaffected, &setup->flows.items[i].traffic);
}

int measuring_settled(struct setup *setup, const struct statement *run)
{
    const struct statement *measure = scenario_last(setup->scenario, STATEMENT_MEASURE);
    for (const struct statement *statement = NULL;
         (statement = scenario_next(setup->scenario, STATEMENT_COLLECT, statement));)
        if (scenario_settled_run(setup->scenario, statement) == run &&
            !metrics_set_settled(setup->metrics, &statement->collections[0], sim_now(setup->sim)))
            return word_error(&setup->cursor, &statement->word,
                              "the end is not after the beginning");
    if (!measure || scenario_settled_run(setup->scenario, measure) != run)
        return 0;
    uint64_t from = moment_time(&measure->window.from, sim_now(setup->sim));
    uint64_t to = moment_time(&measure->window.to, sim_now(setup->sim));
    if (to <= from)
        return word_error(&setup->cursor, &measure->word, "the window ends before it begins");
    metrics_set_window(setup->metrics, from, to);
    return 0;
}

void measuring_publish(struct setup *setup, uint64_t now)
{
    metrics_publish_traffic(setup->metrics, now);
    machines_publish(setup, now);
    connections_publish(setup);
    if (setup->unaffected)
        results_set(&setup->record->results, "unaffected.lost",
                    (double)unaffected_losses(setup->unaffected),
                    metrics_has_traffic(setup->metrics) ? "packets" : "times");
    struct check_view view = setup_view(setup);
    struct cut_off cut = check_cut_off(&view);
    results_set(&setup->record->results, "cut-off.switches", cut.switches, "switches");
    results_set(&setup->record->results, "cut-off.adapters", cut.adapters, "adapters");
    results_set(&setup->record->results, "cut-off.before", setup->cut_off_before, "switches");
    metrics_publish_collected(setup->metrics, now);
}
