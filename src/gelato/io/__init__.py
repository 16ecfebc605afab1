"""Files and foreign objects to Graph and back."""

from gelato.io.alignment import Alignment as Alignment
from gelato.io.alignment import align_attributes as align_attributes
from gelato.io.attributes import AttributeTable as AttributeTable
from gelato.io.attributes import read_attributes as read_attributes
from gelato.io.attributes import write_attributes as write_attributes
from gelato.io.foreign import from_pyg as from_pyg
from gelato.io.foreign import from_scipy as from_scipy
from gelato.io.foreign import to_pyg as to_pyg
from gelato.io.foreign import to_scipy as to_scipy
from gelato.io.formats import FORMATS as FORMATS
from gelato.io.formats import read_graph as read_graph
from gelato.io.formats import write_graph as write_graph
from gelato.io.frames import from_pandas as from_pandas
from gelato.io.frames import from_polars as from_polars
from gelato.io.frames import to_pandas as to_pandas
from gelato.io.frames import to_polars as to_polars
from gelato.io.networkx import from_networkx as from_networkx
from gelato.io.networkx import to_networkx as to_networkx
from gelato.io.pairs import read_nodes as read_nodes
from gelato.io.pairs import read_pairs as read_pairs
from gelato.io.predicted import RankedLinks as RankedLinks
from gelato.io.predicted import links_to_pandas as links_to_pandas
from gelato.io.predicted import links_to_polars as links_to_polars
from gelato.io.predicted import links_to_scipy as links_to_scipy
from gelato.io.tables import write_table as write_table
