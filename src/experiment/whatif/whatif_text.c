/* The answer as text for a terminal, and as JSON. */
#include "experiment/whatif/whatif.h"

#include "base/quantity.h"
#include "base/time.h"
#include "console/names.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_SHOWN = 10, COLUMN = 14 };

/* "48.0 %": quantity_text() would print "48 %" beside "29.2 %". */
const char *whatif_percent(double share, char text[QUANTITY_BYTES])
{
    snprintf(text, QUANTITY_BYTES, "%.*f %%", share < 0.0995 && share > 0 ? 2 : 1, share * 100);
    return text;
}

static const struct whatif_reaction *first_reaction(const struct whatif_answer *answer)
{
    return &answer->engines[0].reaction;
}

void whatif_put_nodes(const struct topology *topology, const uint32_t *nodes, size_t count,
                      struct text *out)
{
    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
        text_printf(out, "%s%s", i ? ", " : "", node_label(topology, nodes[i]));
    if (count > NAMES_SHOWN)
        text_printf(out, " and %zu more", count - NAMES_SHOWN);
}

void whatif_put_channel(const struct topology *topology, uint32_t port, struct text *out)
{
    const struct topology_port *p = &topology->ports.items[port];
    text_printf(out, "%s port %u -> %s", node_label(topology, p->node),
                topology_port_number(topology, port),
                node_label(topology, topology->ports.items[p->peer].node));
}

size_t whatif_most_changed(const struct whatif_reaction *reaction, size_t ports,
                           uint32_t found[WHATIF_CHANNELS])
{
    enum { LEAST_PER_MILLE = 5 };
    const double *before = reaction->before.share, *after = reaction->after.share;
    size_t count = 0;
    for (uint32_t port = 0; before && after && port < ports; port++) {
        double rise = after[port] - before[port];
        if (rise * 1000 < LEAST_PER_MILLE)
            continue;
        size_t at = count < WHATIF_CHANNELS ? count++ : WHATIF_CHANNELS;
        for (; at > 0 && rise > after[found[at - 1]] - before[found[at - 1]]; at--)
            if (at < WHATIF_CHANNELS)
                found[at] = found[at - 1];
        if (at < WHATIF_CHANNELS)
            found[at] = port;
    }
    return count;
}

/* ---- the verdict ---- */

double whatif_scale(const struct whatif_traffic *traffic, uint64_t packets)
{
    return round((double)packets / traffic->share);
}

bool whatif_is_good(const struct whatif_answer *answer)
{
    const struct whatif_reaction *reaction = first_reaction(answer);
    return !answer->cut.adapters.count && !answer->cut.switches.count &&
           !answer->cut.manager_lost && reaction->up && reaction->recovered &&
           !(answer->question->load > 0 &&
             reaction->after.overloaded > reaction->before.overloaded);
}

/* Why there are no routes, or why the subnet is not settled. */
static const char *reason_of(const struct whatif_reaction *reaction)
{
    return reaction->refusal     ? reaction->refusal
           : reaction->complaint ? reaction->complaint
                                 : "unknown";
}

static void put_recovery(const struct whatif_answer *answer, struct text *out)
{
    const struct whatif_reaction *reaction = first_reaction(answer);
    char time[QUANTITY_BYTES];
    if (!reaction->up)
        text_printf(out, "; the subnet does not come up even before the failure: %s",
                    reason_of(reaction));
    else if (answer->cut.manager_lost)
        text_puts(out, "; no manager is left, so nothing is rerouted");
    else if (!reaction->recovered)
        text_printf(out, "; the subnet does not recover: %s", reason_of(reaction));
    else if (reaction->reacted)
        text_printf(out, "; the subnet recovers within %s of simulated time",
                    quantity_text(time_seconds(reaction->recovery_ps), "s", time));
}

