/* Protection against DNS rebinding and cross-site requests: checks of Host and Origin. exchange.c
 * decides which requests need which check; token.c checks the token. */
#include "host/http/guard.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

/* The name or address in a Host header, without brackets and port. */
static bool host_name(const char *host, char *name, size_t size)
{
    bool bracket = *host == '[';
    size_t length = bracket ? strcspn(host, "]") : strcspn(host, ":");
    const char *port = host + length + (bracket && host[length] ? 1 : 0);
    if ((bracket && host[length] != ']') || (*port && *port != ':') || length >= size)
        return false;
    if (*port && strspn(port + 1, "0123456789") != strlen(port + 1))
        return false;
    memcpy(name, host + bracket, length - bracket);
    name[length - bracket] = 0;
    return *name != 0;
}

static bool is_address(const char *name)
{
    struct in6_addr room;
    return inet_pton(AF_INET, name, &room) == 1 || inet_pton(AF_INET6, name, &room) == 1;
}

bool http_guard_host(const char *host, const char *const *own_names, size_t name_count)
{
    char name[256];
    if (!host || !host_name(host, name, sizeof name))
        return false;
    if (is_address(name) || strcasecmp(name, "localhost") == 0)
        return true;
    for (size_t i = 0; i < name_count; i++)
        if (own_names[i] && *own_names[i] && strcasecmp(name, own_names[i]) == 0)
            return true;
    return false;
}

bool http_guard_origin(const char *origin, const char *host)
{
    if (!origin)
        return true;
    if (!host)
        return false;
    if (strncmp(origin, "http://", 7) == 0)
        return strcasecmp(origin + 7, host) == 0;
    return strncmp(origin, "https://", 8) == 0 && strcasecmp(origin + 8, host) == 0;
}
