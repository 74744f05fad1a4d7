/* Runs the scenarios of a question.
 *
 * The number of packets that are lost is proportional to the rate of the senders as long as no
 * queue overflows, so it is estimated from a run in which all senders send at a smaller rate, and
 * divided by that share. The run is repeated with four times the packets until two estimates agree
 * and the last one counts at least 400 losses (a standard error of 5 %), all packets are simulated,
 * or the next run would exceed the time. Queues do not show at a smaller rate: if the load of a
 * link (loads.c) is above 80 %, the runs do not stop early. (In a Clos network of 192 hosts the
 * estimate was 0.2 % off at loads of 20 % and 30 %, and 6 % at 40 %, where a link has a load of 95
 * %.) */
#include "experiment/whatif/whatif.h"

#include "base/time.h"
#include "experiment/run/run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define CONGESTED 0.8 /* load of a link */
enum { FIRST_PACKETS = 60000, MORE = 4, ENOUGH_LOSSES = 400 };
enum { PACKETS_PER_SECOND = 400000, PACKET_BYTES = 4096 + 26 }; /* rough, before the first run */
enum { LEARNING_S = 3 };                                        /* routers are read once a second */
#define SHORTEST_MARGIN (100 * TIME_US)

/* ---- scenarios ---- */

static void write_time(const char *before, uint64_t time, const char *behind, struct text *out)
{
    bool whole = time % TIME_MS == 0;
    uint64_t unit = whole ? TIME_MS : TIME_US;
    text_printf(out, "%s%" PRIu64 "%s%s", before, (time + unit - 1) / unit, whole ? "ms" : "us",
                behind);
}

void whatif_write_begin(const struct whatif_question *question, struct text *out)
{
    text_printf(out, "topology \"%s%s\"\nseed %" PRIu64 "\nset sm engine %s\n",
                strpbrk(question->net, "./") ? "" : "./", question->net, question->seed,
                question->engine);
    for (size_t i = 0; i < question->manager_count; i++) {
        text_puts(out, "sm ");
        action_print_node(question->unnamed, question->managers[i], out);
        text_printf(out, " priority %zu", i < 15 ? 15 - i : 0);
        whatif_put_prefix(question->topology, question->managers[i], out);
        text_putc(out, '\n');
    }
}

void whatif_write_settled(const struct whatif_question *question, struct text *out)
{
    text_puts(out, "run until settled\n");
    if (whatif_has_routers(question->topology))
        text_printf(out, "run for %ds\n", LEARNING_S);
}

void whatif_write_scenario(const struct whatif_question *question, const struct whatif_times *times,
                           double share, struct text *out)
{
    whatif_write_begin(question, out);
    if (share > 0) {
        text_printf(out, "traffic uniform load %.9g start ", question->load * share);
        write_time("", times->start, "\n", out);
    }
    whatif_write_settled(question, out);
    for (size_t i = 0; i < question->failure_count; i++) {
        write_time(share > 0 ? "at " : "after ", share > 0 ? times->fault : TIME_MS, " ", out);
        whatif_write_failure(question->unnamed, &question->failures[i], out);
        text_putc(out, '\n');
    }
    write_time("run until settled limit ", times->limit, "\n", out);
    if (share > 0)
        write_time("run for ", times->after, "\n", out);
}

int whatif_run_text(const struct whatif_question *question, const struct text *text,
                    const struct run_options *options, struct run_record *record, struct err *err)
{
    struct scenario scenario;
    int status = scenario_read_text(&scenario, "whatif", text->data, text->length, err);
    if (status)
        return status;
    scenario.network = question->network;
    status = run_scenario(&scenario, options, record, err);
    scenario_release(&scenario);
    return status;
}

/* The time of the first failure; TIME_NEVER if the run did not get there. */
static uint64_t fault_time(const struct run_record *record)
{
    for (size_t i = 0; i < record->events.count; i++)
        if (record->events.items[i].kind == RUN_RECORD_ACTION)
            return record->events.items[i].time;
    return TIME_NEVER;
}

/* From the failures to the end of the last change after them; 0 without a change. */
static uint64_t recovery_time(const struct run_record *record, uint64_t fault)
{
    uint64_t recovery = 0;
    for (size_t i = 0; i < record->changes.count; i++) {
        const struct run_record_change *change = &record->changes.items[i];
        if (change->finished && change->end > fault && change->end - fault > recovery)
            recovery = change->end - fault;
    }
    return recovery;
}

/* ---- without traffic ---- */

struct inspection {
    const struct whatif_question *question;
    struct whatif_reaction *reaction;
    unsigned calls, before; /* the call that is the last one before the failures */
};

