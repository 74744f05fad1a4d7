/* SHA-256 and HMAC against the vectors of FIPS 180-4 (examples) and RFC 4231. */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_digest(const uint8_t digest[SHA256_BYTES], const char *expected)
{
    char text[2 * SHA256_BYTES + 1];
    for (unsigned i = 0; i < SHA256_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, expected);
}

static void sha256_matches_the_vectors_of_the_standard(void **state)
{
    static const struct {
        const char *text, *digest;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
         "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct sha256 hash;
        uint8_t digest[SHA256_BYTES];
        sha256_init(&hash);
        sha256_add(&hash, vectors[i].text, strlen(vectors[i].text));
        sha256_end(&hash, digest);
        assert_digest(digest, vectors[i].digest);
    }
}

static void a_million_letters_in_uneven_pieces_match(void **state)
{
    static const char letters[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    struct sha256 hash;
    uint8_t digest[SHA256_BYTES];
    (void)state;
    sha256_init(&hash);
    for (size_t left = 1000000, piece = 1; left; piece = piece % (sizeof letters - 1) + 1) {
        size_t bytes = piece < left ? piece : left;
        sha256_add(&hash, letters, bytes);
        left -= bytes;
    }
    sha256_end(&hash, digest);
    assert_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void hmac_matches_the_vectors_of_rfc_4231(void **state)
{
    uint8_t sequence[25], digest[SHA256_BYTES], same[131], data[50];
    for (unsigned i = 0; i < sizeof sequence; i++)
        sequence[i] = (uint8_t)(i + 1);
    const struct {
        const void *key;
        size_t key_bytes;
        uint8_t fill;     /* of the key, if it is not given */
        const char *text; /* NULL: 50 bytes 0xdd (case 3) or 0xcd (case 4) */
        const char *digest;
    } cases[] = {
        {NULL, 20, 0x0b, "Hi There",
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", 4, 0, "what do ya want for nothing?",
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {NULL, 20, 0xaa, NULL, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
        {sequence, sizeof sequence, 0, NULL,
         "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
        {NULL, 131, 0xaa, "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
        {NULL, 131, 0xaa,
         "This is a test using a larger than block-size key and a larger than block-size data. The "
         "key needs to be hashed before being used by the HMAC algorithm.",
         "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hmac hmac;
        memset(same, cases[i].fill, sizeof same);
        memset(data, cases[i].key == sequence ? 0xcd : 0xdd, sizeof data);
        hmac_init(&hmac, cases[i].key ? cases[i].key : same, cases[i].key_bytes);
        hmac_add(&hmac, cases[i].text ? (const void *)cases[i].text : data,
                 cases[i].text ? strlen(cases[i].text) : sizeof data);
        hmac_end(&hmac, digest);
        assert_digest(digest, cases[i].digest);
    }
}

static void numbers_are_added_in_network_byte_order(void **state)
{
    struct hmac a, b;
    uint8_t one[SHA256_BYTES], other[SHA256_BYTES];
    (void)state;
    hmac_init(&a, "k", 1);
    hmac_add_u64(&a, UINT64_C(0x0102030405060708));
    hmac_end(&a, one);
    hmac_init(&b, "k", 1);
    hmac_add(&b, "\1\2\3\4\5\6\7\10", 8);
    hmac_end(&b, other);
    assert_true(secret_equal(one, other, sizeof one));
    other[31] ^= 1;
    assert_false(secret_equal(one, other, sizeof one));
    assert_true(secret_equal(one, other, 31));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_matches_the_vectors_of_the_standard),
        cmocka_unit_test(a_million_letters_in_uneven_pieces_match),
        cmocka_unit_test(hmac_matches_the_vectors_of_rfc_4231),
        cmocka_unit_test(numbers_are_added_in_network_byte_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
