/* Entry points of the SA: received queries are queued, and answered when the owner pulls output.
 *
 * The handler of its attribute answers a query. The status follows 15.4.2: no records, too many
 * records for a Get, or a method that the attribute does not support. A query from an unknown LID,
 * or with a wrong SM_Key, is dropped. */
#include "sa/internal.h"
#include "subnet/trust.h"

#include <assert.h>

/* Bits of methods, all of which are below 32. */
enum {
    BY_GET = 1 << METHOD_GET,
    BY_SET = 1 << METHOD_SET,
    BY_TABLE = 1 << METHOD_GET_TABLE,
    BY_TRACE = 1 << METHOD_GET_TRACE_TABLE,
    BY_MULTI = 1 << METHOD_GET_MULTI,
    BY_DELETE = 1 << METHOD_DELETE,
    BY_ANY = BY_GET | BY_SET | BY_TABLE | BY_TRACE | BY_MULTI | BY_DELETE,
};

enum { ANSWER_WORK = 4 }; /* cost of an answer without its records, in records */

static const struct handler {
    uint16_t attribute;
    uint32_t methods;
    uint16_t answer_id, record_bytes; /* of the records in the answer */
    query_handler *handle;
} handlers[] = {
#define RECORD(symbol, methods, handle)                                                            \
    ATTRIBUTE_##symbol, methods, ATTRIBUTE_##symbol, WIRE_BYTES_##symbol, handle
    {RECORD(PATH_RECORD, BY_GET | BY_TABLE, path_records)},
    {ATTRIBUTE_PATH_RECORD, BY_TRACE, ATTRIBUTE_TRACE_RECORD, WIRE_BYTES_TRACE_RECORD,
     trace_records},
    {ATTRIBUTE_MULTI_PATH_RECORD, BY_MULTI, ATTRIBUTE_PATH_RECORD, WIRE_BYTES_PATH_RECORD,
     multi_path_records},
    {RECORD(CLASS_PORT_INFO, BY_GET, class_port_info)},
    {ATTRIBUTE_INFORM_INFO, BY_SET, ATTRIBUTE_INFORM_INFO, WIRE_BYTES_INFORM_INFO + 4, inform_info},
    {RECORD(NODE_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(PORT_INFO_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(SWITCH_INFO_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(LINK_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(SM_INFO_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(GUID_INFO_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(GUID_INFO_RECORD, BY_SET | BY_DELETE, alias_records)},
    {RECORD(LINEAR_FORWARDING_TABLE_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(RANDOM_FORWARDING_TABLE_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(MULTICAST_FORWARDING_TABLE_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(P_KEY_TABLE_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(SL2VL_TABLE_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(VL_ARBITRATION_TABLE_RECORD, BY_GET | BY_TABLE, port_records)},
    {RECORD(MC_MEMBER_RECORD, BY_GET | BY_TABLE | BY_SET | BY_DELETE, group_records)},
    {RECORD(SERVICE_RECORD, BY_GET | BY_TABLE | BY_SET | BY_DELETE, service_records)},
    {RECORD(INFORM_INFO_RECORD, BY_GET | BY_TABLE, inform_info_records)},
};

void sa_set_subnet_timeout(struct sa *sa, uint8_t subnet_timeout)
{
    sa->config.subnet_timeout = subnet_timeout;
}

void sa_set_limits(struct sa *sa, const struct sa_config *config)
{
    sa->config.client_limit = config->client_limit;
    sa->config.port_groups = config->port_groups;
    sa->config.port_mlids = config->port_mlids;
    sa->config.port_services = config->port_services;
    sa->config.port_subscriptions = config->port_subscriptions;
    sa->config.port_aliases = config->port_aliases;
    sa->config.assigned_guid = config->assigned_guid;
}

void sa_config_init(struct sa_config *config)
{
    *config = (struct sa_config){
        .key = KEY_WELL_KNOWN,
        .sm_key = KEY_WELL_KNOWN,
        .check_sgid_spoofing = true,
        .prefix = GID_PREFIX_LOCAL,
        .subnet_timeout = 18,
        .response_time = 16,
        .queue_limit = 16384,
        .client_limit = 256,
        .turn_work = 1024,
        .answer_limit = (size_t)64 << 20,
        .service_limit = 65536,
        .subscription_limit = 65536,
        .alias_block_limit = 65536,
        .report_limit = 1024,
        .client_bytes = (size_t)32 << 20,
        .port_groups = 128,
        .port_mlids = 128,
        .port_services = 32,
        .port_subscriptions = 32,
        .port_aliases = 128,
        .report_timeout_ns = 1 * NS_PER_S,
        .report_retries = 3,
        .absence_ns = 60 * NS_PER_S,
        .ipoib_group = true,
    };
}

struct sa *sa_new(const struct sa_config *config, uint64_t port_guid)
{
    struct sa *sa = mem_zalloc(1, sizeof *sa);
    assert(config->turn_work > 0 && config->client_limit > 0);
    sa->config = *config;
    sa->guid = port_guid;
    sa->registrations_due = TIME_NEVER;
    queue_init(&sa->queue);
    wanted_machines_init(&sa->registry.machines, &sa->registry.generation);
    return sa;
}

static void close_long_query(struct long_query *query)
{
    mem_free(query->query.more);
    mem_free(query->answer.bytes);
    *query = (struct long_query){0};
}

/* Drops all queries and answers in progress. They refer to a state that is no longer valid. */
void sa_drop_queries(struct sa *sa)
{
    queue_release(&sa->queue);
    for (unsigned i = 0; i < LONG_QUERIES; i++)
        close_long_query(&sa->long_queries[i]);
    sa->busy.count = sa->busy_taken = 0;
    reports_clear(sa);
    sa->deferred.answers.count = sa->deferred.taken = 0;
}

void sa_free(struct sa *sa)
{
    if (!sa)
        return;
    sa_drop_queries(sa);
    path_index_release(&sa->index);
    access_release(&sa->access);
    map_release(&sa->port_guids);
    groups_release(&sa->registry.groups);
    alias_guids_release(&sa->registry.aliases);
    wanted_machines_release(&sa->registry.machines);
    vec_release(&sa->registry.services);
    vec_release(&sa->registry.subscriptions);
    for (unsigned i = 0; i < SERVICE_INDEXES; i++)
        chains_release(&sa->registry.service_index[i]);
    for (unsigned i = 0; i < SUBSCRIPTION_INDEXES; i++)
        chains_release(&sa->registry.subscription_index[i]);
    vec_release(&sa->deferred.answers);
    vec_release(&sa->busy);
    vec_release(&sa->returned_ports);
    map_release(&sa->expired_ports);
    mem_free(sa->out.bytes);
    text_release(&sa->offer);
    mem_free(sa);
}

/* ---- answers ---- */

uint8_t *answer_add(struct answer *answer)
{
    assert(answer->record_bytes && answer->used >= SA_DATA_OFFSET);
    if (answer->used + answer->record_bytes > answer->limit) {
        answer->over = true;
        answer->used = SA_DATA_OFFSET;
        answer->count = 0;
    }
    answer->bytes = mem_reserve(answer->bytes, &answer->capacity,
                                answer->used + answer->record_bytes + MAD_BYTES, 1);
    uint8_t *record = answer->bytes + answer->used;
    memset(record, 0, answer->record_bytes);
    answer->used += answer->record_bytes;
    answer->count++;
    answer->considered++;
    return record;
}

void answer_drop(struct answer *answer)
{
    assert(answer->count > 0 && answer->used >= SA_DATA_OFFSET + answer->record_bytes);
    answer->used -= answer->record_bytes;
    answer->count--;
}

bool answer_match(struct answer *answer, const struct matcher *matcher)
{
    if (matcher_accepts(matcher, answer->bytes + answer->used - answer->record_bytes))
        return true;
    answer_drop(answer);
    return false;
}

static void answer_begin(struct sa *sa, struct answer *answer, const struct handler *handler)
{
    answer->limit = sa->config.answer_limit;
    answer->record_bytes = handler->record_bytes;
    answer->used = SA_DATA_OFFSET;
    answer->count = answer->considered = 0;
    answer->over = false;
    answer->bytes = mem_reserve(answer->bytes, &answer->capacity, MAD_BYTES, 1);
}

static void fill_header(uint8_t *mad, const struct query *query, uint16_t status)
{
    unsigned method = query_method(query);
    memcpy(mad, query->mad, SA_DATA_OFFSET);
    wire_set(mad, MAD_METHOD,
             method == METHOD_SET               ? METHOD_GET_RESP
             : method == METHOD_GET_TRACE_TABLE ? METHOD_GET_TABLE_RESP
                                                : method | METHOD_RESPONSE);
    wire_set(mad, MAD_STATUS, status);
    wire_set(mad, SA_SM_KEY, 0); /* never sent to clients */
    wire_set(mad, RMPP_VERSION, RMPP_THIS_VERSION);
    wire_set(mad, RMPP_TYPE, RMPP_NONE);
    wire_set(mad, RMPP_FLAGS, 0);
    wire_set(mad, RMPP_STATUS, 0);
    wire_set(mad, RMPP_DATA1, 0);
    wire_set(mad, RMPP_DATA2, 0);
    wire_set(mad, SA_ATTRIBUTE_OFFSET, 0);
}

/* Returns the query with an error status. */
static void answer_error(struct answer *answer, const struct query *query, uint16_t status)
{
    answer->bytes = mem_reserve(answer->bytes, &answer->capacity, MAD_BYTES, 1);
    memcpy(answer->bytes, query->mad, MAD_BYTES);
    fill_header(answer->bytes, query, status);
    answer->used = MAD_BYTES;
    if (wire_get(query->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_MULTI_PATH_RECORD)
        wire_set(answer->bytes, MAD_ATTRIBUTE_ID, ATTRIBUTE_PATH_RECORD);
    /* o13-13.1.1: Subscribe is 0 if the subscription failed */
    if (wire_get(query->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_INFORM_INFO)
        wire_set(answer->bytes + SA_DATA_OFFSET, INFORM_INFO_SUBSCRIBE, 0);
}

static void finish_answer(struct sa *sa, struct answer *answer, const struct query *query,
                          const struct handler *handler, uint16_t status)
{
    bool single = query_method(query) == METHOD_GET;
    if (!status && answer->over)
        status = STATUS_SA_NO_RESOURCES;
    else if (!status && single && answer->count == 0)
        status = STATUS_SA_NO_RECORDS;
    else if (!status && single && answer->count > 1)
        status = STATUS_SA_TOO_MANY_RECORDS;
    if (status) {
        sa->counts.refusals++;
        answer_error(answer, query, status);
        return;
    }
    fill_header(answer->bytes, query, 0);
    wire_set(answer->bytes, MAD_ATTRIBUTE_ID, handler->answer_id);
    wire_set(answer->bytes, SA_ATTRIBUTE_OFFSET, answer->count ? answer->record_bytes / 8 : 0);
    uint64_t method = wire_get(answer->bytes, MAD_METHOD);
    if (method == METHOD_GET_TABLE_RESP || method == METHOD_GET_MULTI_RESP) {
        wire_set(answer->bytes, RMPP_TYPE, RMPP_DATA);
        wire_set(answer->bytes, RMPP_FLAGS, RMPP_FLAG_ACTIVE);
    } else if (answer->used < MAD_BYTES) {
        memset(answer->bytes + answer->used, 0, MAD_BYTES - answer->used);
        answer->used = MAD_BYTES;
    }
    sa->counts.answers++;
}

void answer_text(struct sa *sa, const struct query *query, const struct text *text)
{
    static const struct handler own = {.answer_id = SA_ATTRIBUTE_REGISTRATIONS, .record_bytes = 8};
    answer_begin(sa, &sa->out, &own);
    size_t bytes = SA_DATA_OFFSET + text->length;
    if (bytes > sa->out.limit) {
        answer_error(&sa->out, query, STATUS_SA_NO_RESOURCES);
        return;
    }
    sa->out.bytes = mem_reserve(sa->out.bytes, &sa->out.capacity, bytes + MAD_BYTES, 1);
    memcpy(sa->out.bytes + SA_DATA_OFFSET, text->data, text->length);
    sa->out.used = bytes;
    sa->out.count = (uint32_t)(text->length / own.record_bytes);
    finish_answer(sa, &sa->out, query, &own, STATUS_OK);
}

/* ---- queries ---- */

static const struct handler *find_handler(const struct query *query, uint16_t *status)
{
    unsigned attribute = (unsigned)wire_get(query->mad, MAD_ATTRIBUTE_ID);
    unsigned method = query_method(query) < 32 ? BY_ANY & 1u << query_method(query) : 0;
    *status = STATUS_OK;
    if (wire_get(query->mad, MAD_BASE_VERSION) != 1 || wire_get(query->mad, MAD_CLASS_VERSION) != 2)
        *status = STATUS_BAD_VERSION;
    else if (!method)
        *status = STATUS_BAD_METHOD;
    for (size_t i = 0; !*status && i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].attribute == attribute && handlers[i].methods & method)
            return &handlers[i];
    *status = *status ? *status : STATUS_BAD_ATTRIBUTE;
    return NULL;
}

/* False if LONG_QUERIES are open already, or one of this client. */
static bool open_long_query(struct sa *sa, struct query *query, const struct handler *handler)
{
    uint64_t guid = sa_requester_guid(sa, query);
    for (unsigned i = 0; i < LONG_QUERIES; i++)
        if (sa->long_queries[i].open && sa_requester_guid(sa, &sa->long_queries[i].query) == guid)
            return false;
    for (unsigned i = 0; i < LONG_QUERIES; i++) {
        struct long_query *slot = &sa->long_queries[i];
        if (slot->open)
            continue;
        *slot = (struct long_query){.open = true, .query = *query};
        slot->generation = sa->view.generation;
        query->more = NULL; /* the long query owns it now */
        assert(slot->query.more == NULL || slot->query.bytes > MAD_BYTES);
        answer_begin(sa, &slot->answer, handler);
        return true;
    }
    return false;
}

static void output_answer(struct sa *sa, const struct query *query, struct sa_message *message)
{
    *message = (struct sa_message){
        .address = query->address,
        .data = sa->out.bytes,
        .bytes = sa->out.used,
        .asked_at = query->asked_at,
    };
}

/* Answers Get(ClassPortInfo), and any other query with ClassPortInfo and the status REDIRECT. */
static void redirect_client(struct sa *sa, const struct query *query)
{
    static const struct handler own = {.answer_id = ATTRIBUTE_CLASS_PORT_INFO,
                                       .record_bytes = WIRE_BYTES_CLASS_PORT_INFO};
    bool asked = wire_get(query->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_CLASS_PORT_INFO;
    answer_begin(sa, &sa->out, &own);
    class_port_info(sa, query, &sa->out);
    finish_answer(sa, &sa->out, query, &own, STATUS_OK);
    if (asked && query_method(query) == METHOD_GET)
        return;
    fill_header(sa->out.bytes, query, STATUS_REDIRECT);
    wire_set(sa->out.bytes, MAD_ATTRIBUTE_ID, ATTRIBUTE_CLASS_PORT_INFO);
    if (sa->out.used < MAD_BYTES) /* answers to GetTable are not padded */
        memset(sa->out.bytes + sa->out.used, 0, MAD_BYTES - sa->out.used);
    sa->out.used = MAD_BYTES;
}

static bool has_room(struct sa *sa, const struct query *query)
{
    return query_method(query) != METHOD_GET_TABLE ||
           queue_has_room(&sa->queue, &sa->config, query->client, sa->now);
}

/* Replaces a long answer by BUSY if the client has too many bytes outstanding. */
static void limit_answer(struct sa *sa, const struct query *query)
{
    if (sa->out.used <= MAD_BYTES ||
        queue_may_answer(&sa->queue, &sa->config, query->client, sa->now, sa->out.used))
        return;
    sa->counts.busy++;
    answer_error(&sa->out, query, STATUS_BUSY);
}

/* True if there is an answer now; false if the query is dropped or answered later. */
static bool process_query(struct sa *sa, struct query *query, struct sa_message *message)
{
    assert(sa->serves);
    uint16_t status;
    const struct handler *handler = find_handler(query, &status);
    bool is_long = handler && handler->handle == path_records && path_query_is_long(sa, query);
    if (!sa_requester_guid(sa, query)) {
        sa->counts.dropped++;
        return false;
    }
    if (sa->redirection.lid) {
        redirect_client(sa, query);
    } else if (!handler) {
        sa->counts.refusals++;
        answer_error(&sa->out, query, status);
    } else if (is_long || deferred_is_full(sa, query) || !has_room(sa, query)) {
        if (is_long && has_room(sa, query) && open_long_query(sa, query, handler))
            return false;
        sa->counts.busy++;
        answer_error(&sa->out, query, STATUS_BUSY);
    } else {
        answer_begin(sa, &sa->out, handler);
        status = handler->handle(sa, query, &sa->out);
        sa->budget -= sa->out.considered;
        queue_charge(&sa->queue, query->client, sa->out.considered);
        finish_answer(sa, &sa->out, query, handler, status);
        if (deferred_keep(sa, query))
            return false;
        limit_answer(sa, query);
    }
    output_answer(sa, query, message);
    return true;
}

static bool next_long_answer(struct sa *sa, struct sa_message *message)
{
    for (unsigned i = 0; i < LONG_QUERIES && sa->budget > 0; i++) {
        struct long_query *query = &sa->long_queries[sa->long_turn++ % LONG_QUERIES];
        if (!query->open || !long_query_continue(sa, query))
            continue;
        uint16_t status;
        const struct handler *handler = find_handler(&query->query, &status);
        assert(handler && handler->handle == path_records);
        mem_free(sa->out.bytes);
        sa->out = query->answer;
        query->answer = (struct answer){0};
        finish_answer(sa, &sa->out, &query->query, handler, STATUS_OK);
        limit_answer(sa, &query->query);
        output_answer(sa, &query->query, message);
        close_long_query(query);
        return true;
    }
    return false;
}

/* ---- entry points ---- */

bool sa_may_send_aside(struct sa *sa)
{
    if (sa->queue.waiting && sa->budget < sa->config.turn_work / 2)
        return false;
    if (sa->budget <= 0)
        return false;
    sa->budget -= ANSWER_WORK;
    return true;
}

static bool next_busy_answer(struct sa *sa, struct sa_message *message)
{
    if (sa->busy_taken == sa->busy.count) {
        sa->busy.count = sa->busy_taken = 0;
        return false;
    }
    if (!sa_may_send_aside(sa))
        return false;
    const struct query *query = &sa->busy.items[sa->busy_taken++];
    answer_error(&sa->out, query, STATUS_BUSY);
    output_answer(sa, query, message);
    return true;
}

/* The GRH of a local port has a GID of that port. */
static bool is_spoofed(const struct sa *sa, const struct sa_address *address)
{
    if (!sa->config.check_sgid_spoofing || !address->has_gid ||
        !sa_is_local_prefix(sa, gid_prefix(address->gid)))
        return false;
    uint32_t owner = sa_find_end_point(sa, gid_guid(address->gid));
    return owner == NETWORK_NONE || owner != sa_end_point_at(sa, address->lid);
}

/* The client of the queue; MAP_NONE if no port has this LID. Its GUID is looked up once for each
 * generation of routes. */
static uint32_t client_at(struct sa *sa, unsigned lid)
{
    uint32_t end_point = sa_end_point_at(sa, lid);
    if (end_point == NETWORK_NONE)
        return MAP_NONE;
    uint32_t *client = &sa->index.clients[path_index_place(sa, end_point)];
    uint64_t guid = *client ? 0 : path_index_guid(sa, end_point);
    if (guid)
        *client = queue_client(&sa->queue, guid) + 1;
    return *client ? *client - 1 : MAP_NONE;
}

void sa_receive(struct sa *sa, uint64_t now, const struct sa_message *message)
{
    sa->now = now;
    bool valid =
        message->bytes >= SA_DATA_OFFSET && wire_get(message->data, MAD_CLASS) == CLASS_SUBN_ADM;
    unsigned method = valid ? (unsigned)wire_get(message->data, MAD_METHOD) : 0;
    bool own = valid && wire_get(message->data, MAD_ATTRIBUTE_ID) == SA_ATTRIBUTE_REGISTRATIONS;
    bool redirected = valid && wire_get(message->data, MAD_STATUS) == STATUS_REDIRECT;
    if ((own || redirected) && method == METHOD_GET_TABLE_RESP) {
        sync_receive(sa, message);
        return;
    }
    if (!sa->serves || !valid) {
        sa->counts.dropped++;
        return;
    }
    uint64_t key = wire_get(message->data, SA_SM_KEY);
    bool question = !(method & METHOD_RESPONSE) && method != METHOD_TRAP &&
                    method != METHOD_TRAP_REPRESS && method != METHOD_REPORT &&
                    method != METHOD_SEND;
    if (method == METHOD_REPORT_RESP) {
        reports_receive(sa, message);
    } else if (!question || (key && key != sa->config.key)) {
        sa->counts.dropped++;
    } else if (is_spoofed(sa, &message->address)) {
        sa->counts.spoofed++;
        sa->counts.dropped++;
    } else if (own && method == METHOD_GET_TABLE && !sa->redirection.lid) {
        sync_receive_request(sa, message);
    } else {
        uint32_t client = client_at(sa, message->address.lid);
        sa->counts.queries++;
        if (client != MAP_NONE && queue_put(&sa->queue, &sa->config, now, client, message))
            return;
        if (client == MAP_NONE || sa->busy.count >= sa->config.queue_limit) {
            sa->counts.dropped++;
            return;
        }
        struct query query = {.address = message->address};
        memcpy(query.mad, message->data, message->bytes < MAD_BYTES ? message->bytes : MAD_BYTES);
        vec_push(&sa->busy, query);
        sa->counts.busy++;
    }
}

void sa_notice(struct sa *sa, uint64_t now, const uint8_t *notice)
{
    sa->now = now;
    if (sa->serves)
        report_notice(sa, notice);
}

void sa_expire(struct sa *sa, uint64_t now)
{
    sa->now = now;
    sa->budget = sa->config.turn_work;
    /* BUSY answers that do not fit into a turn are dropped. A client without an answer waits longer
     * before it repeats its query. */
    if (sa->busy_taken) {
        sa->counts.dropped += sa->busy.count - sa->busy_taken;
        sa->busy.count = sa->busy_taken = 0;
    }
    reports_expire(sa);
    if (now < sa->registrations_due)
        return;
    sa->registrations_due = TIME_NEVER;
    services_expire(sa);
    if (sa->serves) {
        groups_remove_members(sa, true);
        aliases_remove_invalid(sa);
        subscriptions_remove_absent(sa);
    }
}

uint64_t sa_deadline(const struct sa *sa)
{
    bool has_work = sa->queue.waiting || sa->busy_taken < sa->busy.count;
    for (unsigned i = 0; i < LONG_QUERIES; i++)
        has_work |= sa->long_queries[i].open;
    const uint64_t deadlines[] = {reports_deadline(sa), sync_deadline(sa),
                                  sa->serves ? deferred_deadline(sa) : TIME_NEVER};
    uint64_t earliest = has_work ? 0 : sa->registrations_due;
    for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++)
        if (deadlines[i] < earliest)
            earliest = deadlines[i];
    return earliest;
}

bool sa_next_output(struct sa *sa, uint64_t now, struct sa_message *message)
{
    struct query query;
    sa->now = now;
    if (sync_next(sa, message))
        return true;
    if (!sa->serves)
        return false;
    if (next_busy_answer(sa, message) || deferred_next(sa, message) || reports_next(sa, message))
        return true;
    while (sa->budget > 0 && queue_take(&sa->queue, &query)) {
        sa->budget -= ANSWER_WORK;
        bool answered = process_query(sa, &query, message);
        mem_free(query.more);
        if (answered)
            return true;
    }
    return next_long_answer(sa, message);
}

const struct groups *sa_groups(const struct sa *sa)
{
    return &sa->registry.groups;
}

const struct alias_guids *sa_alias_guids(const struct sa *sa)
{
    return &sa->registry.aliases;
}

struct wanted_machines *sa_machines(struct sa *sa)
{
    return &sa->registry.machines;
}

uint64_t sa_fabric_generation(const struct sa *sa)
{
    return sa->registry.groups.generation + sa->registry.aliases.generation;
}

void sa_counts(const struct sa *sa, struct sa_counts *counts)
{
    *counts = sa->counts;
    counts->waiting = sa->queue.waiting;
    counts->groups = (uint32_t)sa->registry.groups.all.count;
    counts->free_mlids =
        sa->index.last_mlid >= MLID_FIRST ? sa->index.last_mlid - MLID_FIRST + 1u : 0;
    counts->free_mlids -= counts->groups < counts->free_mlids ? counts->groups : counts->free_mlids;
    sync_count_standbys(sa, counts);
    counts->services = (uint32_t)sa->registry.services.count;
    counts->subscriptions = (uint32_t)sa->registry.subscriptions.count;
}
