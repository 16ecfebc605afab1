"""Why is this link suggested? The walks that make up its score, exactly, and a picture of them.

The same in the shell: gelato explain links.run NODE NODE --picture why.svg
"""

import tempfile
from pathlib import Path

from gelato import Gelato, load

graph = load("debian-sample")
model = Gelato(eta=0.25, alpha=0.5, beta=0.5, self_loops="isolated", epochs=3).fit(graph)

first, second, score = next(iter(model.suggest(1, repeats=0, reasons=False)))
why = model.explain(first, second, limit=3)

print(*why.lines(), sep="\n")

# Nothing is left out: the walks listed, all other walks and the background add up to the score.
assert abs(sum(walk.value for walk in why.walks) + why.rest + why.background - score) < 1e-9 * score

with tempfile.TemporaryDirectory() as folder:
    picture = Path(folder, "why.svg")
    picture.write_text(why.svg(), encoding="utf-8")
    print(f"\n{picture.name}: a picture of {len(why.routes)} routes, {picture.stat().st_size:,} bytes")
