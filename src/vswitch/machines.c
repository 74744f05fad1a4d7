/* Requests about virtual machines (VMs), one state machine each (CLUSTER 2015, algorithm 1).
 *
 * A migration first writes the new virtual function with Set(VirtualFunction), then the old one.
 * After both answers the manager exchanges the LIDs, and LFT entries follow. The VM
 * is at the old function until the Set of the old one, then at the new one. If a manager or a
 * hypervisor fails in between, the VM is at one of them, since hypervisors report their VMs
 * (subnet/functions.h). All steps are idempotent. A request has succeeded when what it wants of the
 * VM is saved (subnet/machines.h).
 *
 * A request begins only while the manager is quiet. */
#include "vswitch/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { RESULTS_KEPT = 4096, REQUEST_LIMIT = 65536 };

static uint32_t node_of(const struct vswitch *vswitch, uint32_t vf_port)
{
    return subnet_of(vswitch)->ports.items[vf_port].node;
}

static uint16_t lid_at(const struct vswitch *vswitch, uint32_t vf_port)
{
    uint32_t port = functions_port(subnet_of(vswitch), vf_port);
    return port == SUBNET_NONE ? 0 : subnet_of(vswitch)->ports.items[port].lid;
}

/* ---- results ---- */

__attribute__((format(printf, 3, 4))) static void
operation_end(struct operation *operation, enum vswitch_state state, const char *format, ...)
{
    text_print_arguments(operation->result.text, sizeof operation->result.text, format);
    assert(operation->state != OPERATION_OVER && state != VSWITCH_PENDING);
    operation->state = state == VSWITCH_DONE ? OPERATION_DONE : OPERATION_OVER;
    if (state == VSWITCH_FAILED)
        operation->result.state = state;
}

/* A move that takes long does so because of drains. */
static const char *describe_drains(const struct vswitch_result *result, char buffer[80])
{
    char time[TIME_TEXT_BYTES];
    buffer[0] = 0;
    if (result->drained_ns)
        snprintf(buffer, 80, "; %s of drains: packets on old paths left the fabric",
                 time_text(time_ns_to_ps(result->drained_ns), time));
    return buffer;
}

static void operation_succeed(struct vswitch *vswitch, struct operation *operation)
{
    struct vswitch_result *result = &operation->result;
    const char *place =
        vswitch_hypervisor_name(vswitch, result->to == SUBNET_NONE ? result->from : result->to);
    char drains[80];
    describe_drains(result, drains);
    switch (result->request.verb) {
    case VSWITCH_CREATE:
        operation_end(operation, VSWITCH_DONE, "at %s, LID %u%s", place, result->lid, drains);
        break;
    case VSWITCH_DESTROY: operation_end(operation, VSWITCH_DONE, "removed from %s", place); break;
    case VSWITCH_MIGRATE:
        if (result->rerouted) /* the entries cannot be counted for one request */
            operation_end(operation, VSWITCH_DONE, "at %s, LID %u, routes recomputed%s", place,
                          result->lid, drains);
        else
            operation_end(operation, VSWITCH_DONE, "at %s, LID %u, %u switch%s, %u table SMP%s%s",
                          place, result->lid, result->switches, result->switches == 1 ? "" : "es",
                          result->table_smps, result->table_smps == 1 ? "" : "s", drains);
        break;
    }
}

static void remove_finished(struct vswitch *vswitch, uint64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < vswitch->operations.count; i++) {
        struct operation *operation = vswitch->operations.items[i];
        if (operation->state != OPERATION_OVER) {
            vswitch->operations.items[kept++] = operation;
            continue;
        }
        struct vswitch_result *result = &operation->result;
        result->ended_ns = now;
        sm_explain(vswitch->sm, PART_VSWITCH, "request %llu, VM 0x%016llx, ended: %s",
                   (unsigned long long)result->ticket, (unsigned long long)result->request.guid,
                   result->text);
        result->request.name = result->request.hypervisor = NULL;
        while (vswitch->past.count <= result->ticket % RESULTS_KEPT)
            vec_push(&vswitch->past, (struct vswitch_result){0});
        vswitch->past.items[result->ticket % RESULTS_KEPT] = *result;
        vswitch->last_ended = result->ticket;
        mem_free(operation);
    }
    vswitch->operations.count = kept;
}

