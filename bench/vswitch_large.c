/* vswitch_large [HOSTS VFS [plain|levels|partitions]]: a large fat tree of hypervisors in virtual
 * time: bring-up, start and migration of a virtual machine, and failover to a standby. With service
 * levels (the default) every function has its own SL-to-VL and arbitration tables, with partitions
 * also a P_Key table.
 *
 * Prints for each step the virtual time, the CPU time of this process (fabric and manager), SMPs by
 * attribute, and the peak memory. */
#include "base/time.h"
#include "host/sim/sim.h"
#include "topology/generators/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char levels[] = "level default sl 0 weight 64\n"
                             "level urgent sl 1 priority high limit 80% weight 64\n";
static const char keys[] = "Default=0x7fff, ipoib : ALL=full;\n"
                           "Tenants=0x0001 : ALL=full;\n";

struct bench {
    struct topology topology;
    struct fabric *fabric;
    struct sim *sim;
    struct sm_config config;
    struct qos qos;
    struct partitions partitions;
    uint64_t gets[256], sets[256]; /* by attribute; VirtualFunction is 0x40 */
    uint64_t since;
    double cpu;
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "vswitch_large: %s\n", what);
    exit(1);
}

static void note_sent(void *context, uint64_t now, unsigned manager,
                      const struct sm_message *message)
{
    struct bench *bench = context;
    unsigned attribute = wire_get(message->mad, MAD_ATTRIBUTE_ID) & 0xFF;
    (void)now;
    (void)manager;
    (*(wire_get(message->mad, MAD_METHOD) == METHOD_SET ? &bench->sets[attribute]
                                                        : &bench->gets[attribute]))++;
}

static void begin(struct bench *bench)
{
    memset(bench->gets, 0, sizeof bench->gets);
    memset(bench->sets, 0, sizeof bench->sets);
    bench->since = sim_now(bench->sim);
    bench->cpu = cpu_seconds();
}

static void count(const char *name, uint64_t value)
{
    if (value)
        printf(" %s %llu", name, (unsigned long long)value);
}

static void report(struct bench *bench, const char *step)
{
    static const struct {
        const char *get, *set;
        unsigned attribute;
    } names[] = {
        {"Get(NodeInfo)", "", ATTRIBUTE_NODE_INFO},
        {"Get(SwitchInfo)", "Set(SwitchInfo)", ATTRIBUTE_SWITCH_INFO},
        {"Get(PortInfo)", "Set(PortInfo)", ATTRIBUTE_PORT_INFO},
        {"Get(P_Key)", "Set(P_Key)", ATTRIBUTE_P_KEY_TABLE},
        {"", "Set(SL2VL)", ATTRIBUTE_SL2VL_TABLE},
        {"", "Set(VLArb)", ATTRIBUTE_VL_ARBITRATION_TABLE},
        {"Get(LFT)", "Set(LFT)", ATTRIBUTE_LINEAR_FORWARDING_TABLE},
        {"Get(function)", "Set(function)", ATTRIBUTE_VIRTUAL_FUNCTION & 0xFF},
    };
    struct rusage usage;
    uint64_t all = 0;
    for (unsigned i = 0; i < 256; i++)
        all += bench->gets[i] + bench->sets[i];
    getrusage(RUSAGE_SELF, &usage);
    printf("%-10s %10.3f ms, CPU %7.2f s, %6.2f GiB at the most; %llu SMPs:", step,
           (double)(sim_now(bench->sim) - bench->since) / (double)TIME_MS,
           cpu_seconds() - bench->cpu, (double)usage.ru_maxrss / 1048576, (unsigned long long)all);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        count(names[i].get, bench->gets[names[i].attribute]);
        count(names[i].set, bench->sets[names[i].attribute]);
    }
    printf("\n");
    fflush(stdout);
}

static uint32_t host_port(const struct bench *bench, const char *name)
{
    uint32_t node = topology_find(&bench->topology, name);
    if (node == TOPOLOGY_NONE)
        die("there is no such host");
    return topology_port_index(&bench->topology, node, 1);
}

