/* Ties what a run measures to its fabric: the fabric reports to one observer, which passes each
 * packet on to the metrics, to the machines and to the check of unaffected pairs. */
#include "experiment/run/setup.h"

#include "base/map.h"
#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"

#include <string.h>

/* Two things under one name could not be told apart. */
int measuring_check_names(struct setup *setup)
{
    struct name_map names = {0};
    int status = 0;
    for (size_t i = 0; i < setup->scenario->statements.count; i++) {
        const struct statement *statement = &setup->scenario->statements.items[i];
        for (size_t j = 0; j < statement->collection_count && status == 0; j++) {
            const struct collection *collection = &statement->collections[j];
            uint32_t line = collection->word.line;
            uint32_t first = name_map_get(&names, collection->name);
            if (first != MAP_NONE)
                status = word_error(&setup->cursor, &collection->word,
                                    "line %u collects '%.80s' already: say 'called NAME'", first,
                                    collection->name);
            else
                name_map_add(&names, collection->name, line);
        }
    }
    name_map_release(&names);
    return status;
}

/* Whether a check, or a figure that is checked, is about the unaffected. */
static bool asks_for_unaffected(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->statements.count; i++) {
        const struct statement *statement = &scenario->statements.items[i];
        const struct check_statement *check = &statement->check;
        if (statement->kind == STATEMENT_CHECK && (check->kind == CHECK_STATEMENT_UNAFFECTED ||
                                                   (check->kind == CHECK_STATEMENT_FIGURE &&
                                                    strcmp(check->text, "unaffected.lost") == 0)))
            return true;
    }
    return false;
}

/* ---- the fabric's reports ---- */

static void hear_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct setup *setup = context;
    metrics_delivered(setup->metrics, now, packet);
    machines_delivered(setup, now, packet);
}

static void hear_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    struct setup *setup = context;
    metrics_lost(setup->metrics, now, cause, port);
    unaffected_lost(setup->unaffected, now, packet, cause);
    machines_lost(setup, packet);
}

static void hear_gate(void *context, uint64_t now, uint32_t port, bool open)
{
    struct setup *setup = context;
    metrics_gate(setup->metrics, now, port, open);
}

/* ---- all of it ---- */

/* Without a statement, figures are measured from the first traffic on, or from the beginning. */
void measuring_begin(struct setup *setup)
{
    const struct scenario *scenario = setup->scenario;
    const struct statement *window = scenario_last(scenario, STATEMENT_MEASURE);
    uint64_t from = setup->flows.count ? TIME_NEVER : 0;
    setup->metrics =
        metrics_new(setup->fabric, &setup->options, setup->record,
                    window ? window->window.from : from, window ? window->window.to : TIME_NEVER);
    if (setup->flows.count) /* a fabric without traffic has no data path to watch */
        fabric_observe_data(setup->fabric, &(struct data_observer){.context = setup,
                                                                   .delivered = hear_delivered,
                                                                   .lost = hear_lost,
                                                                   .port_changed = hear_gate});
    for (size_t i = 0; i < scenario->statements.count; i++)
        for (size_t j = 0; j < scenario->statements.items[i].collection_count; j++)
            metrics_collect(setup->metrics, &scenario->statements.items[i].collections[j]);
    if (asks_for_unaffected(scenario))
        setup->unaffected = unaffected_new(setup->fabric, setup->paths);
    for (size_t i = 0; setup->unaffected && i < setup->flows.count; i++)
        unaffected_add(setup->unaffected, &setup->flows.items[i].traffic);
}

void measuring_publish(struct setup *setup, uint64_t now)
{
    metrics_publish_traffic(setup->metrics, now);
    machines_publish(setup, now);
    if (setup->unaffected)
        results_set(&setup->record->results, "unaffected.lost",
                    (double)unaffected_losses(setup->unaffected),
                    metrics_has_traffic(setup->metrics) ? "packets" : "times");
    metrics_publish_collected(setup->metrics, now);
}