/* ---- steps ---- */

static void fail_request(struct vswitch *vswitch, struct operation *operation, const char *name,
                         const char *why)
{
    const struct vswitch_result *result = &operation->result;
    sm_release_functions(vswitch->sm, &operation->move);
    if (result->request.verb == VSWITCH_DESTROY && operation->unwanted == SUBNET_NONE)
        wanted_note(vswitch, operation, result->from, MACHINE_RUNS, "", 0);
    operation_end(operation, VSWITCH_FAILED, "%s%s", name, why);
}

static void begin_step(struct vswitch *vswitch, struct operation *operation, enum move_step step)
{
    static const char *const names[] = {
        [MOVE_OPEN] = "the target gets a LID",  [MOVE_KEYS] = "its P_Keys are written",
        [MOVE_ATTACH] = "attach to the target", [MOVE_DETACH] = "detach from the source",
        [MOVE_DONE] = "assign its LID",         [MOVE_UNDO] = "undo: the target is released"};
    assert(step > MOVE_PLANNED && step <= MOVE_UNDO);
    sm_explain(vswitch->sm, PART_VSWITCH, "request %llu, VM 0x%016llx: %s",
               (unsigned long long)operation->result.ticket,
               (unsigned long long)operation->result.request.guid, names[step]);
    operation->state = OPERATION_STEPPING;
    operation->step = step;
    if (step == MOVE_DONE) {
        operation->state = OPERATION_MOVING;
        operation->change = sm_move_addresses(vswitch->sm, &operation->move,
                                              operation->result.request.mode == VSWITCH_MINIMAL);
        return;
    }
    operation->result.function_smps += step != MOVE_KEYS;
    operation->pending_vf_port = sm_step_move(vswitch->sm, &operation->move, step);
}

static void begin_next_step(struct vswitch *vswitch, struct operation *operation)
{
    begin_step(vswitch, operation,
               move_next(&operation->move, subnet_of(vswitch), operation->step));
}

static void undo_move(struct vswitch *vswitch, struct operation *operation, const char *why)
{
    operation->undo_reason = why;
    if (operation->move.target == SUBNET_NONE)
        fail_request(vswitch, operation, "", why);
    else
        begin_step(vswitch, operation, MOVE_UNDO);
}

/* If the source does not answer, its hypervisor has left, and the VM is at the target, if any. */
static bool end_step(struct vswitch *vswitch, struct operation *operation)
{
    enum move_step step = operation->step;
    enum function_outcome outcome =
        functions_outcome(subnet_of(vswitch), operation->pending_vf_port);
    assert(operation->state == OPERATION_STEPPING && step != MOVE_DONE);
    if (outcome == FUNCTION_PENDING)
        return false;
    if (step == MOVE_UNDO)
        fail_request(vswitch, operation, "", operation->undo_reason);
    else if (outcome == FUNCTION_DONE || (outcome == FUNCTION_LOST && step == MOVE_DETACH))
        begin_next_step(vswitch, operation);
    else if (outcome == FUNCTION_LOST)
        fail_request(vswitch, operation, "", "the hypervisor does not answer: nothing has changed");
    else if (step == MOVE_KEYS)
        undo_move(vswitch, operation, "the function rejects the P_Keys");
    else if (step == MOVE_DETACH)
        undo_move(vswitch, operation, "the hypervisor rejects the detachment");
    else
        fail_request(vswitch, operation, vswitch_hypervisor_name(vswitch, operation->result.to),
                     " rejects the VM");
    return true;
}

static bool end_move(struct vswitch *vswitch, struct operation *operation)
{
    struct vswitch_result *result = &operation->result;
    struct sm_move_result moved = sm_take_move(vswitch->sm, operation->change);
    if (moved.state == SM_MOVE_PENDING)
        return false;
    result->table_smps = moved.table_smps;
    result->switches = moved.switches;
    result->waves = moved.waves;
    result->drains = moved.drains;
    result->drained_ns = moved.drained_ns;
    result->rerouted = moved.rerouted;
    if (moved.state == SM_MOVE_DONE)
        operation_succeed(vswitch, operation);
    else
        operation_end(operation, VSWITCH_FAILED, "no routes to the new place");
    return true;
}

