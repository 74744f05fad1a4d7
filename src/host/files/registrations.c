/* Recovers the registrations of the SA from dump and journal at the start, then decides when each
 * is written and when waiting clients may be answered. The format of registrations is that of
 * src/sa, pieces and files are left to journal.c and store.c. */
#include "host/files/registrations.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "host/files/store.h"
#include "host/manager/administration.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const uint64_t write_interval = 1 * NS_PER_S;
static const uint64_t slow_save = 1 * NS_PER_S;

static uint64_t wall_clock(void)
{
    return (uint64_t)time(NULL);
}

uint64_t registrations_new_instance(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return hash_mix((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 50) |
           1;
}

static void log_counts(struct registrations *registrations, const struct sa *sa, const char *where)
{
    struct sa_counts counts;
    sa_counts(sa, &counts);
    event_log_write(registrations->log, "clients", "%u groups, %u services, %u subscriptions %s",
                    counts.groups, counts.services, counts.subscriptions, where);
}

/* ---- at the start ---- */

/* Whether the journal has changes that the file lacks: it is of a later run, or has a later
 * generation. */
static bool is_newer(const struct text *journal, const struct text *file)
{
    struct sa_registry_mark whole, last = {0}, mark;
    const char *piece;
    size_t at = 0, bytes;
    while ((piece = journal_next(journal, &at, &bytes)) != NULL && sa_registry_mark(piece, &mark))
        last = mark;
    if (!last.instance)
        return false;
    if (!file->length)
        return true;
    if (!sa_registry_mark(file->data, &whole)) /* OpenSM wrote the file after the journal */
        return false;
    return whole.instance != last.instance || last.generations.groups > whole.generations.groups ||
           last.generations.others > whole.generations.others;
}

/* The first piece is the whole state; each further one begins where the previous one ended. */
static bool is_next_piece(const struct sa_registry_mark *before,
                          const struct sa_registry_mark *mark)
{
    if (!before->instance)
        return !mark->since.groups && !mark->since.others;
    return mark->instance == before->instance && mark->since.groups == before->generations.groups &&
           mark->since.others == before->generations.others;
}

static int read_journal(struct sa *sa, uint64_t now, const struct text *journal, const char *path,
                        struct err *err)
{
    struct sa_registry_mark before = {0}, mark;
    const char *piece;
    size_t at = 0, bytes;
    while ((piece = journal_next(journal, &at, &bytes)) != NULL) {
        if (!sa_registry_mark(piece, &mark) || !is_next_piece(&before, &mark))
            return err_at(err, EINVAL, path, 0, "a piece is missing");
        int status = sa_registry_read(
            sa, now, &(struct sa_registry_file){path, piece, bytes, wall_clock()}, err);
        if (status < 0)
            return status;
        before = mark;
    }
    return 0;
}

/* Applies the journal if it is newer than the file, writes the file and removes the journal.
 * Returns whether it was newer. */
static bool recover_journal(struct registrations *registrations, struct sa *sa, uint64_t now,
                            const struct text *file)
{
    struct text journal = {0}, whole = {0};
    struct err err = {0};
    char path[1024], text[1024];
    snprintf(path, sizeof path, "%s/%s", registrations->directory, REGISTRATIONS_JOURNAL);
    int status = store_read(registrations->directory, REGISTRATIONS_JOURNAL, &journal);
    bool more = status == 0 && is_newer(&journal, file);
    if (more) {
        if (read_journal(sa, now, &journal, path, &err) < 0)
            event_log_write(registrations->log, "warning", "%s; the rest of the journal is ignored",
                            err_text(&err, text, sizeof text));
        /* Until it is removed, the journal must not become older than the new file. */
        status = journal_sync(&registrations->journal);
        sa_registry_print(sa, wall_clock(), &whole);
        if (status == 0)
            status = store_replace(registrations->directory, REGISTRATIONS_FILE, &whole);
    }
    if (status == 0)
        status = journal_remove(&registrations->journal);
    if (status < 0)
        event_log_write(registrations->log, "warning", "%s: %s", path, strerror(-status));
    text_release(&journal);
    text_release(&whole);
    return more;
}

void registrations_open(struct registrations *registrations, struct sa *sa, uint64_t now)
{
    struct text content = {0};
    struct err err = {0};
    char path[1024], text[1024];
    journal_init(&registrations->journal, registrations->directory, REGISTRATIONS_JOURNAL);
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
                        "%s; it is set aside, and clients have to register again",
                        err_text(&err, text, sizeof text));
        store_set_aside(registrations->directory, REGISTRATIONS_FILE);
        journal_remove(&registrations->journal);
    } else if (recover_journal(registrations, sa, now, &content) || content.length) {
        log_counts(registrations, sa, "read from the last run");
    }
    registrations->written = sa_registry_generations(sa);
    registrations->written_master = sa_registry_master(sa);
    sa_await_saves(sa, true);
    text_release(&content);
}

/* ---- the journal ---- */

