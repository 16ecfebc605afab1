"""Train Gelato on a graph with attributes, test it honestly, and list its best missing links."""

from gelato import Gelato, evaluate, load, split, top

graph = load("debian-sample")
parts = split(graph)
model = Gelato(eta=0.25, alpha=0.75, beta=1.0, self_loops="isolated", epochs=5).fit(parts)
print(f"kept epoch {model.best_epoch_}, validation precision@100% {model.precision_:.2%}")
for method, scores in (("ac", None), ("gelato", model.scores())):
    print(f"{method}: AP {evaluate(parts, method, scores=scores).metric('ap'):.2%} against every non-link")

best = top(model.scores(), parts.train, 5)
for (u, v), score in zip(best.pairs, best.score, strict=True):
    print(f"{graph.name_of(u)} - {graph.name_of(v)}  {score:.3g}")
