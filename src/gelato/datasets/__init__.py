"""Graphs by name: downloaded, checked and cached, read from a folder, embedded, or generated."""

from gelato.datasets.catalog import DATASETS as DATASETS
from gelato.datasets.dataset import Dataset as Dataset
from gelato.datasets.dataset import content_sha256 as content_sha256
from gelato.datasets.download import Remote as Remote
from gelato.datasets.folder import Location as Location
from gelato.datasets.generators import block_model as block_model
from gelato.datasets.generators import two_cliques as two_cliques
from gelato.datasets.loading import listing as listing
from gelato.datasets.loading import load as load
from gelato.datasets.loading import open_graph as open_graph
from gelato.datasets.loading import where as where
from gelato.datasets.sample import debian_sample as debian_sample