/* One piece: the whole state, which begins a new journal, or changes. */
struct save_task {
    struct journal *journal;
    struct text piece;
    struct sa_generations generations;
    bool whole;
    int status;
};

static void save_piece(void *argument)
{
    struct save_task *task = argument;
    task->status = task->whole ? journal_begin(task->journal, &task->piece)
                               : journal_append(task->journal, &task->piece);
}

static void start_save(struct registrations *registrations, uint64_t now, const struct sa *sa)
{
    enum { LEAST = 1 << 20 };
    struct journal *journal = &registrations->journal;
    struct save_task *task = mem_zalloc(1, sizeof *task);
    assert(!registrations->saving);
    task->journal = journal;
    task->generations = sa_registry_generations(sa);
    task->whole = journal->fd < 0 || journal->bytes >= registrations->journal_limit;
    if (task->whole)
        sa_registry_print(sa, wall_clock(), &task->piece);
    else
        sa_registry_print_changes(sa, wall_clock(), &registrations->journaled, &task->piece);
    if (task->whole)
        registrations->journal_limit = LEAST + 2 * task->piece.length;
    registrations->saving = task;
    registrations->slow_at = now + slow_save;
    if (registrations->saver)
        worker_give(registrations->saver, save_piece, task);
    else
        save_piece(task);
}

/* After changes could not be appended, the whole state follows at once: see journal_append(). */
static bool finish_save(struct registrations *registrations, struct sa *sa)
{
    struct save_task *task = registrations->saving;
    bool again = task->status < 0 && !task->whole;
    if (task->status < 0 && !again && !registrations->journal_failed)
        event_log_write(registrations->log, "error",
                        "%s/%s: %s; clients are answered before their registrations are saved",
                        registrations->directory, REGISTRATIONS_JOURNAL, strerror(-task->status));
    if (!again) {
        registrations->journal_failed = task->status < 0;
        registrations->journaled = task->generations;
        sa_registrations_saved(sa, &task->generations);
    }
    registrations->saving = NULL;
    text_release(&task->piece);
    mem_free(task);
    return !again;
}

static void log_slow_save(struct registrations *registrations, uint64_t now)
{
    if (now < registrations->slow_at)
        return;
    event_log_write(registrations->log, "warning",
                    "%s/%s: writing takes longer than %u s; clients are answered before their "
                    "registrations are saved",
                    registrations->directory, REGISTRATIONS_JOURNAL,
                    (unsigned)(slow_save / NS_PER_S));
    registrations->slow_at = TIME_NEVER;
}

bool registrations_commit(struct registrations *registrations, uint64_t now, struct sa *sa)
{
    if (!registrations->directory)
        return false;
    for (;;) {
        if (!registrations->saving && sa_waits_for_save(sa))
            start_save(registrations, now, sa);
        if (!registrations->saving)
            return false;
        if (registrations->saver && !worker_take(registrations->saver)) {
            log_slow_save(registrations, now);
            return false;
        }
        if (finish_save(registrations, sa))
            return true;
    }
}

void registrations_close(struct registrations *registrations)
{
    worker_free(registrations->saver); /* after its task */
    if (registrations->saving) {
        text_release(&registrations->saving->piece);
        mem_free(registrations->saving);
    }
    registrations->saving = NULL;
    registrations->saver = NULL;
    if (registrations->directory)
        journal_close(&registrations->journal);
    mem_free(registrations->directory);
    registrations->directory = NULL;
}

/* ---- manager and administration ---- */

void registrations_sync(struct registrations *registrations, uint64_t now, struct sm *sm,
                        struct sa *sa)
{
    bool standby = sm_state(sm) == SM_STANDBY;
    struct err err;
    administration_sync(sa, now, sm, !registrations->silent);
    while (sa_next_sync_error(sa, &err))
        event_log_write(registrations->log, "warning",
                        "cannot read the registrations of the master: %s", err.message);
    struct sm_master master;
    bool copied = standby && sm_master(sm, &master) && sa_registry_master(sa) == master.lid;
    if (copied && sa_registry_master(sa) != registrations->followed)
        log_counts(registrations, sa, "came from the master");
    registrations->followed = copied ? sa_registry_master(sa) : 0;
}

uint64_t registrations_deadline(const struct registrations *registrations, const struct sa *sa)
{
    struct sa_generations now = sa_registry_generations(sa);
    bool same = !registrations->lost && now.groups == registrations->written.groups &&
                now.others == registrations->written.others &&
                sa_registry_master(sa) == registrations->written_master;
    return same || !registrations->directory ? TIME_NEVER : registrations->next_at;
}

void registrations_take(struct registrations *registrations, uint64_t now, const struct sa *sa,
                        struct text *content)
{
    if (registrations_deadline(registrations, sa) == TIME_NEVER)
        return;
    assert(registrations->directory);
    sa_registry_print(sa, wall_clock(), content);
    registrations->written = sa_registry_generations(sa);
    registrations->written_master = sa_registry_master(sa);
    registrations->next_at = now + write_interval;
    registrations->lost = false;
}
