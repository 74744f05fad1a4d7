/* Registrations that are read: from a file, or as the answer of a master to a poll of its standby.
 *
 * The first byte says which. A file may be followed by a zero and the changes of another master,
 * which are merged. Answers have the header and the proof of sync.c, which nobody finds by
 * chance; one in four has a proof of another text, and is refused. Whatever the text is, it is
 * refused and changes nothing, or it is read, and then what is written down of it reads back as the
 * same. */
#include "input.h"
#include "sa_world.h"

#include "sa/internal.h"
#include "subnet/trust.h"

#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 40, HEADER_BYTES = 32 };

static struct sa *new_sa(void)
{
    struct sa_config config;
    sa_config_init(&config);
    config.service_limit = config.subscription_limit = LIMIT;
    config.instance = 3;
    return sa_new(&config, 99);
}

/* Without the first line, which counts. */
static struct text printed(const struct sa *sa)
{
    struct text text = {0};
    sa_registry_print(sa, 0, &text);
    char *end = strchr(text.data, '\n');
    promise(end != NULL);
    memset(text.data, '-', (size_t)(end - text.data));
    return text;
}

static void same(const struct text *a, const struct text *b)
{
    promise(strcmp(strchr(a->data, '\n'), strchr(b->data, '\n')) == 0);
}

static void check_bounds(const struct sa *sa)
{
    const struct groups *groups = sa_groups(sa);
    struct sa_counts counts;
    sa_counts(sa, &counts);
    for (size_t i = 0; i < sa_alias_guids(sa)->blocks.count; i++)
        for (unsigned place = 0; place < ALIAS_PLACES; place++) {
            uint64_t guid = sa_alias_guids(sa)->blocks.items[i].guids[place];
            promise(!guid || alias_guids_port(sa_alias_guids(sa), guid) ==
                                 sa_alias_guids(sa)->blocks.items[i].port_guid);
        }
    promise(counts.services <= 2 * LIMIT && counts.subscriptions <= 2 * LIMIT);
    for (size_t i = 0; i < groups->all.count; i++) {
        const struct group *group = groups->all.items[i];
        promise(groups_at(groups, group->mlid) == group);
        promise(groups_find(groups, group->mgid) == group);
        promise(group->permanent || group_has_full_member(group));
    }
}

static int read_file(struct sa *sa, const uint8_t *data, size_t size)
{
    struct sa_registry_file file = {"file", (const char *)data, size, 100};
    return sa_registry_read(sa, NS_PER_S, &file, NULL);
}

/* What follows a zero byte is merged; what has changed since half of the generations stays. */
static int read_two(struct sa *sa, const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t first = end ? (size_t)(end - data) : size;
    int status = read_file(sa, data, first);
    struct sa_generations base = sa_registry_generations(sa);
    base.groups /= 2;
    base.others /= 2;
    if (status < 0 || !end)
        return status;
    struct text before = printed(sa);
    struct sa_registry_file file = {"offer", (const char *)end + 1, size - first - 1, 0};
    if (registry_merge(sa, &file, &base, NULL) < 0) {
        struct text after = printed(sa);
        same(&before, &after);
        text_release(&after);
    }
    text_release(&before);
    return 0;
}

/* The answer to a poll with these data, with a proof for a text that `forged` bytes precede. */
static void prove(uint8_t *answer, const uint8_t *poll, size_t text_bytes, size_t forged)
{
    enum { MARK = 0, CHALLENGE = 64, PROOF_BYTE = 16, NONCE = 192 };
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    wire_set_bits(answer, MARK, 64, UINT64_C(0x7765667473796e63));
    wire_set_bits(answer, CHALLENGE, 64, 5);
    sha256_init(&hash);
    sha256_update(&hash, PROOF_BYTE, answer);
    sha256_update(&hash, forged, (const uint8_t *)"forged");
    sha256_update(&hash, text_bytes, answer + HEADER_BYTES);
    sha256_digest(&hash, sizeof digest, digest);
    trust_prove(KEY_WELL_KNOWN, "registrations", wire_get_bits(poll, NONCE, 64), digest,
                sizeof digest, answer + PROOF_BYTE);
}

static int read_answer(struct sa *sa, const uint8_t *data, size_t size, bool forged)
{
    struct sa_message question;
    sa_follow(sa, NS_PER_S, &(struct sa_master){.lid = 7, .tells = true});
    sa_expire(sa, NS_PER_S);
    promise(sa_next_output(sa, NS_PER_S, &question));
    size_t bytes = SA_DATA_OFFSET + HEADER_BYTES + size;
    uint8_t *answer = mem_alloc(bytes);
    memcpy(answer, question.data, SA_DATA_OFFSET);
    memcpy(answer + SA_DATA_OFFSET + HEADER_BYTES, data, size);
    prove(answer + SA_DATA_OFFSET, question.data + SA_DATA_OFFSET, size, forged ? 6 : 0);
    wire_set(answer, MAD_METHOD, METHOD_GET_TABLE_RESP);
    sa_receive(sa, NS_PER_S,
               &(struct sa_message){.address = {.lid = 7}, .data = answer, .bytes = bytes});
    mem_free(answer);
    promise(!forged || !sa_registry_master(sa));
    return sa_registry_master(sa) ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sa *sa = new_sa(), *again = new_sa();
    bool file = !size || data[0] % 2 == 0;
    struct text before = printed(sa);
    int status = file ? read_two(sa, data + !!size, size - !!size)
                      : read_answer(sa, data + 1, size - 1, data[0] % 8 == 7);
    struct text after = printed(sa);
    if (status < 0) {
        same(&before, &after);
    } else {
        check_bounds(sa);
        struct sa_counts counts;
        sa_counts(sa, &counts);
        if (counts.services <= LIMIT && counts.subscriptions <= LIMIT) {
            promise(read_file(again, (const uint8_t *)after.data, after.length) == 0);
            struct text twice = printed(again);
            same(&after, &twice);
            text_release(&twice);
        }
    }
    text_release(&before);
    text_release(&after);
    sa_free(sa);
    sa_free(again);
    return 0;
}
