#include "host/sim_administration.h"

#include "base/time.h"
#include "host/administration.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

struct sim_administration {
    struct sim_administration_options options;
    struct sa *sa;
    struct mad_file *file;
    uint32_t agent;
    uint64_t busy_until;
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

struct sim_administration *sim_administration_new(const struct sim_administration_options *options,
                                                  struct mad_layer *mads, uint32_t port,
                                                  uint64_t guid, struct sm *sm, uint64_t now,
                                                  const struct text *file)
{
    struct sim_administration *administration = mem_zalloc(1, sizeof *administration);
    struct sa_config config = options->config;
    config.instance = now + 1;
    administration->options = *options;
    administration->sa = sa_new(&config, guid);
    administration->file = mad_file_open(mads, port, administration);
    int agent = register_agent(administration->file);
    if (agent < 0)
        abort(); /* two managers at one port: the caller's mistake */
    administration->agent = (uint32_t)agent;
    if (file && file->length)
        sa_registry_read(administration->sa, now,
                         &(struct sa_registry_file){"", file->data, file->length, 1 + now / TIME_S},
                         NULL);
    sm_use_groups(sm, sa_groups(administration->sa));
    return administration;
}

void sim_administration_free(struct sim_administration *administration)
{
    if (!administration)
        return;
    mad_file_close(administration->file);
    sa_free(administration->sa);
    mem_free(administration);
}

struct sa *sim_administration_sa(struct sim_administration *administration)
{
    return administration->sa;
}

static void receive(struct sim_administration *administration, uint64_t now)
{
    const struct mad_received *received = mad_file_next(administration->file);
    const struct mad_head *head = &received->head;
    struct sa_message message = {.data = received->data, .bytes = head->length - sizeof *head};
    message.address = (struct sa_address){.lid = ntohs(head->lid),
                                          .sl = head->sl,
                                          .path_bits = head->path_bits,
                                          .p_key_index = head->p_key_index,
                                          .qp = ntohl(head->qpn),
                                          .q_key = Q_KEY_GSI};
    if (head->status == 0) /* else it is a request of ours that came back */
        sa_receive(administration->sa, now, &message);
    mad_file_taken(administration->file);
}

static void post(struct sim_administration *administration, uint64_t now,
                 const struct sa_message *message)
{
    enum { ANSWER_RETRIES = 3 };
    const struct sa_address *address = &message->address;
    struct mad_head head = {.agent = administration->agent,
                            .timeout_ms = (uint32_t)(message->patience_ps / TIME_MS),
                            .retries = message->patience_ps ? 0 : ANSWER_RETRIES,
                            .qpn = htonl(address->qp),
                            .q_key = htonl(address->q_key),
                            .lid = htons(address->lid),
                            .sl = address->sl,
                            .path_bits = address->path_bits,
                            .p_key_index = address->p_key_index};
    mad_file_send(administration->file, now, &head, message->data, message->bytes);
}

static void look(struct sim_administration *administration, uint64_t now, struct sm *sm)
{
    administration_look(administration->sa, now, sm, 0);
    if (administration->options.synchronised || sm_state(sm) != SM_STANDBY)
        administration_mind(administration->sa, now, sm, true);
}

void sim_administration_attend(struct sim_administration *administration, uint64_t now,
                               struct sm *sm)
{
    struct sa *sa = administration->sa;
    struct sa_message message;
    look(administration, now, sm);
    if (now < administration->busy_until)
        return;
    if (mad_file_next(administration->file)) {
        receive(administration, now);
        administration->busy_until = now + administration->options.query_ps;
    }
    if (sa_deadline(sa) <= now) {
        sa_expire(sa, now);
        while (sa_next_output(sa, now, &message))
            post(administration, now, &message);
    }
    if (sa_groups(sa)->generation != administration->groups_generation) {
        administration->groups_generation = sa_groups(sa)->generation;
        sm_groups_changed(sm, now);
    }
}

uint64_t sim_administration_deadline(const struct sim_administration *administration, uint64_t now)
{
    uint64_t deadline = sa_deadline(administration->sa);
    if (mad_file_next(administration->file))
        deadline = now;
    return deadline > administration->busy_until ? deadline : administration->busy_until;
}

void sim_administration_notice(struct sim_administration *administration, uint64_t now,
                               struct sm *sm, const uint8_t *notice)
{
    look(administration, now, sm);
    sa_notice(administration->sa, now, notice);
}
