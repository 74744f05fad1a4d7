#include "routing/model/multicast_tree.h"

void multicast_tree_release(struct multicast_tree *tree)
{
    vec_release(&tree->arms);
    vec_release(&tree->missed);
}
