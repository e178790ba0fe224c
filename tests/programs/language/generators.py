"""Generators and iterators: what they do happens when their consumer asks."""

import itertools
import operator

from tests.programs.language.cases import Cases

case = Cases()


def growing(u, x, n):
    for i in range(n):
        u[0] *= x
        yield u[0] + i


@case(1.2, [1.0, 2.0])
def yields(x, u):
    for y in growing(u, x, 3):
        u[1] += y * u[0]
    return u[0] * u[1]


@case(1.2, [1.0, 2.0])
def yields_from(x, u):
    def outer():
        yield u[1]
        yield from growing(u, x, 2)
        yield from [x, u[0]]
        yield from (y * x for y in (u[0], u[1]))

    for y in outer():
        u[1] += y * x
    return u[0] * u[1]


@case(1.2, [1.0, 2.0])
def sends(x, u):
    def outer():
        def inner():
            got = yield u[0]
            while got is not None:
                u[0] *= got
                got = yield u[0] * x
            return u[0] * u[1]

        r = yield from inner()
        u[1] *= r
        yield r

    g = outer()
    y = next(g)
    y += g.send(x)
    y += g.send(y)
    y += next(g)
    return y * u[0] * u[1]


@case(1.2, [1.0, 2.0])
def throws(x, u):
    def inner():
        try:
            while True:
                u[0] *= x
                yield u[0]
        except KeyError:
            u[1] *= u[0]
            yield u[1]

    def outer():
        yield from inner()
        yield u[0] * u[1]

    g = outer()
    y = next(g) * next(g)
    y += g.throw(KeyError)
    y += next(g)
    return y * u[0] * u[1]


@case(1.2, [1.0, 2.0])
def throws_through(x, u):
    def inner():
        try:
            u[0] *= x
            yield u[0]
        finally:
            u[1] *= u[0]

    g = inner()
    y = next(g)
    try:
        g.throw(KeyError("k"))
    except KeyError:
        y *= u[1]
    return y * u[0]


@case(1.2, [1.0, 2.0])
def closes(x, u):
    def steps():
        try:
            while True:
                u[0] *= x
                yield u[0]
        except GeneratorExit:
            u[1] *= u[0]
            raise
        finally:
            u[1] += x

    g = steps()
    y = next(g) + next(g)
    g.close()
    g.close()
    return y * u[0] * u[1] * len(list(g) + [1])


@case(1.2, [1.0, 2.0])
def closes_through(x, u):
    def inner():
        try:
            yield u[0] * x
        finally:
            u[1] *= x

    def outer():
        try:
            yield from inner()
        finally:
            u[0] *= u[1]

    g = outer()
    y = next(g)
    g.close()
    return y * u[0] * u[1]


@case(1.2, [1.0, 2.0])
def returns(x, u):
    def inner(n):
        u[n] *= x
        yield u[n]
        return u[0] * u[1]

    def outer():
        a = yield from inner(0)
        b = yield from inner(1)
        return a * b

    def last():
        u.append((yield from outer()))

    for y in last():
        u[0] += y
    return u[0] * u[1] * u[2]


@case(1.2, [1.0, 2.0])
def expression(x, u):
    g = (u[i] * y for i in range(2) for y in (x, x * x) if i or y > 1.3)
    u[0] = next(g)
    for y in g:
        u[1] += y
    return u[0] * u[1]


@case(1.2, [1.0, 2.0])
def expression_reads_late(x, u):
    g = (v * x for v in u)
    u[0] *= x
    u.append(x)
    y = next(g)
    u[1] *= y
    return sum(g) * u[0]


@case(1.2, [1.0, 2.0])
def to_sum(x, u):
    return sum(growing(u, x, 3)) * sum(growing(u, x, 2), u[1]) * u[0]


@case(1.2, [1.0, 2.0])
def to_list_and_tuple(x, u):
    a = list(growing(u, x, 3))
    b = tuple(growing(u, x, 2))
    a[0] *= b[1]
    return a[0] * a[2] * b[0] * u[0]


