/* The commands "vm ..." of a manager: machines, requests, and tickets of requests. */
#include "host/manager_view/machine_control.h"

#include "host/socket/protocol.h"

#include "base/record.h"

#include "base/time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const verbs[] = {
    [VSWITCH_CREATE] = "create", [VSWITCH_DESTROY] = "destroy", [VSWITCH_MIGRATE] = "migrate"};
static const char *const states[] = {
    [VSWITCH_PENDING] = "pending", [VSWITCH_DONE] = "done", [VSWITCH_FAILED] = "failed"};

/* ---- machines ---- */

const char *machine_state_name(const struct vswitch_vm *machine)
{
    return machine->removed     ? "removed"
           : machine->moving    ? "moving"
           : machine->reachable ? "running"
                                : "unreachable";
}

bool machine_pending(const struct vswitch_vm *machine, char *text, size_t bytes)
{
    bool waits = !machine->reachable && !machine->moving;
    if (waits)
        snprintf(text, bytes, "%s when %s returns",
                 machine->removed                  ? "removed"
                 : machine->vswitch == SUBNET_NONE ? "started again"
                                                   : "reached or started again",
                 machine->hypervisor);
    return waits;
}

static void put_machine(struct record *record, const struct sm *sm,
                        const struct vswitch_vm *machine)
{
    const struct subnet *subnet = sm_subnet(sm);
    bool known = machine->vswitch != SUBNET_NONE;
    uint32_t uplink = known ? subnet->nodes.items[machine->vswitch].first_port + VSWITCH_UPLINK : 0;
    uint32_t peer = known ? subnet->ports.items[uplink].peer : SUBNET_NONE;
    const char *leaf =
        peer == SUBNET_NONE ? "" : subnet->nodes.items[subnet->ports.items[peer].node].description;
    char pending[128];
    record_begin(record, NULL);
    record_string(record, "name", NULL, machine->name);
    record_guid(record, "guid", "0x%016llx", machine->guid);
    record_number(record, "lid", "  LID %5llu", machine->lid);
    record_string(record, "state", "  %-11s", machine_state_name(machine));
    record_string(record, "hypervisor", " %s", machine->hypervisor);
    if (known)
        record_number(record, "function", " function %llu", machine->function);
    record_string(record, "leaf", " at %s", *leaf || record->as_json ? leaf : "-");
    if (machine_pending(machine, pending, sizeof pending))
        record_string(record, "pending", "  %s", pending);
    record_text(record, "  %s\n", machine->name);
    record_end(record);
}

/* ---- requests ---- */

static void print_json(const struct vswitch *machines, const struct vswitch_result *result,
                       struct text *out)
{
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_unsigned(&json, "ticket", result->ticket);
    json_string(&json, "request", verbs[result->request.verb]);
    json_stringf(&json, "guid", "0x%016llx", (unsigned long long)result->request.guid);
    json_string(&json, "state", states[result->state]);
    json_string(&json, "text", result->text);
    if (result->state == VSWITCH_FAILED) {
        json_string(&json, "error", result->text);
        json_string(&json, "code", "EIO");
    }
    json_unsigned(&json, "lid", result->lid);
    if (result->from != SUBNET_NONE)
        json_string(&json, "from", vswitch_hypervisor_name(machines, result->from));
    if (result->to != SUBNET_NONE)
        json_string(&json, "to", vswitch_hypervisor_name(machines, result->to));
    json_unsigned(&json, "hypervisor_smps", result->function_smps);
    if (result->rerouted) { /* its entries are mixed with those of new routes */
        json_null(&json, "table_smps");
        json_null(&json, "switches");
    } else {
        json_unsigned(&json, "table_smps", result->table_smps);
        json_unsigned(&json, "switches", result->switches);
    }
    json_unsigned(&json, "waves", result->waves);
    json_unsigned(&json, "drains", result->drains);
    json_unsigned(&json, "drained_microseconds", result->drained_ns / NS_PER_US);
    json_bool(&json, "rerouted", result->rerouted);
    if (result->state != VSWITCH_PENDING)
        json_unsigned(&json, "microseconds", (result->ended_ns - result->submitted_ns) / NS_PER_US);
    json_end_object(&json);
}

void machine_control_put_cause(const struct vswitch *machines, const struct vswitch_result *result,
                               struct text *out)
{
    struct vswitch_vm machine;
    bool named = vswitch_find_vm(machines, result->request.guid, &machine) && *machine.name;
    text_printf(out, "vm %s ", verbs[result->request.verb]);
    if (named)
        text_puts(out, machine.name);
    else
        text_printf(out, "0x%016llx", (unsigned long long)result->request.guid);
    text_printf(out, ": %s", result->text);
}

