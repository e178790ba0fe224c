"""fluids: flow in pipes, fittings, pumps and channels."""

import fluids
from fluids.atmosphere import ATMOSPHERE_1976

from libraries.package import Package

package = Package("fluids")


@package.call(1.2e5, 2e-4)
def friction_factor(reynolds, roughness):
    return fluids.friction_factor(Re=reynolds, eD=roughness)


@package.call(1.2e5, 2e-4)
def friction_by_clamond(reynolds, roughness):
    return fluids.friction_factor(Re=reynolds, eD=roughness, Method="Clamond")


@package.call(3500.0)
def standard_atmosphere(height):
    air = ATMOSPHERE_1976(Z=height)
    return air.T, air.P, air.rho, air.v_sonic


@package.call(0.15, 3.2, 998.0, 1e-3)
def pressure_drop_of_a_line(diameter, velocity, density, viscosity):
    reynolds = fluids.Reynolds(V=velocity, D=diameter, rho=density, mu=viscosity)
    friction = fluids.friction_factor(Re=reynolds, eD=1e-5 / diameter)
    loss = fluids.K_from_f(fd=friction, L=30.0, D=diameter)
    loss += fluids.entrance_sharp() + 3 * fluids.bend_rounded(Di=diameter, angle=90.0, fd=friction, rc=0.3)
    return fluids.dP_from_K(loss, rho=density, V=velocity)


@package.call(0.05, 998.0, 1.3e5, 1.0e5)
def orifice_flow(diameter, density, before, after):
    return fluids.flow_meter.flow_meter_discharge(
        D=0.1, Do=diameter, P1=before, P2=after, rho=density, C=0.61, expansibility=1.0
    )


@package.call(0.0739, 0.0222)
def discharge_of_an_orifice(pipe, hole):
    return fluids.flow_meter.C_Reader_Harris_Gallagher(
        D=pipe, Do=hole, rho=1.1645, mu=1.85e-5, m=0.12, taps="flange"
    )


@package.call(0.002, 2600.0)
def settling_velocity(diameter, density):
    return fluids.v_terminal(D=diameter, rhop=density, rho=1000.0, mu=1e-3)


@package.call(0.01, 0.4, 900.0)
def packed_bed(particle, voidage, density):
    return fluids.dP_packed_bed(dp=particle, voidage=voidage, vs=0.02, rho=density, mu=1e-3, L=2.0)


@package.call(4.0, 0.6)
def tank_volume(length, height):
    return fluids.TANK(D=1.5, L=length, horizontal=True, sideA="ellipsoidal", sideA_a=0.3).V_from_h(height)


@package.call(1.5, 0.0012)
def flow_of_a_weir(width, slope):
    channel = fluids.open_flow.Q_weir_V_Shen(h1=0.4, angle=80.0)
    return channel * width + fluids.open_flow.V_Manning(Rh=0.3, S=slope, n=0.012)


@package.call(500000.0, 450000.0)
def isothermal_gas(upstream, downstream):
    return fluids.compressible.isothermal_gas(
        rho=11.3, fd=0.00185, P1=upstream, P2=downstream, L=1000.0, D=0.5
    )
