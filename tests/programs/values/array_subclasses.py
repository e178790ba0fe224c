"""Subclasses of ndarray as programs have them, and programs that use them; ``PROGRAMS`` has these by name.

The first classes are those of NumPy's own guide on subclassing ndarray.
"""

from __future__ import annotations

import copy

import numpy as np


class InfoArray(np.ndarray):
    def __new__(cls, shape, dtype=float, buffer=None, offset=0, strides=None, order=None, info=None):
        obj = super().__new__(cls, shape, dtype, buffer, offset, strides, order)
        obj.info = info
        return obj

    def __array_finalize__(self, obj):
        if obj is None:
            return
        self.info = getattr(obj, "info", None)


class RealisticInfoArray(np.ndarray):
    def __new__(cls, input_array, info=None):
        obj = np.asarray(input_array).view(cls)
        obj.info = info
        return obj

    def __array_finalize__(self, obj):
        if obj is None:
            return
        self.info = getattr(obj, "info", None)


class Wrapping(np.ndarray):
    def __new__(cls, input_array, info=None):
        obj = np.asarray(input_array).view(cls)
        obj.info = info
        return obj

    def __array_finalize__(self, obj):
        self.info = getattr(obj, "info", None)

    def __array_wrap__(self, out_arr, context=None, return_scalar=False):
        made = super().__array_wrap__(out_arr, context, return_scalar)
        if context is not None:
            made.info = f"{context[0].__name__} of {len(context[1])}"
        return made


