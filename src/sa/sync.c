/* Replication of registrations from the master to its standbys by long polling.
 *
 * A standby sends a GetTable of a private attribute in the SA class to the master's port. The query
 * carries the instance of the master and the generations that the standby has. The master answers
 * as soon as something has changed, at the latest after `poll_limit`, with the text of persist.c:
 * the changes since those generations, or everything if the instance is not its own. The standby
 * applies the answer and polls again. Without changes that is ten MADs a second.
 *
 * Answers to one standby are at least `gap` apart, so that many joins make one large answer. While
 * clients wait (deferred_replies.c), `short_gap` applies. A master that steps down answers at once,
 * so that the last changes are not lost. There are STANDBYS slots; a further standby replaces the
 * one that was answered first.
 *
 * The registrations are sent only to managers that hold the SM_Key: the manager has accepted the
 * port as that of a peer, and each poll carries an HMAC of a challenge, of the port and of the
 * contents. A poll without it is answered with the challenge alone. The challenge is random for
 * each port and each run of a master. The answer carries an HMAC of a nonce of the poll, so that a
 * standby accepts registrations only from its master. The key itself is never sent.
 *
 * A master whose SA is elsewhere redirects its standbys like any client, and they follow.
 *
 * After a split of the subnet there are two masters, and one of them becomes a standby. Its first
 * poll with a proof is long: it carries the changes since both had the same registrations, and the
 * other one merges them (registry_merge()) before it answers with everything. Both know that
 * generation: a master by the last poll of its standby, a standby by its last copy. Removals count
 * only if clients asked for them, not if the other part of the subnet was absent. A master that is
 * restarted sends what was wanted of virtual machines in the same way, since no client repeats
 * that. If the other one has no common base with it, because it was restarted, too, it takes what
 * was decided later (subnet/machines.h), and keeps what it has decided since.
 *
 * A standby may claim to have all registrations (sa_registry_master()) while it has a lease. An
 * answer gives a lease of `lease` from the time at which it is sent, and answers to clients wait
 * until the standby has the registration or the lease has ended (deferred_replies.c). The standby
 * counts `trust`, which is shorter, from the time at which it sent the poll. So whatever is lost or
 * stopped in between, a standby that takes over within `trust` has every registration that was
 * confirmed to a client; after that time the clients have to register again. A standby that has not
 * confirmed the last answer, or was late, is answered without a lease (LATE_MARK), and so are all
 * while the master has not asked all clients that may have to register again (sa_set_incomplete()).
 */
#include "sa/internal.h"
#include "subnet/trust.h"

#include <assert.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>

static const uint64_t gap = 20 * NS_PER_MS, short_gap = 50 * NS_PER_US,
                      poll_limit = 200 * NS_PER_MS, first_wait = 100 * NS_PER_MS,
                      usual_wait = 400 * NS_PER_MS, longest_wait = 2 * NS_PER_S,
                      trust = 1500 * NS_PER_MS, lease = 1600 * NS_PER_MS;
/* Bit offsets in the data of a poll; the proof follows the nonce. */
enum { AT_INSTANCE = 0, AT_GROUPS = 64, AT_OTHERS = 128, AT_NONCE = 192, AT_POLL_PROOF = 256 };
/* The text of a poll with changes follows its proof. Instead of generations it has the instance of
 * the standby's last copy, and a kind. */
enum { OFFER_AT = AT_POLL_PROOF / 8 + TRUST_PROOF_BYTES, OFFER_LIMIT = 1 << 19 };
enum offer { OFFER_ADDITIONS, OFFER_CHANGES, OFFER_FORMER };
/* The same in an answer, whose text follows the proof. */
enum { AT_MARK = 0, AT_CHALLENGE = 64, AT_ANSWER_PROOF = 128, ANSWER_HEADER_BYTES = 32 };
#define ANSWER_MARK UINT64_C(0x7765667473796e63) /* "weftsync" */
#define LATE_MARK   UINT64_C(0x776566746c617465) /* "weftlate": an answer without a lease */
#define TID_MARK    UINT32_C(0x80000000)         /* transaction IDs of reports are below */