static void open_bench(struct bench *bench, const char *hosts, const char *vfs, const char *with)
{
    struct err err = {0};
    struct fabric_options options;
    char functions[32];
    const char *words[] = {hosts, functions, "speed=SDR"};
    snprintf(functions, sizeof functions, "vfs=%s", vfs);
    topology_init(&bench->topology);
    if (topology_generate(&bench->topology, "fattree", words, 3, 1, &err) < 0 ||
        fabric_options_preset(&options, "today", &err) < 0)
        die(err.message);
    bench->fabric = fabric_new(&bench->topology, &options, 1);
    bench->sim = sim_new(bench->fabric);
    sim_set_listener(bench->sim, &(struct sim_listener){.context = bench, .sent = note_sent});
    sm_config_init(&bench->config);
    qos_init(&bench->qos);
    if (strcmp(with, "plain") != 0) {
        char *text = mem_strdup(levels);
        if (qos_read(&bench->qos, from_text("levels", text, &err)) < 0)
            die(err.message);
        mem_free(text);
        bench->qos.on = true;
        bench->config.qos = &bench->qos;
    }
    if (strcmp(with, "partitions") == 0) {
        if (partitions_read(&bench->partitions, from_text("keys", keys, &err)) < 0)
            die(err.message);
        bench->config.partitions = &bench->partitions;
    }
}

static void close_bench(struct bench *bench)
{
    sim_free(bench->sim);
    fabric_free(bench->fabric);
    topology_release(&bench->topology);
    qos_release(&bench->qos);
    partitions_release(&bench->partitions);
}

static void settle(struct bench *bench, unsigned manager)
{
    if (!sim_run_until_settled(bench->sim, manager, sim_now(bench->sim) + 600 * TIME_S))
        die("the manager does not come to rest");
}

static void ask(struct bench *bench, unsigned manager, enum vswitch_verb verb, const char *place)
{
    struct err err = {0};
    struct vswitch_request request = {.verb = verb,
                                      .guid = vswitch_guid("one"),
                                      .name = "one",
                                      .hypervisor = place,
                                      .mode = VSWITCH_BALANCED};
    uint64_t ticket = sim_vm_submit(bench->sim, manager, &request, &err);
    if (!ticket)
        die(err.message);
    const struct vswitch_result *result =
        sim_vm_wait(bench->sim, manager, ticket, sim_now(bench->sim) + 60 * TIME_S);
    if (!result || result->state != VSWITCH_DONE)
        die(result ? result->text : "the manager is gone");
    settle(bench, manager);
}

/* The standby has a copy of the subnet after some seconds. */
static void take_over(struct bench *bench, unsigned master)
{
    unsigned standby = sim_add_manager(bench->sim, host_port(bench, "H1"), &bench->config);
    uint64_t limit = sim_now(bench->sim) + 3600 * TIME_S;
    while (!sm_has_copy(sim_manager(bench->sim, standby)) && sim_now(bench->sim) < limit)
        sim_run(bench->sim, sim_now(bench->sim) + 100 * TIME_MS);
    report(bench, "copy");
    sim_run(bench->sim, sim_now(bench->sim) + 10 * TIME_S); /* its routes are checked */
    begin(bench);
    sim_kill_manager(bench->sim, master);
    while (sm_state(sim_manager(bench->sim, standby)) != SM_MASTER)
        if (!sim_step(bench->sim, limit))
            die("the standby does not take over");
    report(bench, "master");
    settle(bench, standby);
    report(bench, "take-over");
    begin(bench);
    ask(bench, standby, VSWITCH_MIGRATE, "H2");
    report(bench, "move back");
}

int main(int argc, char **argv)
{
    static struct bench bench;
    const char *hosts = argc > 1 ? argv[1] : "11664", *vfs = argc > 2 ? argv[2] : "3";
    char last[32];
    open_bench(&bench, hosts, vfs, argc > 3 ? argv[3] : "levels");
    printf("fat tree of %s hypervisors with %s functions each\n", hosts, vfs);
    begin(&bench);
    unsigned master = sim_add_manager(bench.sim, host_port(&bench, "H0"), &bench.config);
    settle(&bench, master);
    report(&bench, "bring-up");
    begin(&bench);
    ask(&bench, master, VSWITCH_CREATE, "H2");
    report(&bench, "start");
    begin(&bench);
    snprintf(last, sizeof last, "H%lu", strtoul(hosts, NULL, 10) - 1);
    ask(&bench, master, VSWITCH_MIGRATE, last);
    report(&bench, "move");
    begin(&bench);
    take_over(&bench, master);
    close_bench(&bench);
    return 0;
}
