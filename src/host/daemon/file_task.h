/* Files that a daemon writes beside its work. */
#ifndef WEFT_HOST_DAEMON_FILE_TASK_H
#define WEFT_HOST_DAEMON_FILE_TASK_H

#include "base/err.h"
#include "base/text.h"
#include "host/daemon/dumps.h"

struct file_task {
    struct dump_picture *picture;     /* or NULL */
    struct text facts, registrations; /* empty: leave the file alone */
    char *dump_directory, *state_directory;
    struct err err; /* of the last that failed */
    bool dump_failed, facts_failed, registrations_failed;
};

void file_task_run(void *task);
void file_task_free(struct file_task *task);

#endif