static void inspect_tables(void *context, const struct setup *setup)
{
    struct inspection *inspection = context;
    struct whatif_reaction *reaction = inspection->reaction;
    unsigned call = inspection->calls++;
    if (call == inspection->before || call == inspection->before + 1)
        whatif_find_loads(setup, inspection->question,
                          call == inspection->before ? &reaction->before : &reaction->after);
}

static void take_changes(struct whatif_reaction *reaction, const struct run_record *record,
                         uint64_t fault)
{
    bool first = true;
    reaction->losing_ps = reaction->recovery_ps = recovery_time(record, fault);
    for (size_t i = 0; i < record->changes.count; i++) {
        const struct run_record_change *change = &record->changes.items[i];
        if (change->end <= fault || change->begin < fault)
            continue;
        reaction->reacted = true;
        reaction->recovered &= change->finished;
        reaction->smps += change->gets + change->sets;
        reaction->blocks += change->blocks;
        reaction->drains_ps += change->draining;
        if (change->stopped > fault && change->stopped - fault < reaction->losing_ps)
            reaction->losing_ps = change->stopped - fault;
        for (enum sm_step kind = 0; first && kind < SM_STEPS; kind++) {
            uint64_t from, to;
            if (run_record_step(change, kind, &from, &to))
                reaction->steps_ps[kind] = to - from;
        }
        first = false;
    }
}

static void take_reaction(struct whatif_reaction *reaction, const struct run_record *record)
{
    uint64_t fault = fault_time(record);
    reaction->up = reaction->recovered = true;
    for (size_t i = 0; i < record->checks.count; i++) {
        const struct run_record_check *check = &record->checks.items[i];
        if (check->holds)
            continue;
        if (!reaction->complaint)
            reaction->complaint = arena_strdup(&reaction->arena, check->finding);
        reaction->recovered = false;
        reaction->up &= check->time > fault;
    }
    for (size_t i = 0; i < record->changes.count && !reaction->refusal; i++)
        if (record->changes.items[i].refusal)
            reaction->refusal = arena_strdup(&reaction->arena, record->changes.items[i].refusal);
    if (record->changes.count && record->changes.items[0].finished)
        reaction->up_ps = record->changes.items[0].end;
    take_changes(reaction, record, fault);
}

int whatif_react(const struct whatif_question *question, struct whatif_reaction *reaction,
                 struct err *err)
{
    struct whatif_times times = {.limit = 60 * TIME_S};
    struct whatif_cut cut;
    struct inspection inspection = {question, reaction, 0, whatif_has_routers(question->topology)};
    struct run_options options = {.inspect = inspect_tables, .context = &inspection};
    struct run_record record = {0};
    struct text text = {0};
    *reaction = (struct whatif_reaction){0};
    whatif_find_cut(question, &cut);
    if (cut.manager_lost) /* nobody will react */
        times.limit = 100 * TIME_MS;
    whatif_cut_release(&cut);
    whatif_write_scenario(question, &times, 0, &text);
    int status = whatif_run_text(question, &text, &options, &record, err);
    if (status == 0)
        take_reaction(reaction, &record);
    run_record_release(&record);
    text_release(&text);
    return status;
}

void whatif_reaction_release(struct whatif_reaction *reaction)
{
    whatif_loads_release(&reaction->before);
    whatif_loads_release(&reaction->after);
    arena_release(&reaction->arena);
}

/* ---- with traffic ---- */

static struct whatif_times choose_times(const struct whatif_question *question,
                                        const struct whatif_reaction *reaction)
{
    struct whatif_times times;
    uint64_t margin = reaction->recovery_ps / 10;
    margin = margin < SHORTEST_MARGIN ? SHORTEST_MARGIN : margin;
    times.start = (reaction->up_ps / TIME_MS + 2) * TIME_MS;
    if (whatif_has_routers(question->topology))
        times.start += (LEARNING_S + 1) * TIME_S;
    times.fault = times.start + margin;
    times.limit = reaction->recovered ? 2 * reaction->recovery_ps + 5 * TIME_MS : 10 * TIME_MS;
    times.after = margin;
    return times;
}

/* Packets that all senders make at the full rate, before anything is known of their size. */
static double guess_packets(const struct whatif_question *question,
                            const struct whatif_reaction *reaction,
                            const struct whatif_times *times)
{
    const struct topology *topology = question->topology;
    double bits = 0;
    uint64_t time = times->fault - times->start + times->after +
                    (reaction->recovered ? reaction->recovery_ps : times->limit);
    for (uint32_t i = 0; i < topology->ports.count; i++) {
        const struct topology_port *port = &topology->ports.items[i];
        if (port->peer != TOPOLOGY_NONE && topology->nodes.items[port->node].kind == NODE_ADAPTER)
            bits += (double)link_data_rate(port->width, port->speed);
    }
    return bits * question->load * time_seconds(time) / 8 / PACKET_BYTES;
}

