/* How a standby comes by its master's registrations: it asks, and the answer comes when there is
 * news.
 *
 * The question is a GetTable of an attribute of our own in the class of subnet administration, sent
 * to the master's port like any host's query; it carries the SM_Key and says which instance of a
 * master and which generations the standby has. The master keeps it until something has changed,
 * but no longer than HOLD, and answers with the text of persist.c: all that changed since, or
 * everything if the instance is not its own. The standby takes it in and asks again. While nothing
 * changes two MADs go to and fro every half second.
 *
 * Answers to one standby are at least GAP apart, so that a storm of joins makes larger answers and
 * not more of them. Where clients wait for it (deferred_replies.c) SHORT_GAP is enough: what comes
 * while the standby is at it makes the next one larger. A master that steps down answers at once:
 * what came last is not lost. There are WATCHERS places; beyond, the one that was answered last
 * waits for the next time.
 *
 * A master whose administration is elsewhere redirects its standbys like everybody else; they
 * follow.
 *
 * What a host has been told that it registered is here already: its answer waits for that. */
#include "sa/internal.h"

static const uint64_t gap = 20 * NS_PER_MS, short_gap = 50 * NS_PER_US, hold = 500 * NS_PER_MS,
                      patience = 2 * NS_PER_S;
enum { AT_INSTANCE = 0, AT_GROUPS = 64, AT_OTHERS = 128 }; /* bits, in the question's data */
#define TID_MARK UINT32_C(0x80000000)                      /* reports count below */

/* ---- the master's side ---- */

static bool is_news(const struct sa *sa, const struct watcher *watcher)
{
    struct sa_generations now = sa_registry_generations(sa);
    return watcher->instance != sa->config.instance || watcher->since.groups != now.groups ||
           watcher->since.others != now.others;
}

static uint64_t due_at(const struct sa *sa, const struct watcher *watcher)
{
    if (!watcher->waits)
        return TIME_NEVER;
    if (!sa->serves)
        return 0;
    if (!is_news(sa, watcher))
        return watcher->asked + hold;
    return deferred_for(sa, watcher) ? watcher->told + short_gap : watcher->not_before;
}

void sync_ask(struct sa *sa, const struct sa_message *message)
{
    const uint8_t *data = message->data + SA_DATA_OFFSET;
    struct watcher *place = &sa->watchers[0];
    if (message->bytes < MAD_BYTES || !sa->serves || !wire_get(message->data, SA_SM_KEY)) {
        sa->counts.dropped++;
        return;
    }
    for (unsigned i = 0; i < WATCHERS; i++) {
        struct watcher *watcher = &sa->watchers[i];
        if (watcher->address.lid == message->address.lid) {
            place = watcher;
            break;
        }
        if (watcher->not_before < place->not_before)
            place = watcher;
    }
    if (place->address.lid != message->address.lid)
        place->not_before = 0;
    place->waits = true;
    place->asked = sa->now;
    place->address = message->address;
    place->instance = wire_get_bits(data, AT_INSTANCE, 64);
    place->since = (struct sa_generations){wire_get_bits(data, AT_GROUPS, 64),
                                           wire_get_bits(data, AT_OTHERS, 64)};
    memcpy(place->mad, message->data, MAD_BYTES);
}

static void tell(struct sa *sa, struct watcher *watcher, struct sa_message *message)
{
    struct query query = {.address = watcher->address, .bytes = MAD_BYTES};
    struct text text = {0};
    bool ours = watcher->instance == sa->config.instance;
    registry_print(sa, 0, ours ? &watcher->since : &(struct sa_generations){0}, &text);
    while (text.length % 8)
        text_putc(&text, '\n');
    memcpy(query.mad, watcher->mad, MAD_BYTES);
    answer_text(sa, &query, &text);
    *message = (struct sa_message){
        .address = watcher->address, .data = sa->out.bytes, .bytes = sa->out.used};
    text_release(&text);
    watcher->waits = false;
    watcher->told = sa->now;
    watcher->not_before = sa->now + gap;
}

/* ---- the standby's side ---- */

void sa_follow(struct sa *sa, uint64_t now, const struct sa_master *master)
{
    struct follower *follower = &sa->follower;
    bool same = master && follower->active && follower->master == master->lid;
    sa->now = now;
    if (!master) {
        follower->active = false;
        return;
    }
    if (!master->tells) { /* what it is told we do not hear: ours is out of date from now on */
        follower->active = false;
        sa->heritage = 0;
        registry_clear(sa);
        return;
    }
    if (same)
        return;
    sa->heritage = 0;
    *follower = (struct follower){
        .active = true, .master = master->lid, .next_at = now, .asked = follower->asked};
    redirect_begin(&follower->trail, &(struct redirect){.lid = master->lid,
                                                        .p_key = 0xFFFF,
                                                        .sl = master->sl,
                                                        .qp = 1,
                                                        .q_key = UINT32_C(0x80010000)});
}

