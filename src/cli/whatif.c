/* weft whatif: what happens if switches or links of a fabric fail.
 *
 * src/experiment/whatif has the answer; this file reads the question. Runs of several engines, and
 * of several failures (--each-switch, --each-link), are spread over threads. */
#include "experiment/whatif/whatif.h"
#include "base/file.h"
#include "base/line_reader.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/workers.h"
#include "experiment/report/page.h"
#include "routing/engines/engine_fallback.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: weft whatif NET --fail KIND NAME ... [OPTION ...]\n"
    "       weft whatif NET --each-switch | --each-link [OPTION ...]\n"
    "\n"
    "Answers what happens if components of a fabric fail: who is cut off, how long\n"
    "the manager takes to reroute, how many packets are lost, and how the load of\n"
    "links changes, with several routing engines. NET is a dump of ibnetdiscover,\n"
    "iblinkinfo or OpenSM (opensm-subnet.lst), or a net file of ibsim; '-' is\n"
    "standard input.\n"
    "\n"
    "  --fail switch X ...   switches that fail, by name, description or GUID\n"
    "  --fail host X ...     adapters that fail\n"
    "  --fail link X PORT    the link at a port; also X:PORT, or two nodes: all links\n"
    "                        between them. Kinds can be mixed, and --fail repeated;\n"
    "                        all failures happen at the same time\n"
    "  --each-switch         rank the failures of each single switch, worst first\n"
    "  --each-link           the same for each link between switches\n"
    "  --load SHARE          what every adapter sends, as a share of its link, to all\n"
    "                        others equally (default 30%; 0: no traffic)\n"
    "  --engine E[,E ...]    the manager's engine (default updn; of a list, the first\n"
    "                        that does not refuse)\n"
    "  --compare E[,E ...]   engines to compare with it (default ftree, minhop,\n"
    "                        dfsssp, nue, updn; 'none')\n"
    "  --sm NODE             the node of the manager; repeated: of its standbys\n"
    "                        (default: an adapter that survives)\n"
    "  --seed N              seed of the random numbers (default 1)\n"
    "  --time SECONDS        limit for runs with traffic (default 5)\n"
    "  --exact               simulate all packets, however long it takes\n"
    "  --top N               number of failures that a ranking prints (default 20)\n"
    "  --threads N           threads for several runs (default: the processors)\n"
    "  --scenario FILE       write the run with traffic as a scenario for 'weft sim'\n"
    "  --html FILE           write the answer as a page\n"
    "  --json                print JSON\n"
    "\n"
    "exit status: 0 nobody is cut off, the subnet recovers, and no more links are\n"
    "overloaded than before; 1 otherwise; 2 wrong usage. A ranking exits with 0.\n"
    "\n"
    "examples:\n"
    "  ibnetdiscover >net; weft whatif net --fail switch spine3\n"
    "  weft whatif net --fail link leaf1 20 link leaf2 20 --html answer.html\n"
    "  weft whatif net --fail switch spine3 --engine ftree,updn --compare none --json\n"
    "  weft whatif net --each-switch --load 40%\n"
    "  weft whatif net --fail switch spine3 --scenario s.weft && weft sim s.weft\n";

enum { LONG_SECONDS = 10 };

struct arguments {
    const char *net, *load_text, *engine, *compare, *scenario, *html;
    struct option_values managers;
    VEC(const char *) words; /* of --fail */
    uint64_t seed, seconds, top, threads;
    bool each_switch, each_link, exact, json;
    double load;
    char joined_load[32]; /* "30" and "%" */
    struct text command;  /* as it was typed */
    double begin;
};

struct world {
    struct topology topology;
    struct text content; /* of standard input */
    char *path;
    VEC(uint32_t) managers;
    struct whatif_failures failures;
    struct whatif_question question;
};

/* ---- arguments ---- */