/* ---- begin of a request ---- */

/* True while the manager writes settings of the function: they could arrive after a new LID. */
static bool is_busy(const struct vswitch *vswitch, uint32_t vf_port)
{
    uint32_t port = functions_port(subnet_of(vswitch), vf_port);
    return functions_is_busy(subnet_of(vswitch), vf_port) ||
           (port != SUBNET_NONE && sm_is_writing_port(vswitch->sm, port));
}

static bool is_first_of_vm(const struct vswitch *vswitch, const struct operation *operation)
{
    for (size_t i = 0; vswitch->operations.items[i] != operation; i++)
        if (vswitch->operations.items[i]->state != OPERATION_OVER &&
            vswitch->operations.items[i]->result.request.guid == operation->result.request.guid)
            return false;
    return true;
}

/* With prepopulated LIDs: prefers the function with the LID that the VM had there. */
static uint32_t prefer_lid(const struct vswitch *vswitch, uint32_t target, uint16_t lid)
{
    const struct subnet *subnet = subnet_of(vswitch);
    uint32_t port = lid ? subnet->by_lid[lid] : SUBNET_NONE;
    uint32_t vf_port = port == SUBNET_NONE ? SUBNET_NONE : subnet_vf_port_of(subnet, port);
    bool fits = vf_port != SUBNET_NONE && functions_at(subnet, vf_port) &&
                node_of(vswitch, vf_port) == node_of(vswitch, target) &&
                placement_is_free(vswitch, vf_port);
    return fits ? vf_port : target;
}

static uint16_t wanted_lid(const struct vswitch *vswitch, const struct move *move)
{
    const struct wanted_machine *row = wanted_machines_running(vswitch->wanted, move->guid);
    return row && move->source == SUBNET_NONE ? row->lid : 0;
}

/* A free function for the VM. If there is none, ends the request and returns SUBNET_NONE. */
static uint32_t find_target(struct vswitch *vswitch, struct operation *operation)
{
    const char *name = operation->hypervisor;
    uint32_t node = *name ? placement_find(vswitch, name) : SUBNET_NONE;
    uint32_t target = !*name                ? placement_auto(vswitch, operation->move.source)
                      : node != SUBNET_NONE ? placement_function(vswitch, node)
                                            : SUBNET_NONE;
    if (target != SUBNET_NONE)
        return prefer_lid(vswitch, target, wanted_lid(vswitch, &operation->move));
    if (!*name)
        operation_end(operation, VSWITCH_FAILED, "no hypervisor has a free function");
    else if (node == SUBNET_NONE)
        operation_end(operation, VSWITCH_FAILED, "no hypervisor '%s'", name);
    else
        operation_end(operation, VSWITCH_FAILED, "'%s' has no free function", name);
    return SUBNET_NONE;
}

/* False if there is no free LID. */
static bool choose_lids(struct vswitch *vswitch, struct move *move)
{
    const struct subnet *subnet = subnet_of(vswitch);
    bool moves = move->source != SUBNET_NONE, dynamic = subnet->functions.dynamic;
    uint16_t lid = wanted_lid(vswitch, move);
    move->before = lid_at(vswitch, move->target);
    if (moves)
        move->lid = lid_at(vswitch, move->source);
    else
        move->lid = !dynamic ? move->before
                    : lid && subnet_lid_range_free(subnet, SUBNET_NONE, lid, subnet->functions.lmc)
                        ? lid
                        : addresses_next_free(subnet, &vswitch->next_lid);
    move->left = dynamic ? 0 : move->before;
    if (!dynamic || !move->keys)
        return move->lid;
    /* P_Keys can be written only to a function with a LID. It gets a temporary LID if that of the
     * VM is still in use. */
    move->open = moves ? addresses_next_free(subnet, &vswitch->next_lid) : move->lid;
    return move->lid && move->open;
}