/* Of the shortest and of the longest time-out. */
static void put_connections_verdict(const struct whatif_answer *answer, struct text *out)
{
    const struct whatif_connections *first = &answer->connections[0];
    const struct whatif_connections *last = &answer->connections[WHATIF_TIMEOUTS - 1];
    char short_outage[QUANTITY_BYTES], long_outage[QUANTITY_BYTES];
    if (!answer->has_connections)
        return;
    if (!first->stood_still && !last->stood_still) {
        text_puts(out, "; no connection stands still");
        return;
    }
    uint64_t most = first->stood_still > last->stood_still ? first->stood_still : last->stood_still;
    uint64_t broken = first->broken > last->broken ? first->broken : last->broken;
    text_printf(out, "; %llu connection%s of %llu stand%s still for %s to %s at most, ",
                (unsigned long long)most, most == 1 ? "" : "s", (unsigned long long)first->count,
                most == 1 ? "s" : "", quantity_text(first->outage_s, "s", short_outage),
                quantity_text(last->outage_s, "s", long_outage));
    if (broken)
        text_printf(out, "%llu break%s", (unsigned long long)broken, broken == 1 ? "s" : "");
    else
        text_puts(out, "none breaks");
}

void whatif_put_verdict(const struct whatif_answer *answer, struct text *out)
{
    const struct whatif_cut *cut = &answer->cut;
    const struct whatif_reaction *reaction = first_reaction(answer);
    char number[QUANTITY_BYTES];
    size_t adapters = cut->adapters.count, switches = cut->switches.count;
    if (!adapters && !switches)
        text_puts(out, "Nobody is");
    if (adapters)
        text_printf(out, "%zu adapter%s%s", adapters, adapters == 1 ? "" : "s",
                    switches        ? " and "
                    : adapters == 1 ? " is"
                                    : " are");
    if (switches)
        text_printf(out, "%zu switch%s", switches,
                    switches > 1 ? "es are"
                    : adapters   ? " are"
                                 : " is");
    text_puts(out, " cut off");
    put_recovery(answer, out);
    if (answer->has_traffic)
        text_printf(
            out, "; %s%s packets are lost", answer->traffic.share < 1 ? "about " : "",
            quantity_text((double)answer->traffic.lost / answer->traffic.share, "", number));
    put_connections_verdict(answer, out);
    if (answer->question->load > 0 && reaction->after.overloaded)
        text_printf(out, "; %u link%s overloaded afterwards, %u before", reaction->after.overloaded,
                    reaction->after.overloaded == 1 ? " is" : "s are", reaction->before.overloaded);
    text_putc(out, '.');
}

/* ---- text ---- */

static void put_label(const char *label, struct text *out)
{
    text_put_padded(out, label, COLUMN, false);
}

static void put_cut(const struct whatif_answer *answer, struct text *out)
{
    const struct whatif_cut *cut = &answer->cut;
    const struct {
        const char *one, *more;
        const uint32_t *nodes;
        size_t count;
    } kinds[] = {{"adapter", "adapters", cut->adapters.items, cut->adapters.count},
                 {"switch", "switches", cut->switches.items, cut->switches.count}};
    const char *label = "cut off";
    for (unsigned i = 0; i < 2; i++) {
        struct text names = {0};
        if (!kinds[i].count)
            continue;
        whatif_put_nodes(answer->question->topology, kinds[i].nodes, kinds[i].count, &names);
        put_label(label, out);
        text_put_wrapped(out, COLUMN, "%zu %s: %s", kinds[i].count,
                         kinds[i].count == 1 ? kinds[i].one : kinds[i].more, names.data);
        text_release(&names);
        label = "";
    }
    if (*label) {
        put_label(label, out);
        text_puts(out, "nobody\n");
    }
    if (cut->adapters_before + cut->switches_before) {
        put_label("", out);
        text_put_wrapped(out, COLUMN,
                         "(%u adapters and %u switches are not connected with the manager even "
                         "without the failure)",
                         cut->adapters_before, cut->switches_before);
    }
}

