"""The same methods tested two ways: against all non-links, and against as many sampled non-links as links.

The second way is the usual one. It makes every method look good, and may even change their order.
"""

from gelato import Gelato, evaluate, load, split

parts = split(load("debian-sample"))  # hides 5% of the links for validation, 10% for testing
model = Gelato(eta=0.25, alpha=0.75, beta=1.0, self_loops="isolated", epochs=5).fit(parts)

results = {}
for method in ("cn", "aa", "ppr", "cosine", "ac", model):
    honest = evaluate(parts, method)
    flattered = evaluate(parts, method, regime="biased")
    results[honest.method] = honest.metric("ap"), flattered.metric("ap"), honest.metric("hits@1000")

print(f"{len(parts.test):,} hidden links of {parts.graph}")
print(f"{'':8}{'AP, all pairs':>15}{'AP, balanced':>15}{'flattered':>12}{'hits@1000':>12}")
for method, (honest, flattered, hits) in sorted(results.items(), key=lambda item: -item[1][0]):
    print(f"{method:8}{honest:>15.2%}{flattered:>15.2%}{flattered / honest:>11.0f}x{hits:>12.2%}")

for title, column in (("all pairs", 0), ("balanced", 1)):
    print(f"best to worst, {title}:", *sorted(results, key=lambda method: -results[method][column]))