/* Takes the words behind each --fail, up to the next option, and joins "30 %" of --load. */
static int take_failures(struct arguments *arguments, int argc, char **argv)
{
    int kept = 0;
    for (int i = 0; i < argc; i++) {
        bool is_fail = strcmp(argv[i], "--fail") == 0;
        if (strcmp(argv[i], "--load") == 0 && i + 2 < argc && strcmp(argv[i + 2], "%") == 0) {
            snprintf(arguments->joined_load, sizeof arguments->joined_load, "%s%%", argv[i + 1]);
            argv[i + 2] = arguments->joined_load;
            argv[kept++] = argv[i++];
            continue;
        }
        if (!is_fail && strncmp(argv[i], "--fail=", 7) != 0) {
            argv[kept++] = argv[i];
            continue;
        }
        if (!is_fail)
            vec_push(&arguments->words, argv[i] + 7);
        while (i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0)
            vec_push(&arguments->words, argv[++i]);
    }
    argv[kept] = NULL;
    return kept;
}

/* "30%" or "0.3" */
static bool parse_load(const char *text, double *load)
{
    const char *rest;
    if (!parse_decimal(text, load, &rest) || *load < 0)
        return false;
    while (*rest == ' ')
        rest++;
    if (strcmp(rest, "%") == 0)
        *load /= 100;
    else if (*rest)
        return false;
    return *load <= 1;
}

/* "50" is probably a percentage. */
static const char *load_hint(const char *text)
{
    double load;
    const char *rest;
    bool percent = parse_decimal(text, &load, &rest) && !*rest && load > 1 && load <= 100;
    return percent ? "; a percentage has a '%' behind it" : "";
}

static int parse_arguments(struct arguments *arguments, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        text_puts(&arguments->command, i ? " " : "weft ");
        text_put_shell_word(&arguments->command, argv[i]);
    }
    const struct option_spec specs[] = {
        {.name = "load", .value = &arguments->load_text},
        {.name = "engine", .value = &arguments->engine},
        {.name = "compare", .value = &arguments->compare},
        {.name = "scenario", .value = &arguments->scenario},
        {.name = "html", .value = &arguments->html},
        {.name = "sm", .values = &arguments->managers},
        {.name = "seed", .number = &arguments->seed},
        {.name = "time", .number = &arguments->seconds, .low = 1, .high = 1000000},
        {.name = "top", .number = &arguments->top, .low = 1, .high = 1000000},
        {.name = "threads", .number = &arguments->threads, .low = 1, .high = WORKERS_LIMIT},
        {.name = "each-switch", .flag = &arguments->each_switch},
        {.name = "each-link", .flag = &arguments->each_link},
        {.name = "exact", .flag = &arguments->exact},
        {.name = "json", .flag = &arguments->json},
        {0}};
    argc = command_options("whatif", take_failures(arguments, argc, argv), argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    bool each = arguments->each_switch || arguments->each_link;
    if (argc != 2)
        return argc < 2 ? command_usage("whatif", "expected a net file, before --fail")
                        : command_usage("whatif", "'%s' is one argument too many", argv[2]);
    arguments->net = argv[1];
    if (!each && !arguments->words.count)
        return command_usage("whatif", "expected what fails: --fail, --each-switch or --each-link");
    if (each && (arguments->words.count || arguments->scenario))
        return command_usage("whatif", "--each-switch and --each-link exclude --fail and "
                                       "--scenario");
    if (arguments->scenario && strcmp(arguments->net, "-") == 0)
        return command_usage("whatif", "--scenario needs a net file, not standard input");
    if (arguments->load_text && !parse_load(arguments->load_text, &arguments->load))
        return command_usage("whatif", "--load %s: expected a share up to 1, such as 30%% or 0.3%s",
                             arguments->load_text, load_hint(arguments->load_text));
    return 0;
}

/* ---- the question ---- */

static int check_engines(const char *names)
{
    struct engine_list engines;
    struct err err;
    return names && engine_list_parse(&engines, names, &err) ? command_error("whatif", &err) : 0;
}

static int read_fabric(struct world *world, const char *net, struct err *err)
{
    enum { MOST_BYTES = 512 << 20 };
    if (strcmp(net, "-") == 0) {
        int status = file_read("-", MOST_BYTES, &world->content, err);
        if (status)
            return status;
        world->question.net = "./standard-input";
        world->question.network = world->content.data ? world->content.data : "";
        status = topology_read(&world->topology,
                               from_text("standard input", world->question.network, err));
        if (status == 0 && world->topology.warning)
            fprintf(stderr, "weft whatif: warning: %s\n", world->topology.warning);
        return status;
    }
    if (strpbrk(net, "\"\n"))
        return err_set(err, EINVAL, "the name of the net file has a quote");
    int status = command_read_topology("whatif", net, &world->topology, err);
    world->path = status ? NULL : realpath(net, NULL);
    world->question.net = world->path ? world->path : net;
    return status;
}