static void put_reaction(const struct whatif_answer *answer, struct text *out)
{
    const struct whatif_reaction *reaction = first_reaction(answer);
    char text[SM_STEPS + 1][QUANTITY_BYTES];
    put_label("recovery", out);
    if (!reaction->reacted) {
        text_put_wrapped(
            out, COLUMN, "none: %s",
            !reaction->up ? (reaction->refusal ? reaction->refusal : "the subnet does not come up")
            : answer->cut.manager_lost ? "no manager is left"
                                       : "the manager has nothing to change");
        return;
    }
    for (unsigned i = 0; i < SM_STEPS; i++)
        quantity_text(time_seconds(reaction->steps_ps[i]), "s", text[i]);
    text_put_wrapped(out, COLUMN,
                     "%s (detect %s, discover %s, compute %s, distribute %s); %llu SMPs, %llu "
                     "table blocks%s%s",
                     quantity_text(time_seconds(reaction->recovery_ps), "s", text[SM_STEPS]),
                     text[SM_STEP_DETECT], text[SM_STEP_DISCOVER], text[SM_STEP_COMPUTE],
                     text[SM_STEP_DISTRIBUTE], (unsigned long long)reaction->smps,
                     (unsigned long long)reaction->blocks, reaction->recovered ? "" : "; NOT ",
                     reaction->recovered ? "" : "recovered");
    if (reaction->drains_ps) {
        put_label("", out);
        text_put_wrapped(out, COLUMN,
                         "%s of it drains: packets in flight leave the fabric, and traffic of all "
                         "routes waits so that none is lost on broken ones (hold, drain_life_time "
                         "in weft-sm.conf(5))",
                         quantity_text(time_seconds(reaction->drains_ps), "s", text[0]));
    }
}

static void put_traffic(const struct whatif_answer *answer, struct text *out)
{
    const struct whatif_traffic *traffic = &answer->traffic;
    char lost[QUANTITY_BYTES], made[QUANTITY_BYTES], share[QUANTITY_BYTES], load[QUANTITY_BYTES];
    char time[QUANTITY_BYTES];
    double of = traffic->made ? (double)traffic->lost / (double)traffic->made : 0;
    if (!answer->has_traffic)
        return;
    put_label("lost", out);
    text_put_wrapped(
        out, COLUMN,
        "%s%s packets of %s (%s) in a window of %s, at a load of %s; the last %s "
        "after the failure",
        traffic->share < 1 ? "about " : "",
        quantity_text(whatif_scale(traffic, traffic->lost), "", lost),
        quantity_text(traffic->full_packets, "", made), whatif_percent(of, share),
        quantity_text(time_seconds(traffic->window_ps), "s", time),
        quantity_text(answer->question->load, "share", load),
        traffic->lost ? quantity_text(time_seconds(traffic->outage_ps), "s", (char[64]){0}) : "-");
    for (size_t i = 0; i < traffic->cause_count; i++) {
        put_label("", out);
        text_printf(out, "%s: %s\n", traffic->causes[i].name,
                    quantity_text(whatif_scale(traffic, traffic->causes[i].packets), "", lost));
    }
    if (traffic->unroutable) {
        put_label("", out);
        text_printf(out, "%s more packets were not sent because no path existed\n",
                    quantity_text(whatif_scale(traffic, traffic->unroutable), "", lost));
    }
    if (traffic->share < 1) {
        put_label("", out);
        text_put_wrapped(out, COLUMN,
                         "(estimated from %llu lost packets of a run with 1 packet in %.3g%s; "
                         "--exact simulates all)",
                         (unsigned long long)traffic->lost, 1 / traffic->share,
                         traffic->stable      ? ""
                         : traffic->congested ? ", without the queues of links above 80 %"
                                              : ", which is not yet stable");
    }
}

