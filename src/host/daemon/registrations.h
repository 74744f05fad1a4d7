/* What clients registered, kept between the manager and the subnet administration of one daemon: in
 * a file over restarts, with the master's help over fail-over, and by asking clients where neither
 * helps.
 *
 * There are two files. One has all of it in OpenSM's format, is written at most once a second and
 * survives the machine. Beside it the journal (journal.h) gets what changed before any client hears
 * that it has registered: it survives the process. When a manager starts it takes the one that
 * knows more, and begins a new journal. */
#ifndef WEFT_HOST_DAEMON_REGISTRATIONS_H
#define WEFT_HOST_DAEMON_REGISTRATIONS_H

#include "host/daemon/event_log.h"
#include "host/daemon/journal.h"
#include "sa/sa.h"
#include "sm/sm.h"

#define REGISTRATIONS_FILE    "opensm-sa.dump"
#define REGISTRATIONS_JOURNAL "opensm-sa.journal"

struct registrations {
    char *directory; /* NULL: there is no file */
    bool silent;     /* clients are not asked: nobody will be there to hear their answer */
    struct event_log *log;
    struct sa_generations written;
    bool lost;         /* what was last taken did not get into the file: it is due again */
    uint16_t heritage; /* as in what was written */
    uint16_t followed; /* the master whose registrations were last said to be here */
    uint64_t next_at;  /* no sooner is the file written again */
    struct journal journal;
    struct sa_generations journaled; /* that it goes up to */
    size_t journal_limit;            /* bytes; beyond, it is begun anew */
    bool journal_failed;             /* the last time, which was told */
};

/* Standbys tell one life of a manager from the next by it. */
uint64_t registrations_new_instance(void);
/* Reads the file. One that makes no sense is set aside, with a warning, and nothing is known. */
void registrations_open(struct registrations *registrations, struct sa *sa, uint64_t now);
/* What each of the two has to know of the other. */
void registrations_mind(struct registrations *registrations, uint64_t now, struct sm *sm,
                        struct sa *sa);
/* Writes down what clients have registered and wait to be told so; true if there are any. */
bool registrations_commit(struct registrations *registrations, struct sa *sa);
/* When the file should be written; TIME_NEVER: it is as it should be. */
uint64_t registrations_deadline(const struct registrations *registrations, const struct sa *sa);
/* Its new content, whenever there is something new. */
void registrations_take(struct registrations *registrations, uint64_t now, const struct sa *sa,
                        struct text *content);
void registrations_close(struct registrations *registrations);

#endif
