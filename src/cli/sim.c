/* weft sim: one deterministic run of a scenario. What it can say is in src/experiment and in
 * weft-scenario(5). */
#include "base/mem.h"
#include "cli/command.h"
#include "experiment/play.h"
#include "wire/pcap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: weft sim FILE [OPTION ...]\n"
    "\n"
    "Runs a scenario in virtual time: a fabric, managers, faults, and what must hold. Prints a\n"
    "timeline, then a table of the managers' changes and of the checks. The same file and seed\n"
    "give the same run, and the same trace hash, everywhere.\n"
    "\n"
    "  --seed N         of everything random (default: the file's, else 1)\n"
    "  --set KEY=VALUE  one setting over the file's: an attribute of the fabric (mtu=2048,\n"
    "                   'S1*:traps=no'), of all managers (sm.engine=fera), of a generated\n"
    "                   topology (topology.switches=64), or preset=paper; may be repeated\n"
    "  --pcap FILE      write every packet on every link there\n"
    "  --out DIR        also write timeline.txt, summary.txt and result.json there\n"
    "  --json           print one JSON object instead of text\n"
    "  --quiet          print only checks that fail, and the last line\n"
    "\n"
    "exit status: 0 all checks hold, 1 one does not, 2 the scenario is wrong.\n"
    "\n"
    "a scenario:\n"
    "  topology clos 3 1 4\n"
    "  sm S0 engine fera\n"
    "  run until settled\n"
    "  check in-order\n"
    "  fail switch S3\n"
    "  run until settled limit 30s\n"
    "  check reachable\n"
    "\n"
    "examples:\n"
    "  weft sim cut.weft\n"
    "  weft sim cut.weft --set sm.engine=pira --seed 7 --json\n";

struct sim_arguments {
    const char *file, *seed, *pcap, *out;
    bool json, quiet;
    struct option_values settings;
    struct play_options play;
};

static int parse_arguments(struct sim_arguments *arguments, int argc, char **argv)
{
    const struct option_spec specs[] = {{.name = "seed", .value = &arguments->seed},
                                        {.name = "pcap", .value = &arguments->pcap},
                                        {.name = "out", .value = &arguments->out},
                                        {.name = "set", .values = &arguments->settings},
                                        {.name = "json", .flag = &arguments->json},
                                        {.name = "quiet", .flag = &arguments->quiet},
                                        {0}};
    struct stage_options *stage = &arguments->play.stage;
    argc = command_options("sim", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (argc < 2)
        return command_usage("sim", "which scenario?");
    if (argc > 2)
        return command_usage("sim", "'%s' is one argument too many", argv[2]);
    arguments->file = argv[1];
    stage->seed_given = arguments->seed != NULL;
    if (arguments->seed && !parse_unsigned(arguments->seed, 0, UINT64_MAX, &stage->seed))
        return command_usage("sim", "'%s' is no seed", arguments->seed);
    stage->settings = arguments->settings.items;
    stage->setting_count = arguments->settings.count;
    return 0;
}

/* ---- printing ---- */

static void print_event(void *context, const struct story_event *event)
{
    const struct sim_arguments *arguments = context;
    struct text line = {0};
    if (arguments->json ||
        (arguments->quiet && (event->kind != STORY_CHECK || strcmp(event->who, "FAILED") != 0)))
        return;
    story_write_event(event, &line);
    fwrite(line.data, 1, line.length, stdout);
    text_release(&line);
}

static void print_end(const struct sim_arguments *arguments, const struct story *story)
{
    struct text text = {0};
    if (arguments->json)
        story_write_json(story, &text);
    else
        story_write_summary(story, &text);
    const char *from = text.data;
    if (arguments->quiet && !arguments->json) { /* the last line only */
        for (const char *at = text.data; at[1]; at++)
            if (*at == '\n')
                from = at + 1;
    }
    fputs(from, stdout);
    text_release(&text);
}

/* ---- files ---- */

static int write_file(const char *folder, const char *name, const struct text *text,
                      struct err *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    if (!file)
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    bool written = fwrite(text->data, 1, text->length, file) == text->length;
    if (fclose(file) != 0 || !written)
        return err_at(err, EIO, path, 0, "cannot be written");
    return 0;
}

static int write_files(const char *folder, const struct story *story, struct err *err)
{
    struct text timeline = {0}, summary = {0}, result = {0};
    for (size_t i = 0; i < story->events.count; i++)
        story_write_event(&story->events.items[i], &timeline);
    story_write_summary(story, &summary);
    story_write_json(story, &result);
    int status = write_file(folder, "timeline.txt", &timeline, err);
    if (status == 0)
        status = write_file(folder, "summary.txt", &summary, err);
    if (status == 0)
        status = write_file(folder, "result.json", &result, err);
    text_release(&timeline);
    text_release(&summary);
    text_release(&result);
    return status;
}

/* ---- all together ---- */

static int play(struct sim_arguments *arguments, struct scenario *scenario, struct err *err)
{
    struct story story = {.tell = print_event, .context = arguments};
    int status = 0;
    if (arguments->out && mkdir(arguments->out, 0777) < 0 && errno != EEXIST)
        return err_at(err, errno, arguments->out, 0, "%s", strerror(errno));
    if (arguments->pcap)
        status = pcap_open(&arguments->play.pcap, arguments->pcap, err);
    if (status == 0)
        status = play_scenario(scenario, &arguments->play, &story, err);
    int closed = pcap_close(arguments->play.pcap);
    if (status == 0 && closed < 0)
        status = err_at(err, -closed, arguments->pcap, 0, "%s", strerror(-closed));
    if (status == 0 && arguments->out)
        status = write_files(arguments->out, &story, err);
    if (status == 0) {
        print_end(arguments, &story);
        status = story_failures(&story) ? EXIT_FAILS : EXIT_HOLDS;
    }
    story_release(&story);
    return status;
}

static int run(int argc, char **argv)
{
    struct sim_arguments arguments = {0};
    struct scenario scenario;
    struct err err = {0};
    int status = parse_arguments(&arguments, argc, argv);
    if (status == 0) {
        status = scenario_read(&scenario, arguments.file, &err);
        if (status == 0) {
            status = play(&arguments, &scenario, &err);
            scenario_release(&scenario);
        }
    }
    vec_release(&arguments.settings);
    fflush(stdout);
    return status < 0 ? command_error("sim", &err) : status;
}

const struct command command_sim = {
    .name = "sim",
    .summary = "run a scenario in virtual time",
    .help = help,
    .run = run,
};