static void take_causes(struct whatif_traffic *traffic, const struct results *results)
{
    traffic->cause_count = 0;
    for (size_t i = 0; i < results->figures.count; i++) {
        const struct figure *figure = &results->figures.items[i];
        if (strncmp(figure->name, "lost.", 5) != 0 || figure->value < 1 ||
            traffic->cause_count == sizeof traffic->causes / sizeof traffic->causes[0])
            continue;
        traffic->causes[traffic->cause_count].name =
            arena_strdup(&traffic->arena, figure->name + 5);
        traffic->causes[traffic->cause_count++].packets = (uint64_t)figure->value;
    }
}

uint64_t whatif_count_of(const struct results *results, const char *name)
{
    double value = results_value(results, name);
    return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static void take_traffic(struct whatif_traffic *traffic, const struct run_record *record)
{
    const struct results *results = &record->results;
    const struct series *lost = results_find_series(results, "lost");
    uint64_t fault = fault_time(record);
    traffic->made = whatif_count_of(results, "made");
    traffic->lost = whatif_count_of(results, "lost");
    traffic->unroutable = whatif_count_of(results, "unroutable");
    traffic->window_ps = record->end - traffic->times.start;
    traffic->recovery_ps = recovery_time(record, fault);
    traffic->outage_ps = 0;
    for (size_t i = 1; lost && i < lost->points.count; i++)
        if (lost->points.items[i].value > lost->points.items[i - 1].value &&
            lost->points.items[i].time > fault)
            traffic->outage_ps = lost->points.items[i].time - fault;
    take_causes(traffic, results);
}

static int run_with_traffic(const struct whatif_question *question, struct whatif_traffic *traffic,
                            const struct whatif_budget *budget, struct err *err)
{
    struct run_options options = {.workers = budget->workers};
    struct run_record record = {0};
    struct text text = {0};
    if (budget->tell)
        budget->tell(budget->context, traffic->share, traffic->estimated_s);
    double begin = budget->clock();
    whatif_write_scenario(question, &traffic->times, traffic->share, &text);
    int status = whatif_run_text(question, &text, &options, &record, err);
    if (status == 0)
        take_traffic(traffic, &record);
    traffic->took_s = budget->clock() - begin;
    traffic->runs++;
    run_record_release(&record);
    text_release(&text);
    return status;
}

/* Whether this estimate agrees with the one before, and both are precise enough. */
static bool is_stable(const struct whatif_traffic *traffic, const struct whatif_traffic *before)
{
    double change = (double)traffic->lost / traffic->share - (double)before->lost / before->share;
    double error =
        sqrt((double)traffic->lost) / traffic->share + sqrt((double)before->lost) / before->share;
    if (traffic->share >= 1)
        return true;
    if (traffic->runs < 2 || traffic->congested)
        return false;
    return (traffic->lost >= ENOUGH_LOSSES && fabs(change) <= 2 * error) ||
           (traffic->lost == 0 && before->lost == 0);
}

/* What one more packet costs, from the last two runs; the rest of a run costs the same in all. */
static double seconds_per_packet(const struct whatif_traffic *traffic,
                                 const struct whatif_traffic *before)
{
    double cost = traffic->runs > 1 && traffic->made > before->made
                      ? (traffic->took_s - before->took_s) / (double)(traffic->made - before->made)
                      : 0;
    return fmax(cost, 1.0 / PACKETS_PER_SECOND);
}

int whatif_lose(const struct whatif_question *question, const struct whatif_reaction *reaction,
                const struct whatif_budget *budget, struct whatif_traffic *traffic, struct err *err)
{
    *traffic = (struct whatif_traffic){.times = choose_times(question, reaction)};
    double begin = budget->clock(), guess = guess_packets(question, reaction, &traffic->times);
    struct whatif_traffic before = {.share = 1};
    traffic->congested = reaction->before.most > CONGESTED || reaction->after.most > CONGESTED;
    int status = 0;
    traffic->share = budget->exact || guess <= FIRST_PACKETS ? 1 : FIRST_PACKETS / guess;
    traffic->estimated_s = guess * traffic->share / PACKETS_PER_SECOND;
    while (status == 0) {
        status = run_with_traffic(question, traffic, budget, err);
        traffic->full_packets = (double)traffic->made / traffic->share;
        traffic->stable = status == 0 && is_stable(traffic, &before);
        if (status || traffic->stable)
            break;
        double more = traffic->share * MORE < 1 ? MORE : 1 / traffic->share;
        double extra = (double)traffic->made * (more - 1) * seconds_per_packet(traffic, &before);
        if (budget->clock() - begin + traffic->took_s + extra > budget->seconds)
            break;
        before = *traffic;
        traffic->share *= more;
        traffic->estimated_s = before.took_s + extra;
    }
    return status;
}

void whatif_traffic_release(struct whatif_traffic *traffic)
{
    arena_release(&traffic->arena);
}
