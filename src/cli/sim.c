/* weft sim: runs a scenario. weft-scenario(5) describes the language. */
#include "base/mem.h"
#include "base/time.h"
#include "cli/command.h"
#include "experiment/report/run_folder.h"
#include "experiment/report/run_text.h"
#include "experiment/run/run.h"
#include "wire/pcap.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: weft sim FILE [OPTION ...]\n"
    "\n"
    "Runs a scenario in virtual time: a fabric, managers, traffic, faults and checks.\n"
    "Prints a timeline, then tables and charts: the managers' changes by phase, the\n"
    "traffic, the checks. The same file and seed give the same run, and the same\n"
    "trace hash, on every machine.\n"
    "\n"
    "  --seed N         seed of the random numbers (default: the file's, else 1)\n"
    "  --set KEY=VALUE  override a setting of the file: an attribute of the fabric\n"
    "                   (mtu=2048, 'S1*:traps=no'), of all managers (sm.engine=fera),\n"
    "                   of traffic (traffic.rate=20e3, traffic.2.size=64), of a\n"
    "                   generated topology (topology.switches=64), or preset=paper;\n"
    "                   may be repeated\n"
    "  --pcap FILE      write every MAD on every link to FILE (pcapng)\n"
    "  --out DIR        also write report.html, run.json, CSV files and a result\n"
    "                   store to DIR\n"
    "  --json           print one JSON object instead of text\n"
    "  --quiet          print only checks that fail, and the last line\n"
    "\n"
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
    "  weft sim death.weft --set sm.engine=pira --set traffic.load=0.3 --json\n";

enum { EXIT_SIGNAL = 128 }; /* added to the number of the signal, as shells do */

struct sim_arguments {
    const char *file, *seed_text, *pcap, *out;
    uint64_t seed;
    bool json, quiet;
    struct option_values settings;
    struct run_options play;
    double begin, shown; /* times: start, last progress line */
};

static int parse_sim_arguments(struct sim_arguments *arguments, int argc, char **argv)
{
    const struct option_spec specs[] = {
        {.name = "seed", .value = &arguments->seed_text, .number = &arguments->seed},
        {.name = "pcap", .value = &arguments->pcap},
        {.name = "out", .value = &arguments->out},
        {.name = "set", .values = &arguments->settings},
        {.name = "json", .flag = &arguments->json},
        {.name = "quiet", .flag = &arguments->quiet},
        {0}};
    argc = command_options("sim", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (argc < 2)
        return command_usage("sim", "expected a scenario");
    if (argc > 2)
        return command_usage("sim", "'%s' is one argument too many", argv[2]);
    arguments->file = argv[1];
    return 0;
}

/* Shows the progress five times a second. */
static void show_progress(void *context, uint64_t now, uint64_t until)
{
    struct sim_arguments *arguments = context;
    char at[TIME_TEXT_BYTES], end[TIME_TEXT_BYTES];
    double clock = clock_seconds();
    bool known = until != TIME_NEVER;
    if (clock < arguments->shown + 0.2)
        return;
    arguments->shown = clock;
    progress_show("%s%s%s simulated in %.0f s", time_text(now, at), known ? " of " : "",
                  known ? time_text(until, end) : "", clock - arguments->begin);
}

/* ---- signals ---- */

static volatile sig_atomic_t caught; /* the number of the signal */

static void catch_signal(int number)
{
    caught = number;
}

/* The first signal stops the run, which then prints its results; a second one ends the process. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = catch_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- printing ---- */

static void print_event(void *context, const struct run_record_event *event)
{
    const struct sim_arguments *arguments = context;
    struct text line = {0};
    if (arguments->json || (arguments->quiet &&
                            (event->kind != RUN_RECORD_CHECK || strcmp(event->who, "FAILED") != 0)))
        return;
    progress_clear();
    run_record_write_event(event, &line);
    fwrite(line.data, 1, line.length, stdout);
    fflush(stdout); /* a reader of a pipe gets each event as it happens */
    text_release(&line);
}

static void print_results(const struct sim_arguments *arguments, const struct run_record *record)
{
    struct text text = {0};
    if (arguments->json)
        run_record_write_json(record, &text);
    else
        run_record_write_summary(record, &text);
    const char *from = text.data;
    if (arguments->quiet && !arguments->json) { /* the last line only */
        for (const char *at = text.data; at[1]; at++)
            if (*at == '\n')
                from = at + 1;
    }
    fputs(from, stdout);
    if (arguments->out && !arguments->json && !arguments->quiet)
        printf("all results are in %s: open report.html\n", arguments->out);
    text_release(&text);
}

/* ---- main ---- */

static int run_with_options(struct sim_arguments *arguments, struct scenario *scenario,
                            struct err *err)
{
    struct run_record record = {.tell = print_event, .context = arguments};
    /* Charts use characters beyond ASCII. */
    setlocale(LC_CTYPE, "");
    record.plain = strcmp(nl_langinfo(CODESET), "UTF-8") != 0 && isatty(STDOUT_FILENO);
    int status = arguments->out ? run_folder_make(arguments->out, err) : 0;
    for (size_t i = 0; i < arguments->settings.count && status == 0; i++)
        status = scenario_override(scenario, arguments->settings.items[i], err);
    if (arguments->seed_text)
        scenario_override_seed(scenario, arguments->seed);
    if (status == 0 && arguments->pcap)
        status = pcap_open(&arguments->play.pcap, arguments->pcap, err);
    catch_signals();
    if (status == 0)
        status = run_scenario(scenario, &arguments->play, &record, err);
    progress_clear();
    int closed = pcap_close(arguments->play.pcap);
    if (status == 0 && closed < 0)
        status = err_at(err, -closed, arguments->pcap, 0, "%s", strerror(-closed));
    struct run_folder folder = {.record = &record,
                                .scenario = scenario->text,
                                .topology = arguments->play.topology,
                                .settings = arguments->settings.items,
                                .setting_count = arguments->settings.count,
                                .wall_s = clock_seconds() - arguments->begin};
    if (status == 0 && arguments->out)
        status = run_folder_write(arguments->out, &folder, err);
    if (status == 0) {
        print_results(arguments, &record);
        status = run_record_failures(&record) ? EXIT_FAILS : EXIT_HOLDS;
        if (results_value(&record.results, "partial") > 0)
            status = EXIT_SIGNAL + caught;
    }
    run_record_release(&record);
    return status;
}

static int run_sim(int argc, char **argv)
{
    struct text topology = {0};
    struct sim_arguments arguments = {.play.interrupt = &caught, .begin = clock_seconds()};
    struct scenario scenario;
    struct err err = {0};
    if (isatty(STDERR_FILENO)) {
        arguments.play.progress = show_progress;
        arguments.play.context = &arguments;
    }
    int status = parse_sim_arguments(&arguments, argc, argv);
    if (arguments.out)
        arguments.play.topology = &topology;
    if (status == 0) {
        status = scenario_read(&scenario, arguments.file, &err);
        if (status == 0) {
            status = run_with_options(&arguments, &scenario, &err);
            scenario_release(&scenario);
        }
    }
    vec_release(&arguments.settings);
    text_release(&topology);
    fflush(stdout);
    return status < 0 ? command_error("sim", &err) : status;
}

const struct command command_sim = {
    .name = "sim",
    .summary = "run a scenario in virtual time",
    .help = help,
    .run = run_sim,
};
