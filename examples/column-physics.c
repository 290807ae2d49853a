/* Column physics of an atmosphere model, one vertical column after the other: radiation, surface fluxes, saturation
   adjustment, dry convective adjustment, autoconversion of cloud water to rain, falling rain that evaporates below
   the cloud, snow that melts, and the tendencies. Level 0 is the top of the atmosphere.
   Every field of a column that only this routine needs has its own array over all columns and levels. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#include <math.h>

struct constants {
    double cp, lv, lf, rd, grav, sigma;
    double t_freeze, q_auto, k_auto, k_evap, fall;
    double k_vapour, k_cloud, exchange, mixing;
};

static double saturation(double t, double p)
{
    const double e = 610.78 * exp(17.27 * (t - 273.16) / (t - 35.86));
    return 0.622 * e / (p - 0.378 * e);
}

void column_physics(const struct constants *c, int columns, int levels, double dt, int with_radiation,
                    const double pressure[restrict columns][levels],
                    const double thickness[restrict columns][levels], const int land[restrict columns],
                    const double t_surface[restrict columns], const double wind[restrict columns],
                    double t[restrict columns][levels], double qv[restrict columns][levels],
                    double qc[restrict columns][levels], double qr[restrict columns][levels],
                    double surface_rain[restrict columns], double surface_snow[restrict columns])
{
    double density[columns][levels], exner[columns][levels], qsat[columns][levels];
    double depth[columns][levels], emission[columns][levels], down[columns][levels], radiative[columns][levels];
    double t_mid[columns][levels], qv_mid[columns][levels], sensible[columns], evaporated[columns];
    double excess[columns][levels], condensed[columns][levels], latent[columns][levels];
    double t_new[columns][levels], qv_new[columns][levels], qc_new[columns][levels];
    double theta[columns][levels], exchanged[columns][levels];
    double threshold[columns][levels], auto_rate[columns][levels], accretion[columns][levels];
    double speed[columns][levels], flux[columns][levels], source[columns][levels];
    double deficit[columns][levels], evaporation[columns][levels], cooling[columns][levels];
    double melting[columns][levels], snow[columns][levels], heating[columns][levels];

#pragma scop
    for (int i = 0; i < columns; i++) {

        /* State of the air. */
        for (int k = 0; k < levels; k++) {
            density[i][k] = pressure[i][k] / (c->rd * t[i][k]);
            exner[i][k] = 1 - c->grav * thickness[i][k] / (c->cp * t[i][k]);
            qsat[i][k] = saturation(t[i][k], pressure[i][k]);
        }

        /* Long waves: each level emits, and absorbs what comes down from above. */
        for (int k = 0; k < levels; k++) {
            depth[i][k] = (c->k_vapour * qv[i][k] + c->k_cloud * qc[i][k]) * density[i][k] * thickness[i][k];
            emission[i][k] = c->sigma * t[i][k] * t[i][k] * t[i][k] * t[i][k] * (1 - exp(-depth[i][k]));
            if (k == 0)
                down[i][k] = emission[i][k];
            else
                down[i][k] = down[i][k - 1] * exp(-depth[i][k]) + emission[i][k];
            radiative[i][k] = 0;
            if (with_radiation)
                if (k > 0)
                    radiative[i][k] = (down[i][k - 1] - down[i][k])
                                      / (c->cp * density[i][k] * thickness[i][k]);
        }

        /* The surface warms and moistens the lowest level; over land there is less to evaporate. */
        sensible[i] = c->exchange * wind[i] * (t_surface[i] - t[i][levels - 1]);
        evaporated[i] = c->exchange * wind[i] * (saturation(t_surface[i], pressure[i][levels - 1])
                                                 - qv[i][levels - 1]);
        if (land[i])
            evaporated[i] = 0.3 * evaporated[i];
        if (evaporated[i] < 0)
            evaporated[i] = 0;
        for (int k = 0; k < levels; k++) {
            t_mid[i][k] = t[i][k] + dt * radiative[i][k];
            qv_mid[i][k] = qv[i][k];
            if (k == levels - 1) {
                t_mid[i][k] += dt * sensible[i] / thickness[i][k];
                qv_mid[i][k] += dt * evaporated[i] / thickness[i][k];
            }
        }

        /* Condensation and evaporation of cloud water. */
        for (int k = 0; k < levels; k++) {
            latent[i][k] = c->lv / c->cp;
            excess[i][k] = (qv_mid[i][k] - qsat[i][k]) / (1 + latent[i][k] * latent[i][k] * qsat[i][k]);
            if (excess[i][k] > 0)
                condensed[i][k] = excess[i][k];
            else if (qc[i][k] > -excess[i][k])
                condensed[i][k] = excess[i][k];
            else
                condensed[i][k] = -qc[i][k];
            t_new[i][k] = t_mid[i][k] + latent[i][k] * condensed[i][k];
            qv_new[i][k] = qv_mid[i][k] - condensed[i][k];
            qc_new[i][k] = qc[i][k] + condensed[i][k];
        }

        /* Dry convection: where the level above is potentially colder, the two mix. */
        for (int k = 0; k < levels; k++) {
            theta[i][k] = t_new[i][k] / exner[i][k];
            exchanged[i][k] = 0;
            if (k > 0)
                if (theta[i][k] > theta[i][k - 1])
                    exchanged[i][k] = c->mixing * (theta[i][k] - theta[i][k - 1]);
        }

        /* Cloud water becomes rain; over land droplets are smaller, so it takes more of them. */
        for (int k = 0; k < levels; k++) {
            threshold[i][k] = land[i] ? 2 * c->q_auto : c->q_auto;
            auto_rate[i][k] = 0;
            if (qc_new[i][k] > threshold[i][k])
                auto_rate[i][k] = c->k_auto * (qc_new[i][k] - threshold[i][k]);
            accretion[i][k] = 2.2 * qc_new[i][k] * (qr[i][k] > 0 ? sqrt(qr[i][k]) : 0);
            source[i][k] = dt * (auto_rate[i][k] + accretion[i][k]);
            if (source[i][k] > qc_new[i][k])
                source[i][k] = qc_new[i][k];
            qc[i][k] = qc_new[i][k] - source[i][k];
        }

        /* Rain falls from level to level, and evaporates where the air is dry. */
        for (int k = 0; k < levels; k++) {
            speed[i][k] = c->fall * sqrt(density[i][k]);
            if (k == 0)
                flux[i][k] = 0;
            else
                flux[i][k] = speed[i][k - 1] * density[i][k - 1] * (qr[i][k - 1] + source[i][k - 1])
                             + flux[i][k - 1] - evaporation[i][k - 1] - melting[i][k - 1];
            deficit[i][k] = qsat[i][k] - qv_new[i][k];
            if (deficit[i][k] > 0 && flux[i][k] > 0)
                evaporation[i][k] = c->k_evap * deficit[i][k] * sqrt(flux[i][k]);
            else
                evaporation[i][k] = 0;
            if (evaporation[i][k] > flux[i][k])
                evaporation[i][k] = flux[i][k];
            cooling[i][k] = latent[i][k] * evaporation[i][k];

            /* What falls as snow melts where it is warm. */
            snow[i][k] = t_new[i][k] < c->t_freeze ? 0.1 * flux[i][k] : 0;
            melting[i][k] = 0;
            if (k > 0)
                if (t_new[i][k] > c->t_freeze)
                    melting[i][k] = 0.5 * snow[i][k - 1];
        }

        /* Tendencies. */
        for (int k = 0; k < levels; k++) {
            heating[i][k] = t_new[i][k] - cooling[i][k] - exner[i][k] * exchanged[i][k]
                            - c->lf / c->cp * melting[i][k];
            t[i][k] = heating[i][k];
            qv[i][k] = qv_new[i][k] + evaporation[i][k];
            qr[i][k] = qr[i][k] + source[i][k] - evaporation[i][k];
        }
        surface_rain[i] = flux[i][levels - 1] - evaporation[i][levels - 1];
        surface_snow[i] = snow[i][levels - 1];
    }
#pragma endscop
}
