"""The objectives of ADBench, in NumPy from the formulas: the fit of a Gaussian mixture, bundle adjustment,
a recurrent network, and the tracking of a hand.

Srajer, Kukelova and Fitzgibbon, "A benchmark of selected algorithmic differentiation tools on some problems
in computer vision and machine learning", 2018.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload

__all__ = ["WORKLOADS"]


# -- Gaussian mixture --------------------------------------------------------------------------------


def log_sum_exp(x: Array) -> Array:
    """Over the last axis."""
    highest = np.max(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - highest), axis=-1)) + highest[..., 0]


def gaussian_mixture(
    alphas: Array, means: Array, factors: Array, x: Array, gamma: float, degrees: int
) -> float:
    """The logarithm of the posterior density of a mixture of k Gaussians in d dimensions, up to a constant.

    The weights are the softmax of `alphas`.  A row of `factors` is the root of an inverse covariance: the
    logarithms of its diagonal, then what is below the diagonal.  Those have a Wishart prior.
    """
    n, d = x.shape
    k = len(alphas)
    rows, columns = np.tril_indices(d, -1)
    terms = np.empty((n, k))
    for i in range(k):
        root = np.diag(np.exp(factors[i, :d]))
        root[rows, columns] = factors[i, d:]
        z = (x - means[i]) @ root.T
        terms[:, i] = alphas[i] + np.sum(factors[i, :d]) - 0.5 * np.sum(z**2, axis=1)
    likelihood = np.sum(log_sum_exp(terms)) - n * log_sum_exp(alphas)
    squares = np.sum(np.exp(2.0 * factors[:, :d])) + np.sum(factors[:, d:] ** 2)
    return likelihood + 0.5 * gamma**2 * squares - degrees * np.sum(factors[:, :d])


def gaussian_mixture_adjoint(
    alphas: Array, means: Array, factors: Array, x: Array, gamma: float, degrees: int
) -> tuple[float, tuple[Array, Array, Array]]:
    n, d = x.shape
    k = len(alphas)
    rows, columns = np.tril_indices(d, -1)
    diagonals = np.exp(factors[:, :d])
    terms = np.empty((n, k))
    saved = []
    for i in range(k):
        root = np.diag(diagonals[i])
        root[rows, columns] = factors[i, d:]
        centred = x - means[i]
        z = centred @ root.T
        saved.append((root, centred, z))
        terms[:, i] = alphas[i] + np.sum(factors[i, :d]) - 0.5 * np.sum(z**2, axis=1)
    sums = log_sum_exp(terms)
    normaliser = log_sum_exp(alphas)
    squares = np.sum(diagonals**2) + np.sum(factors[:, d:] ** 2)
    value = np.sum(sums) - n * normaliser + 0.5 * gamma**2 * squares - degrees * np.sum(factors[:, :d])
    shares = np.exp(terms - sums[:, None])
    counts = np.sum(shares, axis=0)
    d_alphas = counts - n * np.exp(alphas - normaliser)
    d_means = np.empty(means.shape)
    d_factors = np.empty(factors.shape)
    for i in range(k):
        root, centred, z = saved[i]
        z *= -shares[:, i, None]
        d_root = z.T @ centred
        d_means[i] = -(np.sum(z, axis=0) @ root)
        d_factors[i, :d] = np.diag(d_root) * diagonals[i] + counts[i]
        d_factors[i, d:] = d_root[rows, columns]
    d_factors[:, :d] += gamma**2 * diagonals**2 - degrees
    d_factors[:, d:] += gamma**2 * factors[:, d:]
    return value, (d_alphas, d_means, d_factors)


# -- Bundle adjustment -------------------------------------------------------------------------------


def rotated(rotation: Array, points: Array) -> Array:
    """Points turned by rotation vectors, by Rodrigues' formula."""
    square = np.sum(rotation**2, axis=1, keepdims=True)
    angle = np.sqrt(square)
    axis = rotation / angle
    cosine = np.cos(angle)
    along = np.sum(axis * points, axis=1, keepdims=True) * (1.0 - cosine)
    return points * cosine + np.cross(axis, points) * np.sin(angle) + axis * along