static void begin_at_target(struct vswitch *vswitch, struct operation *operation, uint32_t source)
{
    struct move *move = &operation->move;
    assert(operation->state == OPERATION_WAITING && move->target == SUBNET_NONE);
    move->source = source;
    move->keys = sm_uses_partitions(vswitch->sm);
    move->target = find_target(vswitch, operation);
    if (move->target == SUBNET_NONE)
        return;
    if (is_busy(vswitch, move->target)) { /* try again later */
        move->target = SUBNET_NONE;
        operation->result.began_ns = 0;
        return;
    }
    bool enough = choose_lids(vswitch, move);
    operation->result.lid = move->lid;
    operation->result.to = node_of(vswitch, move->target);
    if (!enough) {
        move->target = SUBNET_NONE;
        operation_end(operation, VSWITCH_FAILED, "no free LID");
        return;
    }
    sm_hold_functions(vswitch->sm, move);
    const struct wanted_machine *row = wanted_machines_running(vswitch->wanted, move->guid);
    if (row && *row->name) /* the request may name the VM by its GUID */
        snprintf(operation->name, sizeof operation->name, "%s", row->name);
    begin_next_step(vswitch, operation);
}

static void end_in_place(const struct vswitch *vswitch, struct operation *operation,
                         uint32_t vf_port)
{
    operation->result.lid = lid_at(vswitch, vf_port);
    operation->result.to = node_of(vswitch, vf_port);
    operation_end(operation, VSWITCH_DONE, "already at %s, LID %u",
                  vswitch_hypervisor_name(vswitch, operation->result.to), operation->result.lid);
}

static void begin_create(struct vswitch *vswitch, struct operation *operation, uint32_t vf_port)
{
    const char *owner =
        vf_port == SUBNET_NONE ? names_owner(vswitch, operation->result.request.guid) : NULL;
    if (owner)
        operation_end(operation, VSWITCH_FAILED, "0x%016llx is the GUID of '%s', which is not a VM",
                      (unsigned long long)operation->result.request.guid, owner);
    else if (vf_port == SUBNET_NONE || !subnet_is_present(subnet_of(vswitch), vf_port))
        begin_at_target(vswitch, operation, vf_port); /* it keeps its LID, if it has one */
    else if (!*operation->hypervisor ||
             placement_find(vswitch, operation->hypervisor) == node_of(vswitch, vf_port))
        end_in_place(vswitch, operation, vf_port);
    else
        operation_end(operation, VSWITCH_FAILED, "already at %s: use migrate",
                      vswitch_hypervisor_name(vswitch, node_of(vswitch, vf_port)));
}

/* The VM is to be removed wherever it runs, or may run again. */
static void want_removed(struct vswitch *vswitch, const struct operation *operation)
{
    const struct vswitch_result *result = &operation->result;
    const struct wanted_machine *row =
        wanted_machines_running(vswitch->wanted, result->request.guid);
    if (result->from != SUBNET_NONE)
        wanted_note(vswitch, operation, result->from, MACHINE_REMOVED, "", 0);
    if (row && row->wish == MACHINE_RUNS) {
        struct wanted_machine removed = *row;
        removed.wish = MACHINE_REMOVED;
        wanted_machines_decide(vswitch->wanted, &removed);
    }
}

static void begin_destroy(struct vswitch *vswitch, struct operation *operation, uint32_t vf_port)
{
    struct move *move = &operation->move;
    const struct wanted_machine *row = wanted_machines_running(vswitch->wanted, move->guid);
    bool unwanted = operation->unwanted != SUBNET_NONE;
    if ((vf_port == SUBNET_NONE && !row) || (unwanted && vf_port != operation->unwanted)) {
        operation_end(operation, VSWITCH_DONE, "no such machine");
        return;
    }
    bool present = vf_port != SUBNET_NONE && subnet_is_present(subnet_of(vswitch), vf_port);
    if (!present)
        operation_end(operation, VSWITCH_DONE, "removed when %s returns",
                      row ? row->adapter
                          : vswitch_hypervisor_name(vswitch, node_of(vswitch, vf_port)));
    if (vf_port != SUBNET_NONE) {
        operation->result.from = node_of(vswitch, vf_port);
        operation->result.lid = move->lid = lid_at(vswitch, vf_port);
    }
    if (!unwanted)
        want_removed(vswitch, operation);
    if (!present) {
        sm_remove_machine(vswitch->sm, move->guid);
        return;
    }
    move->source = vf_port;
    move->left = subnet_of(vswitch)->functions.dynamic ? 0 : move->lid;
    begin_next_step(vswitch, operation);
}

