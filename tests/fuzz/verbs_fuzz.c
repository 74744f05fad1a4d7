/* The server's side of opened devices: what two programs may send and write into their rings, in
 * any order.
 *
 * An input is a sequence of steps, each a byte that says what happens, a byte that says to which
 * program, a length byte (in units of 8) and so many bytes. Each program begins with a domain, a
 * CQ, an RC QP, an SRQ and a region, and their port is Active. A program may
 * register only parts of a field in the middle of `memory`: what lies around it never changes,
 * whatever the keys and addresses in its requests are. */
#include "base/time.h"
#include "fabric/fabric.h"
#include "host/mad/mad_layer.h"
#include "host/verbs/verbs.h"
#include "input.h"
#include "small_fabric.h"
#include "wire/mad.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    PROGRAMS = 2,
    STEPS = 60,
    UNIT = 8,
    FIELD = 4096,
    AROUND = 4096,
    RINGS = 6,
    CANARY = 0xA5,
    IPCM_KINDS = 192
};

enum step {
    STEP_REQUEST, /* kind, object, then the rest of it */
    STEP_RAW,     /* a packet as it is */
    STEP_RING,    /* bytes into a ring: which, offset in units of 8 */
    STEP_POST,    /* work was posted: which ring, counts */
    STEP_TIME,
    STEP_END, /* the program ends, and another begins */
    STEP_COUNT,
};

static uint8_t memory[AROUND + FIELD + AROUND];

struct program {
    struct verbs_client *client;
    struct {
        uint8_t *at;
        size_t bytes;
    } rings[RINGS], page;
    unsigned ring_count;
};

struct world {
    struct fabric *fabric;
    struct mad_layer *mads;
    struct addresses addresses;
    struct verbs *verbs;
    struct program programs[PROGRAMS];
};

static void keep_ring(struct program *program, const struct verbs_answer *answer, int descriptor,
                      bool page)
{
    struct stat status;
    if (answer->descriptors == 0 || fstat(descriptor, &status) < 0 || !S_ISREG(status.st_mode) ||
        program->ring_count == RINGS)
        return;
    void *at =
        mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    promise(at != MAP_FAILED);
    if (page) {
        program->page.at = at;
        program->page.bytes = (size_t)status.st_size;
        return;
    }
    program->rings[program->ring_count].at = at;
    program->rings[program->ring_count++].bytes = (size_t)status.st_size;
}

static void end_program(struct program *program)
{
    verbs_detach(program->client);
    for (unsigned i = 0; i < program->ring_count; i++)
        munmap(program->rings[i].at, program->rings[i].bytes);
    if (program->page.at)
        munmap(program->page.at, program->page.bytes);
    memset(program, 0, sizeof *program);
}

/* A program that breaks the protocol ends. */
static void send_packet(struct program *program, const void *packet, size_t bytes, int descriptor)
{
    const int *descriptors;
    if (!program->client) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    bool page = descriptor >= 0;
    if (verbs_receive(program->client, packet, bytes, descriptor) < 0) {
        end_program(program);
        return;
    }
    const struct verbs_answer *answer = verbs_next_answer(program->client, &descriptors);
    if (!answer)
        return;
    keep_ring(program, answer, descriptors[0], page);
    verbs_answer_sent(program->client);
}

/* Only the field can be registered: at every access the server checks what was registered. */
static void tame(struct verbs_request *request)
{
    if (request->kind == VERBS_ADD_REGION) {
        uint64_t offset = request->region.memory % FIELD;
        request->region.memory = (uintptr_t)memory + AROUND + offset;
        request->region.bytes %= FIELD - offset + 1;
        if (request->region.start % 2)
            request->region.start = request->region.memory;
    }
    if (request->kind == VERBS_ADD_CQ || request->kind == VERBS_RESIZE_CQ)
        request->cq.capacity %= 32;
}

