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

static int register_agent(struct mad_file *file)
{
    static const uint8_t asked[] = {METHOD_GET,       METHOD_SET,    METHOD_GET_TABLE,
                                    METHOD_GET_MULTI, METHOD_DELETE, METHOD_GET_TRACE_TABLE};
    struct registration wanted = {
        .class = CLASS_SUBN_ADM, .class_version = 2, .rmpp_version = RMPP_THIS_VERSION};
    for (size_t i = 0; i < sizeof asked; i++)
        wanted.method_mask[asked[i] / 32] |= UINT32_C(1) << asked[i] % 32;
    return mad_file_register(file, &wanted);
}

/* False: somebody sits there already. */
static bool open_desk(struct desk *desk, struct mad_layer *mads, uint32_t port, void *owner)
{
    desk->file = mad_file_open(mads, port, owner);
    int agent = register_agent(desk->file);
    desk->agent = (uint32_t)agent;
    if (agent < 0)
        mad_file_close(desk->file);
    return agent >= 0;
}

/* At the other port if there is one and it is free, else at the manager's. */
static void take_seat(struct sim_administration *administration, struct mad_layer *mads,
                      uint32_t port, uint64_t guid)
{
    const struct sim_administration_options *options = &administration->options;
    struct desk *desk = &administration->desk;
    if (options->elsewhere && options->port != port &&
        open_desk(desk, mads, options->port, administration)) {
        desk = &administration->signpost;
        desk->sa = sa_new(&options->config, guid);
    }
    if (!open_desk(desk, mads, port, administration))
        abort(); /* two managers at one port: the caller's mistake */
}

struct sim_administration *sim_administration_new(const struct sim_administration_options *options,
                                                  struct mad_layer *mads, uint32_t port,
                                                  uint64_t guid, struct sm *sm, uint64_t now_ps,
                                                  const struct text *file)
{
    struct sim_administration *administration = mem_zalloc(1, sizeof *administration);
    struct sa_config config = options->config;
    config.instance = now_ps + 1;
    uint64_t now = time_ns_floor(now_ps);
    administration->options = *options;
    administration->fabric = mad_layer_fabric(mads);
    administration->desk.sa = sa_new(&config, guid);
    take_seat(administration, mads, port, guid);
    if (file && file->length)
        sa_registry_read(
            administration->desk.sa, now,
            &(struct sa_registry_file){"", file->data, file->length, 1 + now / NS_PER_S}, NULL);
    sm_use_groups(sm, sa_groups(administration->desk.sa));
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
    administration_look(administration->desk.sa, now, sm, 0);
    if (administration->options.synchronised || sm_state(sm) != SM_STANDBY)
        administration_mind(administration->desk.sa, now, sm, true);
    if (!signpost)
        return;
    const uint8_t *info = fabric_port_info(administration->fabric, administration->options.port);
    struct redirect to = {.lid = (uint16_t)wire_get(info, PORT_INFO_LID),
                          .p_key = P_KEY_DEFAULT,
                          .qp = QP_GSI,
                          .q_key = Q_KEY_GSI};
    administration_look(signpost, now, sm, 0);
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
