/* What the HTTP server parses itself: its address, queries and forms, Host and Origin.
 * libmicrohttpd parses the rest. */
#include "host/http/address.h"
#include "host/http/fields.h"
#include "host/http/guard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* An accepted address is the same after printing and reading. */
static void check_address(const char *text)
{
    struct http_address first, second;
    struct err err = {0};
    char url[160];
    if (http_address_parse(text, &first, &err) < 0) {
        require(err.message[0]);
        return;
    }
    http_address_url(&first, -1, url, sizeof url);
    const char *again = strncmp(url, "http://", 7) == 0 ? url + 7 : url;
    require(http_address_parse(again, &second, &err) == 0);
    require(memcmp(&first, &second, sizeof first) == 0);
}

static void check_fields(char *text, size_t size)
{
    struct http_fields fields = {0};
    if (!http_fields_add(&fields, text))
        return;
    require(fields.count <= HTTP_FIELDS_MOST);
    for (size_t i = 0; i < fields.count; i++) {
        const struct http_field *field = &fields.items[i];
        require(field->name >= text && field->name <= text + size);
        require(field->value >= text && field->value <= text + size);
        require(http_fields_get(&fields, field->name) != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"node7", NULL, "sm.example.org"};
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    check_address(text);
    if (http_guard_host(text, names, 3))
        require(strlen(text) < 300 && !strpbrk(text, "/@ \r\n"));
    require(!http_guard_origin(text, NULL));
    check_fields(text, size);
    free(text);
    return 0;
}