@case(1.2, [1.0, 2.0])
def to_zip_and_enumerate(x, u):
    for i, (a, b) in enumerate(zip(growing(u, x, 3), growing(u, x * x, 5))):
        u[1] += a * b * i
    return u[0] * u[1]


@case(1.2, [1.0, 2.0])
def to_extrema(x, u):
    return max(growing(u, x, 3)) * min(growing(u, x, 3)) * max(growing(u, x, 2), key=lambda v: -v) * u[0]


@case(1.2, [1.0, 2.0])
def to_sorted(x, u):
    a = sorted(growing(u, x, 3), reverse=True)
    b = sorted((y * x for y in a), key=lambda v: v)
    return a[0] * b[0] * u[0]


@case(1.2, [1.0, 2.0])
def to_dict_and_set(x, u):
    d = dict((str(i), y) for i, y in enumerate(growing(u, x, 3)))
    d["0"] *= x
    e = dict(zip("ab", growing(u, x, 2)))
    s = {i for i, y in enumerate(growing(u, x, 2))}
    return d["0"] * d["2"] * e["b"] * len(s) * u[0]


@case(1.2, [1.0, 2.0])
def to_any_and_all(x, u):
    a = any(y > 1.3 for y in growing(u, x, 5))
    b = all(y < 4.5 for y in growing(u, x, 5))
    return u[0] * u[1] * (2.0 if a and not b else x)


@case(1.2, [1.0, 2.0])
def to_star_arguments(x, u):
    def f(a, b, *rest, k=1.0):
        u[1] *= a * b
        return sum(rest) * k

    return f(*growing(u, x, 4), k=x) * f(u[0], *(y * x for y in u), *growing(u, x, 1)) * u[0]


@case(1.2, [1.0, 2.0])
def to_star_displays(x, u):
    a = [*growing(u, x, 2), u[0], *(y for y in u)]
    b = (*growing(u, x, 2),)
    c, *d = growing(u, x, 3)
    e, f = growing(u, x, 2)
    return sum(a) * b[1] * c * d[1] * e * f


@case(1.2, [1.0, 2.0])
def to_list_methods(x, u):
    u.extend(growing(u, x, 2))
    u += growing(u, x, 1)
    u[1:2] = growing(u, x, 2)
    return u[0] * u[1] * u[2] * u[3] * u[-1]


@case(1.2, [1.0, 2.0])
def to_map_and_filter(x, u):
    for y in map(lambda v: v * x, filter(lambda v: v > 1.3, growing(u, x, 4))):
        u[1] += y
    return u[0] * u[1]


@case(1.2, [1.0, 2.0])
def to_itertools(x, u):
    y = sum(itertools.islice(growing(u, x, 10), 3))
    for a in itertools.chain(growing(u, x, 2), [x]):
        y += a
    for a in itertools.takewhile(lambda v: v < 5.0, growing(u, x, 10)):
        y *= a
    return y * u[0]


@case(1.2, [1.0, 2.0])
def to_join(x, u):
    s = ",".join(f"{y:.1f}" for y in growing(u, x, 2))
    return u[0] * u[1] * len(s)


@case(1.2, [1.0, 2.0])
def partly_consumed(x, u):
    g = growing(u, x, 10)
    for y in g:
        if y > 3.0:
            break
        u[1] += y
    u[1] *= u[0]
    for y in g:
        u[1] += y
        if y > 6.0:
            break
    return u[0] * u[1] * next(g)


@case(1.2, [1.0, 2.0])
def never_started(x, u):
    g = growing(u, x, 10)
    h = growing(u, x, 3)
    u[0] *= x
    return sum(h) * u[0] * (x if g else 1.0)


@case(1.2, [1.0, 2.0])
def exhausted(x, u):
    g = growing(u, x, 2)
    y = sum(g) * next(g, x)
    try:
        next(g)
    except StopIteration:
        u[1] *= y
    return u[0] * u[1] * (1.0 + sum(g))


