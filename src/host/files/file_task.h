/* A task of the thread that writes files. */
#ifndef WEFT_HOST_FILES_FILE_TASK_H
#define WEFT_HOST_FILES_FILE_TASK_H

#include "base/err.h"
#include "base/text.h"
#include "host/files/dumps.h"

struct file_task {
    struct dump_snapshot *snapshot;  /* or NULL */
    struct text lids, registrations; /* empty: do not write the file */
    struct text port_keys, neighbours, links;
    char *dump_directory, *state_directory;
    struct err err; /* the last one */
    bool dump_failed, lids_failed, links_failed, registrations_failed;
};

void file_task_run(void *task);
void file_task_free(struct file_task *task);

#endif