static void open_program(struct world *world, unsigned which)
{
    struct program *program = &world->programs[which];
    struct verbs_request request = {.kind = VERBS_MEMORY};
    struct err err;
    promise(verbs_attach(world->verbs, A, program, &program->client, &err) == 0);
    send_packet(program, &request, sizeof request, open("/proc/self/mem", O_RDWR | O_CLOEXEC));
    request.kind = VERBS_ADD_DOMAIN;
    send_packet(program, &request, sizeof request, -1);
    request = (struct verbs_request){.kind = VERBS_ADD_CQ};
    request.cq.capacity = 8;
    request.cq.channel = VERBS_NONE;
    send_packet(program, &request, sizeof request, -1);
    request = (struct verbs_request){.kind = VERBS_ADD_QP};
    request.qp_init.service = VERBS_RC;
    request.qp_init.srq = VERBS_NONE;
    request.qp_init.sends = request.qp_init.receives = 8;
    request.qp_init.send_segments = request.qp_init.receive_segments = 2;
    send_packet(program, &request, sizeof request, -1);
    request = (struct verbs_request){.kind = VERBS_ADD_SRQ};
    request.srq.capacity = 8;
    request.srq.segments = 2;
    send_packet(program, &request, sizeof request, -1);
    request = (struct verbs_request){.kind = VERBS_ADD_REGION};
    request.region.rights = 15;
    request.region.memory = (uintptr_t)memory + AROUND; /* its first byte has address 0 */
    request.region.bytes = FIELD;
    send_packet(program, &request, sizeof request, -1);
}

/* Nobody reads the MADs. */
static void run_network(struct fabric *fabric, uint64_t until)
{
    struct fabric_delivery delivery;
    while (fabric_run_network(fabric, until))
        fabric_next_delivery(fabric, &delivery);
}

/* The administration: every query gets a path from the port to itself. */
static void answer_query(struct world *world, const struct fabric_delivery *delivery)
{
    uint8_t mad[MAD_BYTES], *record = mad + SA_DATA_OFFSET;
    struct packet_header header = delivery->header;
    memcpy(mad, delivery->mad, sizeof mad);
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    if (wire_get(mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_PATH_RECORD) {
        wire_set(record, PATH_RECORD_DLID, 1);
        wire_set(record, PATH_RECORD_SLID, 1);
        wire_set(record, PATH_RECORD_MTU, 3);
    }
    header.dlid = delivery->header.slid;
    fabric_send(world->fabric, delivery->port, &header, mad);
}

static void run_connections(struct world *world)
{
    struct fabric_delivery delivery;
    uint64_t until = fabric_network_time(world->fabric) + 20 * TIME_US;
    verbs_run_connections(world->verbs, fabric_network_time(world->fabric));
    while (fabric_run_network(world->fabric, until))
        while (fabric_next_delivery(world->fabric, &delivery))
            if (wire_get(delivery.mad, MAD_CLASS) == CLASS_SUBN_ADM &&
                !mad_is_response(delivery.mad))
                answer_query(world, &delivery);
            else
                mad_layer_deliver(world->mads, until, &delivery);
    while (mad_layer_next_ready(world->mads))
        ;
    verbs_run_connections(world->verbs, until);
}

static void run(struct world *world)
{
    struct program *failed;
    verbs_serve(world->verbs);
    while ((failed = verbs_next_failed(world->verbs)) != NULL)
        end_program(failed);
    run_connections(world);
}

/* A request about connections. Addresses and port numbers are few, so that they meet. */
static void send_ipcm(struct program *program, struct input input)
{
    struct ipcm_request request = {0};
    request.kind = IPCM_ADD_CHANNEL + take(&input) % (IPCM_FIND_HOST - IPCM_ADD_CHANNEL + 1);
    request.object = take(&input) % 8;
    memcpy((uint8_t *)&request + 8, input.bytes,
           input.left < sizeof request - 8 ? input.left : sizeof request - 8);
    request.channel %= 4;
    request.space = request.space % 3 ? IPCM_SPACE_TCP : IPCM_SPACE_UDP;
    request.from.address = request.to.address = request.to.address % 2 ? 0x7F000001 : 0;
    request.from.port %= 4;
    request.to.port %= 4;
    send_packet(program, &request, sizeof request, -1);
}

static void take_step(struct world *world, enum step step, unsigned which, struct input input)
{
    struct program *program = &world->programs[which];
    struct verbs_request request = {0};
    uint8_t raw[UINT8_MAX * UNIT] = {0};
    switch (step) {
    case STEP_REQUEST:
        request.kind = take(&input);
        if (request.kind >= IPCM_KINDS) {
            send_ipcm(program, input);
            break;
        }
        request.kind %= VERBS_DOORBELL + 1;
        request.object = take(&input) % 4;
        memcpy((uint8_t *)&request + 8, input.bytes,
               input.left < sizeof request - 8 ? input.left : sizeof request - 8);
        tame(&request);
        send_packet(program, &request, sizeof request, -1);
        break;
    case STEP_RAW:
        memcpy(&request, input.bytes, input.left < sizeof request ? input.left : sizeof request);
        tame(&request);
        memcpy(raw, &request, sizeof request);
        send_packet(program, raw, input.left, -1);
        break;
    case STEP_RING:
        if (program->ring_count) {
            unsigned ring = take(&input) % program->ring_count;
            size_t at = take_bytes(&input, 2) * (size_t)UNIT % program->rings[ring].bytes;
            size_t room = program->rings[ring].bytes - at;
            memcpy(program->rings[ring].at + at, input.bytes,
                   input.left < room ? input.left : room);
        }
        break;
    case STEP_POST:
        if (program->ring_count && program->page.at) {
            struct verbs_qp_ring *ring =
                (void *)program->rings[take(&input) % program->ring_count].at;
            ring->sends += take(&input) % 10;
            ring->receives += take(&input) % 10;
            ((struct verbs_page *)(void *)program->page.at)->posted = 1;
        }
        break;
    case STEP_TIME: run(world); break;
    case STEP_END:
        end_program(program);
        open_program(world, which);
        break;
    case STEP_COUNT: break;
    }
}

static bool around_is_untouched(void)
{
    for (unsigned i = 0; i < AROUND; i++)
        if (memory[i] != CANARY || memory[AROUND + FIELD + i] != CANARY)
            return false;
    return true;
}

/* As a manager sets the port of adapter A, by an SMP that its own host sends. */
static void set_port(struct fabric *fabric, enum wire_field field, uint64_t value)
{
    uint32_t port = topology_port_index(small_topology(), A, 1);
    struct mad_layer *layer = mad_layer_new(fabric);
    struct mad_file *file = mad_file_open(layer, port, NULL);
    struct registration registration = {.class = CLASS_SUBN_DIRECTED, .class_version = 1};
    struct mad_head head = {.agent = (uint32_t)mad_file_register(file, &registration),
                            .timeout_ms = 100,
                            .lid = 0xFFFF};
    uint8_t mad[MAD_BYTES] = {0}, *info = mad + SMP_DATA_OFFSET;
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_SET);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_PORT_INFO);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, 1);
    wire_set(mad, SMP_DR_SLID, LID_PERMISSIVE);
    wire_set(mad, SMP_DR_DLID, LID_PERMISSIVE);
    memcpy(info, fabric_port_info(fabric, port), SMP_DATA_BYTES);
    wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    wire_set(info, field, value);
    promise(mad_file_send(file, 0, &head, mad, MAD_BYTES) == 0);
    run_network(fabric, TIME_NEVER);
    mad_layer_free(layer);
    promise(wire_get(fabric_port_info(fabric, port), field) == value);
}