@case(1.2, [1.0, 2.0])
def interleaved(x, u):
    a, b = growing(u, x, 5), growing(u, x * x, 5)
    for _ in range(2):
        u[1] += next(a) * next(b)
    return u[0] * u[1] * next(a)


@case(1.2, [1.0, 2.0])
def mutates_what_its_consumer_reads(x, u):
    def steps():
        for i in range(len(u)):
            u[i] *= x
            u.append(u[i])
            yield i

    for i in steps():
        u[i] *= u[-1]
    return sum(u) * u[0]


@case(1.2, [1.0, 2.0])
def consumer_mutates_what_it_reads(x, u):
    y = 0.0
    for v in (a * x for a in u):
        y += v
        if len(u) < 5:
            u.append(v)
    return y * u[-1]


@case(1.2, [1.0, 2.0])
def recursive(x, u):
    def tree(n):
        u[0] *= x
        if n:
            yield from tree(n - 1)
            yield u[0] * n
            yield from tree(n - 1)

    for y in tree(2):
        u[1] += y
    return u[0] * u[1]


@case(1.2, [1.0, 2.0])
def method(x, u):
    class Holder:
        def __init__(self):
            self.v = x

        def steps(self, n):
            for _ in range(n):
                self.v *= u[0]
                u[0] += self.v
                yield self

        def __iter__(self):
            u[1] *= self.v
            yield self.v
            yield u[1]

    h = Holder()
    for k in h.steps(2):
        k.v *= x
    return sum(h) * h.v * u[0] * u[1]


@case(1.2, [1.0, 2.0])
def class_with_next(x, u):
    class Steps:
        def __init__(self, n):
            self.n, self.v = n, x

        def __iter__(self):
            u[1] *= x
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            self.v *= x
            u[0] += self.v
            return self.v

    for y in Steps(3):
        u[1] += y
    a, b = Steps(2)
    s = Steps(9)
    y = next(s) * sum(itertools.islice(s, 2))
    return u[0] * u[1] * a * b * y * sum(Steps(2)) * max(Steps(2)) * list(Steps(2))[1]


@case(1.2, [1.0, 2.0])
def class_with_getitem(x, u):
    class Sequence:
        def __getitem__(self, i):
            if i > 2:
                raise IndexError
            u[0] *= x
            return u[0] * i

    for y in Sequence():
        u[1] += y
    return u[0] * u[1] * sum(Sequence())


@case(1.2, [1.0, 2.0])
def class_with_len_and_reversed(x, u):
    class Sequence:
        def __len__(self):
            u[0] *= x
            return 2

        def __getitem__(self, i):
            u[1] += x
            return u[i]

        def __contains__(self, v):
            u[1] *= x
            return v < u[1]

    s = Sequence()
    for y in reversed(s):
        u[0] += y
    return u[0] * u[1] * (x if x in s else 1.0) * (2.0 if s else 1.0)


@case(1.2, [1.0, 2.0])
def iter_of_a_function(x, u):
    def step():
        u[0] *= x
        return u[0] if u[0] < 3.0 else None

    for y in iter(step, None):
        u[1] += y
    return u[0] * u[1]


@case(1.2, [1.0, 2.0])
def in_try(x, u):
    def steps():
        for i in range(3):
            try:
                yield u[0]
                u[0] *= x
                if i == 1:
                    raise KeyError
            except KeyError:
                u[1] *= x
            finally:
                u[1] += u[0]

    y = 0.0
    for v in steps():
        try:
            y += v
            if v > 1.3:
                continue
            u[1] *= y
        finally:
            y *= u[1]
    return y * u[0]


@case(1.2, [1.0, 2.0])
def kept_in_an_object(x, u):
    d = {"g": growing(u, x, 5)}
    d["a"] = next(d["g"])
    pair = (d["g"], x)
    d["b"] = next(pair[0]) * pair[1]
    return d["a"] * d["b"] * u[0]


