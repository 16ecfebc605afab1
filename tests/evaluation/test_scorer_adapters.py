"""Whatever scores pairs is tested by the same exact ranking: brute force over all pairs says the same."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import reference
from gelato import Autocovariance, CommonNeighbors, Graph, InputError, evaluate, make, split
from gelato.datasets import block_model
from gelato.evaluation.scorer_adapters import as_scores


@pytest.fixture(scope="module")
def graph():
    return block_model([15, 15], 0.4, 0.05, attributes=10, words=3, seed=3)


@pytest.fixture(scope="module")
def data(graph):
    return split(graph, 1, (0.1, 0.2))


@pytest.fixture(scope="module")
def table(data):
    """``(n, n)`` symmetric scores with ties, from 1 to 6."""
    S = np.random.default_rng(0).integers(1, 7, (data.graph.n,) * 2).astype(float)
    return np.triu(S, 1) + np.triu(S, 1).T


def same(result, S, data):
    """Whether the ranks of hidden links among all non-links are those of a matrix of scores."""
    links = set(map(tuple, data.graph.edges.tolist()))
    others = np.array([S[pair] for pair in reference.all_pairs(data.graph.n, False) if pair not in links])
    positives = S[tuple(data.test.T)]
    np.testing.assert_allclose(result.ranks.score, positives, rtol=1e-6)
    assert result.ranks.above.tolist() == [(others > score).sum() for score in positives]
    assert result.ranks.tied.tolist() == [(others == score).sum() for score in positives]


def test_a_function_of_pairs_is_called_with_ordered_pairs_of_two_nodes(data, table):
    def lookup(rows, columns):
        assert rows.shape == columns.shape and (rows < columns).all()
        return table[rows, columns]

    result = evaluate(data, lookup)
    same(result, table, data)
    assert result.method == "lookup" and evaluate(data, lookup, name="mine").method == "mine"


def test_a_dense_and_a_sparse_matrix_are_looked_up(data, table):
    torch = pytest.importorskip("torch")
    kept = np.where(table > 3, table, 0.0)
    for matrix in (kept, csr_array(kept), torch.tensor(kept), kept + np.diag(np.full(len(kept), np.inf))):
        result = evaluate(data, matrix)
        same(result, kept, data)
        assert result.method == "matrix"


def test_an_embedding_scores_by_inner_products(data):
    torch = pytest.importorskip("torch")
    z = np.random.default_rng(1).integers(-2, 3, (data.graph.n, 3)).astype(float)
    for embedding in (z, z.astype(np.float32), torch.tensor(z)):
        result = evaluate(data, embedding)
        same(result, z @ z.T, data)
        assert result.method == "embedding"


def test_a_torch_module_encodes_the_training_graph_and_decodes_pairs(data):
    torch = pytest.importorskip("torch")
    X = torch.tensor(data.graph.attributes.toarray(), dtype=torch.float32)

    class Summed(torch.nn.Module):
        """Sums of attributes over neighbours; wrong while it is trained."""

        def forward(self, x, edge_index):
            z = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
            return z + 100 * torch.rand_like(z) if self.training else z

    class Decoded(Summed):
        def encode(self, x, edge_index):
            return self(x, edge_index)

        def decode(self, z, pairs):
            return -(z[pairs[0]] - z[pairs[1]]).abs().sum(dim=-1)

    z = torch.tensor(data.train.adjacency.toarray(), dtype=torch.float32) @ X
    inner, outer = Summed(), Decoded()
    same(evaluate(data, inner), (z @ z.T).double().numpy(), data)
    same(evaluate(data, outer), -torch.cdist(z, z, p=1).double().numpy(), data)
    assert inner.training and outer.training  # as they were
    with pytest.raises(InputError, match="a torch module needs node attributes"):
        evaluate(split(Graph(data.graph.adjacency)), inner)


@pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")  # of torch_geometric, when it is imported
def test_a_module_of_pytorch_geometric_is_evaluated(data):
    geometric = pytest.importorskip("torch_geometric.nn")
    module = geometric.GAE(geometric.GCNConv(data.graph.f, 4))
    result = evaluate(data, module)
    assert result.method == "GAE" and 0 < result.metric("ap") <= 1


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_pairs_of_a_file_rank_by_their_scores_and_all_others_below(data, tmp_path, suffix):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"scores.{suffix}"
    links = CommonNeighbors().fit(data).suggest(60, repeats=0, reasons=False)
    links.write(path)
    S = np.full((data.graph.n,) * 2, 0.0)
    S[tuple(links.pairs.T)] = links.score
    result = evaluate(data, path)
    same(result, S + S.T, data)
    assert result.method == path.name
    assert evaluate(data, str(path)).ranks.above.tolist() == result.ranks.above.tolist()


def test_a_file_that_contradicts_itself_or_has_no_scores_is_refused(data, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("source,target,score\n0,1,2\n1,0,2\n3,4,1\n")
    assert len(as_scores(path, data.train)[0].listed) == 2
    path.write_text("source,target,score\n0,1,2\n3,4,1\n1,0,3\n")
    with pytest.raises(InputError, match=r"scores.csv: lists \(0, 1\) with different scores; keep one of the rows"):
        evaluate(data, path)
    path.write_text("source,target,score\n0,1,2\n3,4,much\n")
    with pytest.raises(InputError, match=r"scores\.csv, line 3: score 'much' is not a finite number"):
        evaluate(data, path)
    path.write_text("source,target,value\n0,1,2\n")
    with pytest.raises(InputError, match="there is no column 'score'"):
        evaluate(data, path)


def test_a_model_is_fitted_unless_it_is(data, graph):
    fresh = Autocovariance(steps=2)
    wanted = evaluate(data, "ac", steps=2)
    for model in (fresh, make("ac", steps=2).fit(data)):
        result = evaluate(data, model)
        assert result.ranks.above.tolist() == wanted.ranks.above.tolist() and result.method == "ac"
    assert not fresh.fitted  # a copy was
    with pytest.raises(InputError, match="was not fitted on this split's training links"):
        evaluate(data, Autocovariance().fit(graph))


def test_a_graph_is_split_as_usual(graph):
    assert evaluate(graph, "ac").metric("ap") == evaluate(split(graph), "ac").metric("ap")


@pytest.mark.parametrize(
    ("scorer", "message"),
    [
        (np.ones((30, 30)) + np.triu(np.ones((30, 30))), r"not symmetric, .* differ by 1\); give \(S \+ S\.T\) / 2"),
        (np.ones((29, 4)), r"one row for each of the 30 nodes, got shape \(29, 4\)"),
        (csr_array(np.ones((30, 4))), r"must be 30 x 30, got \(30, 4\)"),
        (lambda rows, columns: np.ones(1), "one score per pair|must have shape"),
        (lambda rows, columns: np.full(len(rows), np.nan), "scores must be finite"),
        (object(), "cannot score pairs by object; give a method by name, a model"),
    ],
    ids=["asymmetric", "short embedding", "narrow matrix", "one score", "nan", "object"],
)
def test_what_cannot_score_pairs_is_refused(data, scorer, message):
    with pytest.raises(InputError, match=message):
        evaluate(data, scorer)
