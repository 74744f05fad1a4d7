/* How long an MPI all-reduce takes: the sum of COUNT numbers of every rank, REPEATED times,
 * checked. compare_engines.sh runs it on a torus that two routing engines have routed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 4096, REPEATED = 20 };

int main(int argc, char **argv)
{
    static int of_rank[COUNT], sum[COUNT];
    int rank, ranks, wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < COUNT; i++)
        of_rank[i] = rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < REPEATED; i++)
        MPI_Allreduce(of_rank, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    double took = (MPI_Wtime() - begin) / REPEATED;
    for (int i = 0; i < COUNT; i++)
        wrong += sum[i] != ranks * (ranks - 1) / 2 + ranks * i;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %zu bytes: %.0f us, %s\n", ranks, sizeof sum, took * 1e6,
               all ? "WRONG" : "all sums right");
    MPI_Finalize();
    return all != 0;
}
