/* Tokens: a request that changes something carries that of the server in X-Weft-Token. The
 * comparison takes the same time for all tokens of a length. */
#include "host/http/http.h"

#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/random.h>

enum { RANDOM_BYTES = 16, FILE_MOST = 4096 };

int http_token_check_format(const char *token, struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.~";
    size_t length = strlen(token);
    if (length < HTTP_TOKEN_LEAST || length > HTTP_TOKEN_MOST || strspn(token, allowed) != length)
        return err_set(err, EINVAL, "a token has %d to %d letters, digits, or characters of -_.~",
                       HTTP_TOKEN_LEAST, HTTP_TOKEN_MOST);
    return 0;
}

int http_token_read(const char *path, char token[HTTP_TOKEN_MOST + 1], struct err *err)
{
    struct text text = {0};
    struct err reason = {0};
    int status = file_read_private(path, FILE_MOST, &text, err);
    if (status == 0) {
        text.data[strcspn(text.data, "\r\n")] = 0;
        status = http_token_check_format(text.data, &reason);
        if (status < 0)
            status = err_at(err, -status, path, 1, "%s", reason.message);
        else
            strcpy(token, text.data);
    }
    text_release(&text);
    return status;
}

void http_token_make(char token[HTTP_TOKEN_MOST + 1])
{
    uint8_t random[RANDOM_BYTES];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        mem_fail("random bytes");
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
}

bool http_token_matches(const char *given, const char *token)
{
    return given && strlen(given) == strlen(token) && memeql_sec(given, token, strlen(token));
}
