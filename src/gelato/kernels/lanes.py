"""A few floats treated at once, in vector registers, for kernels that numba alone does not make fast enough."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

LANES = 16
"""Numbers that are treated at once; on a narrower machine they are several registers."""

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_INTEGER = ir.IntType(32)


class _Lanes(types.Type):  # type: ignore[misc, unused-ignore]
    """``LANES`` floats in registers."""

    def __init__(self) -> None:
        super().__init__(name=f"lanes{LANES}")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc, unused-ignore]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


_lanes = _Lanes()


def _pointer(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


@intrinsic
def load(_, array, place):  # type: ignore[no-untyped-def]
    """The lanes at ``place`` of a flat float32 array."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        lanes = builder.load(_pointer(context, builder, signature.args[0], *values))
        lanes.align = 4
        return lanes

    return _lanes(array, types.int64), generate


@intrinsic
def store(_, array, place, lanes):  # type: ignore[no-untyped-def]
    """Put the lanes to ``place`` of a flat float32 array."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        builder.store(values[2], _pointer(context, builder, signature.args[0], *values[:2])).align = 4
        return context.get_dummy_value()

    return types.void(array, types.int64, _lanes), generate


@intrinsic
def zeros(_):  # type: ignore[no-untyped-def]
    """Lanes of zeros."""
    return _lanes(), lambda context, builder, signature, values: ir.Constant(_VECTOR, [0.0] * LANES)


@intrinsic
def add_times(_, lanes, factor, others):  # type: ignore[no-untyped-def]
    """``lanes + factor * others``, rounded once where the machine can."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        all_ = builder.insert_element(nothing, values[1], _INTEGER(0))
        all_ = builder.shuffle_vector(all_, nothing, ir.Constant(ir.VectorType(_INTEGER, LANES), [0] * LANES))
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        multiply_add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f32")
        return builder.call(multiply_add, [all_, values[2], values[0]])

    return _lanes(_lanes, types.float32, _lanes), generate


@intrinsic
def positive(_, lanes):  # type: ignore[no-untyped-def]
    """A word with a bit for each of the lanes, set where it is above zero."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        above = builder.fcmp_ordered(">", values[0], ir.Constant(_VECTOR, [0.0] * LANES))
        return builder.zext(builder.bitcast(above, ir.IntType(LANES)), ir.IntType(64))

    return types.uint64(_lanes), generate


@intrinsic
def kept(_, word):  # type: ignore[no-untyped-def]
    """One for each of the lowest ``LANES`` bits that is set, zero for the others."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(builder.trunc(values[0], ir.IntType(LANES)), ir.VectorType(ir.IntType(1), LANES))
        return builder.uitofp(bits, _VECTOR)

    return _lanes(types.uint64), generate


@intrinsic
def lowest(_, word):  # type: ignore[no-untyped-def]
    """Which bit is the lowest one set in a word that is not zero."""
    return types.int64(types.uint64), lambda context, builder, signature, values: builder.cttz(
        values[0], ir.Constant(ir.IntType(1), 1)
    )
