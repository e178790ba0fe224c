"""Programs that overwrite arrays: stencils, sweeps and loops over columns, as suites of kernels have them.

Jacobi, heat, FDTD, ADI, covariance and correlation follow PolyBench (Pouchet and Yuki), and the flow in a
cavity follows Barba and Forsyth, "CFD Python: the 12 steps to Navier-Stokes equations", 2018.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import Array, Workload

__all__ = ["WORKLOADS"]


# -- Jacobi in one dimension -------------------------------------------------------------------------


def jacobi_line(a: Array, b: Array, steps: int) -> float:
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return np.sum(a**2)


def jacobi_line_adjoint(a: Array, b: Array, steps: int) -> tuple[float, tuple[Array, Array]]:
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    da, db = 2.0 * a, np.zeros(b.shape)
    for _ in range(steps):
        for d_out, d_in in ((da, db), (db, da)):
            part = 0.33333 * d_out[1:-1]
            d_out[1:-1] = 0.0
            d_in[:-2] += part
            d_in[1:-1] += part
            d_in[2:] += part
    return np.sum(a**2), (da, db)


# -- Jacobi in two dimensions ------------------------------------------------------------------------


def jacobi_plane(a: Array, b: Array, steps: int) -> float:
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a**2)


def jacobi_plane_adjoint(a: Array, b: Array, steps: int) -> tuple[float, tuple[Array, Array]]:
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    da, db = 2.0 * a, np.zeros(b.shape)
    for _ in range(steps):
        for d_out, d_in in ((da, db), (db, da)):
            part = 0.2 * d_out[1:-1, 1:-1]
            d_out[1:-1, 1:-1] = 0.0
            d_in[1:-1, 1:-1] += part
            d_in[1:-1, :-2] += part
            d_in[1:-1, 2:] += part
            d_in[2:, 1:-1] += part
            d_in[:-2, 1:-1] += part
    return np.sum(a**2), (da, db)


# -- Heat in three dimensions ------------------------------------------------------------------------


def heat_space(a: Array, b: Array, steps: int) -> float:
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
            + a[1:-1, 1:-1, 1:-1]
        )
        a[1:-1, 1:-1, 1:-1] = (
            0.125 * (b[2:, 1:-1, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[:-2, 1:-1, 1:-1])
            + 0.125 * (b[1:-1, 2:, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, :-2, 1:-1])
            + 0.125 * (b[1:-1, 1:-1, 2:] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, 1:-1, :-2])
            + b[1:-1, 1:-1, 1:-1]
        )
    return np.sum(a**2)


def heat_space_adjoint(a: Array, b: Array, steps: int) -> tuple[float, tuple[Array, Array]]:
    a, b = a.copy(), b.copy()
    value = heat_space(a, b, steps)
    da, db = 2.0 * a, np.zeros(b.shape)
    for _ in range(steps):
        for d_out, d_in in ((da, db), (db, da)):
            inner = d_out[1:-1, 1:-1, 1:-1]
            part = 0.125 * inner
            inner *= 0.25
            d_in[1:-1, 1:-1, 1:-1] += inner
            inner[...] = 0.0
            d_in[2:, 1:-1, 1:-1] += part
            d_in[:-2, 1:-1, 1:-1] += part
            d_in[1:-1, 2:, 1:-1] += part
            d_in[1:-1, :-2, 1:-1] += part
            d_in[1:-1, 1:-1, 2:] += part
            d_in[1:-1, 1:-1, :-2] += part
    return value, (da, db)


# -- Electromagnetic fields --------------------------------------------------------------------------


def fdtd(ex: Array, ey: Array, hz: Array, source: Array) -> float:
    """Finite differences in the time domain, in the plane."""
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(hz**2)


def fdtd_adjoint(
    ex: Array, ey: Array, hz: Array, source: Array
) -> tuple[float, tuple[Array, Array, Array, Array]]:
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    d_ex, d_ey, d_hz = np.zeros(ex.shape), np.zeros(ey.shape), 2.0 * hz
    d_source = np.empty(source.shape)
    for t in range(len(source) - 1, -1, -1):
        part = 0.7 * d_hz[:-1, :-1]
        d_ex[:-1, 1:] -= part
        d_ex[:-1, :-1] += part
        d_ey[1:, :-1] -= part
        d_ey[:-1, :-1] += part
        part = 0.5 * d_ex[:, 1:]
        d_hz[:, 1:] -= part
        d_hz[:, :-1] += part
        part = 0.5 * d_ey[1:, :]
        d_hz[1:, :] -= part
        d_hz[:-1, :] += part
        d_source[t] = np.sum(d_ey[0, :])
        d_ey[0, :] = 0.0
    return np.sum(hz**2), (d_ex, d_ey, d_hz, d_source)


# -- Alternating directions --------------------------------------------------------------------------


def adi(u: Array, steps: int) -> float:
    """Diffusion by the method of alternating directions, implicit in columns, then in rows."""
    n = len(u)
    v = np.zeros(u.shape)
    p = np.zeros(u.shape)
    q = np.zeros(u.shape)
    mul1, mul2 = 2.0 * n**2 / steps, n**2 / steps
    a, b, c = -mul1 / 2.0, 1.0 + mul1, -mul1 / 2.0
    d, e, f = -mul2 / 2.0, 1.0 + mul2, -mul2 / 2.0
    for _ in range(steps):
        v[0, 1 : n - 1] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -c / (a * p[1 : n - 1, j - 1] + b)
            q[1 : n - 1, j] = (
                -d * u[j, 0 : n - 2]
                + (1.0 + 2.0 * d) * u[j, 1 : n - 1]
                - f * u[j, 2:n]
                - a * q[1 : n - 1, j - 1]
            ) / (a * p[1 : n - 1, j - 1] + b)
        v[n - 1, 1 : n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]
        u[1 : n - 1, 0] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = u[1 : n - 1, 0]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -f / (d * p[1 : n - 1, j - 1] + e)
            q[1 : n - 1, j] = (
                -a * v[0 : n - 2, j]
                + (1.0 + 2.0 * a) * v[1 : n - 1, j]
                - c * v[2:n, j]
                - d * q[1 : n - 1, j - 1]
            ) / (d * p[1 : n - 1, j - 1] + e)
        u[1 : n - 1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1 : n - 1, j] = p[1 : n - 1, j] * u[1 : n - 1, j + 1] + q[1 : n - 1, j]
    return np.sum(u**2)


def adi_adjoint(u: Array, steps: int) -> tuple[float, Array]:
    u = u.copy()
    n = len(u)
    v = np.zeros(u.shape)
    p = np.zeros(u.shape)
    q = np.zeros(u.shape)
    mul1, mul2 = 2.0 * n**2 / steps, n**2 / steps
    a, b, c = -mul1 / 2.0, 1.0 + mul1, -mul1 / 2.0
    d, e, f = -mul2 / 2.0, 1.0 + mul2, -mul2 / 2.0
    for _ in range(steps):
        v[0, 1 : n - 1] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -c / (a * p[1 : n - 1, j - 1] + b)
            q[1 : n - 1, j] = (
                -d * u[j, 0 : n - 2]
                + (1.0 + 2.0 * d) * u[j, 1 : n - 1]
                - f * u[j, 2:n]
                - a * q[1 : n - 1, j - 1]
            ) / (a * p[1 : n - 1, j - 1] + b)
        v[n - 1, 1 : n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]
        columns = p.copy()  # the coefficients are those of each step
        u[1 : n - 1, 0] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = u[1 : n - 1, 0]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -f / (d * p[1 : n - 1, j - 1] + e)
            q[1 : n - 1, j] = (
                -a * v[0 : n - 2, j]
                + (1.0 + 2.0 * a) * v[1 : n - 1, j]
                - c * v[2:n, j]
                - d * q[1 : n - 1, j - 1]
            ) / (d * p[1 : n - 1, j - 1] + e)
        u[1 : n - 1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1 : n - 1, j] = p[1 : n - 1, j] * u[1 : n - 1, j + 1] + q[1 : n - 1, j]
    value = np.sum(u**2)
    du, dv, dq = 2.0 * u, np.zeros(u.shape), np.zeros(u.shape)
    for _ in range(steps):
        for j in range(1, n - 1):
            part = du[1 : n - 1, j]
            du[1 : n - 1, j + 1] += p[1 : n - 1, j] * part
            dq[1 : n - 1, j] += part
            part[...] = 0.0
        du[1 : n - 1, n - 1] = 0.0
        for j in range(n - 2, 0, -1):
            part = dq[1 : n - 1, j] / (d * p[1 : n - 1, j - 1] + e)
            dq[1 : n - 1, j] = 0.0
            dv[0 : n - 2, j] -= a * part
            dv[1 : n - 1, j] += (1.0 + 2.0 * a) * part
            dv[2:n, j] -= c * part
            dq[1 : n - 1, j - 1] -= d * part
        dq[1 : n - 1, 0] = 0.0
        du[1 : n - 1, 0] = 0.0
        for j in range(1, n - 1):
            part = dv[j, 1 : n - 1]
            dv[j + 1, 1 : n - 1] += columns[1 : n - 1, j] * part
            dq[1 : n - 1, j] += part
            part[...] = 0.0
        dv[n - 1, 1 : n - 1] = 0.0
        for j in range(n - 2, 0, -1):
            part = dq[1 : n - 1, j] / (a * columns[1 : n - 1, j - 1] + b)
            dq[1 : n - 1, j] = 0.0
            du[j, 0 : n - 2] -= d * part
            du[j, 1 : n - 1] += (1.0 + 2.0 * d) * part
            du[j, 2:n] -= f * part
            dq[1 : n - 1, j - 1] -= a * part
        dq[1 : n - 1, 0] = 0.0
        dv[0, 1 : n - 1] = 0.0
    return value, du


# -- Flow in a cavity --------------------------------------------------------------------------------


def build_up_b(b: Array, rho: float, dt: float, u: Array, v: Array, dx: float, dy: float) -> None:
    """The right-hand side of the equation for the pressure."""
    b[1:-1, 1:-1] = rho * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )


def pressure_poisson(p: Array, iterations: int, dx: float, dy: float, b: Array) -> None:
    for _ in range(iterations):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def cavity_flow(
    u: Array, v: Array, p: Array, nu: float, rho: float, dt: float, steps: int, iterations: int
) -> float:
    ny, nx = u.shape
    dx, dy = 2 / (nx - 1), 2 / (ny - 1)
    b = np.zeros((ny, nx))
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        build_up_b(b, rho, dt, u, v, dx, dy)
        pressure_poisson(p, iterations, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return np.sum(u**2) + np.sum(v**2) + np.sum(p**2)


def cavity_flow_adjoint(
    u: Array, v: Array, p: Array, nu: float, rho: float, dt: float, steps: int, iterations: int
) -> tuple[float, tuple[Array, Array, Array, float]]:
    u, v, p = u.copy(), v.copy(), p.copy()
    ny, nx = u.shape
    dx, dy = 2 / (nx - 1), 2 / (ny - 1)
    b = np.zeros((ny, nx))
    saved = []
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        build_up_b(b, rho, dt, u, v, dx, dy)
        pressure_poisson(p, iterations, dx, dy, b)
        uc, vc = un[1:-1, 1:-1], vn[1:-1, 1:-1]
        u_left, u_down = uc - un[1:-1, 0:-2], uc - un[0:-2, 1:-1]
        v_left, v_down = vc - vn[1:-1, 0:-2], vc - vn[0:-2, 1:-1]
        u_spread = dt / dx**2 * (un[1:-1, 2:] - 2 * uc + un[1:-1, 0:-2])
        u_spread += dt / dy**2 * (un[2:, 1:-1] - 2 * uc + un[0:-2, 1:-1])
        v_spread = dt / dx**2 * (vn[1:-1, 2:] - 2 * vc + vn[1:-1, 0:-2])
        v_spread += dt / dy**2 * (vn[2:, 1:-1] - 2 * vc + vn[0:-2, 1:-1])
        saved.append((un, vn, u_left, u_down, v_left, v_down, u_spread, v_spread))
        u[1:-1, 1:-1] = uc - uc * dt / dx * u_left - vc * dt / dy * u_down + nu * u_spread
        u[1:-1, 1:-1] -= dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
        v[1:-1, 1:-1] = vc - uc * dt / dx * v_left - vc * dt / dy * v_down + nu * v_spread
        v[1:-1, 1:-1] -= dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    value = np.sum(u**2) + np.sum(v**2) + np.sum(p**2)
    du, dv, dp, d_nu = 2.0 * u, 2.0 * v, 2.0 * p, 0.0
    across, along = dt / dx**2, dt / dy**2
    for un, vn, u_left, u_down, v_left, v_down, u_spread, v_spread in reversed(saved):
        uc, vc = un[1:-1, 1:-1], vn[1:-1, 1:-1]
        gu, gv = du[1:-1, 1:-1], dv[1:-1, 1:-1]
        d_nu += np.sum(gu * u_spread) + np.sum(gv * v_spread)
        pressed = dt / (2 * rho * dx) * gu
        dp[1:-1, 2:] -= pressed
        dp[1:-1, 0:-2] += pressed
        pressed = dt / (2 * rho * dy) * gv
        dp[2:, 1:-1] -= pressed
        dp[0:-2, 1:-1] += pressed
        dun, dvn = np.zeros(u.shape), np.zeros(v.shape)
        for g, d, left, down in ((gu, dun, u_left, u_down), (gv, dvn, v_left, v_down)):
            with_u, with_v = dt / dx * uc * g, dt / dy * vc * g
            spread = nu * g
            d[1:-1, 1:-1] += g - with_u - with_v - 2.0 * (across + along) * spread
            d[1:-1, 0:-2] += with_u + across * spread
            d[0:-2, 1:-1] += with_v + along * spread
            d[1:-1, 2:] += across * spread
            d[2:, 1:-1] += along * spread
            dun[1:-1, 1:-1] -= dt / dx * left * g
            dvn[1:-1, 1:-1] -= dt / dy * down * g
        db = np.zeros((ny - 2, nx - 2))
        for _ in range(iterations):
            dp[-1, :] = 0.0
            dp[:, 1] += dp[:, 0]
            dp[:, 0] = 0.0
            dp[1, :] += dp[0, :]
            dp[0, :] = 0.0
            dp[:, -2] += dp[:, -1]
            dp[:, -1] = 0.0
            part = dp[1:-1, 1:-1] / (2 * (dx**2 + dy**2))
            dp[1:-1, 1:-1] = 0.0
            db -= dx**2 * dy**2 * part
            beside = dy**2 * part
            dp[1:-1, 2:] += beside
            dp[1:-1, 0:-2] += beside
            part *= dx**2
            dp[2:, 1:-1] += part
            dp[0:-2, 1:-1] += part
        db *= rho
        ux, uy = (un[1:-1, 2:] - un[1:-1, 0:-2]) / (2 * dx), (un[2:, 1:-1] - un[0:-2, 1:-1]) / (2 * dy)
        vx, vy = (vn[1:-1, 2:] - vn[1:-1, 0:-2]) / (2 * dx), (vn[2:, 1:-1] - vn[0:-2, 1:-1]) / (2 * dy)
        part = db * (1 / dt - 2 * ux) / (2 * dx)
        dun[1:-1, 2:] += part
        dun[1:-1, 0:-2] -= part
        part = db * (1 / dt - 2 * vy) / (2 * dy)
        dvn[2:, 1:-1] += part
        dvn[0:-2, 1:-1] -= part
        part = -2 * db * vx / (2 * dy)
        dun[2:, 1:-1] += part
        dun[0:-2, 1:-1] -= part
        part = -2 * db * uy / (2 * dx)
        dvn[1:-1, 2:] += part
        dvn[1:-1, 0:-2] -= part
        du, dv = dun, dvn
    return value, (du, dv, dp, float(d_nu))


# -- Statistics by columns ---------------------------------------------------------------------------


def covariance(data: Array) -> float:
    n, m = data.shape
    mean = np.mean(data, axis=0)
    data -= mean
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:m, i] = data[:, i] @ data[:, i:m] / (n - 1.0)
        cov[i, i:m] = cov[i:m, i]
    return np.sum(cov**2)


def covariance_adjoint(data: Array) -> tuple[float, Array]:
    n, m = data.shape
    data = data - np.mean(data, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:m, i] = data[:, i] @ data[:, i:m] / (n - 1.0)
        cov[i, i:m] = cov[i:m, i]
    value = np.sum(cov**2)
    cov *= 2.0
    d_data = np.zeros(data.shape)
    for i in range(m):
        part = cov[i:m, i].copy()
        part[1:] += cov[i, i + 1 : m]  # the diagonal is written twice, and counts once
        part /= n - 1.0
        d_data[:, i] += data[:, i:m] @ part
        d_data[:, i:m] += np.outer(data[:, i], part)
    d_data -= np.mean(d_data, axis=0)
    return value, d_data


def correlation(data: Array) -> float:
    n, m = data.shape
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(n) * stddev
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i + 1 : m, i] = corr[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m]
    return np.sum(corr**2)


def correlation_adjoint(data: Array) -> tuple[float, Array]:
    n, m = data.shape
    data = data - np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    is_small = stddev <= 0.1
    scale = np.sqrt(n) * np.where(is_small, 1.0, stddev)
    data /= scale
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i + 1 : m, i] = corr[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m]
    value = np.sum(corr**2)
    corr *= 2.0
    d_data = np.zeros(data.shape)
    for i in range(m - 1):
        part = corr[i + 1 : m, i] + corr[i, i + 1 : m]
        d_data[:, i] += data[:, i + 1 : m] @ part
        d_data[:, i + 1 : m] += np.outer(data[:, i], part)
    along = np.sum(d_data * data, axis=0)
    along[is_small] = 0.0
    d_data -= along * data
    d_data /= scale
    d_data -= np.mean(d_data, axis=0)
    return value, d_data


RANDOM = np.random.default_rng(3)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape)


def fields(n: int, steps: int) -> tuple[Array, Array, Array, Array]:
    return normal(n, n), normal(n, n), normal(n, n), normal(steps)


def cavity(n: int, steps: int, iterations: int) -> tuple[Array, Array, Array, float, float, float, int, int]:
    return 0.1 * normal(n, n), 0.1 * normal(n, n), 0.1 * normal(n, n), 0.1, 1.0, 0.001, steps, iterations


WORKLOADS = [
    Workload(
        "Jacobi, line, 400 x 60",
        jacobi_line,
        jacobi_line_adjoint,
        (normal(400), normal(400), 60),
        (normal(6), normal(6), 2),
        argnums=(0, 1),
    ),
    Workload(
        "Jacobi, plane, 40 x 40 x 20",
        jacobi_plane,
        jacobi_plane_adjoint,
        (normal(40, 40), normal(40, 40), 20),
        (normal(4, 5), normal(4, 5), 2),
        argnums=(0, 1),
    ),
    Workload(
        "heat in space, 14 x 14 x 14 x 10",
        heat_space,
        heat_space_adjoint,
        (normal(14, 14, 14), normal(14, 14, 14), 10),
        (normal(3, 4, 3), normal(3, 4, 3), 2),
        argnums=(0, 1),
    ),
    Workload(
        "FDTD, 40 x 40 x 20",
        fdtd,
        fdtd_adjoint,
        fields(40, 20),
        fields(4, 2),
        argnums=(0, 1, 2, 3),
    ),
    Workload("ADI, 20 x 20 x 4", adi, adi_adjoint, (normal(20, 20), 4), (normal(4, 4), 2)),
    Workload(
        "cavity flow, 20 x 20 x 5 x 8",
        cavity_flow,
        cavity_flow_adjoint,
        cavity(20, 5, 8),
        cavity(4, 2, 2),
        argnums=(0, 1, 2, 3),
    ),
    Workload("covariance, 80 x 40", covariance, covariance_adjoint, (normal(80, 40),), (normal(4, 3),)),
    Workload("correlation, 80 x 40", correlation, correlation_adjoint, (normal(80, 40),), (normal(4, 3),)),
]