@case(1.2, [1.0, 2.0])
def left_in_finally(x, u):
    def steps():
        try:
            while True:
                u[0] *= x
                yield u[0]
        finally:
            u[1] *= u[0]

    g = steps()
    try:
        for y in g:
            if y > 2.0:
                break
    finally:
        g.close()
        u[1] += x
    return u[0] * u[1]


@case([1.5, -0.5, 2.0, 0.25])
def running_totals(u):
    total = 0.0
    for i, s in enumerate(itertools.accumulate(u)):
        total += s * s
        if i + 1 < len(u):
            u[i + 1] *= s
    return total


@case([1.5, -0.5, 2.0, 0.25])
def running_products(u):
    total = 0.0
    for s in itertools.accumulate(u, operator.mul):
        total = total * 0.5 + s
    for s in itertools.accumulate(u, lambda a, b: a * 0.5 + b * u[0]):
        total += s * u[1]
    for s in itertools.accumulate(u, initial=total):
        total -= 0.1 * s
    for s in itertools.accumulate([]):
        total += s
    return total


@case(1.5, [1.0, 2.0, 0.5], None)
@case(1.5, [1.0, 2.0, 0.5], 1.25)
@case(1.5, [], 1.25)
@case(1.5, [], None)
def totals_with_a_first_value_or_none(x, u, first):
    product = x
    for total in itertools.accumulate(u, lambda a, b: (a or 0.0) * x + b, initial=first):
        product = product * 0.5 + total if total is not None else 7.0 * x
        if u:
            u[-1] *= x
    return product


@case([[1.5, 0.5], [2.0], [0.25]], 0.7)
def running_lists(rows, x):
    total = 0.0
    for row in itertools.accumulate(rows):
        row.append(x * row[0])
        total += sum(row)
    return total * len(rows[0])


@case([1.5, -0.5, 2.0, 0.25])
def neighbours_in_place(u):
    total = 0.0
    for a, b in itertools.pairwise(u):
        total += (b - a) * total + a * b
        u[-1] += 0.5 * a
    for a, b in itertools.pairwise(u[:1]):
        total *= a * b
    return total


@case([1.5, [2.0], 0.25, 3])
def neighbours_of_several_types(u):
    total = 0.0
    for a, b in itertools.pairwise(u):
        a = a[0] if isinstance(a, list) else a
        if isinstance(b, list):
            b[0] *= a
            b = b[0]
        total += (b - a) ** 2
    return total


@case([1.5, -0.5, 2.0, 0.25], 0.7)
def the_first_apart(u, x):
    rest = iter(u)
    total = x
    for first in rest:
        total *= first
        break
    for v in rest:
        total += v * first
        u[0] = total
    for _ in range(2):
        rest = iter(u)
        for first in rest:
            break
        for v in rest:
            if v > first:
                break
            total += v * first
    return total


@case([1.5, -0.5, 2.0, 0.25], 0.7)
def taken_in_turns(u, x):
    rest = iter(u)
    total = x
    while True:
        total = total * 0.5
        for v in rest:
            total += v * x
            u[-1] *= 0.5 * v
            break
        else:
            break
        for v in rest:
            total *= v
            break
    return total


def rest_of(u, *bounds):
    """What `islice` gives, and what it leaves of the iterator."""
    values = iter(u)
    given = 0.0
    for v in itertools.islice(values, *bounds):
        given = 2.0 * given + v
    return given, sum(values)


@case([1.5, -0.5, 2.0, 0.25, 3.0, 0.75])
def slices_of_iterators(u):
    total = 0.0
    some = [(0,), (2,), (9,), (1, 3), (3, 1), (4, 4), (1, None), (None, 2), (0, 5, 2), (1, None, 3)]
    for bounds in [*some, (5, 3, 1)]:
        given, left = rest_of(u, *bounds)
        total = total * 0.9 + given * left + left
    return total