static int read_question(struct world *world, const struct arguments *arguments)
{
    struct err err = {0};
    struct whatif_question *question = &world->question;
    topology_init(&world->topology);
    if (read_fabric(world, arguments->net, &err))
        return command_error("whatif", &err);
    question->topology = &world->topology;
    question->engine = arguments->engine ? arguments->engine : "updn";
    question->load = arguments->load;
    question->seed = arguments->seed;
    if (arguments->words.count &&
        whatif_read_failures(&world->failures, &world->topology, arguments->words.items,
                             arguments->words.count, &err))
        return command_error("whatif", &err);
    question->failures = world->failures.items;
    question->failure_count = world->failures.count;
    for (size_t i = 0; i < arguments->managers.count; i++) {
        uint32_t node;
        if (whatif_find_node(&world->topology, arguments->managers.items[i], &node, &err))
            return command_error("whatif", &err);
        vec_push(&world->managers, node);
    }
    if (!world->managers.count) {
        uint32_t node =
            whatif_choose_manager(&world->topology, question->failures, question->failure_count);
        if (node == TOPOLOGY_NONE)
            return command_usage("whatif", "no adapter is left where a manager could run");
        vec_push(&world->managers, node);
    }
    question->managers = world->managers.items;
    question->manager_count = world->managers.count;
    return 0;
}

static void release_world(struct world *world)
{
    topology_release(&world->topology);
    text_release(&world->content);
    free(world->path);
    vec_release(&world->managers);
    vec_release(&world->failures);
}

static struct workers make_workers(const struct arguments *arguments)
{
    return workers_of_threads(arguments->threads ? (unsigned)arguments->threads
                                                 : count_processors());
}

static int print_answer(const struct arguments *arguments, struct text *text, struct page *page)
{
    struct err err = {0};
    if (page && page_write(page, arguments->html, &err)) {
        text_release(text);
        return command_error("whatif", &err);
    }
    return command_print("whatif", text);
}

/* ---- one failure ---- */

struct engine_runs {
    const struct whatif_question *question;
    struct whatif_engine *engines;
    int *status;
    struct err *errors;
};

static void run_engine(void *context, size_t index)
{
    struct engine_runs *runs = context;
    struct whatif_question question = *runs->question;
    question.engine = runs->engines[index].name;
    runs->status[index] =
        whatif_react(&question, &runs->engines[index].reaction, &runs->errors[index]);
}

/* Fills in the names: the engine of the question first, then the others. Writes to `list`. */
static size_t name_engines(const struct arguments *arguments, const char *engine, char *list,
                           struct whatif_engine engines[], size_t most)
{
    size_t count = 0;
    engines[count++].name = engine;
    if (arguments->compare && strcmp(arguments->compare, "none") == 0)
        return count;
    for (char *name = strtok(list, ","); name && count < most; name = strtok(NULL, ","))
        if (strcmp(name, engine) != 0)
            engines[count++].name = name;
    return count;
}

/* Says what takes long, also if standard error is not a terminal. */
static void tell_estimate(void *context, double share, double seconds)
{
    (void)context;
    if (seconds >= LONG_SECONDS)
        fprintf(stderr, "weft whatif: simulating 1 packet in %.3g takes about %.0f s\n", 1 / share,
                seconds);
    progress_show("simulating 1 packet in %.3g: about %.1f s", 1 / share, seconds);
}

static int write_scenario(const struct arguments *arguments, const struct whatif_answer *answer)
{
    struct text text = {0};
    struct err err = {0};
    if (!arguments->scenario)
        return 0;
    text_printf(&text, "# %s\n", arguments->command.data);
    struct whatif_times quiet = {.limit = 60 * TIME_S};
    whatif_write_scenario(answer->question, answer->has_traffic ? &answer->traffic.times : &quiet,
                          answer->has_traffic ? answer->traffic.share : 0, &text);
    return command_write(arguments->scenario, &text, &err) ? command_error("whatif", &err) : 0;
}

