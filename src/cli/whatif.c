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
#include "console/names.h"
#include "experiment/report/page.h"
#include "routing/engines/engine_fallback.h"
#include "subnet/node_names.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_SECONDS = 10 };

static struct {
    const char *load, *engine, *compare, *scenario, *html, *node_names;
    struct option_values managers, failing;
    uint64_t seed, seconds, top, threads;
    bool each_switch, each_link, exact, json, connections;
} given = {.engine = "updn",
           .compare = "updn,ftree,minhop,dfsssp,nue",
           .seed = 1,
           .seconds = 5,
           .top = 20};

static const struct option_spec options[] = {
    {"--fail switch X ...", "switches that fail, by name, description or GUID",
     .values = &given.failing, .many = true},
    {.usage = "--fail host X ...", .help = "adapters that fail"},
    {.usage = "--fail link X PORT",
     .help = "the link at a port; also X:PORT, or two nodes: all links between them"},
    {.usage = "--fail FAULT ...",
     .help =
         "any fault of weft-scenario(5), such as 'mute X' or 'bit-errors X PORT 5/s'. Kinds can "
         "be mixed, and --fail repeated; all failures happen at the same time"},
    {"--each-switch", "rank the failures of each single switch, worst first",
     .flag = &given.each_switch},
    {"--each-link", "the same for each link between switches", .flag = &given.each_link},
    {"--load SHARE",
     "what every adapter sends, as a share of its link, to all others equally (default 30%; 0: no "
     "traffic)",
     .value = &given.load},
    {"--connections",
     "what reliable connections see, one from each host, with time-outs of 4.096 us * 2^14 to 2^20",
     .flag = &given.connections},
    {"--engine E[,E ...]",
     "the manager's engine (default updn; of a list, the first that does not refuse)",
     .value = &given.engine},
    {"--compare E[,E ...]",
     "engines to compare with it (default ftree, minhop, dfsssp, nue, updn; 'none')",
     .value = &given.compare},
    {"--sm NODE",
     "the node of the manager; repeated: of its standbys (default: an adapter that survives)",
     .values = &given.managers},
    {"--node-names FILE", "names of nodes, in the format of OpenSM's node name map",
     .value = &given.node_names},
    {"--seed N", "seed of the random numbers (default 1)", .number = &given.seed},
    {"--time SECONDS", "limit for runs with traffic (default 5)", .number = &given.seconds,
     .low = 1, .high = 1000000},
    {"--exact", "simulate all packets, however long it takes", .flag = &given.exact},
    {"--top N", "number of failures that a ranking prints (default 20)", .number = &given.top,
     .low = 1, .high = 1000000},
    {"--threads N", "threads for several runs, and for data packets (default: the processors)",
     .number = &given.threads, .low = 1, .high = WORKERS_LIMIT},
    {"--scenario FILE", "write the run with traffic as a scenario for 'weft sim'",
     .value = &given.scenario},
    {"--html FILE", "write the answer as a page", .value = &given.html},
    {"--json", "print JSON", .flag = &given.json},
    {0}};

static double begin; /* wall time of the start */

struct world {
    struct topology topology, named; /* of the file; with the names of --node-names */
    struct text content;             /* of standard input */
    char *path;
    struct whatif_managers managers;
    struct whatif_failures failures;
    struct whatif_question question;
};

/* ---- arguments ---- */

/* "30%", "30 %" or "0.3"; `separate`: the percent sign is an argument of its own. */
static int read_load(bool separate, double *load)
{
    const char *rest = "";
    bool is_number = parse_decimal(given.load, load, &rest) && *load >= 0;
    rest += strspn(rest, " ");
    bool percent = separate || strcmp(rest, "%") == 0;
    is_number &= !*rest || percent;
    if (percent)
        *load /= 100;
    if (is_number && *load <= 1)
        return 0;
    return command_usage(
        "--load %s%s: expected a share up to 1, such as 30%% or 0.3%s", given.load,
        separate ? "%" : "",
        is_number && !percent && *load <= 100 ? "; a percentage has a '%' behind it" : "");
}

/* A "%" among the arguments belongs to --load. */
static int check_arguments(int argc, char **argv, double *load)
{
    bool each = given.each_switch || given.each_link, percent = false;
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        bool is_percent = given.load && strcmp(argv[i], "%") == 0;
        percent |= is_percent;
        if (!is_percent)
            argv[kept++] = argv[i];
    }
    if (kept != 2)
        return kept < 2 ? command_usage("expected a net file, before --fail")
                        : command_usage("'%s' is one argument too many", argv[2]);
    if (!each && !given.failing.count)
        return command_usage("expected what fails: --fail, --each-switch or --each-link");
    if (each && given.connections)
        return command_usage("--each-switch and --each-link exclude --connections");
    if (each && (given.failing.count || given.scenario))
        return command_usage("--each-switch and --each-link exclude --fail and --scenario");
    if (given.scenario && strcmp(argv[1], "-") == 0)
        return command_usage("--scenario needs a net file, not standard input");
    return given.load ? read_load(percent, load) : 0;
}

