/* SHA-256 as FIPS 180-4, section 6.2, defines it, and HMAC as RFC 2104 does. Names follow
 * the standard. */
#include "base/sha256.h"

#include <assert.h>
#include <string.h>

static const uint32_t round_constants[SHA256_BLOCK] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x >> bits | x << (32 - bits);
}

static void store(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static void expand_block(const uint8_t *block, uint32_t schedule[SHA256_BLOCK])
{
    for (unsigned i = 0; i < 16; i++)
        schedule[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                      (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (unsigned i = 16; i < SHA256_BLOCK; i++) {
        uint32_t a = schedule[i - 15], b = schedule[i - 2];
        schedule[i] = schedule[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + schedule[i - 7] +
                      (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

struct turn {
    uint32_t first, fifth; /* the new values of the variables a and e */
};

/* One round, without the shift of the variables: the caller passes them in another order. The sums
 * of three rotations (by 6, 11, 25 and 2, 13, 22) are nested. */
static inline struct turn hash_round(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e,
                                     uint32_t f, uint32_t g, uint32_t sum)
{
    uint32_t t1 = sum + rotate(rotate(rotate(e, 14) ^ e, 5) ^ e, 6) + (((f ^ g) & e) ^ g);
    uint32_t t2 = rotate(rotate(rotate(a, 9) ^ a, 11) ^ a, 2) + ((a & b) | (c & (a | b)));
    return (struct turn){t1 + t2, d + t1};
}

static void hash_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t schedule[SHA256_BLOCK];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    expand_block(block, schedule);
    for (unsigned i = 0; i < SHA256_BLOCK; i += 4) {
        struct turn t[4];
        const uint32_t *k = round_constants + i, *w = schedule + i;
        t[0] = hash_round(a, b, c, d, e, f, g, h + k[0] + w[0]);
        t[1] = hash_round(t[0].first, a, b, c, t[0].fifth, e, f, g + k[1] + w[1]);
        t[2] = hash_round(t[1].first, t[0].first, a, b, t[1].fifth, t[0].fifth, e, f + k[2] + w[2]);
        t[3] = hash_round(t[2].first, t[1].first, t[0].first, a, t[2].fifth, t[1].fifth, t[0].fifth,
                          e + k[3] + w[3]);
        d = t[0].first, c = t[1].first, b = t[2].first, a = t[3].first;
        h = t[0].fifth, g = t[1].fifth, f = t[2].fifth, e = t[3].fifth;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void sha256_init(struct sha256 *hash)
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    *hash = (struct sha256){0};
    memcpy(hash->state, initial, sizeof initial);
}

void sha256_add(struct sha256 *hash, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    while (bytes) {
        size_t filled = hash->bytes % SHA256_BLOCK, room = SHA256_BLOCK - filled;
        size_t taken = bytes < room ? bytes : room;
        memcpy(hash->pending + filled, from, taken);
        hash->bytes += taken;
        from += taken;
        bytes -= taken;
        if (taken == room)
            hash_block(hash->state, hash->pending);
    }
}

void sha256_end(struct sha256 *hash, uint8_t digest[SHA256_BYTES])
{
    static const uint8_t padding[SHA256_BLOCK] = {0x80};
    enum { LENGTH_BYTES = 8 };
    uint8_t length[LENGTH_BYTES];
    size_t filled = hash->bytes % SHA256_BLOCK;
    store(length, hash->bytes * 8, LENGTH_BYTES);
    sha256_add(hash, padding,
               (filled < SHA256_BLOCK - LENGTH_BYTES ? 1 : 2) * SHA256_BLOCK - LENGTH_BYTES -
                   filled);
    sha256_add(hash, length, LENGTH_BYTES);
    assert(hash->bytes % SHA256_BLOCK == 0);
    for (unsigned i = 0; i < 8; i++)
        store(digest + 4 * i, hash->state[i], 4);
}

void hmac_init(struct hmac *hmac, const void *key, size_t key_bytes)
{
    uint8_t block[SHA256_BLOCK] = {0};
    if (key_bytes > SHA256_BLOCK) {
        sha256_init(&hmac->inner);
        sha256_add(&hmac->inner, key, key_bytes);
        sha256_end(&hmac->inner, block);
    } else if (key_bytes) {
        memcpy(block, key, key_bytes);
    }
    for (unsigned i = 0; i < SHA256_BLOCK; i++) {
        hmac->outer_pad[i] = block[i] ^ 0x5c;
        block[i] ^= 0x36;
    }
    sha256_init(&hmac->inner);
    sha256_add(&hmac->inner, block, SHA256_BLOCK);
}

void hmac_add(struct hmac *hmac, const void *data, size_t bytes)
{
    sha256_add(&hmac->inner, data, bytes);
}

void hmac_add_u64(struct hmac *hmac, uint64_t value)
{
    uint8_t bytes[8];
    store(bytes, value, sizeof bytes);
    hmac_add(hmac, bytes, sizeof bytes);
}

void hmac_end(struct hmac *hmac, uint8_t digest[SHA256_BYTES])
{
    struct sha256 outer;
    uint8_t inner[SHA256_BYTES];
    sha256_end(&hmac->inner, inner);
    sha256_init(&outer);
    sha256_add(&outer, hmac->outer_pad, SHA256_BLOCK);
    sha256_add(&outer, inner, sizeof inner);
    sha256_end(&outer, digest);
}

bool secret_equal(const void *a, const void *b, size_t bytes)
{
    const volatile uint8_t *x = a, *y = b;
    uint8_t difference = 0;
    for (size_t i = 0; i < bytes; i++)
        difference |= x[i] ^ y[i];
    return difference == 0;
}
