"""The answer of predict: written and shown at once, from the best method so far, while better ones are still compared.

The file is replaced whole each time. Its column ``method`` says which method ranked it, and if it is a first answer.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gelato.cli.display import print_result, remark_unless

if TYPE_CHECKING:
    from gelato.graph import Graph
    from gelato.prediction.comparison_state import ComparisonState
    from gelato.prediction.predictor import LinkPredictor
    from gelato.prediction.suggestions import Suggestions

SHOWN = 20
"""Number of suggestions shown on the terminal."""

PATIENCE = 0.02
"""Once a first answer took this share of the time that is left, there are no further ones."""

FIRST_ANSWER = " (first answer)"
"""Stands behind the method of a list that is not finished."""


@dataclass(frozen=True)
class Answer:
    """Where a list of suggestions goes.

    Attributes:
        name: of the graph.
        out, safe: the file, if there is one, and whether it must be safe for spreadsheets.
        folder: of the run.
        as_json, quiet: how it is shown.
    """

    name: str
    out: str | None
    safe: bool
    folder: Path | None
    as_json: bool
    quiet: bool

    def write(self, suggestions: "Suggestions") -> None:
        """Replace the file."""
        if self.out is not None:
            suggestions.write(self.out, safe=self.safe)

    def show(self, suggestions: "Suggestions", predictor: "LinkPredictor | None") -> None:
        """Print the list, as a table or as JSON; without a predictor, it is a first answer that nothing followed."""
        say, count = remark_unless(self.quiet or self.as_json), f"{len(suggestions):,} links"
        if self.as_json:
            about: dict[str, Any] = {"dataset": self.name, "out": self.out, "run": self.folder and str(self.folder)}
            about |= {"finished": predictor is not None, "method": suggestions.method}
            about |= {"precision": suggestions.words()}
            if predictor is not None:
                about |= {**predictor.facts(), "remarks": [*predictor.remarks_, *predictor.sentences()]}
            print(json.dumps(about | {"count": len(suggestions)} | ({} if self.out else {"links": suggestions.rows()})))
            return
        from gelato.tables import suggestion_table

        print_result(suggestion_table(self.name, suggestions, SHOWN))
        for sentence in suggestions.words():
            print_result(sentence)
        if predictor is None:
            by = str(suggestions.method).removesuffix(FIRST_ANSWER)
            say(f"stopped early: these are the best {count} by {by}, without chances and reasons")
        if self.out is not None:
            say(f"wrote {count} to {self.out}")


class FirstAnswers:
    """The list of the best method so far, made anew whenever another method takes the lead.

    Args:
        graph: the whole graph.
        k: how many links are suggested.
        chosen: which ones may be, as keywords of ``suggest``.
        write: writes a list to where the user wants it.
    """

    def __init__(
        self, graph: "Graph", k: int, chosen: Mapping[str, Any], write: "Callable[[Suggestions], None]"
    ) -> None:
        self._graph, self._k, self._chosen, self._write = graph, k, chosen, write
        self._leader, self._took = "", 0.0
        self.latest: Suggestions | None = None

    def __call__(self, state: "ComparisonState") -> None:
        """List the links of the method that leads, if it is another one than before, and this is quick."""
        if state.leader is None or state.model is None or state.leader == self._leader:
            return
        if self._took > PATIENCE * state.left:
            return
        begin, self._leader = time.perf_counter(), state.leader
        model = state.model.on(self._graph)
        ranked = model.suggest(self._k, **self._chosen, repeats=0, reasons=False)
        self.offer(replace(ranked, method=state.leader))
        self._took = time.perf_counter() - begin

    def offer(self, ranked: "Suggestions") -> None:
        """Write a list as the answer so far."""
        self.latest = replace(ranked, method=f"{ranked.method}{FIRST_ANSWER}")
        self._write(self.latest)