/* ---- the question ---- */

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
    int status = command_read_topology(net, &world->topology, err);
    world->path = status ? NULL : realpath(net, NULL);
    world->question.net = world->path ? world->path : net;
    return status;
}

/* Names of the administrator replace node descriptions. */
static int rename_nodes(struct topology *topology, const char *net, const char *content,
                        struct err *err)
{
    struct node_names names = {0};
    int status = content ? topology_read(topology, from_text(net, content, err))
                         : topology_read(topology, from_file(net, err));
    if (status == 0)
        status = node_names_read(&names, from_file(given.node_names, err));
    for (uint32_t i = 0; i < topology->nodes.count && status == 0; i++) {
        const char *name = node_names_find(&names, topology->nodes.items[i].guid);
        if (name)
            topology_set_description(topology, i, name, strlen(name));
    }
    node_names_release(&names);
    return status;
}

static int read_question(struct world *world, const char *net, double load, struct err *err)
{
    struct whatif_question *question = &world->question;
    int status = read_fabric(world, net, err);
    if (status == 0 && given.node_names)
        status = rename_nodes(&world->named, net, question->network, err);
    if (status)
        return status;
    question->unnamed = &world->topology;
    question->topology = given.node_names ? &world->named : &world->topology;
    question->engine = given.engine;
    question->load = load;
    question->seed = given.seed;
    if (given.failing.count)
        status = whatif_read_failures(&world->failures, question->topology, given.failing.items,
                                      given.failing.count, err);
    question->failures = world->failures.items;
    question->failure_count = world->failures.count;
    for (size_t i = 0; i < given.managers.count && status == 0; i++) {
        uint32_t node = 0;
        status = names_find_node(question->topology, given.managers.items[i], &node, err);
        vec_push(&world->managers, node);
    }
    if (status == 0 && !given.managers.count) {
        whatif_choose_managers(&world->topology, question->failures, question->failure_count,
                               &world->managers);
        if (!world->managers.count)
            return command_usage("no adapter is left where a manager could run");
    }
    question->managers = world->managers.items;
    question->manager_count = world->managers.count;
    return status;
}

static struct workers make_workers(void)
{
    return workers_of_threads(given.threads ? (unsigned)given.threads : count_processors());
}

