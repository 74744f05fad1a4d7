/* Writes what the manager has handed over: dumps of the subnet, and the files of LIDs, M_Keys,
 * links and registrations. A task notes what failed; daemon_files.c reports that and tries
 * again. */
#include "host/files/file_task.h"

#include "base/mem.h"
#include "host/files/registrations.h"
#include "host/files/store.h"

#include <string.h>

/* Returns true on failure. */
static bool replace_state_file(struct file_task *task, const char *name, const struct text *content,
                               const char *what)
{
    int status = content->length ? store_replace(task->state_directory, name, content) : 0;
    if (status < 0)
        err_at(&task->err, -status, task->state_directory, 0, "%s cannot be kept: %s", what,
               strerror(-status));
    return status < 0;
}

void file_task_run(void *argument)
{
    struct file_task *task = argument;
    task->dump_failed =
        task->snapshot && dump_write(task->snapshot, task->dump_directory, &task->err) < 0;
    task->lids_failed = replace_state_file(task, STORE_LIDS_FILE, &task->lids, "addresses");
    task->lids_failed |= replace_state_file(task, PORT_KEYS_FILE, &task->port_keys, "M_Keys");
    task->lids_failed |= replace_state_file(task, NEIGHBOURS_FILE, &task->neighbours, "links");
    task->links_failed = replace_state_file(task, LINKS_FILE, &task->links, "links");
    task->registrations_failed =
        replace_state_file(task, REGISTRATIONS_FILE, &task->registrations, "registrations");
}

void file_task_free(struct file_task *task)
{
    dump_snapshot_free(task->snapshot);
    text_release(&task->lids);
    text_release(&task->registrations);
    if (task->port_keys.data)
        explicit_bzero(task->port_keys.data, task->port_keys.length);
    text_release(&task->port_keys);
    text_release(&task->neighbours);
    text_release(&task->links);
    mem_free(task->dump_directory);
    mem_free(task->state_directory);
    mem_free(task);
}
