#include "report_samples.h"

#include "base/rng.h"
#include "base/time.h"
#include "experiment/store/result_store.h"
#include "topology/generators/generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(int status, const struct err *err)
{
    char text[1024];
    if (status == 0)
        return;
    fprintf(stderr, "samples: %s\n", err_text(err, text, sizeof text));
    exit(1);
}

static struct result_store *open_new(const char *path)
{
    struct result_store *store;
    struct err err;
    remove(path);
    need(result_store_open(&store, path, RESULT_STORE_WRITE, &err), &err);
    return store;
}

static void add_topology(struct text *out, const char *hostile)
{
    struct topology topology;
    struct err err;
    const char *const arguments[] = {"16", "hosts=14"};
    topology_init(&topology);
    need(topology_generate(&topology, "irregular", arguments, 2, 1, &err), &err);
    if (hostile)
        topology_set_description(&topology, 3, hostile, strlen(hostile));
    topology_write_ibnetdiscover(&topology, out);
    topology_release(&topology);
}

/* 1 before the fault at 60.1 s, down while the tables are old, back again after 60.3 s. */
static double health(uint64_t time)
{
    if (time < 60100 * TIME_MS || time > 60303 * TIME_MS)
        return 1;
    return time < 60296 * TIME_MS ? 0.86 : 0.42;
}

static double noise(struct rng *rng, double spread)
{
    return 1 + spread * ((double)rng_below(rng, 2001) / 1000 - 1);
}

static void add_series(struct results *results, size_t points)
{
    struct rng rng;
    size_t sent = results_series(results, "throughput.sent", "packets/s");
    size_t received = results_series(results, "throughput.received", "packets/s");
    size_t lost = results_series(results, "lost", "packets");
    size_t latency = results_series(results, "latency", "s");
    uint64_t from = 60 * TIME_S, span = TIME_S;
    double total = 0;
    rng_seed(&rng, 1, 1);
    for (size_t i = 0; i < points; i++) {
        uint64_t time = from + span / points * i;
        double rate = 420000 * noise(&rng, 0.03), good = health(time);
        results_add_point(results, sent, time, rate);
        results_add_point(results, received, time, rate * good * noise(&rng, 0.01));
        total += floor(rate * (1 - good) / (double)points);
        results_add_point(results, lost, time, total);
        results_add_point(results, latency, time, 4.2e-6 * noise(&rng, 0.1) * (2.2 - 1.2 * good));
    }
}

static void add_figures(struct results *results)
{
    static const struct {
        const char *name;
        double value;
        const char *unit;
    } figures[] = {
        {"made", 418220, "packets"},
        {"delivered", 405114, "packets"},
        {"throughput.sent", 419870, "packets/s"},
        {"throughput.received", 405960, "packets/s"},
        {"throughput.payload", 8.31e8, "bits/s"},
        {"latency.mean", 4.34e-6, "s"},
        {"latency.p50", 4.1e-6, "s"},
        {"latency.p99", 11.7e-6, "s"},
        {"latency.max", 183e-6, "s"},
        {"lost.dead-node", 9120, "packets"},
        {"lost.no-route", 2310, "packets"},
        {"lost.inactive-port", 1676, "packets"},
        {"lost.lifetime", 0, "packets"},
        {"change.2.compute.time", 0.1048, "s"},
        {"change.1.compute.time", 0.1063, "s"},
        {"tables.changed", 0.0183, "share"},
        {"broken", NAN, "s"},
    };
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        results_set(results, figures[i].name, figures[i].value, figures[i].unit);
}

static void add_record(struct run_record *record, const char *hostile)
{
    const char *extra = hostile ? hostile : "";
    record->file = "death.weft";
    record->seed = 7;
    record->end = 61 * TIME_S;
    record->hash = 0x1234567890abcdef;
    record->smps = 14210;
    record->lost = 3;
    record->switches = 16;
    record->adapters = 14;
    run_record_add_event(record, RUN_RECORD_EVENT, 0, "S1", "master, priority 0 %s", extra);
    run_record_add_event(record, RUN_RECORD_EVENT, 123 * TIME_MS, "S1", "the subnet is as wanted");
    run_record_add_event(record, RUN_RECORD_ACTION, 60100 * TIME_MS, "scenario", "fail switch S15");
    run_record_add_event(record, RUN_RECORD_EVENT, 60181200 * TIME_US, "S1",
                         "S3 says that a port changed %s", extra);
    run_record_add_event(record, RUN_RECORD_ALARM, 60182 * TIME_MS, "S1",
                         "15 has gone, with 1 adapter %s", extra);
    run_record_add_event(record, RUN_RECORD_EVENT, 60303 * TIME_MS, "S1",
                         "the subnet is as wanted");
    struct run_record_change changes[] = {
        {.who = "S1",
         .cause = "first look",
         .routing = 9700 * TIME_US,
         .computing = 106300 * TIME_US,
         .routed = 116 * TIME_MS,
         .end = 123 * TIME_MS,
         .gets = 214,
         .sets = 384,
         .blocks = 256,
         .finished = true},
        {.who = "S1",
         .cause = hostile ? hostile : "a sweep found that S15 is gone",
         .tied = true,
         .fault = 60100 * TIME_MS,
         .begin = 60181200 * TIME_US,
         .routing = 60191200 * TIME_US,
         .computing = 104800 * TIME_US,
         .routed = 60296 * TIME_MS,
         .end = 60302800 * TIME_US,
         .gets = 200,
         .sets = 360,
         .blocks = 240,
         .finished = true},
    };
    vec_push(&record->changes, changes[0]);
    vec_push(&record->changes, changes[1]);
    struct run_record_check checks[] = {
        {.line = "check in-order", .number = 9, .time = 60 * TIME_S, .holds = true, .finding = ""},
        {.line = "check lost <= 20000",
         .number = 14,
         .time = 61 * TIME_S,
         .holds = hostile == NULL,
         .finding = hostile ? hostile : "13106"},
    };
    vec_push(&record->checks, checks[0]);
    vec_push(&record->checks, checks[1]);
}