uint16_t sa_registry_master(const struct sa *sa)
{
    return registry_master(sa);
}

uint16_t registry_master(const struct sa *sa)
{
    if (sa->serves)
        return sa->view.subnet->ports.items[sa->view.subnet->own_port].lid;
    return sa->heritage;
}

static bool is_expected(const struct sa *sa, const struct registry_header *header)
{
    const struct follower *follower = &sa->follower;
    bool whole = !header->since.groups && !header->since.others;
    bool next = header->instance == follower->instance &&
                header->since.groups == follower->have.groups &&
                header->since.others == follower->have.others;
    return header->given && (whole || next);
}

/* All of it again, in a while and from the master itself. */
static void begin_anew(struct sa *sa)
{
    struct follower *follower = &sa->follower;
    follower->trail.count = 1;
    follower->instance = 0;
    follower->next_at = sa->now + patience;
}

static void go_elsewhere(struct sa *sa, const struct sa_message *message)
{
    struct follower *follower = &sa->follower;
    struct err err;
    if (redirect_follow(&follower->trail, message->data, message->bytes, SA_DATA_OFFSET, &err) ==
        0) {
        follower->next_at = sa->now;
        return;
    }
    if (!follower->sent_away)
        follower->trouble = err;
    follower->sent_away = true;
    begin_anew(sa);
}

bool sa_next_trouble(struct sa *sa, struct err *err)
{
    if (!*sa->follower.trouble.message)
        return false;
    *err = sa->follower.trouble;
    *sa->follower.trouble.message = 0;
    return true;
}

void sync_receive(struct sa *sa, const struct sa_message *message)
{
    struct follower *follower = &sa->follower;
    struct registry_header header = {0};
    if (!follower->active || sa->serves ||
        message->address.lid != redirect_target(&follower->trail)->lid ||
        (uint32_t)wire_get(message->data, MAD_TID) != follower->tid)
        return;
    struct registry_source source = {.content = (const char *)message->data + SA_DATA_OFFSET,
                                     .bytes = message->bytes - SA_DATA_OFFSET,
                                     .path = "the master's registrations",
                                     .accept = is_expected};
    follower->tid = 0; /* no second time */
    if (wire_get(message->data, MAD_STATUS) == STATUS_REDIRECT) {
        go_elsewhere(sa, message);
        return;
    }
    if (wire_get(message->data, MAD_STATUS) || registry_read(sa, &source, &header, NULL) < 0) {
        begin_anew(sa);
        return;
    }
    follower->instance = header.instance;
    follower->have = header.generations;
    follower->next_at = sa->now;
    sa->heritage = follower->master;
}

static void ask(struct sa *sa, struct sa_message *message)
{
    struct follower *follower = &sa->follower;
    uint8_t *mad = sa->report_mad, *data = mad + SA_DATA_OFFSET;
    if (follower->tid) /* no answer: what sent us there may know better by now */
        follower->trail.count = 1;
    const struct redirect *to = redirect_target(&follower->trail);
    follower->tid = TID_MARK | ++follower->asked;
    follower->next_at = sa->now + patience;
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(mad, MAD_CLASS_VERSION, 2);
    wire_set(mad, MAD_METHOD, METHOD_GET_TABLE);
    wire_set(mad, MAD_TID, follower->tid);
    wire_set(mad, MAD_ATTRIBUTE_ID, SA_ATTRIBUTE_REGISTRATIONS);
    wire_set(mad, RMPP_VERSION, RMPP_THIS_VERSION);
    wire_set(mad, SA_SM_KEY, sa->config.key);
    wire_set_bits(data, AT_INSTANCE, 64, follower->instance);
    wire_set_bits(data, AT_GROUPS, 64, follower->have.groups);
    wire_set_bits(data, AT_OTHERS, 64, follower->have.others);
    *message = (struct sa_message){
        .address = {.lid = to->lid, .sl = to->sl, .qp = to->qp, .q_key = to->q_key},
        .data = mad,
        .bytes = MAD_BYTES,
        .patience_ns = patience - 100 * NS_PER_MS};
}

/* ---- both ---- */

uint64_t sync_deadline(const struct sa *sa)
{
    uint64_t deadline = sa->follower.active && !sa->serves ? sa->follower.next_at : TIME_NEVER;
    for (unsigned i = 0; i < WATCHERS; i++) {
        uint64_t due = due_at(sa, &sa->watchers[i]);
        deadline = due < deadline ? due : deadline;
    }
    return deadline;
}

bool sync_next(struct sa *sa, struct sa_message *message)
{
    for (unsigned i = 0; i < WATCHERS; i++)
        if (due_at(sa, &sa->watchers[i]) <= sa->now) {
            tell(sa, &sa->watchers[i], message);
            return true;
        }
    if (!sa->follower.active || sa->serves || sa->now < sa->follower.next_at)
        return false;
    ask(sa, message);
    return true;
}