/* ---- master ---- */

static uint64_t due_at(const struct sa *sa, const struct standby *standby)
{
    if (!standby->polling)
        return TIME_NEVER;
    if (!sa->serves)
        return 0;
    struct sa_generations now = sa_registry_generations(sa);
    if (standby->instance == sa->config.instance && standby->since.groups == now.groups &&
        standby->since.others == now.others)
        return standby->polled_at + poll_limit;
    return deferred_awaits(sa, standby) ? standby->answered_at + short_gap : standby->not_before;
}

static uint64_t lag_of(const struct sa *sa, const struct standby *standby)
{
    struct sa_generations now = sa_registry_generations(sa);
    return now.groups + now.others - standby->since.groups - standby->since.others;
}

bool sa_standby(const struct sa *sa, uint64_t now, uint64_t guid, struct sa_standby *standby)
{
    for (unsigned i = 0; i < STANDBYS; i++) {
        const struct standby *slot = &sa->standbys[i];
        if (slot->guid != guid || now - slot->polled_at > 2 * longest_wait)
            continue;
        *standby = (struct sa_standby){lag_of(sa, slot), now - slot->polled_at};
        return true;
    }
    return false;
}

void sync_count_standbys(const struct sa *sa, struct sa_counts *counts)
{
    counts->standbys = 0;
    counts->standby_lag = 0;
    for (unsigned i = 0; i < STANDBYS; i++) {
        const struct standby *standby = &sa->standbys[i];
        if (!standby->guid || sa->now - standby->polled_at > 2 * longest_wait)
            continue;
        uint64_t lag = lag_of(sa, standby);
        counts->standbys++;
        counts->standby_lag = lag > counts->standby_lag ? lag : counts->standby_lag;
    }
}

static uint64_t challenge_for(const struct sa *sa, uint64_t guid)
{
    uint8_t proof[TRUST_PROOF_BYTES];
    trust_prove(sa->config.salt, "challenge", sa->config.sm_key, &guid, sizeof guid, proof);
    return wire_get_bits(proof, 0, 64);
}

/* Of a poll by the standby at the port with this GUID. */
static void prove_poll(const struct sa *sa, uint64_t challenge, uint64_t guid, const uint8_t *data,
                       size_t bytes, uint8_t proof[TRUST_PROOF_BYTES])
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE + 8];
    assert(bytes >= OFFER_AT);
    sha256_init(&hash);
    sha256_update(&hash, AT_POLL_PROOF / 8, data);
    sha256_update(&hash, bytes - OFFER_AT, data + OFFER_AT);
    sha256_digest(&hash, SHA256_DIGEST_SIZE, digest);
    wire_set_bits(digest, SHA256_DIGEST_SIZE * 8, 64, guid);
    trust_prove(sa->config.sm_key, "poll", challenge, digest, sizeof digest, proof);
}

static bool is_peer(const struct sa *sa, const struct sa_message *message)
{
    uint32_t port = sa_port_at(sa, message->address.lid);
    const struct subnet_port *p = port == SUBNET_NONE ? NULL : &sa->view.subnet->ports.items[port];
    return p && p->manager && p->peer_manager;
}

static void receive_poll(struct standby *slot, const struct sa *sa, uint64_t guid,
                         const struct sa_message *message)
{
    const uint8_t *data = message->data + SA_DATA_OFFSET;
    slot->polling = true;
    slot->guid = guid;
    slot->polled_at = sa->now;
    slot->address = message->address;
    slot->instance = wire_get_bits(data, AT_INSTANCE, 64);
    slot->since = (struct sa_generations){0};
    if (slot->instance == sa->config.instance)
        slot->since = (struct sa_generations){wire_get_bits(data, AT_GROUPS, 64),
                                              wire_get_bits(data, AT_OTHERS, 64)};
    memcpy(slot->mad, message->data, MAD_BYTES);
}