@case([1.5, -0.5, 2.0, 0.25, 3.0, 0.75], 0.7)
def slices_in_loops(u, x):
    total = x
    for v in itertools.islice(u, 4):
        total += v * v
        u[-1] *= v
    for v in itertools.islice(u, 1, None):
        total = 0.5 * total + v
    for v in itertools.islice(u, 1, 3):
        u[2] = total
        total += v * x
    values = iter(u)
    for v in itertools.islice(values, 3, 1):
        total += v
    for v in values:
        total = 0.5 * total + v * v
    for bad in (-1, 0.5):
        try:
            for v in itertools.islice(u, bad):
                total += v
        except ValueError:
            total *= 1.5
    return total + sum(v * x for v in itertools.islice(u, 2))


@case([1.5, -0.5, 2.0], 0.7)
def the_same_again(u, x):
    total = 0.0
    for v in itertools.repeat(u, 3):
        v[0] *= x
        total += v[0] * v[1]
    for v, w in zip(itertools.repeat(x), u):
        total += v * w
    for v in itertools.repeat(total, -1):
        total += v
    for v in itertools.repeat(x):
        total *= v
        if total < 1.0:
            break
    return total


def taken(it):
    return next(it)


class Tokens:
    def __init__(self, values):
        self.values = iter(values)

    def pop(self):
        return next(self.values)


def popped(tokens, n):
    for _ in range(n):
        yield tokens.pop()


@case(1.2, [1.0, 2.0])
def stopped_by_what_they_call(x, u):
    values = iter([x, u[0] * x])

    def forever():
        while True:
            yield taken(values)

    def stops():
        raise StopIteration

    def once():
        yield x * u[1]
        yield stops()

    try:
        for y in forever():
            u[0] += y
    except RuntimeError:
        u[0] *= x
    except StopIteration:
        u[0] = 0.0
    try:
        for y in once():
            u[1] += y * u[0]
    except RuntimeError as error:
        u[1] *= x * len(str(error))
    except StopIteration:
        u[1] = 0.0
    try:
        return sum(popped(Tokens([x, u[0]]), 3))
    except RuntimeError as error:
        return x * u[0] * u[1] * (error.__cause__ is not None)


@case([1.5, -0.5, 2.0, 0.25, 3.0, 0.75], 0.7)
def slices_with_steps_in_loops(u, x):
    total = x
    for v in itertools.islice((w * x for w in u), 1, 6, 2):
        total = 0.5 * total + v
    for v in itertools.islice(u, None, None, 4):
        total += v * x
        u[-1] = total
    values = iter(u)
    for v in itertools.islice(values, 1, 4, 2):
        total += v
    return total * sum(values)


@case([1.5, -0.5, 2.0, 0.25, 3.0, 0.75], 0.7)
def asked_in_a_loop_and_behind_it(u, x):
    values = (w * x for w in u)
    total, taken = x, 0
    while True:
        while taken % 3 < 2:
            for _ in values:
                taken += 1
                break
            else:
                return total * u[1]
        for v in values:
            taken += 1
            break
        else:
            return total * u[0]
        total = 0.5 * total + v


def every_other(values):
    taken = 0
    while True:
        while taken % 2 == 0:
            for _ in values:
                taken += 1
                break
            else:
                return
        for value in values:
            taken += 1
            break
        else:
            return
        yield value


@case([1.5, -0.5, 2.0, 0.25, 3.0, 0.75], 0.7)
def every_other_of_a_generator(u, x):
    total = x
    for v in every_other(w * x for w in u):
        total = 0.5 * total + v
    for v in every_other(iter(u)):
        total += v * x
    return total


@case(1.5, [1.0, 2.0])
def told_when_closed(x, u):
    def averager(scale):
        total = 0.0
        try:
            while True:
                total += yield scale * total
        except GeneratorExit:
            return total * scale

    def delegating():
        return (yield from averager(x))

    told = []
    for it in (averager(x), averager(u[0]), delegating()):
        next(it)
        it.send(x)
        it.send(u[1])
        told += [it.close(), it.close()]
    told.append(averager(x).close())
    return x + sum(told.count(None) * x if r is None else r * x for r in told)
