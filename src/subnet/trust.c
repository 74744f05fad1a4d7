/* Makes and checks the proofs in SMInfo: HMAC-SHA-256, truncated, in the reserved bytes behind the
 * attribute. The M_Key of each port is derived from the secret in the same way. */
#include "subnet/trust.h"

#include "wire/mad.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>

/* The bytes of an SMP behind SMInfo. A request has all three, an answer has mark and proof. */
enum { AT_MARK = 24, AT_NONCE = 32, NONCE_BYTES = 16, AT_PROOF = 48 };
static const uint8_t mark[AT_NONCE - AT_MARK] = {'w', 'e', 'f', 't', 'k', 'e', 'y', '1'};
_Static_assert(AT_MARK >= (int)WIRE_BYTES_SM_INFO, "behind SMInfo");
_Static_assert(AT_PROOF + TRUST_PROOF_BYTES <= SMP_DATA_BYTES, "in the SMP");

bool key_is_secret(uint64_t key)
{
    return key != 0 && key != KEY_WELL_KNOWN;
}

const char *trust_reason(enum trust_verdict verdict)
{
    switch (verdict) {
    case TRUST_PEER: return "it holds the SM_Key";
    case TRUST_NOT_ALLOWED: return "allowed_sm_guids does not name its port";
    case TRUST_OTHER_GUID: return "it claims the GUID of another port";
    case TRUST_OTHER_KEY: return "it shows another SM_Key";
    case TRUST_NO_KEY: return "it does not prove that it holds the SM_Key";
    }
    return "";
}

static void add_number(struct hmac_sha256_ctx *hmac, uint64_t value)
{
    uint8_t bytes[8];
    wire_set_bits(bytes, 0, 64, value);
    hmac_sha256_update(hmac, sizeof bytes, bytes);
}

static void begin_proof(struct hmac_sha256_ctx *hmac, uint64_t key, const char *label)
{
    uint8_t bytes[8];
    wire_set_bits(bytes, 0, 64, key);
    hmac_sha256_set_key(hmac, sizeof bytes, bytes);
    hmac_sha256_update(hmac, strlen(label) + 1, (const uint8_t *)label);
}

void trust_prove(uint64_t key, const char *label, uint64_t nonce, const void *bytes, size_t count,
                 uint8_t proof[TRUST_PROOF_BYTES])
{
    struct hmac_sha256_ctx hmac;
    begin_proof(&hmac, key, label);
    add_number(&hmac, nonce);
    hmac_sha256_update(&hmac, count, bytes);
    hmac_sha256_digest(&hmac, TRUST_PROOF_BYTES, proof);
}

/* Covers SMInfo without the SM_Key, which may be 0. */
static void prove_info(const struct trust *trust, const char *label, const uint8_t *nonce,
                       uint64_t port_guid, const uint8_t *info, uint8_t *proof)
{
    struct hmac_sha256_ctx hmac;
    begin_proof(&hmac, trust->sm_key, label);
    hmac_sha256_update(&hmac, NONCE_BYTES, nonce);
    add_number(&hmac, port_guid);
    add_number(&hmac, wire_get(info, SM_INFO_GUID));
    add_number(&hmac, wire_get(info, SM_INFO_ACT_COUNT));
    add_number(&hmac, wire_get(info, SM_INFO_PRIORITY) << 4 | wire_get(info, SM_INFO_STATE));
    hmac_sha256_digest(&hmac, TRUST_PROOF_BYTES, proof);
}

static bool proves(const struct trust *trust, const char *label, const uint8_t *nonce,
                   uint64_t port_guid, const uint8_t *info)
{
    uint8_t expected[TRUST_PROOF_BYTES];
    if (memcmp(info + AT_MARK, mark, sizeof mark) != 0)
        return false;
    prove_info(trust, label, nonce, port_guid, info, expected);
    return memeql_sec(expected, info + AT_PROOF, sizeof expected);
}

static bool shows_key(const struct trust *trust, const uint8_t *info)
{
    uint64_t shown = wire_get(info, SM_INFO_SM_KEY);
    return memeql_sec(&shown, &trust->sm_key, sizeof shown);
}

static bool is_allowed(const struct trust *trust, uint64_t port_guid)
{
    for (size_t i = 0; i < trust->allowed_count; i++)
        if (trust->allowed[i] == port_guid)
            return true;
    return trust->allowed_count == 0;
}

void trust_seal_request(const struct trust *trust, uint64_t to_guid, uint64_t count, uint8_t *info)
{
    if (!key_is_secret(trust->sm_key)) {
        wire_set(info, SM_INFO_SM_KEY, trust->sm_key);
        return;
    }
    memcpy(info + AT_MARK, mark, sizeof mark);
    trust_prove(trust->sm_key, "nonce", trust->salt, &count, sizeof count, info + AT_NONCE);
    prove_info(trust, "request", info + AT_NONCE, to_guid, info, info + AT_PROOF);
}

bool trust_request_is_sealed(const struct trust *trust, uint64_t own_guid, const uint8_t *info)
{
    return key_is_secret(trust->sm_key) &&
           proves(trust, "request", info + AT_NONCE, own_guid, info);
}

void trust_seal_answer(const struct trust *trust, uint64_t own_guid, const uint8_t *request,
                       uint8_t *answer)
{
    /* OpenSM ignores a manager that does not show its own key. */
    if (!key_is_secret(trust->sm_key) || shows_key(trust, request))
        wire_set(answer, SM_INFO_SM_KEY, trust->sm_key);
    if (!key_is_secret(trust->sm_key) || memcmp(request + AT_MARK, mark, sizeof mark) != 0)
        return;
    memcpy(answer + AT_MARK, mark, sizeof mark);
    prove_info(trust, "answer", request + AT_NONCE, own_guid, answer, answer + AT_PROOF);
}

enum trust_verdict trust_judge_answer(const struct trust *trust, uint64_t port_guid,
                                      const uint8_t *request, const uint8_t *answer)
{
    bool secret = key_is_secret(trust->sm_key);
    if (!is_allowed(trust, port_guid))
        return TRUST_NOT_ALLOWED;
    if ((secret || trust->allowed_count) && wire_get(answer, SM_INFO_GUID) != port_guid)
        return TRUST_OTHER_GUID;
    if (shows_key(trust, answer))
        return TRUST_PEER;
    if (wire_get(answer, SM_INFO_SM_KEY))
        return TRUST_OTHER_KEY;
    if (secret && !proves(trust, "answer", request + AT_NONCE, port_guid, answer))
        return TRUST_NO_KEY;
    return TRUST_PEER;
}

enum trust_verdict trust_judge_set(const struct trust *trust, const uint8_t *info)
{
    if (!is_allowed(trust, wire_get(info, SM_INFO_GUID)))
        return TRUST_NOT_ALLOWED;
    if (shows_key(trust, info))
        return TRUST_PEER;
    if (wire_get(info, SM_INFO_SM_KEY))
        return TRUST_OTHER_KEY;
    return key_is_secret(trust->sm_key) ? TRUST_NO_KEY : TRUST_PEER;
}