static void put_connections(const struct whatif_answer *answer, struct text *out)
{
    char time[QUANTITY_BYTES], outage[QUANTITY_BYTES];
    for (unsigned i = 0; answer->has_connections && i < WHATIF_TIMEOUTS; i++) {
        const struct whatif_connections *row = &answer->connections[i];
        put_label(i ? "" : "connections", out);
        text_printf(out, "time-out %u (%s): %llu of %llu stand still, for %s at most; %llu break\n",
                    row->exponent, quantity_text(time_seconds(row->timeout_ps), "s", time),
                    (unsigned long long)row->stood_still, (unsigned long long)row->count,
                    quantity_text(row->outage_s, "s", outage), (unsigned long long)row->broken);
    }
}

static void put_loads(const struct whatif_answer *answer, struct text *out)
{
    const struct whatif_reaction *reaction = first_reaction(answer);
    const struct topology *topology = answer->question->topology;
    const struct whatif_loads *loads[] = {&reaction->before, &reaction->after};
    uint32_t changed[WHATIF_CHANNELS];
    char mean[QUANTITY_BYTES], most[QUANTITY_BYTES];
    if (!reaction->up)
        return; /* there are no tables */
    for (int i = 0; i < 2; i++) {
        struct text channel = {0};
        if (!loads[i]->share || loads[i]->worst == TOPOLOGY_NONE)
            continue;
        put_label(i ? "" : "link load", out);
        whatif_put_channel(topology, loads[i]->worst, &channel);
        text_put_wrapped(out, COLUMN, "%s %s on average, %s at most (%s)%s", i ? "after" : "before",
                         whatif_percent(loads[i]->mean, mean), whatif_percent(loads[i]->most, most),
                         channel.data, loads[i]->overloaded ? ", OVERLOADED" : "");
        text_release(&channel);
    }
    size_t count = whatif_most_changed(reaction, topology->ports.count, changed);
    for (size_t i = 0; i < count && i < 5; i++) {
        assert(loads[0]->share && loads[1]->share);
        put_label("", out);
        text_printf(out, "%7s -> %7s  ", whatif_percent(loads[0]->share[changed[i]], mean),
                    whatif_percent(loads[1]->share[changed[i]], most));
        whatif_put_channel(topology, changed[i], out);
        text_putc(out, '\n');
    }
}

/* "dor: the network is not a grid" without the name. */
static const char *without_name(const char *refusal, const char *name)
{
    size_t length = strlen(name);
    bool named = strncmp(refusal, name, length) == 0 && strncmp(refusal + length, ": ", 2) == 0;
    return refusal + (named ? length + 2 : 0);
}

static void put_engines(const struct whatif_answer *answer, struct text *out)
{
    char time[QUANTITY_BYTES], before[QUANTITY_BYTES], after[QUANTITY_BYTES];
    if (answer->engine_count < 2)
        return;
    text_puts(out,
              "\nengine      recovery     SMPs  blocks  most before   most after  hops after\n");
    for (size_t i = 0; i < answer->engine_count; i++) {
        const struct whatif_engine *engine = &answer->engines[i];
        const struct whatif_reaction *reaction = &engine->reaction;
        text_printf(out, "%-10s ", engine->name);
        if (reaction->refusal || !reaction->up) {
            text_put_wrapped(out, 11, "%s: %s",
                             reaction->up ? "refuses after the failure" : "refuses",
                             reaction->refusal ? without_name(reaction->refusal, engine->name)
                                               : "the subnet does not come up");
            continue;
        }
        text_put_padded(out,
                        !reaction->reacted ? "none"
                        : reaction->recovered
                            ? quantity_text(time_seconds(reaction->recovery_ps), "s", time)
                            : "fails",
                        9, true);
        text_printf(out, " %8llu %7llu ", (unsigned long long)reaction->smps,
                    (unsigned long long)reaction->blocks);
        text_put_padded(out, whatif_percent(reaction->before.most, before), 12, true);
        text_put_padded(out, whatif_percent(reaction->after.most, after), 13, true);
        text_printf(out, " %11.2f\n", reaction->after.hops);
    }
}

