/* soak [HOURS [SEED [FROM-MINUTE]]]: a long time in virtual time, with a fault every minute.
 *
 * 64 switches, 32 adapters, two managers. Every minute one thing goes wrong: a link or a switch
 * goes or comes back, a port flaps, an agent falls silent and is healed, SMPs are lost for a while,
 * the master is killed and started again. Before the next fault the fabric must be in order. The
 * memory in use is printed now and then: what managers and agents know must not grow with what has
 * happened. Fails when something is not in order, or when the last hour needs more memory than the
 * first quarter did. */
#include "faults.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MINUTES_AN_HOUR = 60, REPORTS = 12, MANAGERS = 2 };
#define MINUTE (60 * TIME_S)
#define SLACK  ((size_t)512 * 1024) /* of the allocator: its fragments differ from time to time */

struct soak {
    struct driver driver;
    bool *silent;
    bool verbose;
};

static void listen(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    const struct soak *soak = context;
    char time[TIME_TEXT_BYTES];
    if (soak->verbose)
        printf("%14s  [%u] %s\n", time_text(now, time), manager, event->text);
}

static void set_up(struct soak *soak, uint64_t seed)
{
    const char *words[] = {"switches=64", "ports=8", "hosts=32", "speed=SDR"};
    struct driver *driver = &soak->driver;
    driver->between_switches = true; /* the managers stay connected with something */
    rng_seed(&driver->rng, seed, 0);
    driver_open(driver, words, 4, seed, &(struct sim_listener){.context = soak, .event = listen});
    const struct topology *topology = &driver->topology;
    soak->silent = mem_zalloc(topology->nodes.count, sizeof *soak->silent);
    for (uint32_t node = 0; node < topology->nodes.count && driver->managers < MANAGERS; node++)
        if (topology->nodes.items[node].kind == NODE_ADAPTER)
            driver_add_manager(driver, topology->nodes.items[node].first_port + 1,
                               (uint8_t)(MANAGERS - driver->managers));
}

/* An agent may be thought gone, and is found again; SMPs may be lost while a port flaps. Both end
 * after 20 s. */
static const char *one_fault(struct soak *soak)
{
    static const enum fault faults[] = {
        FAULT_LINK_DOWN,        FAULT_LINK_DOWN,    FAULT_LINK_UP, FAULT_LINK_UP,
        FAULT_LINK_UP,          FAULT_SWITCH_DOWN,  FAULT_ALL_UP,  FAULT_MANAGER_DIES,
        FAULT_MANAGER_RESTARTS, FAULT_SILENT_AGENT, FAULT_FLAP};
    struct driver *driver = &soak->driver;
    struct target target = driver_any_target(driver);
    enum fault fault = faults[rng_below(&driver->rng, sizeof faults / sizeof faults[0])];
    if (fault == FAULT_FLAP)
        driver_lose_smps(driver, RNG_CERTAIN / 50);
    driver_strike(driver, fault, target);
    if (fault == FAULT_FLAP || fault == FAULT_SILENT_AGENT)
        driver_run(driver, 20 * TIME_S);
    driver_lose_smps(driver, 0);
    driver_strike(driver, FAULT_AGENT_BACK, target);
    return fault_names[fault];
}

/* ---- memory ---- */

static size_t resident_bytes(void)
{
    unsigned long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%lu %lu", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* What is allocated and not freed; 0 where the allocator does not tell, as under a sanitizer. */
static size_t allocated_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* ---- all of it ---- */

static bool in_order(struct soak *soak, struct check_failure *failure)
{
    const struct driver *driver = &soak->driver;
    const struct check_view view = {driver->fabric, driver->sim,  driver->seats,
                                    MANAGERS,       soak->silent, false};
    for (unsigned tries = 0; tries < 10; tries++) { /* a sweep may be under way */
        if (check_in_order(&view, failure))
            return true;
        driver_run(&soak->driver, TIME_S / 10);
    }
    return false;
}

int main(int argc, char **argv)
{
    unsigned hours = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 24;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    unsigned verbose_from = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : UINT_MAX;
    unsigned minutes = hours * MINUTES_AN_HOUR, failed = 0;
    size_t early = 0, late = 0;
    struct soak soak = {0};
    set_up(&soak, seed);
    for (unsigned minute = 1; minute <= minutes; minute++) {
        struct check_failure failure;
        soak.verbose = minute >= verbose_from;
        sim_run(soak.driver.sim, minute * MINUTE);
        if (!in_order(&soak, &failure)) {
            failed++;
            printf("minute %u: %s\n", minute, failure.text);
        }
        size_t bytes = allocated_bytes();
        size_t *most = minute <= minutes / 4 ? &early : &late;
        *most = bytes > *most ? bytes : *most;
        if (minute % (minutes / REPORTS ? minutes / REPORTS : 1) == 0)
            printf("%5u min: %6zu KiB resident, %6zu KiB allocated\n", minute,
                   resident_bytes() / 1024, bytes / 1024);
        const char *fault = one_fault(&soak);
        if (soak.verbose)
            printf("minute %u: %s\n", minute, fault);
        fflush(stdout);
    }
    bool flat = late <= early + SLACK;
    printf(
        "%u faults, %u failed; memory %s (%zu KiB at most in the first quarter, %zu KiB later)\n",
        minutes, failed, flat ? "flat" : "GROWS", early / 1024, late / 1024);
    driver_close(&soak.driver);
    mem_free(soak.silent);
    return failed || !flat;
}
