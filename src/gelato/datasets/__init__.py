"""Graphs by name: downloaded, checked and cached, read from a folder, embedded, or generated."""

from typing import TYPE_CHECKING

from gelato.lazy import public_names

if TYPE_CHECKING:
    from gelato.datasets.catalog import DATASETS as DATASETS
    from gelato.datasets.dataset import Dataset as Dataset
    from gelato.datasets.dataset import content_sha256 as content_sha256
    from gelato.datasets.download import Remote as Remote
    from gelato.datasets.generators import block_model as block_model
    from gelato.datasets.generators import two_cliques as two_cliques
    from gelato.datasets.loading import load as load
    from gelato.datasets.loading import open_graph as open_graph
    from gelato.datasets.locations import Location as Location
    from gelato.datasets.locations import dataset_location as dataset_location
    from gelato.datasets.locations import list_datasets as list_datasets
    from gelato.datasets.sample import debian_sample as debian_sample

__getattr__, __dir__ = public_names(__name__, __file__)