static bool has_changes(const struct sa_generations *since)
{
    return since->groups || since->others;
}

/* The registrations that this SA and the sender of an offer had in common. False: the offer is to
 * be ignored. */
static bool common_base(const struct sa *sa, const struct standby *slot,
                        const struct sa_message *message, struct sa_generations *base)
{
    const uint8_t *data = message->data + SA_DATA_OFFSET;
    struct sa_registry_mark mark;
    uint64_t copied = wire_get_bits(data, AT_GROUPS, 64), kind = wire_get_bits(data, AT_OTHERS, 64);
    *base = (struct sa_generations){0};
    if (!memchr(data + OFFER_AT, '\n', message->bytes - SA_DATA_OFFSET - OFFER_AT) ||
        !sa_registry_mark((const char *)data + OFFER_AT, &mark))
        return false;
    bool ours = sa->copied.instance && sa->copied.instance == mark.instance;
    if (kind == OFFER_FORMER) {
        if (ours)
            *base = sa->copied.base;
        return true;
    }
    if (kind != OFFER_CHANGES || !has_changes(&mark.since))
        return true;
    if (ours || (sa->copied.instance && sa->copied.instance == copied))
        *base = sa->copied.base;
    else if (copied == sa->config.instance)
        *base = slot->since;
    return true;
}

/* A bad text changes nothing; its clients have to register again, as all are. */
static void merge_offer(struct sa *sa, const struct standby *slot, const struct sa_message *message)
{
    struct sa_generations base;
    const struct sa_registry_file file = {.content = (const char *)message->data + SA_DATA_OFFSET +
                                                     OFFER_AT,
                                          .bytes = message->bytes - SA_DATA_OFFSET - OFFER_AT,
                                          .path = "the registrations of a former master"};
    if (common_base(sa, slot, message, &base))
        registry_merge(sa, &file, &base, NULL);
}

void sync_receive_request(struct sa *sa, const struct sa_message *message)
{
    const uint8_t *data = message->data + SA_DATA_OFFSET;
    uint8_t proof[TRUST_PROOF_BYTES];
    struct standby *slot = &sa->standbys[0];
    if (message->bytes < MAD_BYTES || !sa->serves || !is_peer(sa, message)) {
        sa->counts.dropped++;
        return;
    }
    uint64_t guid = sa->view.subnet->ports.items[sa_port_at(sa, message->address.lid)].guid;
    prove_poll(sa, challenge_for(sa, guid), guid, data, message->bytes - SA_DATA_OFFSET, proof);
    if (!memeql_sec(proof, data + AT_POLL_PROOF / 8, sizeof proof)) {
        receive_poll(&sa->challenged, sa, guid, message);
        return;
    }
    for (unsigned i = 0; i < STANDBYS; i++) {
        struct standby *standby = &sa->standbys[i];
        if (standby->address.lid == message->address.lid) {
            slot = standby;
            break;
        }
        if (standby->leased_until < slot->leased_until)
            slot = standby;
    }
    if (slot->address.lid != message->address.lid) {
        if (sa->now < slot->leased_until) { /* it may claim to have all registrations */
            sa->counts.dropped++;
            return;
        }
        *slot = (struct standby){0};
    }
    if (message->bytes > MAD_BYTES)
        merge_offer(sa, slot, message);
    receive_poll(slot, sa, guid, message);
}

/* Of an answer: its header without the proof, and its text. */
static void prove_answer(const struct sa *sa, uint64_t nonce, const uint8_t *data, size_t bytes,
                         uint8_t proof[TRUST_PROOF_BYTES])
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    assert(bytes >= ANSWER_HEADER_BYTES);
    sha256_init(&hash);
    sha256_update(&hash, AT_ANSWER_PROOF / 8, data);
    sha256_update(&hash, bytes - ANSWER_HEADER_BYTES, data + ANSWER_HEADER_BYTES);
    sha256_digest(&hash, sizeof digest, digest);
    trust_prove(sa->config.sm_key, "registrations", nonce, digest, sizeof digest, proof);
}

