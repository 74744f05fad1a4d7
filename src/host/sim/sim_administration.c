/* Runs the SA core of a simulated manager at GSI: reads queries from the MAD layer, one per
 * processing time, and sends what the core puts out. If the SA is at another port, a second SA core
 * at the manager's port redirects clients to it (13.5.2). */
#include "host/sim/sim_administration.h"

#include "base/time.h"
#include "host/manager/administration.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct sim_administration {
    struct sim_administration_options options;
    struct fabric *fabric;
    struct service_point {
        struct sa *sa;
        struct mad_file *file;
        uint32_t agent;
        uint64_t busy_until_ps;
    } service_point, redirector; /* at its port; at its manager's port, if that is another */
    uint64_t fabric_generation;
};

void sim_administration_options_init(struct sim_administration_options *options)
{
    *options = (struct sim_administration_options){.query_ps = 4 * TIME_US, .synchronised = true};
    sa_config_init(&options->config);
}

/* Returns false if the port has an administration already. */
static bool open_service_point(struct service_point *service_point, struct mad_layer *mads,
                               uint32_t port, void *owner)
{
    const struct registration wanted = {.class = CLASS_SUBN_ADM,
                                        .class_version = 2,
                                        .rmpp_version = RMPP_THIS_VERSION,
                                        .method_mask = {ADMINISTRATION_METHODS}};
    service_point->file = mad_file_open(mads, port, owner);
    int agent = mad_file_register(service_point->file, &wanted);
    service_point->agent = (uint32_t)agent;
    if (agent < 0)
        mad_file_close(service_point->file);
    return agent >= 0;
}

struct sim_administration *sim_administration_new(const struct sim_administration_options *options,
                                                  struct fabric *fabric, struct mad_layer *mads,
                                                  uint32_t port, struct sm *sm, uint64_t now_ps,
                                                  const struct text *file)
{
    struct sim_administration *administration = mem_zalloc(1, sizeof *administration);
    struct service_point *service_point = &administration->service_point;
    struct sa_config config = options->config;
    uint64_t now = time_ns_floor(now_ps), guid = fabric_port_guid(fabric, port, 0);
    config.instance = now_ps + 1;
    config.prefix = sm_subnet(sm)->prefix_routes.own;
    administration->options = *options;
    administration->fabric = fabric;
    service_point->sa = sa_new(&config, guid);
    sm_set_groups(sm, sa_groups(service_point->sa));
    sm_set_alias_guids(sm, sa_alias_guids(service_point->sa));
    if (file && file->length)
        sa_registry_read(
            service_point->sa, now,
            &(struct sa_registry_file){"", file->data, file->length, 1 + now / NS_PER_S}, NULL);
    /* At the other port, if one is configured and free; then the manager's port redirects to it. */
    if (options->elsewhere && options->port != port &&
        open_service_point(service_point, mads, options->port, administration)) {
        service_point = &administration->redirector;
        service_point->sa = sa_new(&options->config, guid);
    }
    if (!open_service_point(service_point, mads, port, administration))
        abort(); /* two managers at one port: an error of the caller */
    return administration;
}

void sim_administration_free(struct sim_administration *administration)
{
    if (!administration)
        return;
    struct service_point *redirector = &administration->redirector;
    mad_file_close(administration->service_point.file);
    sa_free(administration->service_point.sa);
    if (redirector->sa)
        mad_file_close(redirector->file);
    sa_free(redirector->sa);
    mem_free(administration);
}

struct sa *sim_administration_sa(struct sim_administration *administration)
{
    return administration->service_point.sa;
}

static void receive_query(struct service_point *service_point, uint64_t now)
{
    const struct mad_received *received = mad_file_next(service_point->file);
    assert(received && received->head.length >= sizeof received->head);
    const struct mad_head *head = &received->head;
    struct sa_message message =
        administration_message(head, received->data, head->length - sizeof *head);
    if (head->status == 0) /* else our own request timed out */
        sa_receive(service_point->sa, now, &message);
    mad_file_taken(service_point->file);
}

static void sync_with_manager(struct sim_administration *administration, uint64_t now,
                              struct sm *sm)
{
    struct sa *redirector = administration->redirector.sa;
    administration_update_view(administration->service_point.sa, now, sm, 0);
    if (administration->options.synchronised || sm_state(sm) != SM_STANDBY)
        administration_sync(administration->service_point.sa, now, sm, true);
    if (!redirector)
        return;
    const uint8_t *info = fabric_port_info(administration->fabric, administration->options.port);
    struct redirect to = redirect_to((uint16_t)wire_get(info, PORT_INFO_LID), 0);
    administration_update_view(redirector, now, sm, 0);
    sa_redirect(redirector, &to);
}

static void run_service_point(struct service_point *service_point, uint64_t now_ps,
                              uint64_t query_ps)
{
    uint64_t now = time_ns_floor(now_ps);
    struct sa_message message;
    if (now_ps < service_point->busy_until_ps)
        return;
    if (mad_file_next(service_point->file)) {
        receive_query(service_point, now);
        service_point->busy_until_ps = now_ps + query_ps;
    }
    if (sa_deadline(service_point->sa) <= now) {
        sa_expire(service_point->sa, now);
        while (sa_next_output(service_point->sa, now, &message)) {
            struct mad_head head = administration_head(&message);
            head.agent = service_point->agent;
            mad_file_send(service_point->file, now_ps, &head, message.data, message.bytes);
        }
    }
}

void sim_administration_run(struct sim_administration *administration, uint64_t now_ps,
                            struct sm *sm)
{
    const struct sa *sa = administration->service_point.sa;
    uint64_t now = time_ns_floor(now_ps);
    sync_with_manager(administration, now, sm);
    run_service_point(&administration->service_point, now_ps, administration->options.query_ps);
    if (administration->redirector.sa)
        run_service_point(&administration->redirector, now_ps, administration->options.query_ps);
    if (sa_fabric_generation(sa) != administration->fabric_generation) {
        administration->fabric_generation = sa_fabric_generation(sa);
        sm_registrations_changed(sm, now);
    }
}

static uint64_t service_point_deadline(const struct service_point *service_point, uint64_t now_ps)
{
    uint64_t deadline =
        mad_file_next(service_point->file) ? now_ps : time_ns_to_ps(sa_deadline(service_point->sa));
    return deadline > service_point->busy_until_ps ? deadline : service_point->busy_until_ps;
}

uint64_t sim_administration_deadline(const struct sim_administration *administration,
                                     uint64_t now_ps)
{
    uint64_t deadline = service_point_deadline(&administration->service_point, now_ps);
    uint64_t other = administration->redirector.sa
                         ? service_point_deadline(&administration->redirector, now_ps)
                         : TIME_NEVER;
    return other < deadline ? other : deadline;
}

void sim_administration_notice(struct sim_administration *administration, uint64_t now_ps,
                               struct sm *sm, const uint8_t *notice)
{
    uint64_t now = time_ns_floor(now_ps);
    sync_with_manager(administration, now, sm);
    sa_notice(administration->service_point.sa, now, notice);
}
