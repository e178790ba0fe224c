"""Calls of the standard library's numeric modules."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_OF_DATA = (
    "fmean",
    "geometric_mean",
    "harmonic_mean",
    "mean",
    "median",
    "median_high",
    "median_low",
    "pstdev",
    "pvariance",
    "stdev",
    "variance",
    "mode",
    "multimode",
    "quantiles",
    "median_grouped",
)

_NUMBERS = ("x", "y", "z", "w", *(f"v[{i}]" for i in range(3)), "u[0]", "u[1]")
"""Numbers that have a derivative, each another."""

CALLS: dict[str, Sequence[str]] = {
    "math.sumprod": ["math.sumprod([x, y], [y, 2.0])"],
    "math.dist": ["math.dist([x, y], [y, 0.1])"],
    "math.fsum": ["math.fsum([x, y, 0.3])", "math.fsum(items)"],
    "math.prod": ["math.prod([x, y, 0.3])", "math.prod(items, start=2.0)"],
    "math.hypot": [
        "math.hypot(x, y)",
        "math.hypot(x, y, 0.3)",
        "math.hypot(x)",
        *(f"math.hypot({', '.join(_NUMBERS[:count])})" for count in range(3, 10)),
    ],
    "math.fmod": ["math.fmod(x, y)", "math.fmod(x + 3.0, y)"],
    "math.ldexp": ["math.ldexp(x, 3)"],
    "math.log": ["math.log(x)", "math.log(x, 3.0)", "math.log(x, y + 1.5)"],
    "math.perm": ["math.perm(5, 2)"],
    "math.comb": ["math.comb(5, 2)"],
    "math.factorial": ["math.factorial(5)"],
    "math.isqrt": ["math.isqrt(17)"],
    "math.gcd": ["math.gcd(12, 18)"],
    "math.lcm": ["math.lcm(12, 18)"],
    "cmath.rect": ["cmath.rect(x, y)"],
    "cmath.polar": ["cmath.polar(complex(x, y))"],
    "cmath.phase": ["cmath.phase(complex(x, y))"],
    **{
        f"statistics.{name}": [f"statistics.{name}(items)", f"statistics.{name}([x, y, z])"]
        for name in _OF_DATA
    },
    "statistics.correlation": ["statistics.correlation(items, [x, y, 1.0, 2.0])"],
    "statistics.covariance": ["statistics.covariance(items, [x, y, 1.0, 2.0])"],
    "statistics.linear_regression": ["statistics.linear_regression(items, [x, y, 1.0, 2.0])"],
    "statistics.NormalDist": [
        "statistics.NormalDist(x, y).pdf(0.4)",
        "statistics.NormalDist(x, y).cdf(z)",
        "statistics.NormalDist(x, y).inv_cdf(0.3)",
        "statistics.NormalDist.from_samples(items).mean",
        "(statistics.NormalDist(x, y) + statistics.NormalDist(z, 0.5)).stdev",
        "statistics.NormalDist(x, y).quantiles(3)",
        "statistics.NormalDist(x, y).zscore(z)",
        "statistics.NormalDist(x, y).samples(3, seed=1)",
        "statistics.NormalDist(x, y).overlap(statistics.NormalDist(z, 0.5))",
    ],
    **{
        f"bisect.{name}": [f"bisect.{name}([0.1, 0.4, 0.8], x)", f"bisect.{name}(sorted(items), x)"]
        for name in ("bisect", "bisect_left", "bisect_right")
    },
    **{f"bisect.{name}": [f"bisect.{name}(items, x)"] for name in ("insort", "insort_left", "insort_right")},
    "heapq.heapify": ["heapq.heapify(items)"],
    "heapq.heappush": ["heapq.heappush(items, x)"],
    "heapq.heappop": ["heapq.heappop(items)"],
    "heapq.heappushpop": ["heapq.heappushpop(items, x)"],
    "heapq.heapreplace": ["heapq.heapreplace(items, x)"],
    "heapq.merge": ["list(heapq.merge([0.1, x], [y, 0.95]))"],
    "heapq.nlargest": ["heapq.nlargest(2, items)", "heapq.nlargest(2, items, key=lambda a: -a)"],
    "heapq.nsmallest": ["heapq.nsmallest(2, items)"],
    **{
        f"random.{name}": [f"random.Random(3).{text}"]
        for name, text in {
            "betavariate": "betavariate(x, y)",
            "choice": "choice(items)",
            "choices": "choices(items, k=3)",
            "expovariate": "expovariate(x)",
            "gammavariate": "gammavariate(2.0, x)",
            "gauss": "gauss(x, y)",
            "getrandbits": "getrandbits(5)",
            "lognormvariate": "lognormvariate(x, y)",
            "normalvariate": "normalvariate(x, y)",
            "paretovariate": "paretovariate(x)",
            "randint": "randint(1, 5)",
            "random": "random() * x",
            "randrange": "randrange(5)",
            "sample": "sample(items, 2)",
            "shuffle": "shuffle(items)",
            "triangular": "triangular(x, y + 1.0, 0.95)",
            "uniform": "uniform(x, y)",
            "vonmisesvariate": "vonmisesvariate(x, y)",
            "weibullvariate": "weibullvariate(x, y)",
            "randbytes": "randbytes(3)",
            "binomialvariate": "binomialvariate(5, x)",
            "getstate": "getstate()[0]",
        }.items()
    },
    "random.seed": ["random.seed(3)"],
    "random.setstate": ["random.setstate(random.getstate())"],
    "random.Random": ["random.Random(3).random() * x"],
    "fractions.Fraction": ["float(fractions.Fraction(x))", "fractions.Fraction(1, 3) * x"],
    "decimal.Decimal": [
        "x * int(decimal.Decimal('2.5') * 2) + float(decimal.Decimal('2').sqrt())",
        "float(decimal.Decimal(x))",
        "float(decimal.Decimal('0.1')) * x",
    ],
    "array.array": [
        "(lambda a: (a.append(x), a.extend([y]), a.tolist())[2])(array.array('d', items))",
        "sum(array.array('d', items)[1:3]) * array.array('d', [x])[0]",
        "array.array('d', items)",
        "array.array('d', items)[1] * x",
        "list(array.array('d', [x, y]))",
    ],
    "struct.pack": ["struct.pack('d', x)"],
    "struct.unpack": [
        "struct.unpack('d', struct.pack('d', 0.5))[0] * x",
    ],
    "struct.calcsize": ["struct.calcsize('d')"],
    "struct.Struct": ["struct.Struct('d').size", "struct.Struct('d').pack(x)"],
    "struct.pack_into": ["struct.pack_into('d', bytearray(8), 0, x)"],
    "struct.unpack_from": ["struct.unpack_from('d', struct.pack('d', 0.5))[0] * x"],
    "struct.iter_unpack": ["[a[0] * x for a in struct.iter_unpack('d', struct.pack('d', 0.5))]"],
    "copy.copy": ["copy.copy(items)", "copy.copy(v)"],
    "copy.deepcopy": ["copy.deepcopy(items)", "copy.deepcopy({'a': [x, v]})"],
    "copy.replace": ["copy.replace(items)"],
    "operator.getitem": ["operator.getitem(items, 1)"],
    "operator.setitem": ["operator.setitem(items, 1, x)"],
    "operator.delitem": ["operator.delitem(items, 1)"],
    "operator.concat": ["operator.concat(items, [x])"],
    "operator.iconcat": ["operator.iconcat(items, [x])"],
    "operator.attrgetter": ["operator.attrgetter('real')(x)"],
    "operator.itemgetter": ["operator.itemgetter(1)(items)", "operator.itemgetter(0, 2)(items)"],
    "operator.methodcaller": ["operator.methodcaller('__neg__')(x)", "operator.methodcaller('conjugate')(x)"],
    "operator.contains": ["operator.contains(items, 0.5)"],
    "operator.countOf": ["operator.countOf(items, 0.5)"],
    "operator.indexOf": ["operator.indexOf(items, items[2])"],
    "operator.length_hint": ["operator.length_hint(items)"],
    "operator.index": ["operator.index(3)"],
    "operator.matmul": ["operator.matmul(A, B)"],
    "operator.imatmul": ["operator.imatmul(A, B)"],
    "operator.is_": ["operator.is_(x, y)"],
    "operator.is_not": ["operator.is_not(x, y)"],
    **{
        f"operator.{name}": [f"operator.{name}(6, 3)"]
        for name in ("and_", "or_", "xor", "lshift", "rshift", "iand", "ior", "ixor", "ilshift", "irshift")
    },
    **{f"operator.{name}": [f"operator.{name}(6)"] for name in ("inv", "invert")},
    "operator.call": ["operator.call(math.sin, 0.3) * x", "operator.call(lambda a: a * a, x)"],
    "itertools.accumulate": [
        "list(itertools.accumulate(items))",
        "list(itertools.accumulate(items, operator.mul, initial=x))",
    ],
    "itertools.batched": ["list(itertools.batched(items, 2))"],
    "itertools.chain": [
        "list(itertools.chain(items, [x]))",
        "list(itertools.chain.from_iterable([items, [x]]))",
    ],
    "itertools.combinations": ["list(itertools.combinations(items, 2))"],
    "itertools.combinations_with_replacement": ["list(itertools.combinations_with_replacement(items, 2))"],
    "itertools.compress": ["list(itertools.compress(items, [1, 0, 1, 1]))"],
    "itertools.count": ["list(itertools.islice(itertools.count(x, y), 3))"],
    "itertools.cycle": ["list(itertools.islice(itertools.cycle(items), 6))"],
    "itertools.dropwhile": ["list(itertools.dropwhile(lambda a: a > 0.3, items))"],
    "itertools.filterfalse": ["list(itertools.filterfalse(lambda a: a > 0.6, items))"],
    "itertools.groupby": ["[(k, list(g)) for k, g in itertools.groupby(items, lambda a: a > 0.6)]"],
    "itertools.islice": ["list(itertools.islice(items, 1, 3))"],
    "itertools.pairwise": ["list(itertools.pairwise(items))"],
    "itertools.permutations": ["list(itertools.permutations(items, 2))"],
    "itertools.product": ["list(itertools.product(items, [x, y]))"],
    "itertools.repeat": ["list(itertools.repeat(x, 3))"],
    "itertools.starmap": ["list(itertools.starmap(pow, [(x, 2), (y, 3)]))"],
    "itertools.takewhile": ["list(itertools.takewhile(lambda a: a > 0.3, items))"],
    "itertools.tee": ["[list(t) for t in itertools.tee(items, 2)]"],
    "itertools.zip_longest": ["list(itertools.zip_longest(items, [x], fillvalue=0.5))"],
    "functools.reduce": [
        "functools.reduce(operator.mul, items)",
        "functools.reduce(lambda a, b: a * b, items, x)",
    ],
    "functools.partial": ["functools.partial(math.atan2, x)(y)", "functools.partial(pow, exp=2)(x)"],
    "functools.cmp_to_key": ["sorted(items, key=functools.cmp_to_key(lambda a, b: a - b))"],
    "functools.cache": ["functools.cache(lambda a: a * a)(x)"],
    "functools.lru_cache": ["functools.lru_cache(maxsize=4)(lambda a: a * a)(x)"],
    "functools.singledispatch": ["functools.singledispatch(lambda a: a * a)(x)"],
    "functools.wraps": ["functools.wraps(math.sin)(lambda a: a * a)(x)"],
    "functools.update_wrapper": ["functools.update_wrapper(lambda a: a * a, math.sin)(x)"],
    "collections.deque": ["list(collections.deque(items, maxlen=3))", "collections.deque([x, y]).pop()"],
    "collections.Counter": [
        "collections.Counter({'a': x})['a']",
        "(collections.Counter(a=x) + collections.Counter(a=y))['a']",
    ],
    "collections.ChainMap": ["collections.ChainMap({'a': x}, {'b': y})['b']"],
    "collections.OrderedDict": ["collections.OrderedDict(a=x, b=y)['b']"],
    "collections.defaultdict": ["collections.defaultdict(float, a=x)['a']"],
    "collections.namedtuple": ["collections.namedtuple('P', 'a b')(x, y).b"],
    "collections.UserDict": ["collections.UserDict(a=x)['a']"],
    "collections.UserList": ["collections.UserList(items)[1]"],
    "collections.UserString": ["len(collections.UserString('ab'))"],
    "contextvars.ContextVar": [
        "contextvars.ContextVar('c', default=2.0).get() * x",
        "(lambda c: (c.set(x), c.get())[1])(contextvars.ContextVar('c'))",
    ],
    "contextvars.copy_context": ["(len(contextvars.copy_context()) + 1.0) * x"],
    "contextvars.Context": ["contextvars.Context().run(lambda: 2.0 * x)"],
    "json.dumps": ["json.dumps([x])"],
    "json.loads": ["json.loads('[1.5]')[0] * x"],
    "json.dump": ["json.dump([x], __import__('io').StringIO())"],
    "json.load": ["json.load(__import__('io').StringIO('[1.5]'))[0] * x"],
    "json.JSONEncoder": ["json.JSONEncoder().encode([x])"],
    "json.JSONDecoder": ["json.JSONDecoder().decode('[1.5]')[0] * x"],
}

SKIPPED: dict[str, str] = {
    **{
        f"decimal.{name}": "is about settings"
        for name in ("getcontext", "setcontext", "localcontext", "Context", "DecimalTuple")
    },
    "random.SystemRandom": "cannot be repeated",
    "json.detect_encoding": "is about texts",
    "array.ArrayType": "is another name",
    **{
        f"functools.{name}": "is a decorator in classes"
        for name in (
            "cached_property",
            "partialmethod",
            "singledispatchmethod",
            "total_ordering",
        )
    },
    "contextvars.Token": "is made by ContextVar.set",
}