/* Only to a standby that has confirmed what it was sent last. Returns false if there is none. */
static bool renew_lease(struct sa *sa, struct standby *standby)
{
    bool renewed = !sa->incomplete && sa->now >= standby->late_until &&
                   generations_cover(&standby->since, &standby->sent);
    standby->sent = sa_registry_generations(sa);
    if (renewed)
        standby->leased_until = sa->now + lease;
    return renewed;
}

/* An answer to a standby that has not proved that it holds the key has no text. */
static void send_registrations(struct sa *sa, struct standby *standby, bool proved,
                               struct sa_message *message)
{
    assert(standby->polling);
    struct query query = {.address = standby->address, .bytes = MAD_BYTES};
    struct text text = {0};
    bool leased = proved && renew_lease(sa, standby);
    uint64_t nonce = wire_get_bits(standby->mad + SA_DATA_OFFSET, AT_NONCE, 64);
    for (unsigned i = 0; i < ANSWER_HEADER_BYTES; i++)
        text_putc(&text, 0);
    if (proved)
        sa_registry_print_changes(sa, 0, &standby->since, &text);
    while (text.length % 8)
        text_putc(&text, '\n');
    uint8_t *data = (uint8_t *)text.data;
    wire_set_bits(data, AT_MARK, 64, leased ? ANSWER_MARK : LATE_MARK);
    wire_set_bits(data, AT_CHALLENGE, 64, challenge_for(sa, standby->guid));
    prove_answer(sa, nonce, data, text.length, data + AT_ANSWER_PROOF / 8);
    memcpy(query.mad, standby->mad, MAD_BYTES);
    answer_text(sa, &query, &text);
    *message = (struct sa_message){
        .address = standby->address, .data = sa->out.bytes, .bytes = sa->out.used};
    text_release(&text);
    standby->polling = false;
    standby->answered_at = sa->now;
    standby->not_before = sa->now + gap;
}

/* ---- standby ---- */

void sa_follow(struct sa *sa, uint64_t now, const struct sa_master *master)
{
    struct sync_client *client = &sa->sync;
    bool same = master && client->active && client->master == master->lid;
    sa->now = now;
    if (!master) {
        client->active = false;
        return;
    }
    if (!master->tells) { /* its registrations change without notice: ours are stale */
        client->active = false;
        sa->registry_source_lid = 0;
        registry_clear(sa);
        return;
    }
    if (same)
        return;
    sa->registry_source_lid = 0;
    *client = (struct sync_client){.active = true,
                                   .master = master->lid,
                                   .next_at = now,
                                   .wait = first_wait,
                                   .polls = client->polls};
    struct redirect to = redirect_to(master->lid, master->sl);
    redirect_begin(&client->trail, &to);
}

uint16_t sa_registry_master(const struct sa *sa)
{
    if (sa->serves)
        return sa->view.subnet->ports.items[sa->view.subnet->own_port].lid;
    return sa->registry_copied && sa->now >= sa->sync.leased_at + trust ? 0
                                                                        : sa->registry_source_lid;
}

void sa_set_incomplete(struct sa *sa, bool incomplete)
{
    sa->incomplete = incomplete;
}

static bool is_expected(const struct sa *sa, const struct registry_header *header)
{
    const struct sync_client *client = &sa->sync;
    bool whole = !header->since.groups && !header->since.others;
    bool next = header->instance == client->instance &&
                header->since.groups == client->have.groups &&
                header->since.others == client->have.others;
    return header->given && (whole || next);
}

/* Polls for all registrations later, starting at the master. */
static void restart_replication(struct sa *sa)
{
    struct sync_client *client = &sa->sync;
    client->trail.count = 1;
    client->instance = 0;
    client->next_at = sa->now + longest_wait;
}

static void follow_redirection(struct sa *sa, const struct sa_message *message)
{
    struct sync_client *client = &sa->sync;
    struct err err;
    if (redirect_follow(&client->trail, message->data, message->bytes, SA_DATA_OFFSET, &err) == 0) {
        client->next_at = sa->now;
        return;
    }
    if (!client->redirect_failed)
        client->error = err;
    client->redirect_failed = true;
    restart_replication(sa);
}

