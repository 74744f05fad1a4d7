/* weft sim: runs a scenario. weft-scenario(5) describes the language. */
#include "base/parse.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/progress_pace.h"
#include "cli/workers.h"
#include "experiment/report/report.h"
#include "experiment/report/run_text.h"
#include "experiment/run/run.h"
#include "host/files/dumps.h"
#include "wire/pcap.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_SIGNAL = 128 }; /* added to the number of the signal, as shells do */

static struct {
    const char *seed_text, *pcap, *out, *steady, *dump;
    uint64_t seed, jobs;
    bool json, quiet;
    struct option_values settings;
} given;

static const struct option_spec options[] = {
    {"--seed N", "seed of the random numbers (default: the file's, else 1)",
     .value = &given.seed_text, .number = &given.seed},
    {"--set KEY=VALUE",
     "override a setting of the file: an attribute of the fabric (mtu=2048, 'S1*:traps=no'), of "
     "all managers (sm.engine=fera), of traffic (traffic.rate=20e3, traffic.2.size=64), of a "
     "generated topology (topology.switches=64), or preset=paper; may be repeated",
     .values = &given.settings},
    {"--stop-when-steady PERCENT",
     "end when the mean latency and throughput are known to within PERCENT, as with 'on steady'",
     .value = &given.steady},
    {"-j, --jobs N",
     "threads for the data packets of the run; the results are the same (default: 1)",
     .number = &given.jobs, .low = 1, .high = WORKERS_LIMIT},
    {"--pcap FILE", "write every MAD and every packet of connections to FILE (pcapng)",
     .value = &given.pcap},
    {"--out DIR", "also write report.html, run.json, CSV files and a result store to DIR",
     .value = &given.out},
    {"--dump DIR",
     "write routers, links and tables of each subnet to DIR/PREFIX.dump, for 'weft verify'",
     .value = &given.dump},
    {"--json", "print one JSON object instead of text", .flag = &given.json},
    {"--quiet", "print only checks that fail, and the last line", .flag = &given.quiet},
    {0}};

static double begin, shown; /* times: start, last progress line */
static struct progress_pace pace;

/* Shows the progress five times a second, and after two seconds the time that is left. That is the
 * time to the end of the present `run` statement at the pace of the last seconds. */
static void show_progress(void *context, uint64_t now, uint64_t until)
{
    char at[TIME_TEXT_BYTES], end[TIME_TEXT_BYTES], left[32] = "";
    double clock = clock_seconds();
    bool known = until != TIME_NEVER;
    (void)context;
    if (clock < shown + 0.2)
        return;
    shown = clock;
    progress_pace_add(&pace, clock, (double)now);
    double seconds = known ? progress_pace_left(&pace, (double)until) : -1;
    if (clock >= begin + 2 && seconds >= 0)
        snprintf(left, sizeof left, ", %.0f s left%s", ceil(seconds),
                 given.steady ? " at most" : "");
    progress_show("%s%s%s simulated in %.0f s%s", time_text(now, at), known ? " of " : "",
                  known ? time_text(until, end) : "", clock - begin, left);
}

/* ---- signals ---- */

static volatile sig_atomic_t caught; /* the number of the signal */

/* The first signal stops the run, which then prints its results; a second one ends the process. */
static void catch_signal(int number)
{
    caught = number;
}

/* ---- printing ---- */

static void print_event(void *context, const struct run_record_event *event)
{
    struct text line = {0};
    (void)context;
    if (given.json ||
        (given.quiet && (event->kind != RUN_RECORD_CHECK || strcmp(event->who, "FAILED") != 0)))
        return;
    progress_clear();
    run_record_write_event(event, &line);
    fwrite(line.data, 1, line.length, stdout);
    fflush(stdout); /* a reader of a pipe gets each event as it happens */
    text_release(&line);
}

/* Balance: as many threads at most are useful, since the others wait for the busiest one. */
static void print_parallel(const struct partition_figures *parallel)
{
    double all = (double)parallel->all_events, events = (double)parallel->events;
    double critical = (double)parallel->critical;
    printf("%u threads: %.1f %% of the events in parallel, balance %.2f, in %" PRIu64
           " windows, divided %" PRIu64 " times\n",
           (unsigned)given.jobs, all > 0 ? 100 * events / all : 0,
           critical > 0 ? events / critical : 1, parallel->windows, parallel->divisions);
}

static void print_results(const struct run_record *record)
{
    struct text text = {0};
    if (given.json)
        run_record_write_json(record, &text);
    else
        run_record_write_summary(record, &text);
    const char *from = text.data;
    if (given.quiet && !given.json) /* the last line only */
        for (const char *at = text.data; at[1]; at++)
            if (*at == '\n')
                from = at + 1;
    fputs(from, stdout);
    if (given.out && !given.json && !given.quiet)
        printf("all results are in %s: open report.html\n", given.out);
    text_release(&text);
}

/* ---- dumps ---- */

static struct err dump_err; /* the first error; empty: none */