def projected(cameras: Array, points: Array) -> Array:
    """Pixels: a camera is a rotation, a centre, a focal length, a principal point and two distortions."""
    seen = rotated(cameras[:, :3], points - cameras[:, 3:6])
    plane = seen[:, :2] / seen[:, 2:]
    radius = np.sum(plane**2, axis=1, keepdims=True)
    distortion = 1.0 + cameras[:, 9:10] * radius + cameras[:, 10:11] * radius**2
    return cameras[:, 7:9] + cameras[:, 6:7] * distortion * plane


def bundle_adjustment(
    cameras: Array, points: Array, weights: Array, which: Array, what: Array, pixels: Array
) -> float:
    """The sum of the squares of weighted errors of reprojection, and of what keeps the weights near one."""
    errors = weights[:, None] * (projected(cameras[which], points[what]) - pixels)
    return np.sum(errors**2) + np.sum((1.0 - weights**2) ** 2)


def bundle_adjustment_adjoint(
    cameras: Array, points: Array, weights: Array, which: Array, what: Array, pixels: Array
) -> tuple[float, tuple[Array, Array, Array]]:
    chosen = cameras[which]
    rotation, focal = chosen[:, :3], chosen[:, 6:7]
    moved = points[what] - chosen[:, 3:6]
    square = np.sum(rotation**2, axis=1, keepdims=True)
    angle = np.sqrt(square)
    axis = rotation / angle
    cosine, sine = np.cos(angle), np.sin(angle)
    inner = np.sum(axis * moved, axis=1, keepdims=True)
    normal = np.cross(axis, moved)
    seen = moved * cosine + normal * sine + axis * (inner * (1.0 - cosine))
    depth = seen[:, 2:]
    plane = seen[:, :2] / depth
    radius = np.sum(plane**2, axis=1, keepdims=True)
    first, second = chosen[:, 9:10], chosen[:, 10:11]
    distortion = 1.0 + first * radius + second * radius**2
    residual = chosen[:, 7:9] + focal * distortion * plane - pixels
    errors = weights[:, None] * residual
    slack = 1.0 - weights**2
    value = np.sum(errors**2) + np.sum(slack**2)

    errors *= 2.0
    d_weights = np.sum(errors * residual, axis=1) - 4.0 * slack * weights
    d_pixels = errors * weights[:, None]
    d_chosen = np.empty(chosen.shape)
    d_chosen[:, 7:9] = d_pixels
    along = np.sum(d_pixels * plane, axis=1, keepdims=True)
    d_chosen[:, 6:7] = along * distortion
    d_distortion = along * focal
    d_chosen[:, 9:10] = d_distortion * radius
    d_chosen[:, 10:11] = d_distortion * radius**2
    d_radius = d_distortion * (first + 2.0 * second * radius)
    d_plane = d_pixels * (focal * distortion) + 2.0 * d_radius * plane
    d_seen = np.empty(seen.shape)
    d_seen[:, :2] = d_plane / depth
    d_seen[:, 2] = -np.sum(d_seen[:, :2] * plane, axis=1)
    d_normal = d_seen * sine
    d_inner = np.sum(d_seen * axis, axis=1, keepdims=True)
    d_moved = d_seen * cosine + np.cross(d_normal, axis) + axis * (d_inner * (1.0 - cosine))
    d_axis = np.cross(moved, d_normal) + (d_seen * inner + d_inner * moved) * (1.0 - cosine)
    d_angle = np.sum(d_seen * (normal * cosine - moved * sine + axis * (inner * sine)), axis=1, keepdims=True)
    d_angle -= np.sum(d_axis * axis, axis=1, keepdims=True) / angle
    d_chosen[:, :3] = d_axis / angle + d_angle * axis
    d_chosen[:, 3:6] = -d_moved
    d_cameras = np.zeros(cameras.shape)
    np.add.at(d_cameras, which, d_chosen)
    d_points = np.zeros(points.shape)
    np.add.at(d_points, what, d_moved)
    return value, (d_cameras, d_points, d_weights)


