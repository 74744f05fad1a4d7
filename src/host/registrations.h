/* What clients registered, kept between the manager and the subnet administration of one daemon: in
 * a file over restarts, with the master's help over fail-over, and by asking clients where neither
 * helps. */
#ifndef WEFT_HOST_REGISTRATIONS_H
#define WEFT_HOST_REGISTRATIONS_H

#include "host/event_log.h"
#include "sa/sa.h"
#include "sm/sm.h"

#define REGISTRATIONS_FILE "opensm-sa.dump"

struct registrations {
    char *directory; /* NULL: there is no file */
    bool silent;     /* clients are not asked: nobody will be there to hear their answer */
    struct event_log *log;
    struct sa_generations written;
    uint16_t heritage; /* as in what was written */
    uint16_t followed; /* the master whose registrations were last said to be here */
    uint64_t next_at;  /* no sooner is the file written again */
};

/* Reads the file. One that makes no sense is set aside, with a warning, and nothing is known. */
void registrations_open(struct registrations *registrations, struct sa *sa, uint64_t now);
/* What each of the two has to know of the other. */
void registrations_mind(struct registrations *registrations, uint64_t now, struct sm *sm,
                        struct sa *sa);
/* When the file should be written; TIME_NEVER: it is as it should be. */
uint64_t registrations_deadline(const struct registrations *registrations, const struct sa *sa);
/* Its new content, whenever there is something new. */
void registrations_take(struct registrations *registrations, uint64_t now, const struct sa *sa,
                        struct text *content);

#endif
