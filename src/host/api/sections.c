/* Managers, changes and multicast groups in the form that all servers share. Managers and changes
 * are records, so that the same code writes the JSON of the page and the text of commands. */
#include "host/api/api.h"

#include "base/time.h"

#include <arpa/inet.h>

void api_put_id(struct json *json, const char *key, uint32_t id)
{
    if (id == TOPOLOGY_NONE)
        json_null(json, key);
    else
        json_unsigned(json, key, id);
}

void api_put_output(struct json *json, const struct topology *topology,
                    const struct api_links *links, uint32_t port)
{
    json_unsigned(json, "node", topology->ports.items[port].node);
    json_unsigned(json, "port", topology_port_number(topology, port));
    json_unsigned(json, "link", links->of_port[port]);
    json_unsigned(json, "dir", api_link_direction(links, port));
}

void api_put_number(struct json *json, const char *key, uint64_t number)
{
    if (number == API_NONE)
        json_null(json, key);
    else
        json_unsigned(json, key, number);
}

/* JSON has null for a value that is not there; text has nothing. */
static void put_optional(struct record *record, const char *key, uint64_t number)
{
    if (number != API_NONE)
        record_number(record, key, NULL, number);
    else if (record->as_json)
        json_null(&record->json, key);
}

void api_manager_put(const struct api_manager *manager, struct record *record)
{
    record_begin(record, NULL);
    record_number(record, "id", NULL, manager->id);
    record_number(record, "node", NULL, manager->node);
    record_string(record, "name", "%-20s", manager->name);
    record_string(record, "state", " %-11s", manager->state);
    record_string(record, "phase", " %-8s", manager->phase);
    record_number(record, "priority", " priority %2llu", manager->priority);
    if (manager->engine) {
        record_number(record, "wave", NULL, manager->wave);
        record_number(record, "waves", NULL, manager->waves);
        record_flag(record, "draining", NULL, manager->draining);
        record_string(record, "engine", "  %-8s", manager->engine);
        record_flag(record, "settled", NULL, manager->settled);
        record_number(record, "nodes", " %5llu nodes", manager->nodes);
        record_guid(record, "prefix", " in 0x%016llx", manager->prefix);
        put_optional(record, "change", manager->change);
        record_number(record, "poll", NULL, manager->poll_ns);
        record_number(record, "polls", NULL, manager->polls);
    }
    record_text(record, "\n");
    record_end(record);
}

void api_change_put(const struct api_change *change, struct record *record)
{
    record_begin(record, NULL);
    record_number(record, "id", NULL, change->id);
    record_number(record, "manager", NULL, change->manager);
    record_text(record, "%14.6f ms  %s: ", (double)change->begin / NS_PER_MS, change->who);
    record_string(record, "cause", "%s\n                 ", change->cause);
    put_optional(record, "fault", change->fault);
    record_number(record, "begin", NULL, change->begin);
    put_optional(record, "routing", change->routing);
    put_optional(record, "routed", change->routed);
    put_optional(record, "end", change->end);
    if (change->end == API_NONE)
        record_text(record, "under way");
    else
        record_text(record, "%s %.6f ms", change->finished ? "took" : "given up after",
                    (double)(change->end - change->begin) / NS_PER_MS);
    record_flag(record, "finished", NULL, change->finished);
    record_number(record, "gets", ", %llu Gets", change->gets);
    record_number(record, "sets", ", %llu Sets", change->sets);
    record_number(record, "blocks", ", %llu LFT blocks\n", change->blocks);
    record_number(record, "draining", NULL, change->draining_ns);
    record_end(record);
}

static void put_set(struct json *json, const char *key, const bool *set, uint32_t count)
{
    json_begin_array(json, key);
    for (uint32_t i = 0; i < count; i++)
        if (set[i])
            json_unsigned(json, NULL, i);
    json_end_array(json);
}

void api_group_write(unsigned mlid, const uint8_t mgid[16], const bool *members, uint32_t nodes,
                     const bool *tree, uint32_t links, struct json *json)
{
    char text[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, mgid, text, sizeof text);
    json_begin_object(json, NULL);
    json_unsigned(json, "mlid", mlid);
    json_string(json, "mgid", text);
    put_set(json, "members", members, nodes);
    put_set(json, "links", tree, links);
    json_end_object(json);
}
