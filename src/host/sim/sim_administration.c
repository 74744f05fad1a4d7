#include "host/sim/sim_administration.h"

#include "base/time.h"
#include "host/manager/administration.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

struct sim_administration {
    struct sim_administration_options options;
    struct fabric *fabric;
    struct desk {
        struct sa *sa;
        struct mad_file *file;
        uint32_t agent;
        uint64_t busy_until_ps;
    } desk, signpost; /* where it sits; where its manager is, if that is elsewhere */
    uint64_t groups_generation;
};

void sim_administration_options_init(struct sim_administration_options *options)
{
    *options = (struct sim_administration_options){.query_ps = 4 * TIME_US, .synchronised = true};
    sa_config_init(&options->config);
}

/* False if that port has an administration already. */
static bool open_desk(struct desk *desk, struct mad_layer *mads, uint32_t port, void *owner)
{
    const struct registration wanted = {.class = CLASS_SUBN_ADM,
                                        .class_version = 2,
                                        .rmpp_version = RMPP_THIS_VERSION,
                                        .method_mask = {ADMINISTRATION_METHODS}};
    desk->file = mad_file_open(mads, port, owner);
    int agent = mad_file_register(desk->file, &wanted);
    desk->agent = (uint32_t)agent;
    if (agent < 0)
        mad_file_close(desk->file);
    return agent >= 0;
}

struct sim_administration *sim_administration_new(const struct sim_administration_options *options,
                                                  struct fabric *fabric, struct mad_layer *mads,
                                                  uint32_t port, struct sm *sm, uint64_t now_ps,
                                                  const struct text *file)
{
    struct sim_administration *administration = mem_zalloc(1, sizeof *administration);
    struct desk *desk = &administration->desk;
    struct sa_config config = options->config;
    uint64_t now = time_ns_floor(now_ps), guid = fabric_port_guid(fabric, port, 0);
    config.instance = now_ps + 1;
    administration->options = *options;
    administration->fabric = fabric;
    desk->sa = sa_new(&config, guid);
    sm_use_groups(sm, sa_groups(desk->sa));
    if (file && file->length)
        sa_registry_read(
            desk->sa, now,
            &(struct sa_registry_file){"", file->data, file->length, 1 + now / NS_PER_S}, NULL);
    /* At the other port if there is one and it is free, else at the manager's. */
    if (options->elsewhere && options->port != port &&
        open_desk(desk, mads, options->port, administration)) {
        desk = &administration->signpost;
        desk->sa = sa_new(&options->config, guid);
    }
    if (!open_desk(desk, mads, port, administration))
        abort(); /* two managers at one port: the caller's mistake */
    return administration;
}

void sim_administration_free(struct sim_administration *administration)
{
    if (!administration)
        return;
    struct desk *signpost = &administration->signpost;
    mad_file_close(administration->desk.file);
    sa_free(administration->desk.sa);
    if (signpost->sa)
        mad_file_close(signpost->file);
    sa_free(signpost->sa);
    mem_free(administration);
}

struct sa *sim_administration_sa(struct sim_administration *administration)
{
    return administration->desk.sa;
}

static void receive(struct desk *desk, uint64_t now)
{
    const struct mad_received *received = mad_file_next(desk->file);
    const struct mad_head *head = &received->head;
    struct sa_message message = {.data = received->data, .bytes = head->length - sizeof *head};
    message.address = (struct sa_address){.lid = ntohs(head->lid),
                                          .sl = head->sl,
                                          .path_bits = head->path_bits,
                                          .p_key_index = head->p_key_index,
                                          .qp = ntohl(head->qpn),
                                          .q_key = Q_KEY_GSI};
    if (head->status == 0) /* else it is a request of ours that came back */
        sa_receive(desk->sa, now, &message);
    mad_file_taken(desk->file);
}

static void post(const struct desk *desk, uint64_t now_ps, const struct sa_message *message)
{
    enum { ANSWER_RETRIES = 3 };
    const struct sa_address *address = &message->address;
    struct mad_head head = {.agent = desk->agent,
                            .timeout_ms = (uint32_t)(message->patience_ns / NS_PER_MS),
                            .retries = message->patience_ns ? 0 : ANSWER_RETRIES,
                            .qpn = htonl(address->qp),
                            .q_key = htonl(address->q_key),
                            .lid = htons(address->lid),
                            .sl = address->sl,
                            .path_bits = address->path_bits,
                            .p_key_index = address->p_key_index};
    mad_file_send(desk->file, now_ps, &head, message->data, message->bytes);
}

static void look(struct sim_administration *administration, uint64_t now, struct sm *sm)
{
    struct sa *signpost = administration->signpost.sa;
    administration_update_view(administration->desk.sa, now, sm, 0);
    if (administration->options.synchronised || sm_state(sm) != SM_STANDBY)
        administration_sync(administration->desk.sa, now, sm, true);
    if (!signpost)
        return;
    const uint8_t *info = fabric_port_info(administration->fabric, administration->options.port);
    struct redirect to = {.lid = (uint16_t)wire_get(info, PORT_INFO_LID),
                          .p_key = P_KEY_DEFAULT,
                          .qp = QP_GSI,
                          .q_key = Q_KEY_GSI};
    administration_update_view(signpost, now, sm, 0);
    sa_redirect(signpost, &to);
}

static void attend_desk(struct desk *desk, uint64_t now_ps, uint64_t query_ps)
{
    uint64_t now = time_ns_floor(now_ps);
    struct sa_message message;
    if (now_ps < desk->busy_until_ps)
        return;
    if (mad_file_next(desk->file)) {
        receive(desk, now);
        desk->busy_until_ps = now_ps + query_ps;
    }
    if (sa_deadline(desk->sa) <= now) {
        sa_expire(desk->sa, now);
        while (sa_next_output(desk->sa, now, &message))
            post(desk, now_ps, &message);
    }
}

void sim_administration_attend(struct sim_administration *administration, uint64_t now_ps,
                               struct sm *sm)
{
    const struct groups *groups = sa_groups(administration->desk.sa);
    uint64_t now = time_ns_floor(now_ps);
    look(administration, now, sm);
    attend_desk(&administration->desk, now_ps, administration->options.query_ps);
    if (administration->signpost.sa)
        attend_desk(&administration->signpost, now_ps, administration->options.query_ps);
    if (groups->generation != administration->groups_generation) {
        administration->groups_generation = groups->generation;
        sm_groups_changed(sm, now);
    }
}

static uint64_t desk_deadline(const struct desk *desk, uint64_t now_ps)
{
    uint64_t deadline = mad_file_next(desk->file) ? now_ps : time_ns_to_ps(sa_deadline(desk->sa));
    return deadline > desk->busy_until_ps ? deadline : desk->busy_until_ps;
}

uint64_t sim_administration_deadline(const struct sim_administration *administration,
                                     uint64_t now_ps)
{
    uint64_t deadline = desk_deadline(&administration->desk, now_ps);
    uint64_t other =
        administration->signpost.sa ? desk_deadline(&administration->signpost, now_ps) : TIME_NEVER;
    return other < deadline ? other : deadline;
}

void sim_administration_notice(struct sim_administration *administration, uint64_t now_ps,
                               struct sm *sm, const uint8_t *notice)
{
    uint64_t now = time_ns_floor(now_ps);
    look(administration, now, sm);
    sa_notice(administration->desk.sa, now, notice);
}
