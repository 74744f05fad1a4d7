/* Reads experiments/papers. */
#include "reproduce/papers.h"

#include "base/line_reader.h"

#include <string.h>

enum { FILE_LIMIT = 64 * 1024, YEAR_FIRST = 1900, YEAR_LAST = 2999 };

static int read_paper(struct papers *papers, struct cursor *cursor)
{
    struct paper paper = {0};
    struct word key, authors, title, venue, folder;
    cursor_take_exact(cursor, "paper");
    cursor_take(cursor, "a name", &key);
    cursor_take(cursor, "the authors", &authors);
    cursor_take(cursor, "the title", &title);
    cursor_take(cursor, "the venue", &venue);
    cursor_take_number(cursor, "the year", YEAR_FIRST, YEAR_LAST, &paper.year);
    if (cursor_accept(cursor, "with"))
        do {
            cursor_take(cursor, "a folder", &folder);
            vec_push(&paper.folders, folder.text);
        } while (!cursor_is_done(cursor) && cursor->status == 0);
    paper.key = key.text;
    paper.authors = authors.text;
    paper.title = title.text;
    paper.venue = venue.text;
    vec_push(&papers->items, paper);
    return cursor_take_end(cursor);
}

int papers_read(struct papers *papers, const char *path, struct err *err)
{
    struct line_reader *reader = from_file(path, err);
    struct cursor cursor;
    *papers = (struct papers){0};
    reader->limit = FILE_LIMIT;
    reader->arena = &papers->arena;
    while (line_reader_next(reader, &cursor))
        reader->status = read_paper(papers, &cursor);
    if (reader->status)
        papers_release(papers);
    return reader->status;
}

void papers_release(struct papers *papers)
{
    for (size_t i = 0; i < papers->items.count; i++)
        vec_release(&papers->items.items[i].folders);
    vec_release(&papers->items);
    arena_release(&papers->arena);
}

const struct paper *papers_find(const struct papers *papers, const char *folder)
{
    for (size_t i = 0; i < papers->items.count; i++) {
        const struct paper *paper = &papers->items.items[i];
        size_t length = strlen(paper->key);
        if (strncmp(folder, paper->key, length) == 0 && folder[length] == '-')
            return paper;
        for (size_t f = 0; f < paper->folders.count; f++)
            if (strcmp(folder, paper->folders.items[f]) == 0)
                return paper;
    }
    return NULL;
}
