/* A volume in one dimension, with sizes in a macro, and its planes after one another. */
#define AT(v, x, y, z) (v)[((z) * ny + (y)) * nx + (x)]

void flat_volume(int nx, int ny, int nz, double *restrict v, double *restrict u)
{
    double t[nz * ny * nx];
#pragma scop
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                t[(z * ny + y) * nx + x] = AT(v, x, y, z) + 1;
    for (int z = 0; z < nz; z++)
        for (int y = 1; y < ny - 1; y++)
            for (int x = 0; x < nx; x++)
                u[z * ny * nx + y * nx + x] = AT(t, x, y - 1, z) + AT(t, x, y + 1, z);
    u[(nz - 1) * nx * ny] = 0;
#pragma endscop
}