static int print_single(const struct arguments *arguments, const struct whatif_answer *answer)
{
    struct text text = {0};
    struct page page = {0};
    if (arguments->json)
        whatif_write_json(answer, &text);
    else
        whatif_write_text(answer, &text);
    if (arguments->html)
        whatif_make_page(answer, arguments->command.data, &page);
    int status = print_answer(arguments, &text, arguments->html ? &page : NULL);
    if (arguments->html)
        page_release(&page);
    if (status == EXIT_HOLDS)
        status = write_scenario(arguments, answer);
    return status == EXIT_HOLDS && !whatif_is_good(answer) ? EXIT_FAILS : status;
}

static int answer_single(const struct arguments *arguments, const struct world *world)
{
    enum { ENGINES_MOST = 32 };
    const struct whatif_question *question = &world->question;
    struct whatif_engine engines[ENGINES_MOST] = {0};
    int states[ENGINES_MOST] = {0};
    struct err errors[ENGINES_MOST] = {0};
    char *list =
        mem_strdup(arguments->compare ? arguments->compare : "updn,ftree,minhop,dfsssp,nue");
    struct whatif_answer answer = {
        .question = question, .engines = engines, .managers_chosen = !arguments->managers.count};
    answer.engine_count = name_engines(arguments, question->engine, list, engines, ENGINES_MOST);
    struct engine_runs runs = {question, engines, states, errors};
    struct workers workers = make_workers(arguments);
    workers.run(&workers, answer.engine_count, run_engine, &runs);
    whatif_find_cut(question, &answer.cut);
    int status = 0;
    for (size_t i = 0; i < answer.engine_count && status == 0; i++)
        if (states[i])
            status = command_error("whatif", &errors[i]);
    struct whatif_budget budget = {.seconds = (double)arguments->seconds,
                                   .exact = arguments->exact,
                                   .clock = clock_seconds,
                                   .tell = tell_estimate};
    if (status == 0 && question->load > 0 && engines[0].reaction.up) {
        answer.has_traffic = true;
        if (whatif_lose(question, &engines[0].reaction, &budget, &answer.traffic, errors))
            status = command_error("whatif", errors);
        progress_clear();
    }
    answer.took_s = clock_seconds() - arguments->begin;
    if (status == 0)
        status = print_single(arguments, &answer);
    for (size_t i = 0; i < answer.engine_count; i++)
        whatif_reaction_release(&engines[i].reaction);
    whatif_cut_release(&answer.cut);
    whatif_traffic_release(&answer.traffic);
    mem_free(list);
    return status;
}

/* ---- a ranking ---- */

struct ranking {
    const struct whatif_question *question;
    bool managers_chosen;
    VEC(struct whatif_case) cases;
    size_t first; /* of the present batch */
    atomic_size_t done;
    double begin;
    pthread_mutex_t progress;
};

static void list_cases(struct ranking *ranking, const struct arguments *arguments)
{
    const struct topology *topology = ranking->question->topology;
    for (uint32_t i = 0; arguments->each_switch && i < topology->nodes.count; i++) {
        struct whatif_case new = {.failure = {i, TOPOLOGY_NONE}};
        if (topology->nodes.items[i].kind == NODE_SWITCH)
            vec_push(&ranking->cases, new);
    }
    for (uint32_t i = 0; arguments->each_link && i < topology->ports.count; i++) {
        const struct topology_port *port = &topology->ports.items[i];
        struct whatif_case new = {.failure = {port->node, i}};
        if (port->peer != TOPOLOGY_NONE && port->peer > i &&
            topology->nodes.items[port->node].kind == NODE_SWITCH &&
            topology->nodes.items[topology->ports.items[port->peer].node].kind == NODE_SWITCH)
            vec_push(&ranking->cases, new);
    }
}