static void begin_migrate(struct vswitch *vswitch, struct operation *operation, uint32_t vf_port)
{
    if (vf_port == SUBNET_NONE && !wanted_machines_running(vswitch->wanted, operation->move.guid)) {
        operation_end(operation, VSWITCH_FAILED, "no such machine");
        return;
    }
    if (vf_port != SUBNET_NONE) {
        operation->result.from = node_of(vswitch, vf_port);
        operation->result.lid = lid_at(vswitch, vf_port);
    }
    if (vf_port != SUBNET_NONE && subnet_is_present(subnet_of(vswitch), vf_port) &&
        *operation->hypervisor &&
        placement_find(vswitch, operation->hypervisor) == operation->result.from)
        end_in_place(vswitch, operation, vf_port);
    else
        begin_at_target(vswitch, operation, vf_port);
}

static bool begin_request(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    uint32_t vf_port = functions_find_vm(subnet_of(vswitch), operation->result.request.guid);
    if (!sm_is_quiet(vswitch->sm) || !is_first_of_vm(vswitch, operation))
        return false;
    if (vf_port != SUBNET_NONE &&
        (placement_is_taken(vswitch, vf_port) || is_busy(vswitch, vf_port)))
        return false;
    operation->result.began_ns = now;
    switch (operation->result.request.verb) {
    case VSWITCH_CREATE: begin_create(vswitch, operation, vf_port); break;
    case VSWITCH_DESTROY: begin_destroy(vswitch, operation, vf_port); break;
    case VSWITCH_MIGRATE: begin_migrate(vswitch, operation, vf_port); break;
    }
    return operation->state != OPERATION_WAITING;
}

/* ---- turns ---- */

/* The operation has succeeded. */
static bool note_result(struct vswitch *vswitch, struct operation *operation)
{
    const struct vswitch_result *result = &operation->result;
    if (result->request.verb != VSWITCH_DESTROY)
        wanted_note(vswitch, operation, result->to, MACHINE_RUNS, operation->name, result->lid);
    uint32_t source = operation->move.source;
    if (source != SUBNET_NONE && subnet_is_present(subnet_of(vswitch), source) &&
        !functions_at(subnet_of(vswitch), source)->attached) /* the hypervisor has answered */
        wanted_note(vswitch, operation, node_of(vswitch, source), MACHINE_ENDED, "", 0);
    operation->generation = vswitch->wanted->last;
    operation->state = OPERATION_SAVING;
    return true;
}

static bool end_saving(const struct vswitch *vswitch, struct operation *operation)
{
    if (vswitch->wanted->kept < operation->generation)
        return false;
    operation->result.state = VSWITCH_DONE;
    operation->state = OPERATION_OVER;
    return true;
}

static bool take_turn(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    switch (operation->state) {
    case OPERATION_WAITING: return begin_request(vswitch, operation, now);
    case OPERATION_STEPPING: return end_step(vswitch, operation);
    case OPERATION_MOVING: return end_move(vswitch, operation);
    case OPERATION_DONE: return note_result(vswitch, operation);
    case OPERATION_SAVING: return end_saving(vswitch, operation);
    default: return false;
    }
}

