#include "meddle.h"

#include "base/time.h"

#include <string.h>

static uint64_t now_ns(const struct meddle *meddle)
{
    return time_ns_floor(fabric_network_time(meddle->fabric));
}

void meddle_start(struct meddle *meddle, const struct sm_config *config)
{
    fabric_attach(meddle->fabric, meddle->seat);
    fabric_set_manager(meddle->fabric, meddle->seat, true);
    meddle->sm = sm_new(config, fabric_port_guid(meddle->fabric, meddle->seat, 0));
    sm_start(meddle->sm, now_ns(meddle));
}

void meddle_stop(struct meddle *meddle)
{
    sm_free(meddle->sm);
    map_release(&meddle->refused);
}

void meddle_refuse(struct meddle *meddle, uint8_t *request)
{
    map_set(&meddle->refused, wire_get(request, MAD_TID), 1);
    wire_set(request, MAD_METHOD, METHOD_GET);
}

static void send(struct meddle *meddle, struct sm_message *message)
{
    struct packet_header header = {.dlid = message->lid, .sl = message->sl};
    if (meddle->send(meddle->context, message->mad))
        fabric_send(meddle->fabric, meddle->seat, &header, message->mad);
}

static void receive(struct meddle *meddle, const struct fabric_delivery *delivery)
{
    struct sm_message message = {.lid = delivery->header.slid, .sl = delivery->header.sl};
    memcpy(message.mad, delivery->mad, MAD_BYTES);
    if (map_remove(&meddle->refused, wire_get(message.mad, MAD_TID)))
        wire_set(message.mad, SMP_STATUS, STATUS_BAD_VALUE);
    meddle->receive(meddle->context, message.mad);
    sm_receive(meddle->sm, now_ns(meddle), &message);
}

static void drain(struct meddle *meddle)
{
    struct sm_output output;
    struct err err = {0};
    while (sm_next_output(meddle->sm, now_ns(meddle), &output)) {
        if (output.kind == SM_SEND)
            send(meddle, &output.message);
        else if (output.kind == SM_EVENT)
            meddle->note_event(meddle->context, &output.event);
        else if (output.kind == SM_COMPUTE)
            sm_computed(meddle->sm, now_ns(meddle), output.job,
                        sm_job_run(output.job, &err) ? &err : NULL);
    }
}

void meddle_run(struct meddle *meddle, uint64_t duration)
{
    struct fabric *fabric = meddle->fabric;
    struct fabric_delivery delivery;
    uint64_t until = fabric_network_time(fabric) + duration;
    do {
        if (sm_deadline(meddle->sm) <= now_ns(meddle))
            sm_expire(meddle->sm, now_ns(meddle));
        drain(meddle);
        uint64_t next = time_ns_to_ps(sm_deadline(meddle->sm));
        fabric_run(fabric, next < until ? next : until);
        while (fabric_next_delivery(fabric, &delivery))
            receive(meddle, &delivery);
    } while (fabric_network_time(fabric) < until);
}