# -- Recurrent network -------------------------------------------------------------------------------


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def cell_step(weight: Array, bias: Array, hidden: Array, cell: Array, x: Array) -> tuple[Array, Array]:
    """One layer: its gates act on each number by itself."""
    forget = sigmoid(x * weight[0] + bias[0])
    ingate = sigmoid(hidden * weight[1] + bias[1])
    outgate = sigmoid(x * weight[2] + bias[2])
    change = np.tanh(hidden * weight[3] + bias[3])
    cell = cell * forget + ingate * change
    return outgate * np.tanh(cell), cell


def recurrent_network(layers: Array, ends: Array, state: Array, sequence: Array) -> float:
    """Minus the mean logarithm of the likelihood of each character, predicted from those before.

    layers[l] has weights and biases of four gates; `ends` scales what comes in, and scales and shifts what
    goes out; state[l] is what layer l remembers at first, hidden and cell.
    """
    memory = [(hidden, cell) for hidden, cell in state]
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * ends[0]
        for i in range(len(layers)):
            memory[i] = cell_step(layers[i, 0], layers[i, 1], *memory[i], x)
            x = memory[i][0]
        out = x * ends[1] + ends[2]
        total += np.sum(sequence[t + 1] * (out - np.log(np.sum(np.exp(out)) + 2.0)))
    return -total / (sequence.shape[1] * (len(sequence) - 1))


def recurrent_network_adjoint(
    layers: Array, ends: Array, state: Array, sequence: Array
) -> tuple[float, tuple[Array, Array]]:
    depth, steps = len(layers), len(sequence) - 1
    memory = [(hidden, cell) for hidden, cell in state]
    total = 0.0
    saved = []
    for t in range(steps):
        x = sequence[t] * ends[0]
        records = []
        for i in range(depth):
            weight, bias = layers[i]
            hidden, cell = memory[i]
            forget = sigmoid(x * weight[0] + bias[0])
            ingate = sigmoid(hidden * weight[1] + bias[1])
            outgate = sigmoid(x * weight[2] + bias[2])
            change = np.tanh(hidden * weight[3] + bias[3])
            new = cell * forget + ingate * change
            squashed = np.tanh(new)
            records.append((x, hidden, cell, forget, ingate, outgate, change, squashed))
            x = outgate * squashed
            memory[i] = x, new
        out = x * ends[1] + ends[2]
        exponentials = np.exp(out)
        norm = np.sum(exponentials) + 2.0
        saved.append((records, x, exponentials, norm))
        total += np.sum(sequence[t + 1] * (out - np.log(norm)))
    scale = -1.0 / (sequence.shape[1] * steps)

    d_layers, d_ends = np.zeros(layers.shape), np.zeros(ends.shape)
    d_memory = [(np.zeros(ends.shape[1]), np.zeros(ends.shape[1])) for _ in range(depth)]
    for t in range(steps - 1, -1, -1):
        records, x, exponentials, norm = saved[t]
        target = sequence[t + 1]
        d_out = scale * (target - exponentials * (np.sum(target) / norm))
        d_ends[1] += d_out * x
        d_ends[2] += d_out
        dx = d_out * ends[1]
        for i in range(depth - 1, -1, -1):
            x, hidden, cell, forget, ingate, outgate, change, squashed = records[i]
            weight = layers[i, 0]
            d_weight, d_bias = d_layers[i]
            d_hidden, d_cell = d_memory[i]
            d_hidden = d_hidden + dx
            d_cell = d_cell + d_hidden * outgate * (1.0 - squashed * squashed)
            d_outgate = d_hidden * squashed * outgate * (1.0 - outgate)
            d_change = d_cell * ingate * (1.0 - change * change)
            d_ingate = d_cell * change * ingate * (1.0 - ingate)
            d_forget = d_cell * cell * forget * (1.0 - forget)
            d_weight[0] += d_forget * x
            d_weight[1] += d_ingate * hidden
            d_weight[2] += d_outgate * x
            d_weight[3] += d_change * hidden
            d_bias[0] += d_forget
            d_bias[1] += d_ingate
            d_bias[2] += d_outgate
            d_bias[3] += d_change
            dx = d_forget * weight[0] + d_outgate * weight[2]
            d_memory[i] = d_ingate * weight[1] + d_change * weight[3], d_cell * forget
        d_ends[0] += dx * sequence[t]
    return scale * total, (d_layers, d_ends)


