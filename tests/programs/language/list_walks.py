"""Iterators over lists that are walked in other ways than by a loop from the first element to the last."""

import math

from tests.programs.language.cases import Cases

case = Cases()

VALUES = [1.5, -0.5, 2.0, 0.75, 1.25, -2.0]


@case(VALUES)
def backwards(xs):
    total = 0.0
    for x in reversed(xs):
        total = total * 0.5 + x * x
    return total


@case(VALUES)
def backwards_until(xs):
    total = 1.0
    for x in reversed(xs):
        if x < 0.0 and total > 3.0:
            break
        total += x * x
    else:
        total = -total
    return total


@case(VALUES)
def in_pairs(xs):
    """One loop takes two elements in each iteration."""
    total = 0.0
    it = iter(xs)
    for a in it:
        b = next(it)
        total += a * math.sin(b)
    return total


@case(VALUES)
def in_pairs_backwards(xs):
    total = 0.0
    it = reversed(xs)
    for a in it:
        total = total * a + next(it)
    return total


@case([1.5, 2.0, 0.5, -1.0, 3.0, 2.5])
def left_to_the_next(xs):
    """A loop is left, and another goes on behind the element that it has met."""
    it = iter(xs)
    total = 0.0
    for x in it:
        if x < 0.0:
            break
        total += x * x
    for x in it:
        total *= x
    return total


@case([1.5, 2.0, 0.5, -1.0, 3.0, 2.5])
def nested(xs):
    """The inner loop takes from the same iterator as the outer one."""
    it = iter(xs)
    total = 0.0
    for x in it:
        y = x
        for y in it:
            if y > x:
                break
            total += x * y
        total += y
    return total


@case(VALUES)
def first_and_rest(xs):
    it = iter(xs)
    first = next(it)
    second = next(it)
    total = first * second
    for x in it:
        total += first * x * x
    return total


@case(VALUES)
def iterators_of_iterators(xs):
    it = iter(reversed(xs))
    total = next(it) ** 2
    for x in iter(it):
        total += x * total
    return total


@case(VALUES)
def made_again_in_a_loop(xs):
    total = 0.0
    for k in range(3):
        it = reversed(xs)
        for x in it:
            total += x * k
            if x < -1.0:
                total *= next(it)
    return total


@case([1.5, 0.5, 2.0, -0.5])
def grows_while_it_is_walked(xs):
    total = 0.0
    it = iter(xs)
    for x in it:
        if len(xs) < 8:
            xs.append(x * 0.5)
            xs.append(len(xs))
        total += x * next(it)
    return total


@case([1.5, 0.5, 2.0, -1.0, 0.25])
def shrinks_while_it_is_walked(xs):
    total = 0.0
    for x in reversed(xs):
        total += x * x
        if len(xs) > 2:
            total *= xs.pop(0)
    return total


@case([1.5, 0.5, 2.0])
def written_while_it_is_walked(xs):
    total = 0.0
    i = len(xs)
    for x in reversed(xs):
        i -= 1
        total += x * x
        xs[i] = total
        xs[i - 1] *= x
    return total


@case(0.75)
def of_several_kinds(x):
    """Numbers without a derivative stand between those that have one, as on a tape."""
    tape = []
    for i in range(6):
        tape.append(i)
        tape.append(x * i)
        tape.append("odd" if i % 2 else None)
    total = 0.0
    it = reversed(tape)
    for mark in it:
        value = next(it)
        total += value * next(it) * (2.0 if mark else 1.0)
    return total


@case([1.5, [0.5, 2.0], 3.0, [1.0]])
def of_lists(xs):
    total = 0.0
    it = reversed(xs)
    for x in it:
        total += sum(x) * next(it)
    return total


@case([1.5, 2.5, 0.5, 4, 2.5, True])
def of_changing_classes(xs):
    """A guess that the elements are floats is wrong in the middle of a walk."""
    total = 0.0
    it = reversed(xs)
    for x in it:
        total += x * x + next(it)
    return total


@case([1.5, 2.5, 0.5])
def runs_out(xs):
    it = iter(xs)
    total = 0.0
    try:
        while True:
            total += next(it) * next(it)
    except StopIteration:
        return total + sum(xs)


@case([1.5, 2.5, 0.5])
def after_the_end(xs):
    it = iter(xs)
    total = 0.0
    for x in it:
        total += x * x
    xs.append(total)
    for x in it:
        total += 100.0 * x
    return total + next(it, 1.0) * xs[-1]


@case(VALUES)
def handed_on(xs):
    it = reversed(xs)
    total = next(it) * 2.0
    rest = list(it)
    return total * rest[0] + sum(rest)


@case(VALUES)
def two_at_once(xs):
    ahead, behind = iter(xs), reversed(xs)
    total = 0.0
    for a in ahead:
        b = next(behind)
        total += a * a * b
    return total


@case(VALUES)
def chosen(xs):
    """Which of two iterators is walked is known when the function runs."""
    it = reversed(xs) if xs[0] > 1.0 else iter(xs)
    total = 0.0
    for x in it:
        total = total * 0.5 + x * x
    return total