void vswitch_advance(struct vswitch *vswitch, uint64_t now)
{
    wanted_carry_out(vswitch, now);
    bool progress = vswitch->operations.count > 0;
    for (size_t i = 0; i < vswitch->operations.count; i++) {
        struct operation *operation = vswitch->operations.items[i];
        if (sm_state(vswitch->sm) == SM_MASTER)
            continue;
        if (operation->state == OPERATION_STEPPING)
            sm_release_functions(vswitch->sm, &operation->move);
        operation_end(operation, VSWITCH_FAILED,
                      "this manager is no longer master: query the new master for the VM");
    }
    while (progress) {
        progress = false;
        for (size_t i = 0; i < vswitch->operations.count; i++)
            progress |= take_turn(vswitch, vswitch->operations.items[i], now);
        progress |= sm_write_moves(vswitch->sm, now);
        remove_finished(vswitch, now);
    }
    remove_finished(vswitch, now);
}

/* ---- requests ---- */

int vswitch_check(const struct vswitch_request *request, struct err *err)
{
    const char *name = request->name ? request->name : "";
    if (!request->guid)
        return err_set(err, EINVAL, "a VM needs a name, or a GUID of 64 bits that is not 0");
    if (request->verb != VSWITCH_CREATE)
        return 0; /* an existing VM may have any name */
    if (strlen(name) > VSWITCH_NAME_LIMIT)
        return err_set(err, EINVAL, "the name of a VM has at most %d bytes", VSWITCH_NAME_LIMIT);
    for (; *name; name++)
        if ((uint8_t)*name < ' ' || *name == 0x7f)
            return err_set(err, EINVAL, "the name of a VM has no control characters");
    return 0;
}

uint64_t operations_add(struct vswitch *vswitch, uint64_t now,
                        const struct vswitch_request *request, bool repeats, uint32_t unwanted)
{
    struct operation *operation = mem_zalloc(1, sizeof *operation);
    operation->result = (struct vswitch_result){.ticket = ++vswitch->tickets,
                                                .request = *request,
                                                .submitted_ns = now,
                                                .from = SUBNET_NONE,
                                                .to = SUBNET_NONE};
    operation->repeats = repeats;
    operation->unwanted = unwanted;
    operation->move = (struct move){.guid = request->guid,
                                    .name = operation->name,
                                    .source = SUBNET_NONE,
                                    .target = SUBNET_NONE};
    snprintf(operation->name, sizeof operation->name, "%s", request->name ? request->name : "");
    snprintf(operation->hypervisor, sizeof operation->hypervisor, "%s",
             request->hypervisor ? request->hypervisor : "");
    vec_push(&vswitch->operations, operation);
    return vswitch->tickets;
}

bool operations_have(const struct vswitch *vswitch, uint64_t guid)
{
    for (size_t i = 0; i < vswitch->operations.count; i++)
        if (vswitch->operations.items[i]->move.guid == guid)
            return true;
    return false;
}

uint64_t vswitch_submit(struct vswitch *vswitch, uint64_t now,
                        const struct vswitch_request *request, struct err *err)
{
    if (sm_state(vswitch->sm) != SM_MASTER) {
        err_set(err, EPERM, "this manager is not master");
        return 0;
    }
    if (vswitch_check(request, err) < 0)
        return 0;
    if (vswitch->operations.count >= REQUEST_LIMIT) {
        err_set(err, EBUSY, "%d requests are already waiting", REQUEST_LIMIT);
        return 0;
    }
    wanted_carry_out(vswitch, now); /* first what earlier requests want */
    uint64_t ticket = operations_add(vswitch, now, request, false, SUBNET_NONE);
    vswitch_advance(vswitch, now);
    return ticket;
}

const struct vswitch_result *vswitch_result(const struct vswitch *vswitch, uint64_t ticket)
{
    for (size_t i = 0; i < vswitch->operations.count; i++)
        if (vswitch->operations.items[i]->result.ticket == ticket)
            return &vswitch->operations.items[i]->result;
    size_t at = ticket % RESULTS_KEPT;
    bool kept = ticket && at < vswitch->past.count && vswitch->past.items[at].ticket == ticket;
    return kept ? &vswitch->past.items[at] : NULL;
}

const struct vswitch_result *vswitch_last_result(const struct vswitch *vswitch)
{
    return vswitch_result(vswitch, vswitch->last_ended);
}

unsigned vswitch_pending(const struct vswitch *vswitch)
{
    return (unsigned)vswitch->operations.count;
}