# -- Hand tracking -----------------------------------------------------------------------------------


def turn_about_axis(vector: Array) -> Array:
    """The matrix of a rotation vector."""
    angle = np.sqrt(np.sum(vector**2))
    if angle < 1e-4:
        return np.eye(3)
    x, y, z = vector / angle
    s, c = np.sin(angle), np.cos(angle)
    return np.array(
        [
            [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
            [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c],
        ]
    )


def turn_by_angles(angles: Array) -> Array:
    """The matrix of Euler angles, in the order x, z, y."""
    tx, tz, ty = angles
    turn_x = np.eye(3)
    turn_x[1, 1] = np.cos(tx)
    turn_x[2, 1] = np.sin(tx)
    turn_x[1, 2] = -turn_x[2, 1]
    turn_x[2, 2] = turn_x[1, 1]
    turn_y = np.eye(3)
    turn_y[0, 0] = np.cos(ty)
    turn_y[0, 2] = np.sin(ty)
    turn_y[2, 0] = -turn_y[0, 2]
    turn_y[2, 2] = turn_y[0, 0]
    turn_z = np.eye(3)
    turn_z[0, 0] = np.cos(tz)
    turn_z[1, 0] = np.sin(tz)
    turn_z[0, 1] = -turn_z[1, 0]
    turn_z[1, 1] = turn_z[0, 0]
    return turn_z @ turn_y @ turn_x


def pose_parameters(theta: Array, bones: int) -> Array:
    """Rows: rotation, scale and translation of the hand, then angles of each bone.  A finger has four bones,
    of which the first bends in two directions, two others in one, and the last not at all."""
    pose = np.zeros((bones + 3, 3))
    pose[0] = theta[0:3]
    pose[1] = np.ones(3)
    pose[2] = theta[3:6]
    row, k = 5, 6
    for _finger in range((bones - 2) // 4):
        for bone in range(3):
            pose[row, 0] = theta[k]
            k += 1
            if bone == 0:
                pose[row, 1] = theta[k]
                k += 1
            row += 1
        row += 1
    return pose


def posed_relatives(pose: Array, base_relatives: Array) -> list[Array]:
    relatives = []
    for i in range(len(base_relatives)):
        turned = np.eye(4)
        turned[:3, :3] = turn_by_angles(pose[i + 3])
        relatives.append(base_relatives[i] @ turned)
    return relatives


def absolutes_of(relatives: list[Array], parents: list[int]) -> list[Array]:
    absolutes: list[Array] = []
    for i in range(len(parents)):
        if parents[i] == -1:
            absolutes.append(relatives[i])
        else:
            absolutes.append(absolutes[parents[i]] @ relatives[i])
    return absolutes


def skinned_positions(
    pose: Array,
    base_relatives: Array,
    parents: list[int],
    inverse_absolutes: Array,
    base_positions: Array,
    weights: Array,
    is_mirrored: bool,
) -> Array:
    relatives = posed_relatives(pose, base_relatives)
    absolutes = absolutes_of(relatives, parents)
    transforms = [absolutes[i] @ inverse_absolutes[i] for i in range(len(absolutes))]
    positions = np.zeros((3, base_positions.shape[1]))
    for i in range(len(transforms)):
        positions += (transforms[i][:3] @ base_positions) * weights[i]
    if is_mirrored:
        positions[0, :] = -positions[0, :]
    turn = turn_about_axis(pose[0]) * pose[1]
    return turn @ positions + pose[2][:, np.newaxis]


def hand_tracking(
    theta: Array,
    base_relatives: Array,
    parents: list[int],
    inverse_absolutes: Array,
    base_positions: Array,
    weights: Array,
    is_mirrored: bool,
    correspondences: Array,
    points: Array,
) -> float:
    """The sum of the squares of the distances between points and their vertices of a hand."""
    pose = pose_parameters(theta, len(parents))
    positions = skinned_positions(
        pose, base_relatives, parents, inverse_absolutes, base_positions, weights, is_mirrored
    )
    errors = points - positions[:, correspondences]
    return np.sum(errors**2)


def hand_tracking_adjoint(
    theta: Array,
    base_relatives: Array,
    parents: list[int],
    inverse_absolutes: Array,
    base_positions: Array,
    weights: Array,
    is_mirrored: bool,
    correspondences: Array,
    points: Array,
) -> tuple[float, Array]:
    bones = len(parents)
    pose = pose_parameters(theta, bones)
    turns = []
    relatives = []
    absolutes: list[Array] = []
    for i in range(bones):
        (sx, sz, sy), (cx, cz, cy) = np.sin(pose[i + 3]).tolist(), np.cos(pose[i + 3]).tolist()
        turn_x = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
        turn_y = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
        turn_z = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
        turn_zy = turn_z @ turn_y
        turns.append((turn_x, turn_y, turn_z, turn_zy))
        turned = np.eye(4)
        turned[:3, :3] = turn_zy @ turn_x
        relatives.append(base_relatives[i] @ turned)
        parent = parents[i]
        absolutes.append(relatives[i] if parent == -1 else absolutes[parent] @ relatives[i])
    positions = np.zeros((3, base_positions.shape[1]))
    for i in range(bones):
        positions += (absolutes[i] @ inverse_absolutes[i])[:3] @ base_positions * weights[i]
    if is_mirrored:
        positions[0, :] = -positions[0, :]
    angle = np.sqrt(np.sum(theta[:3] ** 2))
    axis = theta[:3] / angle
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, c = np.sin(angle), np.cos(angle)
    outer = np.outer(axis, axis)
    turn = c * np.eye(3) + s * cross + (1.0 - c) * outer
    placed = turn @ positions + theta[3:6, None]
    errors = points - placed[:, correspondences]
    value = np.sum(errors**2)

    errors *= -2.0
    d_placed = np.zeros(placed.shape)
    places: Any = (slice(None), correspondences)
    np.add.at(d_placed, places, errors)
    d_theta = np.zeros(theta.shape)
    d_theta[3:6] = np.sum(d_placed, axis=1)
    d_turn = d_placed @ positions.T
    d_positions = turn.T @ d_placed
    d_angle = np.sum(d_turn * (c * cross + s * (outer - np.eye(3))))
    d_axis = (1.0 - c) * ((d_turn + d_turn.T) @ axis)
    d_axis[0] += s * (d_turn[2, 1] - d_turn[1, 2])
    d_axis[1] += s * (d_turn[0, 2] - d_turn[2, 0])
    d_axis[2] += s * (d_turn[1, 0] - d_turn[0, 1])
    d_theta[:3] = (d_axis - axis * (axis @ d_axis)) / angle + d_angle * axis
    if is_mirrored:
        d_positions[0, :] = -d_positions[0, :]
    d_absolutes = np.zeros((bones, 4, 4))
    for i in range(bones):
        d_absolutes[i, :3] = (d_positions * weights[i]) @ base_positions.T @ inverse_absolutes[i].T
    d_pose = np.zeros((bones, 3))
    for i in range(bones - 1, -1, -1):
        parent = parents[i]
        if parent == -1:
            d_relative = d_absolutes[i]
        else:
            d_absolutes[parent] += d_absolutes[i] @ relatives[i].T
            d_relative = absolutes[parent].T @ d_absolutes[i]
        d_turned = (base_relatives[i].T @ d_relative)[:3, :3]
        turn_x, turn_y, turn_z, turn_zy = turns[i]
        d_zy = d_turned @ turn_x.T
        for k, around, d in (
            (0, turn_x, turn_zy.T @ d_turned),
            (1, turn_z, d_zy @ turn_y.T),
            (2, turn_y, turn_z.T @ d_zy),
        ):
            first, second = ((1, 2), (0, 1), (2, 0))[k]
            cosine, sine = around[first, first], around[second, first]
            d_pose[i, k] = cosine * (d[second, first] - d[first, second]) - sine * (
                d[first, first] + d[second, second]
            )
    row, k = 2, 6
    for _finger in range((bones - 2) // 4):
        for bone in range(3):
            d_theta[k] = d_pose[row, 0]
            k += 1
            if bone == 0:
                d_theta[k] = d_pose[row, 1]
                k += 1
            row += 1
        row += 1
    return value, d_theta


RANDOM = np.random.default_rng(2)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape)


def mixture(n: int, d: int, k: int) -> tuple[Array, Array, Array, Array, float, int]:
    factors = 0.3 * normal(k, d * (d + 1) // 2)
    return normal(k), normal(k, d), factors, normal(n, d), 0.8, 2


def views(cameras: int, points: int, count: int) -> tuple[Array, ...]:
    given = np.concatenate(
        [0.2 * normal(cameras, 3), normal(cameras, 3), np.tile([500.0, 320.0, 240.0], (cameras, 1)),
         0.01 * normal(cameras, 2)], axis=1,
    )  # fmt: skip
    which, what = RANDOM.integers(0, cameras, count), RANDOM.integers(0, points, count)
    where = normal(points, 3) + np.array([0.0, 0.0, 10.0])
    return (
        given,
        where,
        1.0 + 0.1 * normal(count),
        which,
        what,
        np.array([320.0, 240.0]) + 9.0 * normal(count, 2),
    )


def characters(layers: int, size: int, length: int) -> tuple[Array, ...]:
    sequence = np.eye(size)[RANDOM.integers(0, size, length)]
    return normal(layers, 2, 4, size), normal(3, size), normal(layers, 2, size), sequence


def hand(fingers: int, vertices: int, count: int) -> tuple[Any, ...]:
    bones = 2 + 4 * fingers
    parents = [-1, 0] + [
        1 if bone == 0 else 4 * finger + bone + 1 for finger in range(fingers) for bone in range(4)
    ]
    relatives = np.tile(np.eye(4), (bones, 1, 1))
    relatives[:, :3, 3] = normal(bones, 3)
    inverse_absolutes = np.linalg.inv(absolutes_of(list(relatives), parents))
    base_positions = np.concatenate([normal(3, vertices), np.ones((1, vertices))])
    weights = RANDOM.random((bones, vertices))
    weights /= np.sum(weights, axis=0)
    which = RANDOM.integers(0, vertices, count)
    return (
        0.4 * normal(6 + 4 * fingers),
        relatives,
        parents,
        inverse_absolutes,
        base_positions,
        weights,
        True,
        which,
        base_positions[:3, which] + 0.1 * normal(3, count),
    )


WORKLOADS = [
    Workload(
        "Gaussian mixture, 300 x 8, 5 components",
        gaussian_mixture,
        gaussian_mixture_adjoint,
        mixture(300, 8, 5),
        mixture(4, 2, 2),
        argnums=(0, 1, 2),
    ),
    Workload(
        "bundle adjustment, 300 observations",
        bundle_adjustment,
        bundle_adjustment_adjoint,
        views(10, 100, 300),
        views(2, 3, 5),
        argnums=(0, 1, 2),
    ),
    Workload(
        "recurrent network, 2 x 14, 10 characters",
        recurrent_network,
        recurrent_network_adjoint,
        characters(2, 14, 10),
        characters(2, 3, 4),
        argnums=(0, 1),
    ),
    Workload(
        "hand, 22 bones, 100 points",
        hand_tracking,
        hand_tracking_adjoint,
        hand(5, 200, 100),
        hand(1, 4, 5),
    ),
]