void sample_run(const char *path, size_t points, const char *hostile)
{
    struct result_store *store = open_new(path);
    struct results results = {0};
    struct run_record record = {0};
    struct text topology = {0};
    struct err err;
    add_topology(&topology, hostile);
    add_figures(&results);
    if (hostile) {
        results_set(&results, hostile, 1, "packets");
        results_add_point(&results, results_series(&results, hostile, hostile), TIME_S, 1);
    }
    add_series(&results, points);
    add_record(&record, hostile);
    struct result_run run = {
        .seed = 7,
        .replay = "weft sim death.weft --seed 7",
        .name = hostile ? hostile : "experiments/death.weft",
        .scenario = "topology irregular 16 hosts=14\nsm S1 engine fera\npreset paper\n"
                    "traffic uniform rate 30000\nrun 60s\ncheck in-order\n"
                    "at 60.1s fail switch S15\nrun 61s\ncheck lost <= 20000\n",
        .topology = topology.data,
    };
    need(result_store_add(store, &run, &record, &results, &err), &err);
    result_store_close(store);
    text_release(&topology);
    results_release(&results);
    run_record_release(&record);
}

void sample_empty_run(const char *path)
{
    struct result_store *store = open_new(path);
    struct run_record record = {.file = "empty.weft"};
    struct result_run run = {.name = "empty.weft"};
    struct err err;
    need(result_store_add(store, &run, &record, NULL, &err), &err);
    result_store_close(store);
    run_record_release(&record);
}

/* ---- a sweep ---- */

static void add_measured(struct results *results, double rate, double limit, struct rng *rng)
{
    double accepted = (rate < limit ? rate : limit) * noise(rng, 0.01), load = rate / limit;
    double waiting = load < 0.97 ? load / (1 - load) : 32 + 60 * (load - 0.97);
    results_set(results, "throughput.received", accepted, "packets/s");
    results_set(results, "latency.mean", 4e-6 * (1 + 0.3 * waiting) * noise(rng, 0.05), "s");
    results_set(results, "latency.p99", 9e-6 * (1 + 0.6 * waiting) * noise(rng, 0.08), "s");
    results_set(results, "lost.no-route", (double)rng_below(rng, 20), "packets");
    results_set(results, "saturated", load > 1, "");
    results_set(results, "adapters", 21, "");
}

void sample_sweep(const char *path)
{
    static const char *const engines[] = {"fera", "pira", "dr"};
    struct result_store *store = open_new(path);
    struct err err;
    struct rng rng;
    rng_seed(&rng, 5, 5);
    for (unsigned e = 0; e < 3; e++) {
        for (unsigned r = 1; r <= 8; r++) {
            for (uint32_t n = 1; n <= 3; n++) {
                char rate[16];
                snprintf(rate, sizeof rate, "%u", r * 25000);
                struct result_parameter parameters[] = {
                    {"engine", engines[e]}, {"rate", rate}, {"vls", "2"}};
                struct result_run run = {.parameters = parameters,
                                         .parameter_count = 3,
                                         .repetition = n,
                                         .seed = n,
                                         .name = "load.weft",
                                         .replay = "weft sim load.weft --set sm.engine=fera"};
                struct results results = {0};
                struct run_record record = {.file = "load.weft", .seed = n, .hash = n};
                add_measured(&results, r * 25000.0,
                             e == 0   ? 165000
                             : e == 1 ? 131000
                                      : 152000,
                             &rng);
                if (e == 2 && r == 8 && n == 3) {
                    run.error = "it took more than 60s";
                    need(result_store_add(store, &run, NULL, NULL, &err), &err);
                } else {
                    need(result_store_add(store, &run, &record, &results, &err), &err);
                }
                results_release(&results);
                run_record_release(&record);
            }
        }
    }
    result_store_close(store);
}
