#include "host/api/api.h"

#include <arpa/inet.h>

void api_put_id(struct json *json, const char *key, uint32_t id)
{
    if (id == TOPOLOGY_NONE)
        json_null(json, key);
    else
        json_unsigned(json, key, id);
}

void api_put_number(struct json *json, const char *key, uint64_t number)
{
    if (number == API_NONE)
        json_null(json, key);
    else
        json_unsigned(json, key, number);
}

void api_manager_write(const struct api_manager *manager, struct json *json)
{
    json_begin_object(json, NULL);
    json_unsigned(json, "id", manager->id);
    json_unsigned(json, "node", manager->node);
    json_string(json, "name", manager->name);
    json_string(json, "state", manager->state);
    json_string(json, "phase", manager->phase);
    json_unsigned(json, "priority", manager->priority);
    if (manager->engine) {
        json_unsigned(json, "wave", manager->wave);
        json_unsigned(json, "waves", manager->waves);
        json_bool(json, "draining", manager->draining);
        json_string(json, "engine", manager->engine);
        json_bool(json, "settled", manager->settled);
        json_unsigned(json, "nodes", manager->nodes);
        api_put_number(json, "change", manager->change);
    }
    json_end_object(json);
}

void api_change_write(const struct api_change *change, struct json *json)
{
    json_begin_object(json, NULL);
    json_unsigned(json, "id", change->id);
    json_unsigned(json, "manager", change->manager);
    json_string(json, "cause", change->cause);
    api_put_number(json, "fault", change->fault);
    json_unsigned(json, "begin", change->begin);
    api_put_number(json, "routing", change->routing);
    api_put_number(json, "routed", change->routed);
    api_put_number(json, "end", change->end);
    json_bool(json, "finished", change->finished);
    json_unsigned(json, "gets", change->gets);
    json_unsigned(json, "sets", change->sets);
    json_unsigned(json, "blocks", change->blocks);
    json_unsigned(json, "draining", change->draining_ns);
    json_end_object(json);
}

void api_problem_write(const struct api_problem *problem, const struct api_places *places,
                       struct json *json)
{
    struct api_place place = api_place_of(places, problem->place);
    const char *other = strchr(problem->text, '(');
    if (place.link == TOPOLOGY_NONE && other)
        place.link = api_place_of(places, other + 1).link;
    json_begin_object(json, NULL);
    json_string(json, "kind", problem->kind);
    json_string(json, "place", problem->place);
    json_string(json, "text", problem->text);
    json_unsigned(json, "severity", problem->severity);
    api_put_number(json, "since", problem->since_ns);
    api_put_id(json, "node", place.node);
    api_put_id(json, "link", place.link);
    json_end_object(json);
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
