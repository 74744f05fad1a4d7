/* Prints what routing/check/disjoint.h measures, as text or JSON. */
#include "cli/verify/verify.h"

#include "cli/routing.h"
#include "routing/check/disjoint.h"

#include <inttypes.h>

static const char *const kind_names[DISJOINT_KINDS] = {"links", "switches"};

static void put_sums(struct record *record, const struct disjoint_report *report, unsigned kind)
{
    const struct disjoint_sums *sums = &report->sums[kind];
    record_begin(record, kind_names[kind]);
    record_text(record, "  %-10s  ", kind_names[kind]);
    record_real(record, "routes_mean", "%.3f disjoint routes on average",
                route_ratio(sums->routes, report->pairs));
    record_real(record, "bound_mean", " of %.3f possible; ",
                route_ratio(sums->bound, report->pairs));
    record_number(record, "below", "%llu pairs below their bound\n", sums->below);
    record_number(record, "exposed", "              %llu pairs have all routes over one",
                  sums->exposed);
    record_text(record, " %s, ", kind == DISJOINT_LINKS ? "link" : "switch");
    record_number(record, "needless", "%llu of them without need\n", sums->needless);
    record_real(record, "shared_mean", NULL, route_ratio(sums->shared, report->pairs));
    record_end(record);
}

/* A cable by the end with the lower channel. */
static void put_cable(struct record *record, const struct network *network, uint32_t channel)
{
    char from[NETWORK_LABEL_BYTES], to[NETWORK_LABEL_BYTES];
    uint32_t at = 0;
    while (channel >=
           network->switches.items[at].first_port + network->switches.items[at].port_count + 1u)
        at++;
    unsigned port = channel - network->switches.items[at].first_port;
    const struct network_port *link = &network->ports.items[channel];
    record_begin(record, NULL);
    record_guid(record, "switch", NULL, network->switches.items[at].guid);
    record_number(record, "port", NULL, port);
    record_end(record);
    record_text(record, "                link %s port %u - %s port %u\n",
                network_label(network, NETWORK_SWITCH | at, from), port,
                network_label(network, link->peer, to), link->peer_port);
}

static void put_pair(struct record *record, const struct network *network,
                     const struct disjoint_report *report, const struct disjoint_pair *pair)
{
    char label[NETWORK_LABEL_BYTES];
    const uint32_t *shared = report->shared.items + pair->first_shared;
    uint32_t links = pair->shared[DISJOINT_LINKS], switches = pair->shared[DISJOINT_SWITCHES];
    record_begin(record, NULL);
    record_guid(record, "switch", NULL, network->switches.items[pair->from].guid);
    record_text(record, "              %" PRIu32 " %s at %s", pair->pairs,
                pair->pairs == 1 ? "port" : "ports",
                network_label(network, NETWORK_SWITCH | pair->from, label));
    record_guid(record, "port_guid", NULL, network->terminals.items[pair->to].guid);
    record_text(record, " to %s, ", network_label(network, pair->to, label));
    record_number(record, "lid", "LID %llu", network->terminals.items[pair->to].lid);
    record_number(record, "lids", " and the next: %llu routes", pair->lids);
    record_number(record, "pairs", NULL, pair->pairs);
    record_number(record, "disjoint_links", ", %llu", pair->routes[DISJOINT_LINKS]);
    record_number(record, "bound_links", " of %llu link-disjoint", pair->bound[DISJOINT_LINKS]);
    record_number(record, "disjoint_switches", ", %llu", pair->routes[DISJOINT_SWITCHES]);
    record_number(record, "bound_switches", " of %llu switch-disjoint\n",
                  pair->bound[DISJOINT_SWITCHES]);
    record_begin_list(record, "shared_links");
    for (uint32_t i = 0; i < links; i++)
        put_cable(record, network, shared[i]);
    record_end_list(record);
    record_begin_list(record, "shared_switches");
    for (uint32_t i = 0; i < switches; i++) {
        uint32_t at = shared[links + i];
        record_begin(record, NULL);
        record_guid(record, "switch", NULL, network->switches.items[at].guid);
        record_end(record);
        record_text(record, "                %s\n",
                    network_label(network, NETWORK_SWITCH | at, label));
    }
    record_end_list(record);
    record_end(record);
}

void verify_put_disjoint(struct record *record, const struct network *network,
                         const struct routes *routes, const struct workers *workers, unsigned worst)
{
    struct disjoint_report report;
    disjoint_measure(network, routes, workers, worst, &report);
    record_begin(record, "disjoint");
    record_number(record, "pairs", "disjoint      %llu pairs at different switches\n",
                  report.pairs);
    record_number(record, "local", NULL, report.local);
    record_number(record, "single_lid",
                  report.single ? "              %llu more to ports with one LID\n" : NULL,
                  report.single);
    record_number(
        record, "undelivered",
        report.undelivered ? "              %llu more with a route that does not deliver\n" : NULL,
        report.undelivered);
    for (unsigned kind = 0; kind < DISJOINT_KINDS && (report.pairs || record->as_json); kind++)
        put_sums(record, &report, kind);
    record_begin_list(record, "worst");
    if (report.worst.count)
        record_text(record, "  worst\n");
    for (size_t i = 0; i < report.worst.count; i++)
        put_pair(record, network, &report, &report.worst.items[i]);
    record_end_list(record);
    record_end(record);
    disjoint_report_release(&report);
}
