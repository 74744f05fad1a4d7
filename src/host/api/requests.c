/* What the handlers of all servers share: parameters, answers, and what a server is. */
#include "host/api/api.h"

#include "base/parse.h"

#include <string.h>

void api_refuse(struct http_response *response, unsigned status, const char *message)
{
    struct json json = {.out = &response->body};
    text_clear(&response->body);
    response->status = status;
    response->type = NULL;
    json_begin_object(&json, NULL);
    json_string(&json, "error", message);
    json_end_object(&json);
}

void api_accept(struct http_response *response, const char *statement, uint64_t t_ns)
{
    struct json json = {.out = &response->body};
    json_begin_object(&json, NULL);
    json_begin_array(&json, "statements");
    json_string(&json, NULL, statement);
    json_end_array(&json);
    json_unsigned(&json, "t", t_ns);
    json_end_object(&json);
}

size_t api_add_table(const struct http_route *table, size_t count, void *context,
                     struct http_route *routes)
{
    for (size_t i = 0; i < count; i++) {
        routes[i] = table[i];
        routes[i].method = table[i].method ? table[i].method : "GET";
        routes[i].changes |= strcmp(routes[i].method, "POST") == 0;
        routes[i].in_loop = true;
        routes[i].context = context;
    }
    return count;
}

int api_number(const struct http_request *request, const char *name, uint64_t end, uint64_t *value,
               struct err *err)
{
    return parse_parameter(http_parameter(request, name), name, end, value, err);
}

bool api_two_numbers(const struct http_request *request, struct http_response *response,
                     const char *const names[2], uint64_t end, uint64_t values[2])
{
    struct err err = {0};
    bool valid = api_number(request, names[0], end, &values[0], &err) == 0 &&
                 api_number(request, names[1], end, &values[1], &err) == 0;
    if (!valid)
        api_refuse(response, 400, err.message);
    return valid;
}

static const char *get_parameter(void *request, const char *name)
{
    return http_parameter(request, name);
}

struct action_request api_action(const struct http_request *request,
                                 const struct topology *topology, const struct api_links *links)
{
    return (struct action_request){.context = (void *)(uintptr_t)request,
                                   .get = get_parameter,
                                   .topology = topology,
                                   .link_ports = links->ports,
                                   .link_count = links->count};
}

void api_info_write(const struct api_info *info, struct text *out)
{
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_string(&json, "what", info->what);
    json_string(&json, "version", info->version);
    json_string(&json, "name", info->name);
    if (info->seed)
        json_unsigned(&json, "seed", *info->seed);
    if (info->begin_ms)
        json_unsigned(&json, "begin", info->begin_ms);
    json_unsigned(&json, "generation", info->generation);
    json_begin_array(&json, "capabilities");
    for (unsigned i = 0; i < API_CAPABILITIES; i++)
        if (info->capabilities[i])
            json_string(&json, NULL, info->capabilities[i]);
    json_end_array(&json);
    action_list(info->offers, &json);
    json_begin_array(&json, "engines");
    for (size_t i = 0; info->engine && info->engine(i); i++)
        json_string(&json, NULL, info->engine(i));
    json_end_array(&json);
    json_end_object(&json);
}