static int print_result(const struct vswitch *machines, const struct vswitch_result *result,
                        struct control_answer *reply)
{
    if (reply->json)
        print_json(machines, result, &reply->text);
    else if (result->state == VSWITCH_PENDING)
        text_printf(&reply->text, "ticket %llu\n", (unsigned long long)result->ticket);
    else if (result->state == VSWITCH_DONE)
        text_printf(&reply->text, "%s\n", result->text);
    else
        text_puts(&reply->text, result->text);
    return result->state == VSWITCH_FAILED    ? -EIO
           : result->state == VSWITCH_PENDING ? CTL_PENDING
                                              : 0;
}

int machine_control_apply(const struct machine_access *access, uint64_t now,
                          const struct action *action, struct control_answer *answer,
                          struct err *err)
{
    static const enum vswitch_verb of_action[ACTION_KINDS] = {
        [ACTION_START_MACHINE] = VSWITCH_CREATE,
        [ACTION_STOP_MACHINE] = VSWITCH_DESTROY,
        [ACTION_MOVE_MACHINE] = VSWITCH_MIGRATE};
    const char *name = action->machine.name.text;
    if (action->kind == ACTION_CHURN || action->kind == ACTION_MACHINE_SMP)
        return err_set(err, EINVAL, "only scenarios have '%s'", action_row(action)->words.all);
    const struct vswitch_request wanted = {.verb = of_action[action->kind],
                                           .guid = vswitch_guid(name),
                                           .name = name,
                                           .hypervisor = action->node_word.text,
                                           .mode = action->machine.minimal ? VSWITCH_MINIMAL
                                                                           : VSWITCH_BALANCED};
    if (vswitch_check(&wanted, err) < 0)
        return -EINVAL;
    uint64_t ticket = vswitch_submit(access->machines, now, &wanted, err);
    if (!ticket)
        return -EPERM;
    return print_result(access->machines, vswitch_result(access->machines, ticket), answer);
}

static int answer_list(struct control_call *call)
{
    const struct machine_access *access = call->subject;
    struct record record = control_record(call);
    struct vswitch_vm machine;
    uint32_t cursor = 0;
    record_begin_list(&record, NULL);
    while (vswitch_next_vm(access->machines, &cursor, &machine))
        put_machine(&record, access->sm, &machine);
    record_end_list(&record);
    return 0;
}

static int answer_show(struct control_call *call)
{
    const struct machine_access *access = call->subject;
    struct record record = control_record(call);
    struct vswitch_vm machine;
    if (!vswitch_find_vm(access->machines, vswitch_guid(call->words[0]), &machine))
        return err_set(&call->err, ENOENT, "there is no machine '%s'", call->words[0]);
    put_machine(&record, access->sm, &machine);
    return 0;
}

static int answer_ticket(struct control_call *call)
{
    const struct machine_access *access = call->subject;
    const struct vswitch_result *result =
        vswitch_result(access->machines, strtoull(call->words[0], NULL, 10));
    if (!result)
        return err_set(&call->err, ENOENT,
                       "there is no ticket %s (results are kept for a while only)", call->words[0]);
    return print_result(access->machines, result, call->answer);
}

const struct control_command machine_report_commands[] = {
    {"vm list", "", 0, 0, CONTROL_MACHINES, "print all virtual machines", answer_list},
    {"vm show", "NAME", 1, 1, CONTROL_MACHINES, "print one virtual machine", answer_show},
    {0}};

/* The two words before those of the call are the name of the action. */
static int answer_action(struct control_call *call)
{
    struct action action;
    if (action_read_words(&action, call->words - 2, call->count + 2, NULL, &call->err) < 0)
        return -EINVAL;
    return machine_control_apply(call->subject, call->now, &action, call->answer, &call->err);
}

const struct control_command machine_commands[] = {
    {"vm start", "NAME [at HYPERVISOR|auto]", 1, 3, CONTROL_MACHINES,
     "assign a function of a hypervisor's adapter to a virtual machine", answer_action},
    {"vm migrate", "NAME [to HYPERVISOR|auto] [balanced|minimal]", 1, 4, CONTROL_MACHINES,
     "move it, with its GUID and LID", answer_action},
    {"vm stop", "NAME", 1, 1, CONTROL_MACHINES, "release its function", answer_action},
    {"vm ticket", "NUMBER", 1, 1, CONTROL_MACHINES,
     "print the result of a request that was made with --no-wait", answer_ticket},
    {0}};
