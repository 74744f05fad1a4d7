/* Preserves what clients registered: in files over a restart, by a copy from the master over a
 * failover, and else by requests to clients to register again.
 *
 * There are two files. The dump has all registrations in OpenSM's format. It is written with
 * fsync(2) at most once a second and survives a crash of the machine. The journal (journal.h) gets
 * each change before the client is answered, and survives the process. A starting manager reads the
 * dump, applies the journal if it is newer, and begins a new journal.
 *
 * A thread writes the journal, so that a disk that is slow or hangs does not stop the manager:
 * clients are then answered before their registrations are saved (deferred_replies.c), and that is
 * logged. */
#ifndef WEFT_HOST_FILES_REGISTRATIONS_H
#define WEFT_HOST_FILES_REGISTRATIONS_H

#include "host/files/event_log.h"
#include "host/files/journal.h"
#include "host/files/worker.h"
#include "sa/sa.h"
#include "sm/sm.h"

#define REGISTRATIONS_FILE    "opensm-sa.dump"
#define REGISTRATIONS_JOURNAL "opensm-sa.journal"

struct registrations {
    char *directory; /* NULL: no files */
    bool silent;     /* do not request registrations: the daemon ends at once */
    struct event_log *log;
    struct worker *saver; /* the thread; NULL: registrations_commit() writes itself */
    struct sa_generations written;
    bool lost;               /* the last dump could not be written: it is due again */
    uint16_t written_master; /* in the dump */
    uint16_t followed;       /* LID of the master whose copy was logged */
    uint64_t next_at;        /* the earliest time of the next dump */
    struct journal journal;
    struct sa_generations journaled; /* of its last piece */
    struct save_task *saving;        /* by the thread; it uses the journal until it is done */
    uint64_t slow_at;                /* the time at which a running save is logged as slow */
    size_t journal_limit;            /* bytes; a longer journal is replaced */
    bool journal_failed;             /* the last time; it was logged */
};

/* A random number that identifies this run of the manager to standbys. */
uint64_t registrations_new_instance(void);
/* Reads both files. An invalid dump is renamed and ignored, with a warning. */
void registrations_open(struct registrations *registrations, struct sa *sa, uint64_t now);
/* Exchanges state between the manager and the administration. */
void registrations_sync(struct registrations *registrations, uint64_t now, struct sm *sm,
                        struct sa *sa);
/* Writes registrations whose clients wait for an answer to the journal, or has the thread write
 * them. Returns whether any were saved since the last call. */
bool registrations_commit(struct registrations *registrations, uint64_t now, struct sa *sa);
/* When the dump has to be written; TIME_NEVER: it is up to date. */
uint64_t registrations_deadline(const struct registrations *registrations, const struct sa *sa);
/* Prints the dump if it is not up to date. */
void registrations_take(struct registrations *registrations, uint64_t now, const struct sa *sa,
                        struct text *content);
void registrations_close(struct registrations *registrations);

#endif
