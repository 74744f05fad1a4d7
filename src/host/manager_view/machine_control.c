/* The commands "vm ..." of a manager: machines, requests, and tickets of requests. */
#include "host/manager_view/machine_control.h"

#include "host/socket/protocol.h"

#include "base/record.h"

#include "base/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const verbs[] = {
    [VSWITCH_CREATE] = "create", [VSWITCH_DESTROY] = "destroy", [VSWITCH_MIGRATE] = "migrate"};
static const char *const states[] = {
    [VSWITCH_PENDING] = "pending", [VSWITCH_DONE] = "done", [VSWITCH_FAILED] = "failed"};

/* ---- machines ---- */

static void put_machine(struct record *record, const struct vswitch *machines, const struct sm *sm,
                        const struct vswitch_vm *machine)
{
    const struct subnet *subnet = sm_subnet(sm);
    uint32_t uplink = subnet->nodes.items[machine->vswitch].first_port + VSWITCH_UPLINK;
    uint32_t peer = subnet->ports.items[uplink].peer;
    const char *leaf =
        peer == SUBNET_NONE ? "" : subnet->nodes.items[subnet->ports.items[peer].node].description;
    const char *state = machine->moving ? "moving" : machine->reachable ? "running" : "unreachable";
    record_begin(record, NULL);
    record_string(record, "name", NULL, machine->name);
    record_guid(record, "guid", "0x%016llx", machine->guid);
    record_number(record, "lid", "  LID %5llu", machine->lid);
    record_string(record, "state", "  %-11s", state);
    record_string(record, "hypervisor", " %s", vswitch_hypervisor_name(machines, machine->vswitch));
    record_number(record, "function", " function %llu", machine->function);
    record_string(record, "leaf", " at %s", *leaf || record->as_json ? leaf : "-");
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

/* Reads pairs of words: "on H", "to H", "mode M". Returns false after any other word. */
static bool read_options(struct vswitch_request *submit_request, const char *const *words,
                         unsigned count, struct err *err)
{
    const char *place = submit_request->verb == VSWITCH_CREATE ? "on" : "to";
    for (unsigned i = 0; i + 1 < count; i += 2) {
        if (strcmp(words[i], place) == 0 && submit_request->verb != VSWITCH_DESTROY) {
            submit_request->hypervisor = strcmp(words[i + 1], "auto") ? words[i + 1] : NULL;
        } else if (strcmp(words[i], "mode") == 0 && strcmp(words[i + 1], "minimal") == 0) {
            submit_request->mode = VSWITCH_MINIMAL;
        } else if (strcmp(words[i], "mode") != 0 || strcmp(words[i + 1], "balanced") != 0) {
            err_set(err, EINVAL, "'%s %s': expected %s HYPERVISOR, or mode balanced or minimal",
                    words[i], words[i + 1], place);
            return false;
        }
    }
    if (count % 2)
        err_set(err, EINVAL, "'%s' needs a value", words[count - 1]);
    return count % 2 == 0;
}

static int submit_request(struct control_call *call, enum vswitch_verb verb)
{
    const struct machine_access *access = call->subject;
    const char *name = call->words[0];
    struct vswitch_request wanted = {.verb = verb, .guid = vswitch_guid(name), .name = name};
    if (!read_options(&wanted, call->words + 1, call->count - 1, &call->err))
        return -EINVAL;
    if (vswitch_check(&wanted, &call->err) < 0)
        return -EINVAL;
    uint64_t ticket = vswitch_submit(access->machines, call->now, &wanted, &call->err);
    if (!ticket)
        return -EPERM;
    return print_result(access->machines, vswitch_result(access->machines, ticket), call->answer);
}

static int answer_list(struct control_call *call)
{
    const struct machine_access *access = call->subject;
    struct record record = control_record(call);
    struct vswitch_vm machine;
    uint32_t cursor = 0;
    record_begin_list(&record, NULL);
    while (vswitch_next_vm(access->machines, &cursor, &machine))
        put_machine(&record, access->machines, access->sm, &machine);
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
    put_machine(&record, access->machines, access->sm, &machine);
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

static int create_machine(struct control_call *call)
{
    return submit_request(call, VSWITCH_CREATE);
}

static int migrate_machine(struct control_call *call)
{
    return submit_request(call, VSWITCH_MIGRATE);
}

static int destroy_machine(struct control_call *call)
{
    return submit_request(call, VSWITCH_DESTROY);
}

const struct control_command machine_commands[] = {
    {"vm create", "NAME [--on HOST]", 1, 5, CONTROL_MACHINES,
     "assign a function of a hypervisor's adapter to a virtual machine", create_machine},
    {"vm migrate", "NAME [--to HOST] [--mode balanced|minimal]", 1, 5, CONTROL_MACHINES,
     "move it, with its GUID and LID", migrate_machine},
    {"vm destroy", "NAME", 1, 1, CONTROL_MACHINES, "release its function", destroy_machine},
    {"vm ticket", "NUMBER", 1, 1, CONTROL_MACHINES,
     "print the result of a request that was made with --no-wait", answer_ticket},
    {0}};
