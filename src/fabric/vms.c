/* VMs as end points of traffic, and the downtime of a migration (data.h). A VM is an entry that
 * holds its present port; its senders and the packets sent to it follow that entry. The downtime is
 * measured between deliveries: from the last packet before the move to the first one after it.
 * Detaching its function from a VM, and attaching another one, take time in which the VM is at no
 * port; it lasts beyond what the manager does. */
#include "fabric/internal.h"

#include <assert.h>

uint32_t fabric_add_vm(struct fabric *fabric)
{
    fabric_unite(fabric);
    data_start(fabric);
    struct data *data = fabric->data;
    uint32_t number = DATA_VM + (uint32_t)data->vms.count;
    assert(is_vm(number));
    vec_push(&data->vms, ((struct vm){.view.port = NONE, .first_sender = NONE, .arriving = NONE}));
    return number;
}

const struct vm_view *fabric_vm(const struct fabric *fabric, uint32_t vm)
{
    assert(fabric->data && vm >= DATA_VM && vm - DATA_VM < fabric->data->vms.count);
    return &vm_at(fabric->data, vm)->view;
}

static void start_downtime(struct vm_direction *side)
{
    if (!side->delivered || side->interrupted)
        return;
    side->interrupted = true;
    side->interrupted_ps = side->last_ps;
}

static void move_vm_senders(struct fabric *fabric, const struct vm *vm, uint32_t port)
{
    uint32_t sender = vm->first_sender;
    while (sender != NONE) {
        sender_move(fabric, sender, port);
        sender = fabric->data->senders.items[sender].next_of_vm;
    }
}

static void arrive(struct fabric *fabric, struct vm *vm, uint32_t port)
{
    vm->arriving = NONE;
    vm->view.port = port;
    vm->view.moves += vm->has_arrived;
    vm->has_arrived = true;
    vm->view.attached_ps = des_now(fabric->network);
    move_vm_senders(fabric, vm, port);
}

void fabric_move_vm(struct fabric *fabric, uint32_t end_point, uint32_t port)
{
    struct vm *vm = vm_at(fabric->data, end_point);
    uint64_t now = des_now(fabric->network);
    uint32_t before = vm->view.port;
    assert(port == NONE || port < fabric->port_count);
    if (port == (vm->arriving == NONE ? before : vm->arriving))
        return;
    vm->turn++;
    vm->arriving = vm->view.port = NONE;
    if (before != NONE) {
        vm->view.detached_ps = now;
        vm->detached = now + fabric->options.vm_detach_ps;
        start_downtime(&vm->view.to);
        start_downtime(&vm->view.from);
        move_vm_senders(fabric, vm, NONE);
    }
    if (port == NONE)
        return;
    uint64_t at = (vm->detached > now ? vm->detached : now) + fabric->options.vm_attach_ps;
    if (at == now) {
        arrive(fabric, vm, port);
        return;
    }
    vm->arriving = port;
    des_post(fabric->network, at, (struct event){EVENT_VM, end_point, vm->turn});
}

void vm_attached(struct fabric *fabric, uint32_t end_point, uint32_t turn)
{
    struct vm *vm = vm_at(fabric->data, end_point);
    if (vm->turn == turn)
        arrive(fabric, vm, vm->arriving);
}

/* `is_new`: the packet was sent after the move. */
static void note_vm_delivery(struct vm_direction *side, uint64_t now, bool is_new)
{
    side->delivered++;
    side->last_ps = now;
    if (!side->interrupted)
        return;
    if (!is_new) {
        side->interrupted_ps = now;
        return;
    }
    side->interrupted = false;
    side->interruptions++;
    side->downtime_ps = now - side->interrupted_ps;
    side->total_ps += side->downtime_ps;
    if (side->downtime_ps > side->longest_ps)
        side->longest_ps = side->downtime_ps;
}

static uint32_t vm_of_sender(const struct data *data, const struct data_packet *data_packet)
{
    return carries_transport(data_packet) ? NONE : data->senders.items[data_packet->sender].vm;
}

void vm_note_delivered(struct data *data, const struct data_packet *data_packet, uint64_t now)
{
    uint32_t source = vm_of_sender(data, data_packet);
    if (is_vm(data_packet->destination)) /* the VM accepted it at its present port */
        note_vm_delivery(&vm_at(data, data_packet->destination)->view.to, now, true);
    if (source == NONE)
        return;
    struct vm_view *from = &vm_at(data, source)->view;
    note_vm_delivery(&from->from, now,
                     from->port != NONE && data_packet->entered >= from->attached_ps);
}

void vm_note_lost(struct data *data, const struct data_packet *data_packet, enum loss cause)
{
    uint32_t source = vm_of_sender(data, data_packet);
    if (is_vm(data_packet->destination))
        vm_at(data, data_packet->destination)->view.to.lost[cause]++;
    if (source != NONE)
        vm_at(data, source)->view.from.lost[cause]++;
}
