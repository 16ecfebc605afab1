"""A slow reader of edge tables, written from the definition of a text table: character by character, row by row.

It shares no line with the package, and knows neither the csv module nor pyarrow.
"""

import re


class Refused(Exception):
    """Why a table is refused: the line, and what is wrong there."""


def rows_of(text, delimiter, comments):
    """The line and the cells of each row; a quoted cell may span lines and keeps its outer spaces."""
    line, at, first = 1, 0, True
    while at < len(text):
        end = re.compile(r"\r\n|\n|\r").search(text, at)
        stop = end.start() if end else len(text)
        content = text[at:stop]
        skipped = not content.strip() or (content[0] in "#%" and (first or comments))
        if skipped:
            at, line = (end.end() if end else len(text)), line + 1
            continue
        first, begin, cells = False, line, []
        if '"' not in content:
            yield begin, [cell.strip() for cell in content.split(delimiter)]
            at, line = (end.end() if end else len(text)), line + 1
            continue
        while True:
            while text[at : at + 1] == " ":
                at += 1
            cell, quoted = "", text[at : at + 1] == '"'
            if quoted:
                at += 1
                while True:
                    if at >= len(text):
                        raise Refused(begin, "a quoted cell is not closed")
                    if text[at : at + 2] == '""':
                        cell, at = cell + '"', at + 2
                    elif text[at] == '"':
                        at += 1
                        break
                    else:
                        cell, at = cell + text[at], at + 1
            rest = ""
            while at < len(text) and text[at] not in (delimiter, "\r", "\n"):
                rest, at = rest + text[at], at + 1
            cells.append(cell + rest.rstrip() if quoted else rest.strip())
            if at < len(text) and text[at] == delimiter:
                at += 1
                continue
            break
        end = re.compile(r"\r\n|\n|\r|$").match(text, at)
        line, at = len(re.findall(r"\r\n|\n|\r", text[: end.end()])) + 1, end.end()
        yield begin, cells


def links_of(text, delimiter, comments):
    """The names in the order of their appearance, and the links as (u, v, weight, time), of a table with a header.

    The columns are source, target, weight and time; of what is wrong the first in the order of the rows is refused.
    """
    rows = rows_of(text, delimiter, comments)
    _, header = next(rows)
    names, links, signed = {}, [], []
    for line, cells in rows:
        if len(cells) != len(header):
            raise Refused(line, "the number of columns is")
        row = dict(zip(header, cells, strict=True))
        for role in ("weight", "time"):
            if row.get(role) == "":
                raise Refused(line, f"the {role} is empty")
        numbers = {}
        for role in ("weight", "time"):
            if role in row:
                try:
                    numbers[role] = float(row[role])
                except ValueError:
                    raise Refused(line, f"{role} {row[role]!r} is n") from None
                if not abs(numbers[role]) < float("inf"):
                    raise Refused(line, f"{role} {row[role]!r} is not ")
                if role == "weight" and numbers[role] <= 0:
                    signed.append((line, row[role]))
                    break
        if numbers.get("weight", 1) <= 0:
            continue
        if "" in (row["source"], row["target"]):
            raise Refused(line, "a node has no name")
        ends = [names.setdefault(row[end], len(names)) for end in ("source", "target")]
        links.append((*ends, numbers.get("weight"), numbers.get("time")))
    if signed:
        raise Refused(signed[0][0], f"weight {signed[0][1]!r} is not a positive number")
    return list(names), links
