#include "host/registrations.h"

#include "base/time.h"
#include "host/administration.h"
#include "host/store.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const uint64_t pause = 1 * TIME_S; /* between two writings */

static uint64_t wall_clock(void)
{
    return (uint64_t)time(NULL);
}

static void tell(struct registrations *registrations, const struct sa *sa, const char *where)
{
    struct sa_counts counts;
    sa_counts(sa, &counts);
    event_log_write(registrations->log, "clients", "%u groups, %u services, %u subscriptions %s",
                    counts.groups, counts.services, counts.subscriptions, where);
}

void registrations_open(struct registrations *registrations, struct sa *sa, uint64_t now)
{
    struct text content = {0};
    struct err err = {0};
    char path[1024], text[1024];
    if (!registrations->directory)
        return;
    snprintf(path, sizeof path, "%s/%s", registrations->directory, REGISTRATIONS_FILE);
    int status = store_read(registrations->directory, REGISTRATIONS_FILE, &content);
    if (status < 0)
        err_at(&err, -status, path, 0, "%s", strerror(-status));
    else if (content.length)
        status = sa_registry_read(
            sa, now, &(struct sa_registry_file){path, content.data, content.length, wall_clock()},
            &err);
    if (status < 0) {
        event_log_write(registrations->log, "warning",
                        "%s; it is set aside, and clients are asked to register again",
                        err_text(&err, text, sizeof text));
        store_set_aside(registrations->directory, REGISTRATIONS_FILE);
    } else if (content.length) {
        tell(registrations, sa, "read from the last run");
    }
    registrations->written = sa_registry_generations(sa);
    registrations->heritage = sa_heritage(sa);
    text_release(&content);
}

void registrations_mind(struct registrations *registrations, uint64_t now, struct sm *sm,
                        struct sa *sa)
{
    bool standby = sm_state(sm) == SM_STANDBY;
    administration_mind(sa, now, sm, !registrations->silent);
    if (standby && sa_heritage(sa) && sa_heritage(sa) != registrations->followed)
        tell(registrations, sa, "came from the master");
    registrations->followed = standby ? sa_heritage(sa) : 0;
}

uint64_t registrations_deadline(const struct registrations *registrations, const struct sa *sa)
{
    struct sa_generations now = sa_registry_generations(sa);
    bool same = now.groups == registrations->written.groups &&
                now.others == registrations->written.others &&
                sa_heritage(sa) == registrations->heritage;
    return same || !registrations->directory ? TIME_NEVER : registrations->next_at;
}

void registrations_take(struct registrations *registrations, uint64_t now, const struct sa *sa,
                        struct text *content)
{
    if (registrations_deadline(registrations, sa) == TIME_NEVER)
        return;
    sa_registry_print(sa, wall_clock(), content);
    registrations->written = sa_registry_generations(sa);
    registrations->heritage = sa_heritage(sa);
    registrations->next_at = now + pause;
}