void whatif_write_text(const struct whatif_answer *answer, struct text *out)
{
    const struct whatif_question *question = answer->question;
    struct text names = {0};
    whatif_put_verdict(answer, &names);
    text_put_wrapped(out, 0, "%s", names.data);
    text_clear(&names);
    text_putc(out, '\n');
    put_label("failure", out);
    for (size_t i = 0; i < question->failure_count; i++) {
        text_puts(&names, i ? ", " : "");
        whatif_put_failure(question->topology, &question->failures[i], &names);
    }
    text_put_wrapped(out, COLUMN, "%s", names.data);
    text_clear(&names);
    put_label("manager", out);
    whatif_put_nodes(question->topology, question->managers, question->manager_count, &names);
    text_put_wrapped(out, COLUMN, "%s%s, engine %s", names.data,
                     answer->managers_chosen ? " (--sm names another)" : "", question->engine);
    text_release(&names);
    put_cut(answer, out);
    put_reaction(answer, out);
    put_traffic(answer, out);
    put_connections(answer, out);
    put_loads(answer, out);
    put_engines(answer, out);
    text_printf(out, "\nanswered in %.1f s\n", answer->took_s);
}

/* ---- JSON ---- */

static void put_json_loads(struct json *json, const char *key, const struct whatif_loads *loads,
                           const struct topology *topology)
{
    struct text name = {0};
    json_begin_object(json, key);
    json_double(json, "mean", loads->mean);
    json_double(json, "most", loads->most);
    if (loads->share && loads->worst != TOPOLOGY_NONE) {
        whatif_put_channel(topology, loads->worst, &name);
        json_string(json, "worst", name.data);
    }
    json_unsigned(json, "links", loads->links);
    json_unsigned(json, "overloaded", loads->overloaded);
    json_double(json, "hops", loads->hops);
    json_double(json, "unreachable", loads->unreachable);
    json_double(json, "affected", loads->affected);
    json_end_object(json);
    text_release(&name);
}

static void put_json_reaction(struct json *json, const struct whatif_engine *engine,
                              const struct topology *topology)
{
    const struct whatif_reaction *reaction = &engine->reaction;
    json_begin_object(json, NULL);
    json_string(json, "engine", engine->name);
    json_bool(json, "up", reaction->up);
    json_bool(json, "reacted", reaction->reacted);
    json_bool(json, "recovered", reaction->recovered);
    if (reaction->refusal)
        json_string(json, "refusal", reaction->refusal);
    if (reaction->complaint)
        json_string(json, "complaint", reaction->complaint);
    if (reaction->refusal || !reaction->up) { /* there are no figures of tables */
        json_end_object(json);
        return;
    }
    json_unsigned(json, "recovery_ps", reaction->recovery_ps);
    json_begin_object(json, "steps_ps");
    for (unsigned i = 0; i < SM_STEPS; i++)
        json_unsigned(json, sm_step_name(i), reaction->steps_ps[i]);
    json_end_object(json);
    json_unsigned(json, "drains_ps", reaction->drains_ps);
    json_unsigned(json, "smps", reaction->smps);
    json_unsigned(json, "blocks", reaction->blocks);
    put_json_loads(json, "before", &reaction->before, topology);
    put_json_loads(json, "after", &reaction->after, topology);
    json_end_object(json);
}

static void put_json_traffic(struct json *json, const struct whatif_answer *answer)
{
    const struct whatif_traffic *traffic = &answer->traffic;
    if (!answer->has_traffic)
        return;
    json_begin_object(json, "traffic");
    json_double(json, "load", answer->question->load);
    json_double(json, "simulated_share", traffic->share);
    json_bool(json, "stable", traffic->stable);
    json_bool(json, "congested", traffic->congested);
    json_unsigned(json, "runs", traffic->runs);
    json_unsigned(json, "made", traffic->made);
    json_unsigned(json, "lost", traffic->lost);
    json_unsigned(json, "unroutable", traffic->unroutable);
    json_begin_object(json, "lost_by_cause");
    for (size_t i = 0; i < traffic->cause_count; i++)
        json_unsigned(json, traffic->causes[i].name, traffic->causes[i].packets);
    json_end_object(json);
    json_double(json, "lost_estimate", (double)traffic->lost / traffic->share);
    json_double(json, "made_estimate", traffic->full_packets);
    json_unsigned(json, "recovery_ps", traffic->recovery_ps);
    json_unsigned(json, "outage_ps", traffic->outage_ps);
    json_double(json, "estimated_s", traffic->estimated_s);
    json_double(json, "took_s", traffic->took_s);
    json_end_object(json);
}

