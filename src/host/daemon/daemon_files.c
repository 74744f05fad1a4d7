/* The files that the daemon writes: dumps and LIDs when the subnet is settled, and registrations.
 * One thread writes them; after a failure it tries again. */
#include "host/daemon/daemon_internal.h"

#include "base/time.h"
#include "host/files/dumps.h"
#include "host/files/file_task.h"
#include "host/files/store.h"

static const uint64_t file_retry_interval = 5 * NS_PER_S;

void daemon_finish_files(struct daemon *daemon, uint64_t now)
{
    char text[1024];
    for (struct file_task *task; (task = worker_take(daemon->writer)) != NULL;) {
        bool failed = task->dump_failed || task->lids_failed || task->links_failed ||
                      task->registrations_failed;
        if (failed && daemon->ending)
            event_log_write(&daemon->log, "error", "%s", err_text(&task->err, text, sizeof text));
        if (failed != daemon->files_failed)
            daemon_expect_problems(daemon, now);
        daemon->files_failed = failed;
        daemon->totals.files_failed += failed;
        daemon->files_error = task->err;
        daemon->files_again_at = failed ? now + file_retry_interval : 0;
        daemon->dump_due |= task->dump_failed;
        daemon->lids_due |= task->lids_failed;
        if (task->links_failed)
            daemon->links_kept = 0;
        daemon->registrations.lost |= task->registrations_failed;
        file_task_free(task);
    }
}

/* Dumps and LIDs are written when the subnet is settled; LIDs also when the daemon ends. */
static bool dump_is_due(const struct daemon *daemon)
{
    return daemon->dump_due && daemon->config->dump && sm_is_settled(daemon->sm);
}

static bool lids_are_due(const struct daemon *daemon)
{
    return daemon->lids_due && daemon->config->state &&
           (daemon->ending || sm_is_settled(daemon->sm));
}

/* A standby knows what the master writes. */
static bool links_are_due(const struct daemon *daemon)
{
    return daemon->config->state && daemon->sm && sm_state(daemon->sm) == SM_MASTER &&
           sm_subnet(daemon->sm)->cabling != daemon->links_kept && sm_is_settled(daemon->sm);
}

uint64_t daemon_files_deadline(const struct daemon *daemon)
{
    uint64_t due = registrations_deadline(&daemon->registrations, daemon->sa);
    if (worker_is_busy(daemon->writer))
        return TIME_NEVER;
    if (dump_is_due(daemon) || lids_are_due(daemon) || links_are_due(daemon))
        due = 0;
    return due < daemon->files_again_at ? daemon->files_again_at : due;
}

/* One task at a time: later changes are written by the next one. */
void daemon_submit_files(struct daemon *daemon, uint64_t now)
{
    if (worker_is_busy(daemon->writer) || (!daemon->ending && daemon_files_deadline(daemon) > now))
        return;
    bool dump = dump_is_due(daemon), lids = lids_are_due(daemon);
    struct file_task *task = mem_zalloc(1, sizeof *task);
    if (dump) {
        task->snapshot = dump_snapshot_take(sm_subnet(daemon->sm));
        task->dump_directory = mem_strdup(daemon->config->dump);
    }
    if (lids)
        store_print(&daemon->store, &task->lids);
    if (lids && daemon->config->sm.m_key_per_port) {
        port_keys_print(daemon->sm, &task->port_keys);
        neighbours_print(daemon->sm, &task->neighbours);
    }
    if (links_are_due(daemon)) {
        links_print(sm_subnet(daemon->sm), &task->links);
        daemon->links_kept = sm_subnet(daemon->sm)->cabling;
    }
    if (daemon->ending || registrations_deadline(&daemon->registrations, daemon->sa) <= now)
        registrations_take(&daemon->registrations, now, daemon->sa, &task->registrations);
    if (daemon->config->state)
        task->state_directory = mem_strdup(daemon->config->state);
    daemon->dump_due &= !dump;
    daemon->lids_due &= !lids;
    worker_give(daemon->writer, file_task_run, task);
}
