/* Parser of a time: a duration such as 5ms, or `settled` with an optional offset (settled+5ms). */
#include "experiment/scenario/moment.h"

#include <string.h>

int moment_take(struct cursor *cursor, struct moment *moment)
{
    static const char settled[] = "settled";
    const size_t length = sizeof settled - 1;
    struct word word = cursor_next(cursor);
    *moment = (struct moment){0};
    if (cursor_is_done(cursor) || strncmp(word.text, settled, length) != 0)
        return cursor_take_time(cursor, &moment->ps);
    cursor->at++;
    moment->settled = true;
    if (word.text[length] == 0)
        return 0;
    if (word.text[length] != '+' || !time_parse(word.text + length + 1, &moment->ps))
        return word_error(cursor, &word, "'%.80s': expected a time such as settled+5ms", word.text);
    return 0;
}