static void put_json_connections(struct json *json, const struct whatif_answer *answer)
{
    if (!answer->has_connections)
        return;
    json_begin_array(json, "connections");
    for (unsigned i = 0; i < WHATIF_TIMEOUTS; i++) {
        const struct whatif_connections *row = &answer->connections[i];
        json_begin_object(json, NULL);
        json_unsigned(json, "timeout", row->exponent);
        json_unsigned(json, "timeout_ps", row->timeout_ps);
        json_unsigned(json, "connections", row->count);
        json_unsigned(json, "stood_still", row->stood_still);
        json_unsigned(json, "broken", row->broken);
        json_double(json, "outage_s", row->outage_s);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_json_nodes(struct json *json, const char *key, const struct topology *topology,
                           const uint32_t *nodes, size_t count)
{
    json_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        json_string(json, NULL, node_label(topology, nodes[i]));
    json_end_array(json);
}

void whatif_put_json(const struct whatif_answer *answer, struct json *json)
{
    const struct whatif_question *question = answer->question;
    const struct topology *topology = question->topology;
    const struct whatif_cut *cut = &answer->cut;
    struct text text = {0};
    json_string(json, "net", question->net);
    json_begin_array(json, "failures");
    for (size_t i = 0; i < question->failure_count; i++) {
        text_clear(&text);
        whatif_put_failure(topology, &question->failures[i], &text);
        json_string(json, NULL, text.data);
    }
    json_end_array(json);
    text_clear(&text);
    whatif_put_verdict(answer, &text);
    json_string(json, "summary", text.data);
    json_bool(json, "good", whatif_is_good(answer));
    put_json_nodes(json, "managers", topology, question->managers, question->manager_count);
    json_unsigned(json, "seed", question->seed);
    put_json_nodes(json, "cut_off_adapters", topology, cut->adapters.items, cut->adapters.count);
    put_json_nodes(json, "cut_off_switches", topology, cut->switches.items, cut->switches.count);
    json_unsigned(json, "cut_off_before", cut->adapters_before + cut->switches_before);
    json_unsigned(json, "parts", cut->parts);
    json_bool(json, "manager_lost", cut->manager_lost);
    put_json_traffic(json, answer);
    put_json_connections(json, answer);
    json_begin_array(json, "engines");
    for (size_t i = 0; i < answer->engine_count; i++)
        put_json_reaction(json, &answer->engines[i], topology);
    json_end_array(json);
    uint32_t changed[WHATIF_CHANNELS];
    const struct whatif_reaction *reaction = first_reaction(answer);
    size_t count = whatif_most_changed(reaction, topology->ports.count, changed);
    json_begin_array(json, "links");
    for (size_t i = 0; i < count; i++) {
        json_begin_object(json, NULL);
        text_clear(&text);
        whatif_put_channel(topology, changed[i], &text);
        json_string(json, "link", text.data);
        json_double(json, "before", reaction->before.share[changed[i]]);
        json_double(json, "after", reaction->after.share[changed[i]]);
        json_end_object(json);
    }
    json_end_array(json);
    text_release(&text);
}

void whatif_write_json(const struct whatif_answer *answer, struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    json_begin_object(&json, NULL);
    whatif_put_json(answer, &json);
    json_double(&json, "took_s", answer->took_s);
    json_end_object(&json);
    text_putc(out, '\n');
}
