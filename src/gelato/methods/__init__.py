"""Methods: everything that ``--method`` can name, and the predictors behind the names."""

from gelato.methods.making import new_predictor as new_predictor
from gelato.methods.making import open_model as open_model
from gelato.methods.making import open_run as open_run
from gelato.methods.method import Method as Method
from gelato.methods.table import DEFAULT as DEFAULT
from gelato.methods.table import HEURISTICS as HEURISTICS
from gelato.methods.table import METHODS as METHODS
from gelato.methods.table import PREDICTING as PREDICTING
from gelato.methods.table import REFERENCE as REFERENCE
