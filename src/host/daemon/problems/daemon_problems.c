/* The present problems: those of the subnet, of the cabling and of the daemon's own files. The list
 * is compared with the previous one after each change and every 10 s; differences are logged. */
#include "host/daemon/daemon_internal.h"
#include "host/daemon/problems/problem_log.h"

#include "base/time.h"
#include "host/manager_view/manager_page.h"

#include <string.h>
#include <sys/statvfs.h>

static const uint64_t problems_interval = 10 * NS_PER_S; /* of comparisons, if nothing happens */
static const uint64_t problems_delay = NS_PER_S;         /* between two of them, at least */
static const uint64_t problems_patience = 5 * NS_PER_S;  /* a change may delay one */

void daemon_expect_problems(struct daemon *daemon, uint64_t now)
{
    uint64_t at = daemon->problems_last + problems_delay;
    at = at < now ? now : at;
    daemon->problems_at = at < daemon->problems_at ? at : daemon->problems_at;
}

/* A directory or file of the daemon on a full or read-only file system: writing will fail. */
static bool is_full(const char *path, const char **why)
{
    enum { LEAST_BYTES = 64 * 1024 };
    struct statvfs status;
    if (!path || statvfs(path, &status) < 0)
        return false;
    *why = status.f_flag & ST_RDONLY ? "the file system is read-only" : "the file system is full";
    return status.f_flag & ST_RDONLY || (uint64_t)status.f_bavail * status.f_frsize < LEAST_BYTES;
}

/* The present problems that the manager and the daemon know. */
static void list_problems(struct daemon *daemon, uint64_t now, struct problems *problems)
{
    sm_problems(daemon->sm, now, problems);
    if (sm_state(daemon->sm) == SM_MASTER && daemon->config->has_plan)
        cabling_list_problems(&daemon->config->plan, sm_subnet(daemon->sm), problems);
    if (sm_state(daemon->sm) == SM_MASTER)
        perf_list_problems(daemon->perf, sm_subnet(daemon->sm), problems);
    const char *paths[] = {daemon->config->state, daemon->config->dump, daemon->log.options.path};
    static const char *const meanings[] = {
        "LIDs and registrations are not saved: after a restart hosts may get other LIDs",
        "dumps are not written", "the log is incomplete"};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *why = daemon->files_error.message;
        bool failed = daemon->files_failed && paths[i] &&
                      strncmp(paths[i], daemon->files_error.file, strlen(paths[i])) == 0;
        if (failed || is_full(paths[i], &why))
            problems_add_object(problems, PROBLEM_FILES, paths[i], "%s (%s); weft keeps trying",
                                meanings[i], why);
    }
    daemon_list_listeners(daemon, problems);
}

void daemon_list_problems(void *context, uint64_t now, struct problems *problems)
{
    struct daemon *daemon = context;
    list_problems(daemon, now, problems);
    problems_sort(problems);
    problems_set_times(problems, &daemon->problems, now);
}

static void write_problem(void *context, const char *event, const char *text)
{
    struct daemon *daemon = context;
    event_log_put(&daemon->log, &(struct event_record){.event = event, .text = text});
}

/* A standby does not see the other problems. */
static bool is_over_for_standby(enum problem_kind kind)
{
    return kind == PROBLEM_FILES || kind == PROBLEM_LISTENER;
}

/* During a change the list would be incomplete. */
uint64_t daemon_problems_deadline(const struct daemon *daemon)
{
    enum sm_state state = sm_state(daemon->sm);
    if (state != SM_MASTER && state != SM_STANDBY)
        return TIME_NEVER;
    bool wait = state == SM_MASTER && !sm_is_settled(daemon->sm);
    return daemon->problems_at == TIME_NEVER ? TIME_NEVER
                                             : daemon->problems_at + (wait ? problems_patience : 0);
}

void daemon_watch_problems(struct daemon *daemon, uint64_t now)
{
    struct problems problems = {0};
    if (daemon_problems_deadline(daemon) > now)
        return;
    event_log_put_left_out(&daemon->log, now);
    list_problems(daemon, now, &problems);
    problem_log_update(&daemon->problems, &problems, now, sm_subnet(daemon->sm),
                       sm_state(daemon->sm) == SM_MASTER ? NULL : is_over_for_standby,
                       write_problem, daemon);
    daemon->problems_last = now;
    daemon->problems_at = now + problems_interval;
}
