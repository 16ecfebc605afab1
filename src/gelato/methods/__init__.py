"""Methods: everything that ``--method`` can name, and the predictors behind the names, which are loaded when used."""

from typing import TYPE_CHECKING

from gelato.lazy import public_names

if TYPE_CHECKING:
    from gelato.methods.factory import make as make
    from gelato.methods.factory import new_predictor as new_predictor
    from gelato.methods.factory import open_model as open_model
    from gelato.methods.factory import open_run as open_run
    from gelato.methods.method import Method as Method
    from gelato.methods.table import DEFAULT as DEFAULT
    from gelato.methods.table import HEURISTICS as HEURISTICS
    from gelato.methods.table import METHODS as METHODS
    from gelato.methods.table import PREDICTING as PREDICTING
    from gelato.methods.table import REFERENCE as REFERENCE

__getattr__, __dir__ = public_names(__name__, __file__)