static void run_case(void *context, size_t index)
{
    struct ranking *ranking = context;
    struct whatif_case *one = &ranking->cases.items[ranking->first + index];
    struct whatif_question question = *ranking->question;
    struct whatif_cut cut;
    uint32_t manager = whatif_choose_manager(question.topology, &one->failure, 1);
    question.failures = &one->failure;
    question.failure_count = 1;
    if (ranking->managers_chosen && manager != TOPOLOGY_NONE) {
        question.managers = &manager;
        question.manager_count = 1;
    }
    whatif_find_cut(&question, &cut);
    one->adapters = (uint32_t)cut.adapters.count;
    one->switches = (uint32_t)cut.switches.count;
    whatif_cut_release(&cut);
    one->status = whatif_react(&question, &one->reaction, &one->err);
    const struct whatif_loads *before = &one->reaction.before;
    one->lost_bytes =
        before->affected * before->rate / 8 * (double)one->reaction.recovery_ps * 1e-12;
    /* A ranking needs only the sums. */
    mem_free(one->reaction.before.share);
    mem_free(one->reaction.after.share);
    one->reaction.before.share = one->reaction.after.share = NULL;
    size_t done = atomic_fetch_add(&ranking->done, 1) + 1, count = ranking->cases.count;
    double spent = clock_seconds() - ranking->begin;
    if (pthread_mutex_trylock(&ranking->progress) == 0) {
        progress_show("%zu of %zu failures, %.0f s left", done, count,
                      spent / (double)done * (double)(count - done));
        pthread_mutex_unlock(&ranking->progress);
    }
}

/* The time of the first one tells how long all will take. */
static void run_cases(struct ranking *ranking, const struct workers *workers)
{
    size_t count = ranking->cases.count;
    if (!count)
        return;
    run_case(ranking, 0);
    double rest = (clock_seconds() - ranking->begin) * (double)(count - 1) / workers_count(workers);
    if (rest >= LONG_SECONDS)
        fprintf(stderr, "weft whatif: %zu failures take about %.0f s\n", count, rest);
    ranking->first = 1;
    workers->run(workers, count - 1, run_case, ranking);
    progress_clear();
    whatif_rank(ranking->cases.items, count);
}

static int answer_ranking(const struct arguments *arguments, const struct world *world)
{
    struct ranking ranking = {.question = &world->question,
                              .managers_chosen = !arguments->managers.count,
                              .begin = clock_seconds(),
                              .progress = PTHREAD_MUTEX_INITIALIZER};
    struct workers workers = make_workers(arguments);
    struct text text = {0};
    struct page page = {0};
    list_cases(&ranking, arguments);
    size_t count = ranking.cases.count;
    run_cases(&ranking, &workers);
    if (arguments->json) {
        whatif_write_ranking_json(&world->question, ranking.cases.items, count, &text);
    } else {
        whatif_write_ranking(&world->question, ranking.cases.items, count, arguments->top, &text);
        text_printf(&text, "%zu failures in %.1f s\n", count, clock_seconds() - arguments->begin);
    }
    if (arguments->html)
        whatif_make_ranking_page(&world->question, ranking.cases.items, count, arguments->top,
                                 arguments->command.data, &page);
    int status = print_answer(arguments, &text, arguments->html ? &page : NULL);
    if (arguments->html)
        page_release(&page);
    for (size_t i = 0; i < count; i++)
        whatif_reaction_release(&ranking.cases.items[i].reaction);
    vec_release(&ranking.cases);
    return status;
}

static int run_whatif(int argc, char **argv)
{
    struct arguments arguments = {
        .seed = 1, .seconds = 5, .top = 20, .load = 0.3, .begin = clock_seconds()};
    struct world world = {0};
    int status = parse_arguments(&arguments, argc, argv);
    if (status == 0)
        status = check_engines(arguments.engine);
    if (status == 0 && arguments.compare && strcmp(arguments.compare, "none") != 0)
        status = check_engines(arguments.compare);
    if (status == 0) {
        status = read_question(&world, &arguments);
        if (status == 0)
            status = arguments.words.count ? answer_single(&arguments, &world)
                                           : answer_ranking(&arguments, &world);
        release_world(&world);
    }
    vec_release(&arguments.managers);
    vec_release(&arguments.words);
    text_release(&arguments.command);
    return status;
}

const struct command command_whatif = {
    .name = "whatif",
    .summary = "what happens if switches or links fail",
    .help = help,
    .run = run_whatif,
};
