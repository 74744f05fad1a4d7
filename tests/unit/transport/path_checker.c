/* The checker of paths: see path_checker.h. */
#include "path_checker.h"

void path_checker_load(struct path_checker *checker, uint16_t alternate)
{
    checker->alternate = alternate;
    checker->loaded = true;
    checker->armed = false;
}

static void move(struct path_checker *checker)
{
    checker->path = checker->alternate;
    checker->loaded = checker->armed = false;
}

static void note_arrival(struct path_checker *checker, const struct transport_packet *packet)
{
    bool moves = checker->armed && packet->migrated;
    checker->dropped = packet->slid != (moves ? checker->alternate : checker->path);
    if (checker->dropped)
        return;
    if (moves)
        move(checker);
    else if (checker->loaded && !packet->migrated)
        checker->armed = true;
}

bool path_checker_add(struct path_checker *checker, bool sent,
                      const struct transport_packet *packet, bool may_move)
{
    checker->dropped = false;
    if (!sent) {
        note_arrival(checker, packet);
        return true;
    }
    if (checker->loaded && packet->dlid == checker->alternate) {
        checker->error = !checker->armed ? "the end moves without being armed"
                         : !may_move     ? "the end moves without a reason"
                                         : NULL;
        move(checker);
    }
    if (!checker->error && packet->dlid != checker->path)
        checker->error = "the packet is not on the path of the end";
    if (!checker->error && packet->migrated == checker->loaded)
        checker->error = checker->loaded ? "the bit is set although an alternate path is loaded"
                                         : "the bit is not set";
    return !checker->error;
}
