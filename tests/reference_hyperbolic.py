"""Definitions of hyperbolic geometry in 50 digits; vectors are lists of ``Decimal``."""

from decimal import Decimal, localcontext
from functools import wraps

DIGITS = 50


def precise(function):
    """Run with 50 digits."""

    @wraps(function)
    def inner(*arguments):
        with localcontext() as context:
            context.prec = DIGITS
            return function(*arguments)

    return inner


def vector(x):
    """Exactly the numbers of an array."""
    return [Decimal(float(each)) for each in x]


def dot(x, y):
    return sum((a * b for a, b in zip(x, y, strict=True)), Decimal(0))


def norm(x):
    return dot(x, x).sqrt()


def times(a, x):
    return [a * each for each in x]


def plus(x, y):
    return [a + b for a, b in zip(x, y, strict=True)]


def product(x, W):
    """``x W`` for a matrix given by its rows."""
    return [dot(x, column) for column in zip(*W, strict=True)]


def sinh(a):
    return (a.exp() - (-a).exp()) / 2


def cosh(a):
    return (a.exp() + (-a).exp()) / 2


def tanh(a):
    return sinh(a) / cosh(a)


def artanh(a):
    return ((1 + a) / (1 - a)).ln() / 2


def arcosh(a):
    return (a + (a * a - 1).sqrt()).ln()


@precise
def ball_exp0(c, v):
    r = c.sqrt() * norm(v)
    return times(tanh(r) / r, v) if r else v


@precise
def ball_log0(c, x):
    r = c.sqrt() * norm(x)
    return times(artanh(r) / r, x) if r else x


@precise
def ball_matvec(c, W, x):
    y = product(x, W)
    if not norm(y):
        return y
    size = tanh(norm(y) / norm(x) * artanh(c.sqrt() * norm(x))) / c.sqrt()
    return times(size / norm(y), y)


@precise
def ball_add(c, x, y):
    first, second = 1 + 2 * c * dot(x, y) + c * dot(y, y), 1 - c * dot(x, x)
    below = 1 + 2 * c * dot(x, y) + c**2 * dot(x, x) * dot(y, y)
    return times(1 / below, plus(times(first, x), times(second, y)))


@precise
def ball_distance(c, x, y):
    return 2 / c.sqrt() * artanh(c.sqrt() * norm(ball_add(c, times(Decimal(-1), x), y)))


@precise
def lorentz_inner(x, y):
    return dot(x[1:], y[1:]) - x[0] * y[0]


@precise
def hyperboloid_exp0(c, v):
    """``cosh(r) o + sinh(r) v / r`` from the origin ``o``, ``r = |v|_L / sqrt(c)``."""
    r = norm(v) / c.sqrt()
    return [c.sqrt() * cosh(r), *(times(sinh(r) / r, v) if r else v)]


@precise
def hyperboloid_distance(c, x, y):
    """Of the geodesic."""
    return c.sqrt() * arcosh(-lorentz_inner(x, y) / c)


@precise
def hyperboloid_log0(c, x):
    """``d(o, x) u / |u|_L`` with ``u = x + <o, x>_L o / c``, without its first number."""
    origin = [c.sqrt(), *[Decimal(0)] * (len(x) - 1)]
    u = plus(x, times(lorentz_inner(origin, x) / c, origin))
    size = lorentz_inner(u, u)
    return times(hyperboloid_distance(c, origin, x) / size.sqrt(), u[1:]) if size > 0 else x[1:]


@precise
def hyperboloid_centroid(c, points, weights):
    total = [sum((w * x[k] for w, x in zip(weights, points, strict=True)), Decimal(0)) for k in range(len(points[0]))]
    return times(c.sqrt() / (-lorentz_inner(total, total)).sqrt(), total)


@precise
def stereographic(c, x):
    """The point of the ball of curvature ``-1 / c`` that a point of the hyperboloid is projected to."""
    return times(c.sqrt() / (c.sqrt() + x[0]), x[1:])
