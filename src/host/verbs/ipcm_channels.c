/* Channels of programs with their events, and the IDs that belong to them. An ID of another program
 * does not exist for this one. */
#include "host/verbs/ipcm.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- channels ---- */

struct ipcm_channel *ipcm_find_channel(struct verbs_client *client, uint32_t object)
{
    return OBJECT_FIND(&client->ipcm_channels, object);
}

int ipcm_add_channel(struct verbs_client *client)
{
    uint32_t object = 0;
    int ends[2];
    while (ipcm_find_channel(client, object))
        object++;
    if (object >= IPCM_CHANNELS)
        return -ENOMEM;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    *vec_at(&client->ipcm_channels, object) = (struct ipcm_channel){.used = true, .pipe = ends[1]};
    client->answer.object = object;
    answer_with(client, ends[0]);
    return 0;
}

void ipcm_release_channel(struct verbs_client *client, uint32_t object)
{
    struct ipcm *ipcm = ipcm_of(client);
    struct ipcm_channel *channel = &client->ipcm_channels.items[object];
    channel->events.count = channel->taken; /* they belong to IDs that are removed now */
    for (uint32_t i = 0; i < ipcm->ids.count && channel->users; i++)
        if (ipcm->ids.items[i].client == client && ipcm->ids.items[i].channel == object)
            ipcm_remove_id(ipcm, i);
    vec_release(&channel->events);
    close(channel->pipe);
    channel->used = false;
}

/* A pipe that was full has got room since. */
static void refill_pipe(struct ipcm_channel *channel)
{
    while (channel->tokens < channel->events.count - channel->taken &&
           write(channel->pipe, "", 1) == 1)
        channel->tokens++;
}

void ipcm_put_event(struct ipcm_channel *channel, const struct ipcm_event *event)
{
    vec_push(&channel->events, *event);
    refill_pipe(channel);
}

struct ipcm_id *ipcm_find_id(const struct verbs_client *client, uint32_t number)
{
    struct ipcm *ipcm = ipcm_of(client);
    return number < ipcm->ids.count && ipcm->ids.items[number].client == client
               ? &ipcm->ids.items[number]
               : NULL;
}

int ipcm_next_event(struct verbs_client *client, uint32_t object)
{
    struct ipcm_channel *channel = ipcm_find_channel(client, object);
    if (!channel)
        return -EINVAL;
    channel->tokens -= channel->tokens > 0;
    if (channel->taken == channel->events.count)
        return -EAGAIN;
    const struct ipcm_event *event = &channel->events.items[channel->taken++];
    client->answer.event = *event;
    struct ipcm_id *listener =
        event->kind == IPCM_CONNECT_REQUEST ? ipcm_find_id(client, event->listener) : NULL;
    if (listener && listener->waiting)
        listener->waiting--;
    channel->taken = vec_drop_taken(&channel->events, channel->taken);
    refill_pipe(channel);
    return 0;
}

static size_t pending_events(const struct ipcm_channel *channel)
{
    return channel->events.count - channel->taken;
}

static size_t events_of(const struct ipcm_channel *channel, uint32_t number)
{
    size_t count = 0;
    for (size_t i = channel->taken; i < channel->events.count; i++)
        count += channel->events.items[i].id == number;
    return count;
}

/* Moves the events of an ID, or drops them. */
static void move_events(struct ipcm_channel *from, uint32_t number, struct ipcm_channel *to)
{
    size_t kept = from->taken;
    for (size_t i = from->taken; i < from->events.count; i++) {
        const struct ipcm_event event = from->events.items[i];
        if (event.id != number)
            from->events.items[kept++] = event;
        else if (to)
            ipcm_put_event(to, &event);
    }
    from->events.count = kept;
}

/* ---- IDs ---- */

/* A program that does not read its events gets no further ones. */
bool ipcm_has_many_events(const struct verbs_client *client, const struct ipcm_id *id)
{
    return pending_events(&client->ipcm_channels.items[id->channel]) >= IPCM_EVENTS;
}

int ipcm_open_id(struct verbs_client *client, const struct ipcm_request *request)
{
    if (!ipcm_find_channel(client, request->channel))
        return -EINVAL;
    if (request->space != IPCM_SPACE_TCP && request->space != IPCM_SPACE_UDP &&
        request->space != IPCM_SPACE_IPOIB)
        return -EOPNOTSUPP;
    if (client->ipcm_ids >= IPCM_IDS)
        return -ENOMEM;
    client->answer.object =
        ipcm_add_id(ipcm_of(client), client, request->channel, (uint16_t)request->space);
    return 0;
}