static void open_world(struct world *world)
{
    struct fabric_options options;
    memset(world, 0, sizeof *world);
    memset(memory, CANARY, sizeof memory);
    fabric_options_preset(&options, "today", NULL);
    world->fabric = fabric_new(small_topology(), &options, 1);
    run_network(world->fabric, TIME_NEVER);
    set_port(world->fabric, PORT_INFO_LID, 1);
    set_port(world->fabric, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    set_port(world->fabric, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    set_port(world->fabric, PORT_INFO_MASTER_SM_LID, 1);
    world->verbs = verbs_new(world->fabric);
    world->mads = mad_layer_new(world->fabric);
    addresses_add(&world->addresses, topology_port_index(small_topology(), A, 1), 0x0A000001);
    verbs_serve_connections(world->verbs, world->mads, &world->addresses);
    for (unsigned i = 0; i < PROGRAMS; i++)
        open_program(world, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world;
    signal(SIGPIPE, SIG_IGN);
    open_world(&world);
    for (unsigned i = 0; i < STEPS && size >= 3; i++) {
        size_t count = (size_t)data[2] * UNIT;
        if (count > size - 3)
            count = size - 3;
        take_step(&world, (enum step)(data[0] % STEP_COUNT), data[1] % PROGRAMS,
                  (struct input){data + 3, count});
        run(&world);
        promise(around_is_untouched());
        data += 3 + count;
        size -= 3 + count;
    }
    for (unsigned i = 0; i < PROGRAMS; i++)
        end_program(&world.programs[i]);
    verbs_free(world.verbs);
    mad_layer_free(world.mads);
    addresses_release(&world.addresses);
    fabric_free(world.fabric);
    return 0;
}
