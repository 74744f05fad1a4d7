/* IP addresses and names of hosts. Names are those of nodes of the fabric; other names are looked
 * up in the system's data bases, which know "localhost": the adapter itself. */
#include "internal.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

int address_to_server(const struct sockaddr *from, struct ipcm_address *to)
{
    *to = (struct ipcm_address){0};
    if (!from)
        return 0;
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)from;
        *to = (struct ipcm_address){
            .address = ntohl(four->sin_addr.s_addr), .port = ntohs(four->sin_port), .family = 4};
        return 0;
    }
    if (from->sa_family == AF_INET6) { /* "any" has no family, and mapped addresses are IPv4's */
        const struct sockaddr_in6 *six = (const void *)from;
        uint32_t mapped;
        memcpy(&mapped, six->sin6_addr.s6_addr + 12, sizeof mapped);
        bool any = IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
        if (any || IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
            *to = (struct ipcm_address){
                .address = any ? 0 : ntohl(mapped), .port = ntohs(six->sin6_port), .family = 4};
            return 0;
        }
    }
    errno = EAFNOSUPPORT;
    return -1;
}

void address_from_server(const struct ipcm_address *from, struct sockaddr_storage *to)
{
    struct sockaddr_in four = {.sin_family = AF_INET,
                               .sin_port = htons(from->port),
                               .sin_addr.s_addr = htonl(from->address)};
    if (!from->family)
        return;
    memset(to, 0, sizeof *to);
    memcpy(to, &four, sizeof four);
}

/* ---- rdma_getaddrinfo ---- */

static int look_up(const char *name, struct in_addr *found)
{
    struct ipcm_request request = {.kind = IPCM_FIND_HOST};
    struct verbs_answer answer;
    struct addrinfo hints = {.ai_family = AF_INET}, *list;
    if (inet_pton(AF_INET, name, found) == 1)
        return 0;
    snprintf(request.name, sizeof request.name, "%s", name);
    if (cm_call(&request, &answer, NULL) == 0) {
        found->s_addr = htonl(answer.view.to.address);
        return 0;
    }
    int result = getaddrinfo(name, NULL, &hints, &list);
    if (result)
        return result;
    *found = ((struct sockaddr_in *)(void *)list->ai_addr)->sin_addr;
    freeaddrinfo(list);
    return 0;
}

static int look_up_service(const char *service, uint16_t *port)
{
    struct addrinfo hints = {.ai_family = AF_INET}, *list;
    *port = 0;
    if (!service)
        return 0;
    int result = getaddrinfo(NULL, service, &hints, &list);
    if (result)
        return result;
    *port = ((struct sockaddr_in *)(void *)list->ai_addr)->sin_port;
    freeaddrinfo(list);
    return 0;
}

static struct sockaddr *copy_address(const void *from, size_t bytes)
{
    struct sockaddr *copy = malloc(bytes);
    if (copy)
        memcpy(copy, from, bytes);
    return copy;
}

static void set_kind(struct rdma_addrinfo *info, const struct rdma_addrinfo *hints)
{
    int space = hints ? hints->ai_port_space : 0, type = hints ? hints->ai_qp_type : 0;
    if (!space)
        space = type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
    if (!type)
        type = space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
    info->ai_port_space = space;
    info->ai_qp_type = type;
    info->ai_family = AF_INET;
    info->ai_flags = hints ? hints->ai_flags : 0;
}

WEFT_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *info)
{
    while (info) {
        struct rdma_addrinfo *next = info->ai_next;
        free(info->ai_src_addr);
        free(info->ai_dst_addr);
        free(info->ai_src_canonname);
        free(info->ai_dst_canonname);
        free(info);
        info = next;
    }
}

WEFT_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
                                 const struct rdma_addrinfo *hints, struct rdma_addrinfo **result)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    bool passive = hints && hints->ai_flags & RAI_PASSIVE;
    if (!node && !service && !hints)
        return EAI_NONAME;
    if (hints && hints->ai_flags & RAI_FAMILY && hints->ai_family != AF_INET &&
        hints->ai_family != AF_INET6)
        return EAI_FAMILY;
    int error = look_up_service(service, &address.sin_port);
    if (error == 0 && node)
        error = look_up(node, &address.sin_addr);
    if (error)
        return error;
    struct rdma_addrinfo *info = calloc(1, sizeof *info);
    if (!info)
        return EAI_MEMORY;
    set_kind(info, hints);
    if (passive) {
        info->ai_src_addr = copy_address(&address, sizeof address);
        info->ai_src_len = sizeof address;
    } else if (node) {
        info->ai_dst_addr = copy_address(&address, sizeof address);
        info->ai_dst_len = sizeof address;
    }
    if (!passive && hints && hints->ai_src_len) {
        info->ai_src_addr = copy_address(hints->ai_src_addr, hints->ai_src_len);
        info->ai_src_len = hints->ai_src_len;
    }
    if ((info->ai_src_len && !info->ai_src_addr) || (info->ai_dst_len && !info->ai_dst_addr)) {
        rdma_freeaddrinfo(info);
        return EAI_MEMORY;
    }
    *result = info;
    return 0;
}