bool sa_next_sync_error(struct sa *sa, struct err *err)
{
    if (!*sa->sync.error.message)
        return false;
    *err = sa->sync.error;
    *sa->sync.error.message = 0;
    return true;
}

/* Takes the challenge of the answer. False: it is not from a holder of the key. */
static bool open_answer(struct sa *sa, const struct sa_message *message)
{
    const uint8_t *data = message->data + SA_DATA_OFFSET;
    uint8_t proof[TRUST_PROOF_BYTES];
    if (wire_get(message->data, MAD_STATUS) ||
        message->bytes < (size_t)SA_DATA_OFFSET + ANSWER_HEADER_BYTES ||
        (wire_get_bits(data, AT_MARK, 64) != ANSWER_MARK &&
         wire_get_bits(data, AT_MARK, 64) != LATE_MARK))
        return false;
    prove_answer(sa, sa->sync.nonce, data, message->bytes - SA_DATA_OFFSET, proof);
    if (!memeql_sec(proof, data + AT_ANSWER_PROOF / 8, sizeof proof))
        return false;
    sa->sync.challenge = wire_get_bits(data, AT_CHALLENGE, 64);
    return true;
}

void sync_receive(struct sa *sa, const struct sa_message *message)
{
    struct sync_client *client = &sa->sync;
    struct registry_header header = {0};
    if (!client->active || sa->serves ||
        message->address.lid != redirect_target(&client->trail)->lid ||
        (uint32_t)wire_get(message->data, MAD_TID) != client->tid)
        return;
    client->tid = 0; /* ignore a duplicate */
    if (wire_get(message->data, MAD_STATUS) == STATUS_REDIRECT) {
        follow_redirection(sa, message);
        return;
    }
    uint64_t challenge = client->challenge;
    if (!open_answer(sa, message)) {
        restart_replication(sa);
        return;
    }
    struct sa_registry_file file = {.content = (const char *)message->data + SA_DATA_OFFSET +
                                               ANSWER_HEADER_BYTES,
                                    .bytes = message->bytes - SA_DATA_OFFSET - ANSWER_HEADER_BYTES,
                                    .path = "the master's registrations"};
    if (file.bytes == 0 && client->challenge != challenge) {
        client->next_at = sa->now; /* with the proof */
        return;
    }
    if (registry_read(sa, &file, is_expected, &header, NULL) < 0) {
        restart_replication(sa);
        return;
    }
    client->instance = header.instance;
    client->have = header.generations;
    client->next_at = sa->now;
    client->wait = usual_wait;
    bool leased = wire_get_bits(message->data + SA_DATA_OFFSET, AT_MARK, 64) == ANSWER_MARK;
    sa->registry_source_lid = leased ? client->master : 0;
    client->leased_at = client->polled_at;
    sa->registry_copied = true;
    sa->copied = (struct copied){header.instance, sa_registry_generations(sa)};
    sa->former = 0;
    sa->offers = false;
}

/* Prints what has changed since the master had the same registrations, behind room for a header.
 * False: nothing has, or it is too long. */
static bool print_offer(struct sa *sa, size_t header)
{
    const struct sa_generations now = sa_registry_generations(sa);
    struct sa_generations since = sa->copied.base;
    for (unsigned i = 0; i < STANDBYS; i++) /* it was a standby of this SA */
        if (sa->standbys[i].guid && sa->standbys[i].address.lid == sa->sync.master &&
            has_changes(&sa->standbys[i].since))
            since = sa->standbys[i].since;
    if (!sa->former && now.groups == since.groups && now.others == since.others)
        return false;
    text_clear(&sa->offer);
    while (sa->offer.length < header)
        text_putc(&sa->offer, 0);
    if (sa->former)
        registry_print_machines(sa, sa->former, &sa->offer);
    else
        sa_registry_print_changes(sa, 0, &since, &sa->offer);
    while (sa->offer.length <= MAD_BYTES || sa->offer.length % 8)
        text_putc(&sa->offer, '\n');
    return sa->offer.length <= OFFER_LIMIT;
}