/* Listens, or ceases to listen, at the ports of the ID. */
int ipcm_for_ports(struct ipcm *ipcm, const struct ipcm_id *id,
                   int (*act)(struct ipcm *ipcm, struct ipcm_port *port, uint64_t service))
{
    struct adapter *adapter = id->client->adapter;
    uint64_t service = ipcm_service_id(id);
    int result = 0;
    for (unsigned number = 1; number <= adapter->ports && result == 0; number++) {
        struct ipcm_port *port =
            id->port && id->port != number ? NULL : ipcm_port_of(ipcm, adapter, number);
        if (port)
            result = act(ipcm, port, service);
        else if (!id->port || id->port == number)
            result = -EBUSY;
    }
    return result;
}

static int end_service(struct ipcm *ipcm, struct ipcm_port *port, uint64_t service)
{
    if (ipcm_find_listener(ipcm, port, service) == MAP_NONE)
        cm_unlisten(port->cm, service);
    return 0;
}

/* Ends what an ID has to do with other hosts. */
static void end_connection(struct ipcm *ipcm, struct ipcm_id *id)
{
    struct ipcm_port *port = ipcm_port_of_id(ipcm, id);
    struct cm_message because = {.reason = CM_CONSUMER, .status = CM_RESOLVE_REJECTED};
    uint64_t now = fabric_network_time(ipcm->verbs->fabric);
    if (!port || !id->cm_id)
        return;
    if (id->state == IPCM_REQUESTED && ipcm_is_datagram(id))
        cm_answer_service(port->cm, now, id->cm_id, &because);
    else if (id->state == IPCM_REQUESTED || id->state == IPCM_REPLIED)
        cm_reject(port->cm, now, id->cm_id, &because);
    else
        cm_disconnect(port->cm, now, id->cm_id);
    map_remove(&port->ids, id->cm_id);
    id->cm_id = 0;
}

/* The program has not seen these requests of a listener, and never will. */
static void drop_requests(struct ipcm *ipcm, struct ipcm_channel *channel, uint32_t listener)
{
    for (size_t i = channel->taken; i < channel->events.count;)
        if (channel->events.items[i].kind == IPCM_CONNECT_REQUEST &&
            channel->events.items[i].listener == listener)
            ipcm_remove_id(ipcm, channel->events.items[i].id); /* its event, too */
        else
            i++;
}

void ipcm_remove_id(struct ipcm *ipcm, uint32_t number)
{
    struct ipcm_id *id = &ipcm->ids.items[number];
    struct verbs_client *client = id->client;
    struct ipcm_channel *channel = &client->ipcm_channels.items[id->channel];
    if (id->state == IPCM_LISTENING) {
        id->state = IPCM_ENDED;
        struct ipcm_id listener = *id;
        listener.state = IPCM_LISTENING;
        ipcm_for_ports(ipcm, &listener, end_service);
        for (uint32_t i = 0; i < client->ipcm_channels.count; i++)
            drop_requests(ipcm, &client->ipcm_channels.items[i], number);
    }
    end_connection(ipcm, id);
    ipcm_leave_all(ipcm, id);
    move_events(channel, number, NULL);
    channel->users--;
    client->ipcm_ids--;
    vec_release(&id->groups);
    id->client = NULL;
    pool_give(&ipcm->ids, number);
}

int ipcm_migrate_id(struct verbs_client *client, uint32_t number, struct ipcm_id *id,
                    uint32_t object)
{
    struct ipcm_channel *to = ipcm_find_channel(client, object);
    struct ipcm_channel *from = &client->ipcm_channels.items[id->channel];
    if (!to)
        return -EINVAL;
    if (to == from)
        return 0;
    if (pending_events(to) + events_of(from, number) > IPCM_EVENTS)
        return -ENOBUFS;
    move_events(from, number, to);
    from->users--;
    to->users++;
    id->channel = object;
    return 0;
}

void ipcm_release_client(struct verbs_client *client)
{
    struct ipcm *ipcm = ipcm_of(client);
    for (uint32_t i = 0; i < client->ipcm_channels.count; i++)
        if (client->ipcm_channels.items[i].used)
            ipcm_release_channel(client, i);
    assert(!ipcm || client->ipcm_ids == 0);
    vec_release(&client->ipcm_channels);
}

void ipcm_count(const struct verbs_client *client, uint32_t *listening, uint32_t *connections)
{
    const struct ipcm *ipcm = ipcm_of(client);
    for (size_t i = 0; i < ipcm->ids.count; i++) {
        const struct ipcm_id *id = &ipcm->ids.items[i];
        *listening += id->client == client && id->state == IPCM_LISTENING;
        *connections += id->client == client && id->state == IPCM_OPEN;
    }
}
