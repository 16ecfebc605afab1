"""Files and foreign objects to Graph and back."""

from gelato.io.attributes.alignment import Alignment as Alignment
from gelato.io.attributes.alignment import align_attributes as align_attributes
from gelato.io.attributes.table import AttributeTable as AttributeTable
from gelato.io.attributes.table import read_attributes as read_attributes
from gelato.io.attributes.table import write_attributes as write_attributes
from gelato.io.convert.frames import from_pandas as from_pandas
from gelato.io.convert.frames import from_polars as from_polars
from gelato.io.convert.frames import to_pandas as to_pandas
from gelato.io.convert.frames import to_polars as to_polars
from gelato.io.convert.networkx import from_networkx as from_networkx
from gelato.io.convert.networkx import to_networkx as to_networkx
from gelato.io.convert.pyg import from_pyg as from_pyg
from gelato.io.convert.pyg import to_pyg as to_pyg
from gelato.io.convert.scipy import from_scipy as from_scipy
from gelato.io.convert.scipy import to_scipy as to_scipy
from gelato.io.formats import FORMATS as FORMATS
from gelato.io.formats import read_graph as read_graph
from gelato.io.formats import write_graph as write_graph
from gelato.io.links.pairs import read_nodes as read_nodes
from gelato.io.links.pairs import read_pairs as read_pairs
from gelato.io.tables.files import write_table as write_table
from gelato.io.write.predicted import RankedLinks as RankedLinks
from gelato.io.write.predicted import links_to_pandas as links_to_pandas
from gelato.io.write.predicted import links_to_polars as links_to_polars
from gelato.io.write.predicted import links_to_scipy as links_to_scipy