/* Writes a dump of each subnet that has a master; those of the end of the run remain. */
static void dump_subnets(void *context, const struct setup *setup)
{
    VEC(uint64_t) seen = {0};
    (void)context;
    for (unsigned i = 0; i < sim_manager_count(setup->sim) && !dump_err.message[0]; i++) {
        struct sm *sm = sim_manager(setup->sim, i);
        if (!sm || sm_state(sm) != SM_MASTER)
            continue;
        uint64_t prefix = sm_subnet(sm)->prefix_routes.own;
        unsigned same = 0;
        char name[64], more[16] = "";
        for (size_t j = 0; j < seen.count; j++)
            same += seen.items[j] == prefix;
        vec_push(&seen, prefix);
        if (same)
            snprintf(more, sizeof more, "-%u", same + 1);
        snprintf(name, sizeof name, "0x%016" PRIx64 "%s.dump", prefix, more);
        struct dump_snapshot *snapshot = dump_snapshot_take(sm_subnet(sm));
        dump_write_subnet(snapshot, given.dump, name, &dump_err);
        dump_snapshot_free(snapshot);
    }
    vec_release(&seen);
}

/* ---- main ---- */

static int play(struct scenario *scenario, struct err *err)
{
    struct run_record record = {.tell = print_event};
    struct text topology = {0};
    struct run_options wanted = {.interrupt = &caught,
                                 .progress = isatty(STDERR_FILENO) ? show_progress : NULL,
                                 .inspect = given.dump ? dump_subnets : NULL,
                                 .topology = given.out ? &topology : NULL};
    struct workers workers = workers_of_threads(given.jobs ? (unsigned)given.jobs : 1);
    struct partition_figures parallel = {0};
    wanted.workers = &workers;
    wanted.parallel = &parallel;
    struct sigaction action = {.sa_handler = catch_signal, .sa_flags = (int)SA_RESETHAND};
    setlocale(LC_CTYPE, ""); /* charts use characters beyond ASCII */
    record.plain = strcmp(nl_langinfo(CODESET), "UTF-8") != 0 && isatty(STDOUT_FILENO);
    int status = given.out ? run_folder_make(given.out, err) : 0;
    for (size_t i = 0; i < given.settings.count && status == 0; i++)
        status = scenario_override(scenario, given.settings.items[i], err);
    if (given.seed_text)
        scenario_override_seed(scenario, given.seed);
    uint64_t share;
    if (status == 0 && given.steady && (!parse_percent(given.steady, &share) || share == 0))
        status = err_set(err, EINVAL, "--stop-when-steady %.40s: expected a percentage such as 2%%",
                         given.steady);
    if (status == 0 && given.steady)
        scenario_override_steady(scenario, share);
    if (status == 0 && given.pcap)
        status = pcap_open(&wanted.pcap, given.pcap, err);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (status == 0)
        status = run_scenario(scenario, &wanted, &record, err);
    progress_clear();
    int closed = pcap_close(wanted.pcap);
    if (status == 0 && closed < 0)
        status = err_at(err, -closed, given.pcap, 0, "%s", strerror(-closed));
    if (status == 0 && dump_err.message[0])
        status = err_set(err, EIO, "%s", dump_err.message);
    struct run_folder folder = {.record = &record,
                                .scenario = scenario->text,
                                .topology = &topology,
                                .settings = given.settings.items,
                                .setting_count = given.settings.count,
                                .wall_s = clock_seconds() - begin};
    if (status == 0 && given.out)
        status = run_folder_write(given.out, &folder, err);
    if (status == 0) {
        print_results(&record);
        if (given.jobs > 1 && !given.json && !given.quiet)
            print_parallel(&parallel);
        status = run_record_failures(&record) ? EXIT_FAILS : EXIT_HOLDS;
        if (results_value(&record.results, "partial") > 0)
            status = EXIT_SIGNAL + caught;
    }
    run_record_release(&record);
    text_release(&topology);
    return status;
}

static int run_sim(int argc, char **argv, struct err *err)
{
    struct scenario scenario;
    (void)argc;
    begin = clock_seconds();
    int status = scenario_read(&scenario, argv[1], err);
    if (status)
        return status;
    status = play(&scenario, err);
    scenario_release(&scenario);
    return status;
}

const struct command command_sim = {
    .name = "sim",
    .summary = "run a scenario in virtual time",
    .usage = "usage: weft sim FILE [OPTION ...]\n"
             "\n"
             "Runs a scenario in virtual time: a fabric, managers, traffic, faults and checks.\n"
             "Prints a timeline, then tables and charts: the managers' changes by phase, the\n"
             "traffic, the checks. The same file and seed give the same run, and the same\n"
             "trace hash, on every machine.\n"
             "\n",
    .column = 19,
    .options = options,
    .more = "\n"
            "exit status: 0 all checks passed, 1 a check failed, 2 the scenario is invalid.\n"
            "Ctrl-C ends the run and prints its results so far, marked as partial: 130.\n"
            "\n"
            "a scenario:\n"
            "  topology clos 3 1 4\n"
            "  sm S0 engine fera\n"
            "  traffic uniform rate 20e3 start 1s\n"
            "  run until settled\n"
            "  at 1.1s fail switch S3\n"
            "  run 1.2s\n"
            "  check no-loss-of unaffected\n"
            "\n"
            "examples:\n"
            "  weft sim death.weft --out death\n"
            "  weft sim death.weft --set sm.engine=pira --set traffic.load=0.3 --json\n",
    .operand = "a scenario",
    .run = run_sim,
};
