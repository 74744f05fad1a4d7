#include "smp_filter.h"

#include "base/time.h"

#include <string.h>

static uint64_t now_ns(const struct smp_filter *smp_filter)
{
    return time_ns_floor(fabric_network_time(smp_filter->fabric));
}

void smp_filter_start(struct smp_filter *smp_filter, const struct sm_config *config)
{
    fabric_attach(smp_filter->fabric, smp_filter->port);
    fabric_set_manager(smp_filter->fabric, smp_filter->port, true);
    smp_filter->sm = sm_new(config, fabric_port_guid(smp_filter->fabric, smp_filter->port, 0));
    sm_start(smp_filter->sm, now_ns(smp_filter));
}

void smp_filter_stop(struct smp_filter *smp_filter)
{
    sm_free(smp_filter->sm);
    map_release(&smp_filter->refused);
}

void smp_filter_refuse(struct smp_filter *smp_filter, uint8_t *request)
{
    map_set(&smp_filter->refused, wire_get(request, MAD_TID), 1);
    wire_set(request, MAD_METHOD, METHOD_GET);
}

static void send(struct smp_filter *smp_filter, struct sm_message *message)
{
    struct packet_header header = {.dlid = message->lid, .sl = message->sl};
    if (smp_filter->send(smp_filter->context, message->mad))
        fabric_send(smp_filter->fabric, smp_filter->port, &header, message->mad);
}

static void receive(struct smp_filter *smp_filter, const struct fabric_delivery *delivery)
{
    struct sm_message message = {.lid = delivery->header.slid, .sl = delivery->header.sl};
    memcpy(message.mad, delivery->mad, MAD_BYTES);
    if (map_remove(&smp_filter->refused, wire_get(message.mad, MAD_TID)))
        wire_set(message.mad, SMP_STATUS, STATUS_BAD_VALUE);
    smp_filter->receive(smp_filter->context, message.mad);
    sm_receive(smp_filter->sm, now_ns(smp_filter), &message);
}

static void drain(struct smp_filter *smp_filter)
{
    struct sm_output output;
    struct err err = {0};
    while (sm_next_output(smp_filter->sm, now_ns(smp_filter), &output)) {
        if (output.kind == SM_SEND)
            send(smp_filter, &output.message);
        else if (output.kind == SM_EVENT)
            smp_filter->note_event(smp_filter->context, &output.event);
        else if (output.kind == SM_COMPUTE)
            sm_computed(smp_filter->sm, now_ns(smp_filter), output.job,
                        sm_job_run(output.job, &err) ? &err : NULL);
    }
}

void smp_filter_run(struct smp_filter *smp_filter, uint64_t duration)
{
    struct fabric *fabric = smp_filter->fabric;
    struct fabric_delivery delivery;
    uint64_t until = fabric_network_time(fabric) + duration;
    do {
        if (sm_deadline(smp_filter->sm) <= now_ns(smp_filter))
            sm_expire(smp_filter->sm, now_ns(smp_filter));
        drain(smp_filter);
        uint64_t next = time_ns_to_ps(sm_deadline(smp_filter->sm));
        fabric_run(fabric, next < until ? next : until);
        while (fabric_next_delivery(fabric, &delivery))
            receive(smp_filter, &delivery);
    } while (fabric_network_time(fabric) < until);
}
