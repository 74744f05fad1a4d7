/* Ties what a run measures to its fabric: the fabric reports to one observer, which passes each
 * packet on to the metrics, to the machines and to the check of unaffected pairs. */
#include "experiment/run/measuring.h"

#include "base/map.h"
#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"

#include <string.h>

/* Two things under one name could not be told apart. */
int measuring_check_names(struct stage *stage, struct err *err)
{
    struct cursor cursor = scenario_cursor(stage->scenario, err);
    struct name_map names = {0};
    int status = 0;
    for (size_t i = 0; i < stage->scenario->statements.count; i++) {
        const struct statement *statement = &stage->scenario->statements.items[i];
        for (size_t j = 0; j < statement->collection_count && status == 0; j++) {
            const struct collection *collection = &statement->collections[j];
            uint32_t line = collection->word.line;
            uint32_t first = name_map_get(&names, collection->name);
            if (first != MAP_NONE)
                status = word_error(&cursor, &collection->word,
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
        const struct question *question = &statement->question;
        if (statement->kind == STATEMENT_CHECK &&
            (question->kind == QUESTION_UNAFFECTED ||
             (question->kind == QUESTION_FIGURE && strcmp(question->text, "unaffected.lost") == 0)))
            return true;
    }
    return false;
}

/* ---- the fabric's reports ---- */

static void hear_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct stage *stage = context;
    metrics_delivered(stage->metrics, now, packet);
    machines_delivered(stage, now, packet);
}

static void hear_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    struct stage *stage = context;
    metrics_lost(stage->metrics, now, cause, port);
    unaffected_lost(stage->unaffected, now, packet, cause);
    machines_lost(stage, packet);
}

static void hear_gate(void *context, uint64_t now, uint32_t port, bool open)
{
    struct stage *stage = context;
    metrics_gate(stage->metrics, now, port, open);
}

/* ---- all of it ---- */

static struct unaffected *watch_unaffected(const struct stage *stage)
{
    const struct traffic **traffic = mem_alloc((stage->flows.count + 1) * sizeof *traffic);
    for (size_t i = 0; i < stage->flows.count; i++)
        traffic[i] = &stage->flows.items[i].traffic;
    struct unaffected *unaffected =
        unaffected_new(stage->fabric, stage->paths, traffic, stage->flows.count);
    mem_free(traffic);
    return unaffected;
}

/* Without a statement, figures are measured from the first traffic on, or from the beginning. */
void measuring_begin(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    const struct statement *window = scenario_last(scenario, STATEMENT_MEASURE);
    uint64_t from = stage->flows.count ? TIME_NEVER : 0;
    stage->metrics =
        metrics_new(stage->fabric, &stage->options, stage->story,
                    window ? window->window.from : from, window ? window->window.to : TIME_NEVER);
    if (stage->flows.count) /* a fabric without traffic has no data path to watch */
        fabric_observe_data(stage->fabric, &(struct data_observer){.context = stage,
                                                                   .delivered = hear_delivered,
                                                                   .lost = hear_lost,
                                                                   .port_changed = hear_gate});
    for (size_t i = 0; i < scenario->statements.count; i++)
        for (size_t j = 0; j < scenario->statements.items[i].collection_count; j++)
            metrics_collect(stage->metrics, &scenario->statements.items[i].collections[j]);
    if (asks_for_unaffected(scenario))
        stage->unaffected = watch_unaffected(stage);
}

void measuring_publish(struct stage *stage, uint64_t now)
{
    metrics_publish_traffic(stage->metrics, now);
    machines_publish(stage, now);
    if (stage->unaffected)
        results_set(&stage->story->results, "unaffected.lost",
                    (double)unaffected_losses(stage->unaffected),
                    metrics_has_traffic(stage->metrics) ? "packets" : "times");
    metrics_publish_collected(stage->metrics, now);
}