class Noting(np.ndarray):
    """The class ``A`` of the guide, which notes where it stood among the operands of a ufunc."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        args = []
        in_no = []
        for i, input_ in enumerate(inputs):
            if isinstance(input_, Noting):
                in_no.append(i)
                args.append(input_.view(np.ndarray))
            else:
                args.append(input_)
        outputs = out
        out_no = []
        if outputs:
            out_args = []
            for j, output in enumerate(outputs):
                if isinstance(output, Noting):
                    out_no.append(j)
                    out_args.append(output.view(np.ndarray))
                else:
                    out_args.append(output)
            kwargs["out"] = tuple(out_args)
        else:
            outputs = (None,) * ufunc.nout
        info = {}
        if in_no:
            info["inputs"] = in_no
        if out_no:
            info["outputs"] = out_no
        results = super().__array_ufunc__(ufunc, method, *args, **kwargs)
        if results is NotImplemented:
            return NotImplemented
        if method == "at":
            if isinstance(inputs[0], Noting):
                inputs[0].info = info
            return None
        if ufunc.nout == 1:
            results = (results,)
        results = tuple(
            (np.asarray(result).view(Noting) if output is None else output)
            for result, output in zip(results, outputs, strict=True)
        )
        if results and isinstance(results[0], Noting):
            results[0].info = info
        return results[0] if len(results) == 1 else results


class Quantity(np.ndarray):
    """Numbers with a unit, which is a product of powers of letters."""

    def __new__(cls, value, unit=""):
        made = np.array(value, dtype=float).view(cls)
        made.unit = unit
        return made

    def __array_finalize__(self, obj):
        self.unit = getattr(obj, "unit", "")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        units = [getattr(x, "unit", "") for x in inputs]
        arrays = [x.view(np.ndarray) if isinstance(x, Quantity) else x for x in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(
                [x.view(np.ndarray) if isinstance(x, Quantity) else x for x in kwargs["out"]]
            )
        if ufunc in (np.add, np.subtract) and len(set(units)) > 1:
            raise ValueError(f"{units[0]} and {units[1]}")
        result = getattr(ufunc, method)(*arrays, **kwargs)
        if result is NotImplemented or isinstance(result, (bool, np.bool_)):
            return result
        unit = units[0]
        if ufunc is np.multiply:
            unit = "".join(sorted("".join(units)))
        elif ufunc is np.sqrt:
            unit = unit[::2]
        made = np.asarray(result).view(Quantity)
        made.unit = unit
        return made

    def value(self):
        return self.view(np.ndarray)


class Signal(np.ndarray):
    """Samples, and how many there are of them in a second."""

    def __new__(cls, data, rate):
        obj = np.asarray(data).view(cls)
        obj.rate = rate
        return obj

    def __array_finalize__(self, obj):
        if obj is not None:
            self.rate = getattr(obj, "rate", 1.0)

    @property
    def duration(self):
        return len(self) / self.rate

    def power(self):
        return float(np.mean(np.asarray(self) ** 2))

    def resampled(self, step):
        out = self[::step]
        out.rate = self.rate / step
        return out

    def times(self):
        return np.arange(len(self)) / self.rate


class Image(np.ndarray):
    def __new__(cls, data, meta=None):
        obj = np.asarray(data).view(cls)
        obj.meta = dict(meta or {})
        return obj

    def __array_finalize__(self, obj):
        self.meta = dict(getattr(obj, "meta", {}))

    def crop(self, start, stop):
        return self[start:stop, start:stop]


class Vector(np.ndarray):
    """A vector whose product with another is the inner product."""

    def __new__(cls, *parts):
        return np.array(parts).view(cls)

    @property
    def x(self):
        return self[0]

    @property
    def y(self):
        return self[1]

    def __mul__(self, other):
        return float(np.dot(self, other)) if isinstance(other, Vector) else super().__mul__(other)

    __rmul__ = __mul__

    def norm(self):
        return np.sqrt(self.x**2 + self.y**2)


class FromOne(np.ndarray):
    """A table whose places are counted from 1."""

    def __getitem__(self, place):
        if isinstance(place, slice):
            return super().__getitem__(slice(place.start - 1, place.stop - 1))
        return super().__getitem__(place - 1)

    def __setitem__(self, place, value):
        super().__setitem__(place if isinstance(place, slice) else place - 1, value)


class First(np.ndarray):
    __array_priority__ = 5.0

    def __array_finalize__(self, obj):
        self.label = "first"


class Second(np.ndarray):
    __array_priority__ = 7.0

    def __array_finalize__(self, obj):
        self.label = "second"


class Counting(np.ndarray):
    """An array that counts, in memory that has a derivative, how often it was made anew."""

    def __array_finalize__(self, obj):
        self.cell = getattr(obj, "cell", None)
        if self.cell is not None:
            self.cell[0] = self.cell[0] * 1.5


def new_from_shape(x):
    obj = InfoArray(shape=(4,), info="information")
    assert obj.info == "information"
    obj[:] = x
    part = obj[1:]
    assert part.info == "information"
    return (part * part).sum(), part * 2


def new_in_a_buffer(x):
    obj = InfoArray((2,), float, x, 8, None, None, "there")
    obj[0] *= 3.0
    return float((obj * obj).sum()) + x.sum()


def view_casting(x):
    obj = RealisticInfoArray(x, info=[x[0]])
    part = obj[1:]
    made = obj * 2 + part.sum()
    assert type(made) is RealisticInfoArray
    assert made.info is obj.info
    return float(np.sum(made**2)) * made.info[0]


def wrapped(x):
    obj = Wrapping(x, info="spam")
    other = np.arange(4.0) + 1
    made = np.add(other, obj)
    assert made.info == "add of 2", made.info
    assert (obj * 2).info == "multiply of 2"
    return made.dot(np.sqrt(obj)), obj.sum()


def noted(x):
    a = x.view(Noting)
    b = np.sin(a)
    assert b.info == {"inputs": [0]}
    c = np.add(a, b)
    c += a
    assert c.info == {"inputs": [0, 1], "outputs": [0]}, c.info
    return c.view(np.ndarray).sum(), np.add.reduce(b)


def units(x):
    mass, speed = Quantity(x, "kg"), Quantity(x[::-1], "m")
    energy = 0.5 * mass * speed * speed
    assert energy.unit == "gkmm"
    try:
        mass + speed
    except ValueError as error:
        assert str(error) == "kg and m"
    else:
        raise AssertionError
    total = (energy + energy).sum()
    assert total.unit == "gkmm"
    return float(total) + np.sqrt(speed * speed).value().max(), (energy > 3.0).any()


def signals(x):
    s = Signal(x, 2.0)
    half = s.resampled(2)
    return s.power() + s.duration + half.rate * half.sum() + (s.times() * s).sum()


def active_attribute(x):
    s = Signal(np.array([1.0, 2.0, 3.0]), x[0])
    y = s * 2
    y.rate *= x[1]
    return float(y.rate * y.sum()), s.duration


def images(x):
    im = Image(np.outer(x, x), {"gain": x[0]})
    part = im.crop(1, 3) * im.meta["gain"]
    part.meta["gain"] = part.meta["gain"] * x[3]
    return (part * part.meta["gain"]).sum() + im.meta["gain"]


def vectors(x):
    v, w = Vector(x[0], x[1]), Vector(x[2], x[3])
    return v * w + (v * 2).norm() + (3 * w).norm()


def counted_from_one(x):
    table = x.view(FromOne)
    table[1] = table[2] * table[4]
    table[1:3] = table[2:4] * 2.0
    return float(table[1] * table[3])


def priorities(x):
    a, b = x.view(First), x[::-1].view(Second)
    made = [a + b, b + a, a * x, x * b, np.hypot(a, b), a.dot(b)]
    labels = [getattr(y, "label", "plain") for y in made]
    assert labels == ["second", "second", "first", "second", "second", "plain"], labels
    return sum(y.sum() for y in made)


def effects_of_making(x):
    cell = [x[0]]
    a = x.view(Counting)
    a.cell = cell
    b = a[1:]
    c = b * 2
    return cell[0] * float(c.sum())


def copies(x):
    a = RealisticInfoArray(x, info=1)
    b, c, d = copy.copy(a), a.copy(), np.array(a, copy=True, subok=True)
    assert b.info == c.info == d.info == 1
    assert type(np.array(a)) is np.ndarray
    a[0] = 0.0
    return (b * c * d).sum() + a.sum()


def plain_again(x):
    a = RealisticInfoArray(x, info=1)
    b, c = np.asarray(a), np.asanyarray(a)
    assert c is a
    assert type(b) is np.ndarray
    b[1] *= 2.0
    return (b + c).sum(), a


def in_place(x):
    a = RealisticInfoArray(np.zeros(4), info=1)
    a[:] = x
    a[0] *= 2
    a += x
    a *= a
    np.multiply(a, x, out=a)
    np.subtract(a, 1.0, a)
    return np.ndarray.sum(a), a


def many_methods(x):
    a = RealisticInfoArray(x.reshape(2, 2), info=2.0)
    total = (
        a.max() - a.min() + a.mean() + a.std() + a.prod() + a.cumsum()[-1] + a.dot(a).sum() + a.var(0).sum()
    )
    total = total + a.T.reshape(4)[1] + a.ravel()[2] + a.flatten()[0] + a.diagonal().sum() + a.trace()
    total = total + a.take([0, 2]).sum() + a.repeat(2).sum() + a.swapaxes(0, 1)[0, 1] + a.squeeze()[0, 0]
    return float(total) + float(a[0, 1]) + a.item(2) + a.clip(1.0, 2.0).sum().info + a.tolist()[0][1]


def rows_one_by_one(x):
    total = 0.0
    for row in RealisticInfoArray(x.reshape(2, 2), info=3.0):
        total = total + (row * row).sum() * row.info
    for number in RealisticInfoArray(x):
        total = total + number**3
    return total


def selections(x):
    a = RealisticInfoArray(x, info=1)
    return a[a > 2].sum() + a[[0, 1]].sum() + a[np.array([1, 2])].sum() + a[..., None][0, 0] + a[-1]


class Reflecting(RealisticInfoArray):
    def __rmul__(self, other):
        return np.multiply(other, self) * 3.0

    def __rsub__(self, other):
        return np.subtract(other, self) - 1.0


def on_the_left(x):
    a = Reflecting(x, info=1)
    return (a * x).sum() + (a * np.float64(2.0)).sum() + (a - x**2).sum() + (2.0 * a).sum() + (x * a).sum()


def equal_rows(x):
    a = RealisticInfoArray(x[:, None] * np.array([1.0, 3.0, 1.0]), 2.0)
    rows, index, counts = np.unique(a, axis=1, return_index=True, return_counts=True)
    every = np.unique(a)
    return (rows * counts).sum() + index.sum() + (every * np.arange(len(every))).sum()


def means_and_products(x):
    a = RealisticInfoArray(np.stack([x[:3], x[1:], x[:3] * x[1:]]), 0.5)
    middle = a.mean(axis=0)
    return (np.cross(a - middle, middle)[:, 1] ** 2).sum() + np.asarray(a.mean(axis=1, keepdims=True)).sum()


def functions(x):
    a = RealisticInfoArray(x.reshape(2, 2), info=1)
    made = [
        np.concatenate([a, a * 2]),
        np.stack([a, a]),
        np.where(a > 2, a, 0.5),
        np.linalg.inv(a),
        np.fft.fft(a).real,
        np.add.outer(a, x),
        np.maximum(a, 2.0),
        np.einsum("ij,ij->i", a, a),
        np.roll(a, 1),
        np.broadcast_to(a, (2, 2, 2)),
        np.zeros_like(a) + a,
        np.clip(a, 2, None),
        np.cumsum(a),
        np.sort(a),
        np.median(a),
        np.diff(a),
        np.tile(a, 2),
        np.linalg.norm(a),
        np.kron(a, a),
        np.interp(a, [0.0, 9.0], [1.0, 3.0]),
        np.insert(a, 0, 1.0),
        a @ a,
        abs(-a),
        divmod(a, 2.0)[1],
        np.convolve(a.ravel(), [1.0, 2.0]),
        np.linalg.matrix_power(a, 3),
    ]
    return sum(np.sum(np.sin(np.asarray(y))) for y in made)


def aliased(x):
    a = RealisticInfoArray(x, info=x)
    a[0] = a.info[1] * 3.0
    return a.info.sum() + a.sum()


def reshaped_in_place(x):
    a = RealisticInfoArray(x * 1.0, info=1)
    a.shape = (2, 2)
    return (a @ a).sum() + a[1, 0]


class Scaled:
    def scaled(self, factor):
        return self * factor


class Tagged(Scaled, np.ndarray):
    def __array_finalize__(self, obj):
        super().__array_finalize__(obj)
        self.tag = getattr(obj, "tag", None)


class Initialised(np.ndarray):
    def __new__(cls, x, factor):
        return np.asarray(x).view(cls)

    def __init__(self, x, factor):
        self.factor = factor


class Doubled(RealisticInfoArray):
    def total(self):
        return float(super().sum())

    def sum(self, *args, **named):
        return super().sum(*args, **named) * 2


TABLE = RealisticInfoArray(np.array([1.0, 2.0, 3.0]), [0.5])


def written_global(x):
    TABLE[0] = x[0] * x[1]
    TABLE.info[0] = x[2]
    result = float((TABLE * TABLE.info[0]).sum())
    TABLE[0], TABLE.info[0] = 1.0, 0.5
    return result


def iterated(x):
    a = RealisticInfoArray(x, 1)
    total = sum(a) + max(a) * min(a) + sorted(a)[0] * tuple(a)[2] + next(reversed(a))
    for u, v in zip(a, a[::-1], strict=True):
        total += u * v * u
    for i, v in enumerate(a):
        total += v**2 * i
    first, *rest = a
    p, q, r, s = a
    total += (lambda p, q, r, s: p * q * r * s)(*a) + sum(map(lambda v: v * v, a)) + (x[1] in a)
    return total + first * sum(rest) + p * q + r * s


def in_a_loop(x):
    a = RealisticInfoArray(x, 2.0)
    for _ in range(5):
        a = a * 1.1 + np.sin(a)
        if a.max() > 5:
            a = a / 2
    return float(a.sum()) * a.info


def of_either_class(x):
    total = 0.0
    for a in (x, RealisticInfoArray(x, 2.0), x * 2, RealisticInfoArray(x, 3.0)):
        b = a * a
        total += float(b.sum()) * (b.info if hasattr(b, "info") else 0.5)
    return total


def classes_of_all_kinds(x):
    a = x.view(Tagged)
    a.tag = x[0]
    b = a.scaled(3.0)
    c = Initialised(x, x[3])
    d = Doubled(x, 1)
    e = type(d)(x, 4)
    total = float(b.sum()) * b.tag + float((c * c.factor).sum())
    return total + d.total() + float(d.sum()) + float(np.sum(d)) * e.info


def written_by_index(x):
    a = RealisticInfoArray(x * 1.0, 1)
    a[a > 3] *= 2
    a[[0, 1]] += x[3]
    a[1:3] = a[:2] * x[0]
    np.add.at(a, [0, 0, 1], x[:3])
    b = a.copy()
    b.fill(x[1])
    b[0] = x[0]
    a.sort()
    return (a**2).sum() + (b * a).sum()


def integers_with_an_attribute(x):
    a = RealisticInfoArray(np.arange(4), [x[0] * 2.0])
    return float((a * x).sum()) * a[1:].info[0]


def attributes_by_the_dictionary(x):
    a = RealisticInfoArray(x, x[0])
    b = a * 2
    total = b.info * float(b.sum())
    del b.info
    vars(a)["info"] = x[1]
    a.__dict__.update(other=x[2])
    return total * a.info * a.other + hasattr(b, "info")


def by_keyword(x):
    a, square = RealisticInfoArray(x, 1), x.reshape(2, 2)
    total = float(np.dot(x[2:], b=x[:2].view(Vector))) + float(np.interp(2.5, xp=a, fp=a**2))
    total += float(np.linalg.solve(square, b=a[:2]).sum()) + float(np.trapezoid(x, x=a**2))
    out = RealisticInfoArray(np.zeros(4), 1)
    np.multiply(x, 2, out=out)
    return total + float(np.average(x, weights=a[::-1])) + (out * np.clip(x, a_min=a * 0.5, a_max=a[2])).sum()


def in_lists(x):
    parts = [RealisticInfoArray(x, 1), RealisticInfoArray(x * 2, 1)]
    total = np.sum(parts) + np.mean(parts, axis=0)[1] + np.array(parts)[1, 2] + np.max(parts)
    return total + np.stack(parts).sum() + np.dot(parts, x)[0]


PROGRAMS = {
    program.__name__: program
    for program in (
        new_from_shape,
        new_in_a_buffer,
        view_casting,
        wrapped,
        noted,
        units,
        signals,
        active_attribute,
        images,
        vectors,
        counted_from_one,
        priorities,
        effects_of_making,
        copies,
        plain_again,
        in_place,
        many_methods,
        rows_one_by_one,
        selections,
        on_the_left,
        equal_rows,
        means_and_products,
        functions,
        aliased,
        reshaped_in_place,
        by_keyword,
        in_lists,
        written_global,
        iterated,
        in_a_loop,
        of_either_class,
        classes_of_all_kinds,
        written_by_index,
        integers_with_an_attribute,
        attributes_by_the_dictionary,
    )
}