static void send_poll(struct sa *sa, struct sa_message *message)
{
    struct sync_client *client = &sa->sync;
    assert(client->active && !sa->serves && client->trail.count > 0);
    enum { HEADER = SA_DATA_OFFSET + OFFER_AT };
    uint8_t *mad = sa->report_mad, *data = mad + SA_DATA_OFFSET, proof[TRUST_PROOF_BYTES];
    if (client->tid) /* no answer: the redirection may be obsolete */
        client->trail.count = 1;
    /* The first polls may arrive before the master has found this standby; a large answer needs
     * time. */
    uint64_t wait = client->wait;
    client->wait = 2 * wait < longest_wait ? 2 * wait : longest_wait;
    const struct redirect *to = redirect_target(&client->trail);
    client->tid = TID_MARK | ++client->polls;
    client->polled_at = sa->now;
    client->next_at = sa->now + wait;
    bool offers = sa->offers && client->challenge && print_offer(sa, HEADER);
    sa->offers &= offers || !client->challenge;
    enum offer kind = sa->former                ? OFFER_FORMER
                      : sa->expired_ports.count ? OFFER_ADDITIONS
                                                : OFFER_CHANGES;
    sa_request_begin(mad, METHOD_GET_TABLE, SA_ATTRIBUTE_REGISTRATIONS);
    wire_set(mad, MAD_TID, client->tid);
    trust_prove(sa->config.salt, "nonce", sa->now, &client->tid, sizeof client->tid, proof);
    client->nonce = wire_get_bits(proof, 0, 64);
    wire_set_bits(data, AT_INSTANCE, 64, offers ? 0 : client->instance);
    wire_set_bits(data, AT_GROUPS, 64, offers ? sa->copied.instance : client->have.groups);
    wire_set_bits(data, AT_OTHERS, 64, offers ? kind : client->have.others);
    wire_set_bits(data, AT_NONCE, 64, client->nonce);
    if (offers) {
        wire_set(mad, RMPP_TYPE, RMPP_DATA);
        wire_set(mad, RMPP_FLAGS, RMPP_FLAG_ACTIVE);
        memcpy(sa->offer.data, mad, HEADER);
        mad = (uint8_t *)sa->offer.data;
        data = mad + SA_DATA_OFFSET;
    }
    size_t bytes = offers ? sa->offer.length : MAD_BYTES;
    prove_poll(sa, client->challenge, sa->guid, data, bytes - SA_DATA_OFFSET,
               data + AT_POLL_PROOF / 8);
    *message = (struct sa_message){
        .address = {.lid = to->lid, .sl = to->sl, .qp = to->qp, .q_key = to->q_key},
        .data = mad,
        .bytes = bytes,
        .request_timeout_ns = wait - wait / 20};
}

/* ---- output ---- */

uint64_t sync_deadline(const struct sa *sa)
{
    uint64_t deadline = TIME_NEVER;
    if (sa->sync.active && !sa->serves)
        deadline = sa->sync.next_at;
    if (sa->challenged.polling && sa->serves)
        return 0;
    for (unsigned i = 0; i < STANDBYS; i++) {
        uint64_t due = due_at(sa, &sa->standbys[i]);
        deadline = due < deadline ? due : deadline;
    }
    return deadline;
}

bool sync_next(struct sa *sa, struct sa_message *message)
{
    if (sa->challenged.polling && sa->serves) {
        send_registrations(sa, &sa->challenged, false, message);
        return true;
    }
    for (unsigned i = 0; i < STANDBYS; i++)
        if (due_at(sa, &sa->standbys[i]) <= sa->now) {
            send_registrations(sa, &sa->standbys[i], true, message);
            return true;
        }
    if (!sa->sync.active || sa->serves || sa->now < sa->sync.next_at)
        return false;
    send_poll(sa, message);
    return true;
}
