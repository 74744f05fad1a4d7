/* SMInfo of other managers: what any host can send as a request, an answer or a Set.
 *
 * The input has the keys, the lists of allowed ports, a request and an answer. Whatever they are:
 * with a secret key nobody is a peer who neither shows it nor has proved that he holds it, a port
 * that is not allowed is no peer, and what this manager sends does not contain its key. What a peer
 * seals is accepted, and is not accepted for another port or nonce. */
#include "input.h"
#include "subnet/trust.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INFO_BYTES = 64, HEADER_BYTES = 40, NONCE_AT = 32 };

/* Among SM_Key, nonce and proof. (The GUID may be equal by chance.) */
static bool contains(const uint8_t *info, uint64_t key)
{
    bool found = wire_get(info, SM_INFO_SM_KEY) == key;
    for (unsigned bit = NONCE_AT * 8; bit < INFO_BYTES * 8; bit += 64)
        found |= wire_get_bits(info, bit, 64) == key;
    return found;
}

/* A strange answer: nobody who lacks the key finds a proof. */
static void check_stranger(const struct trust *trust, uint64_t guid, const uint8_t *request,
                           const uint8_t *answer)
{
    bool secret = key_is_secret(trust->sm_key);
    bool shows = wire_get(answer, SM_INFO_SM_KEY) == trust->sm_key;
    enum trust_verdict verdict = trust_judge_answer(trust, guid, request, answer);
    promise(trust_reason(verdict) != NULL || verdict == TRUST_PEER);
    if (trust->allowed_count && trust->allowed[0] != guid)
        promise(verdict == TRUST_NOT_ALLOWED);
    if (secret && !shows) {
        promise(verdict != TRUST_PEER);
        promise(!trust_request_is_sealed(trust, guid, answer));
        promise(trust_judge_set(trust, answer) != TRUST_PEER);
    }
}

/* A peer with the same key answers this manager's request. */
static void check_peer(const struct trust *trust, uint64_t guid, const uint8_t *content)
{
    uint8_t request[INFO_BYTES], answer[INFO_BYTES], other[INFO_BYTES];
    bool secret = key_is_secret(trust->sm_key);
    memcpy(request, content, INFO_BYTES);
    memset(answer, 0, INFO_BYTES);
    wire_set(request, SM_INFO_SM_KEY, 0);
    memset(request + 24, 0, INFO_BYTES - 24);
    trust_seal_request(trust, guid, 1, request);
    memcpy(answer, request, 24);
    wire_set(answer, SM_INFO_GUID, guid);
    wire_set(answer, SM_INFO_SM_KEY, 0);
    trust_seal_answer(trust, guid, request, answer);
    if (!secret)
        return;
    promise(trust_request_is_sealed(trust, guid, request));
    promise(!trust_request_is_sealed(trust, guid + 1, request));
    promise(!contains(request, trust->sm_key) && !contains(answer, trust->sm_key));
    if (trust->allowed_count && trust->allowed[0] != guid)
        return;
    promise(trust_judge_answer(trust, guid, request, answer) == TRUST_PEER);
    memcpy(other, request, INFO_BYTES);
    trust_seal_request(trust, guid, 2, other);
    promise(trust_judge_answer(trust, guid, other, answer) == TRUST_NO_KEY);
    answer[20] ^= 0x10; /* the priority */
    promise(trust_judge_answer(trust, guid, request, answer) != TRUST_PEER ||
            wire_get(answer, SM_INFO_SM_KEY) == trust->sm_key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEADER_BYTES + 2 * INFO_BYTES)
        return 0;
    uint64_t allowed = wire_get_bits(data, 64, 64), guid = wire_get_bits(data, 128, 64);
    struct trust trust = {.sm_key = wire_get_bits(data, 0, 64),
                          .salt = wire_get_bits(data, 192, 64),
                          .allowed = &allowed,
                          .allowed_count = data[32] & 1};
    if (data[32] & 2)
        trust.sm_key = KEY_WELL_KNOWN;
    if (data[32] & 4)
        guid = allowed;
    check_stranger(&trust, guid, data + HEADER_BYTES, data + HEADER_BYTES + INFO_BYTES);
    check_peer(&trust, guid, data + HEADER_BYTES);
    return 0;
}
