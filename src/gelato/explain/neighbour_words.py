"""An explanation by neighbours in words: a short reason for a table, and the whole of it for a terminal."""

from typing import TYPE_CHECKING

from gelato.explain.words import headline, sum_of, whole_percent

if TYPE_CHECKING:
    from gelato.explain.neighbours import NeighbourExplanation

ROUNDING = 1e-9
"""A neighbour or a remainder below this share may be rounding, and is not worth a word."""


def neighbour_reason_of(explanation: "NeighbourExplanation") -> str:
    """Why the pair has its score, in one short phrase: the neighbours of one end that resemble the other."""
    around, other = explanation.name(explanation.around), explanation.name(explanation.other)
    if not explanation.named:
        if explanation.number_of_neighbours == 0:
            return f"{around} has no {_kind(explanation)}"
        return f"{around} has no {_kind(explanation)} that resembles {other}"
    names = [f"{_name(explanation, part.node)} ({signed_percent(part.share)})" for part in explanation.named]
    more = explanation.supporting - len(names)
    return f"{_whose(explanation)}: {', '.join(names)}{f' and {more:,} more' if more else ''}"


def neighbour_lines_of(explanation: "NeighbourExplanation") -> list[str]:
    """The whole explanation: score, rank, neighbours, and the sum."""
    lines = [headline(explanation), explanation.reason(), ""]
    if explanation.neighbours:
        other = explanation.name(explanation.other)
        lines += [f"the score is a sum over {counted(explanation)}, each counted by how much it resembles {other}:"]
    rows = [
        (part.value, f"{_name(explanation, part.node)}{_loop(explanation, part.node)}", f"{part.resemblance:.2f}")
        for part in explanation.neighbours
    ]
    width = max((len(name) for _, name, _ in rows), default=0)
    lines += [_row(explanation, value, f"{name:<{width}}  resemblance {like}") for value, name, like in rows]
    others = _unlisted(explanation)
    if others:
        lines.append(_row(explanation, explanation.rest, f"{others:,} other{'s' if others > 1 else ''}"))
    if _remains(explanation):
        lines.append(_row(explanation, explanation.remainder, "remainder, because the eigenvectors are approximate"))
    return [*lines, *([""] if len(lines) > 3 else []), _sum(explanation)]


def counted(explanation: "NeighbourExplanation") -> str:
    """What is added up: so many neighbours, and the self-loop if there is one."""
    count, around = explanation.number_of_neighbours, explanation.name(explanation.around)
    if count == 0:
        return f"the self-loop of {around}"
    some = f"the {_number(count, 'neighbour')} of {around}"
    if explanation.graph.directed:
        source = explanation.around == explanation.pair[0]
        links = f"that {around} links to" if source else f"that link{'' if count > 1 else 's'} to {around}"
        some = f"the {_number(count, 'node')} {links}"
    return f"{some} and its self-loop" if explanation.self_loop else some


def signed_percent(share: float) -> str:
    """A share in whole percent, with a minus if it is taken off."""
    return f"{'-' if share <= -0.005 else ''}{whole_percent(abs(share))}"


def _whose(explanation: "NeighbourExplanation") -> str:
    around, other = explanation.name(explanation.around), explanation.name(explanation.other)
    if not explanation.graph.directed:
        return f"neighbours of {around} that resemble {other}"
    if explanation.around == explanation.pair[0]:
        return f"{around} links to nodes that resemble {other}"
    return f"nodes that link to {around} and resemble {other}"


def _kind(explanation: "NeighbourExplanation") -> str:
    if not explanation.graph.directed:
        return "neighbour"
    return "link to a node" if explanation.around == explanation.pair[0] else "link from a node"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}s" if count > 1 else what


def _unlisted(explanation: "NeighbourExplanation") -> int:
    return explanation.number_of_neighbours + explanation.self_loop - len(explanation.neighbours)


def _name(explanation: "NeighbourExplanation", node: int) -> str:
    return f"{explanation.name(node)}{' itself' if node in explanation.pair else ''}"


def _loop(explanation: "NeighbourExplanation", node: int) -> str:
    return " (self-loop)" if node == explanation.around else ""


def _row(explanation: "NeighbourExplanation", value: float, what: str) -> str:
    share = value / explanation.magnitude if explanation.magnitude else 0.0
    return f"  {value:10.3g} {signed_percent(share):>5}  {what}"


def _remains(explanation: "NeighbourExplanation") -> bool:
    return abs(explanation.remainder) > ROUNDING * explanation.magnitude


def _sum(explanation: "NeighbourExplanation") -> str:
    terms = [(sum(part.value for part in explanation.neighbours), "the nodes above")]
    if _unlisted(explanation):
        terms.append((explanation.rest, "others"))
    if _remains(explanation):
        terms.append((explanation.remainder, "remainder"))
    return sum_of(terms, explanation.score)