/* Writes the page of --html, prints the answer and releases both. */
static int print_answer(struct text *text, struct page *page, struct err *err)
{
    int status = given.html ? page_write(page, given.html, err) : 0;
    page_release(page);
    if (status == 0)
        return command_print(text);
    text_release(text);
    return status;
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

/* Says what takes long, also if standard error is not a terminal. */
static void tell_estimate(void *context, double share, double seconds)
{
    (void)context;
    if (seconds >= LONG_SECONDS)
        fprintf(stderr, "weft whatif: simulating 1 packet in %.3g takes about %.0f s\n", 1 / share,
                seconds);
    progress_show("simulating 1 packet in %.3g: about %.1f s", 1 / share, seconds);
}

static int print_single(const struct whatif_answer *answer, struct err *err)
{
    struct text text = {0}, command = {0}, scenario = {0};
    struct page page = {0};
    command_put_line(&command);
    if (given.json)
        whatif_write_json(answer, &text);
    else
        whatif_write_text(answer, &text);
    if (given.html)
        whatif_make_page(answer, command.data, &page);
    int status = print_answer(&text, &page, err);
    if (status == 0 && given.scenario) {
        struct whatif_times quiet = {.limit = 60 * TIME_S};
        text_printf(&scenario, "# %s\n", command.data);
        whatif_write_scenario(answer->question,
                              answer->has_traffic ? &answer->traffic.times : &quiet,
                              answer->has_traffic ? answer->traffic.share : 0, &scenario);
        status = command_write(given.scenario, &scenario, err);
    }
    text_release(&command);
    return status == 0 && !whatif_is_good(answer) ? EXIT_FAILS : status;
}

struct connection_runs {
    struct whatif_answer *answer;
    int status[WHATIF_TIMEOUTS];
    struct err errors[WHATIF_TIMEOUTS];
};

static void run_connections(void *context, size_t index)
{
    struct connection_runs *runs = context;
    struct whatif_answer *answer = runs->answer;
    struct whatif_connections *row = &answer->connections[index];
    row->exponent = WHATIF_FIRST_TIMEOUT + (unsigned)index;
    runs->status[index] =
        whatif_connect(answer->question, &answer->engines[0].reaction, row, &runs->errors[index]);
}

static int answer_connections(struct workers *workers, struct whatif_answer *answer,
                              struct err *err)
{
    struct connection_runs runs = {.answer = answer};
    workers->run(workers, WHATIF_TIMEOUTS, run_connections, &runs);
    for (size_t i = 0; i < WHATIF_TIMEOUTS; i++)
        if (runs.status[i]) {
            *err = runs.errors[i];
            return runs.status[i];
        }
    answer->has_connections = true;
    return 0;
}

static int answer_single(const struct whatif_question *question, struct err *err)
{
    enum { ENGINES_MOST = 32 };
    struct whatif_engine engines[ENGINES_MOST] = {{.name = question->engine}};
    int states[ENGINES_MOST] = {0}, status = 0;
    struct err errors[ENGINES_MOST] = {0};
    char *list = mem_strdup(given.compare);
    struct whatif_answer answer = {.question = question,
                                   .engines = engines,
                                   .engine_count = 1,
                                   .managers_chosen = !given.managers.count};
    for (char *name = strtok(list, ","); name && answer.engine_count < ENGINES_MOST;
         name = strtok(NULL, ","))
        if (strcmp(given.compare, "none") != 0 && strcmp(name, question->engine) != 0)
            engines[answer.engine_count++].name = name;
    struct engine_runs runs = {question, engines, states, errors};
    struct workers workers = make_workers();
    workers.run(&workers, answer.engine_count, run_engine, &runs);
    whatif_find_cut(question, &answer.cut);
    for (size_t i = 0; i < answer.engine_count && status == 0; i++) {
        status = states[i];
        if (status)
            *err = errors[i];
    }
    struct whatif_budget budget = {.seconds = (double)given.seconds,
                                   .exact = given.exact,
                                   .clock = clock_seconds,
                                   .workers = &workers,
                                   .tell = tell_estimate};
    if (status == 0 && question->load > 0 && engines[0].reaction.up) {
        answer.has_traffic = true;
        status = whatif_lose(question, &engines[0].reaction, &budget, &answer.traffic, err);
        progress_clear();
    }
    if (status == 0 && given.connections && engines[0].reaction.up)
        status = answer_connections(&workers, &answer, err);
    answer.took_s = clock_seconds() - begin;
    if (status == 0)
        status = print_single(&answer, err);
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
    VEC(struct whatif_case) cases;
    size_t told_after; /* so many failures tell how long all will take */
    bool told;
    atomic_size_t done;
    double begin;
    pthread_mutex_t progress;
};

static void list_cases(struct ranking *ranking)
{
    const struct topology *topology = ranking->question->topology;
    for (uint32_t i = 0; given.each_switch && i < topology->nodes.count; i++) {
        struct whatif_case new = {.failure = whatif_fail(topology, i, TOPOLOGY_NONE)};
        if (topology->nodes.items[i].kind == NODE_SWITCH)
            vec_push(&ranking->cases, new);
    }
    for (uint32_t i = 0; given.each_link && i < topology->ports.count; i++) {
        const struct topology_port *port = &topology->ports.items[i];
        struct whatif_case new = {.failure = whatif_fail(topology, port->node, i)};
        if (port->peer != TOPOLOGY_NONE && port->peer > i &&
            topology->nodes.items[port->node].kind == NODE_SWITCH &&
            topology->nodes.items[topology->ports.items[port->peer].node].kind == NODE_SWITCH)
            vec_push(&ranking->cases, new);
    }
}

static void run_case(void *context, size_t index)
{
    struct ranking *ranking = context;
    struct whatif_case *one = &ranking->cases.items[index];
    struct whatif_question question = *ranking->question;
    struct whatif_cut cut;
    struct whatif_managers managers = {0};
    whatif_choose_managers(question.topology, &one->failure, 1, &managers);
    question.failures = &one->failure;
    question.failure_count = 1;
    if (!given.managers.count && managers.count) {
        question.managers = managers.items;
        question.manager_count = managers.count;
    }
    whatif_find_cut(&question, &cut);
    one->adapters = (uint32_t)cut.adapters.count;
    one->switches = (uint32_t)cut.switches.count;
    whatif_cut_release(&cut);
    one->status = whatif_react(&question, &one->reaction, &one->err);
    vec_release(&managers);
    const struct whatif_loads *before = &one->reaction.before;
    one->lost_bytes = before->affected * before->rate / 8 * (double)one->reaction.losing_ps * 1e-12;
    /* A ranking needs only the sums. */
    mem_free(one->reaction.before.share);
    mem_free(one->reaction.after.share);
    one->reaction.before.share = one->reaction.after.share = NULL;
    size_t done = atomic_fetch_add(&ranking->done, 1) + 1, count = ranking->cases.count;
    double spent = clock_seconds() - ranking->begin;
    if (pthread_mutex_trylock(&ranking->progress) == 0) {
        double rest = spent / (double)done * (double)(count - done);
        if (!ranking->told && done >= ranking->told_after && rest >= LONG_SECONDS) {
            fprintf(stderr, "weft whatif: %zu failures take about %.0f s\n", count, spent + rest);
            ranking->told = true;
        }
        if (done >= ranking->told_after) /* the first runs say little */
            progress_show("%zu of %zu failures, %.0f s left", done, count, rest);
        else
            progress_show("%zu of %zu failures", done, count);
        pthread_mutex_unlock(&ranking->progress);
    }
}

static int answer_ranking(const struct whatif_question *question, struct err *err)
{
    struct ranking ranking = {
        .question = question, .begin = clock_seconds(), .progress = PTHREAD_MUTEX_INITIALIZER};
    struct workers workers = make_workers();
    struct text text = {0}, command = {0};
    struct page page = {0};
    list_cases(&ranking);
    size_t count = ranking.cases.count;
    ranking.told_after = 4 * (size_t)workers_count(&workers);
    workers.run(&workers, count, run_case, &ranking);
    progress_clear();
    whatif_rank(ranking.cases.items, count);
    if (given.json) {
        whatif_write_ranking_json(question, ranking.cases.items, count, &text);
    } else {
        whatif_write_ranking(question, ranking.cases.items, count, given.top, &text);
        text_printf(&text, "%zu failures in %.1f s\n", count, clock_seconds() - begin);
    }
    command_put_line(&command);
    if (given.html)
        whatif_make_ranking_page(question, ranking.cases.items, count, given.top, command.data,
                                 &page);
    int status = print_answer(&text, &page, err);
    for (size_t i = 0; i < count; i++)
        whatif_reaction_release(&ranking.cases.items[i].reaction);
    vec_release(&ranking.cases);
    text_release(&command);
    return status;
}

static int run_whatif(int argc, char **argv, struct err *err)
{
    struct world world = {0};
    struct engine_list engines;
    double load = 0.3;
    begin = clock_seconds();
    int status = check_arguments(argc, argv, &load);
    if (status == 0)
        status = engine_list_parse(&engines, given.engine, err);
    if (status == 0 && strcmp(given.compare, "none") != 0)
        status = engine_list_parse(&engines, given.compare, err);
    if (status)
        return status;
    topology_init(&world.topology);
    topology_init(&world.named);
    status = read_question(&world, argv[1], load, err);
    if (status == 0)
        status = given.failing.count ? answer_single(&world.question, err)
                                     : answer_ranking(&world.question, err);
    topology_release(&world.topology);
    topology_release(&world.named);
    text_release(&world.content);
    free(world.path);
    vec_release(&world.managers);
    vec_release(&world.failures);
    return status;
}

const struct command command_whatif = {
    .name = "whatif",
    .summary = "what happens if switches or links fail",
    .usage = "usage: weft whatif NET --fail KIND NAME ... [OPTION ...]\n"
             "       weft whatif NET --each-switch | --each-link [OPTION ...]\n"
             "\n"
             "Answers what happens if components of a fabric fail: who is cut off, how long\n"
             "the manager takes to reroute, how many packets are lost, and how the load of\n"
             "links changes, with several routing engines. NET is a dump of ibnetdiscover,\n"
             "iblinkinfo or OpenSM (opensm-subnet.lst), or a net file of ibsim; '-' is\n"
             "standard input.\n"
             "\n",
    .column = 24,
    .options = options,
    .more = "\n"
            "exit status: 0 nobody is cut off, the subnet recovers, and no more links are\n"
            "overloaded than before; 1 otherwise; 2 wrong usage. A ranking exits with 0.\n"
            "\n"
            "examples:\n"
            "  ibnetdiscover >net; weft whatif net --fail switch spine3\n"
            "  weft whatif net --fail link leaf1 20 link leaf2 20 --html answer.html\n"
            "  weft whatif net --fail switch spine3 --engine ftree,updn --compare none --json\n"
            "  weft whatif net --each-switch --load 40%\n"
            "  weft whatif net --fail switch spine3 --scenario s.weft && weft sim s.weft\n",
    .run = run_whatif,
};
