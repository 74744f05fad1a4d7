/* An MPI program that checks what it receives: each rank sends messages of 8 bytes to 512 KiB to
 * the next one, as often as an argument says, and the ranks add their numbers. On a simulated
 * fabric, with a host for each rank:
 *
 *     mpicc -o exchange exchange.c
 *     weft fabric cluster.net -- sh -c 'weft sm --once &&
 *         WEFT_ATTACH=H%r mpirun -n 4 --mca pml ucx -x UCX_TLS=ud_v,self ./exchange' */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST = 8, MOST = 512 * 1024 };

static unsigned char byte_of(int rank, int size, int at)
{
    return (unsigned char)(rank * 31 + size + at * 7);
}

/* Returns the number of wrong bytes. */
static int exchange(int rank, int ranks, int size, unsigned char *out, unsigned char *in)
{
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, wrong = 0;
    for (int i = 0; i < size; i++)
        out[i] = byte_of(rank, size, i);
    MPI_Sendrecv(out, size, MPI_BYTE, to, 1, in, size, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++)
        wrong += in[i] != byte_of(from, size, i);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, all = 0, sum = 0, times = argc > 1 ? atoi(argv[1]) : 1;
    unsigned char *out = malloc(MOST), *in = malloc(MOST);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < times; i++)
        for (int size = LEAST; size <= MOST; size *= 4)
            wrong += exchange(rank, ranks, size, out, in);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != ranks * (ranks - 1) / 2;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("%d ranks, all bytes right\n", ranks);
    else if (rank == 0)
        printf("%d bytes are wrong\n", all);
    MPI_Finalize();
    free(out);
    free(in);
    return wrong != 0;
}
