"""The page as a file: everything escaped, nothing fetched, the same every time; and its charts beside it."""

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from report_run import HOSTILE, HOSTILE_REASON, picture

from gelato.errors import InputError
from gelato.report import Report, Suggestion, write_report
from gelato.report.charts import CHART_NAMES
from gelato.report.page import POLICY, SECTIONS


class Parsed(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.texts = Counter(), [], [], []
        self.bad = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href"):
                self.links.append(value)
            if name.startswith("on"):
                self.bad.append((tag, name))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def written(report, tmp_path_factory):
    """The files of the whole report."""
    return write_report(tmp_path_factory.mktemp("report") / "page.html", report)


@pytest.fixture(scope="module")
def page(written):
    return Parsed(written[0].read_text(encoding="utf-8"))


def test_hostile_names_are_text_and_nothing_else(written, page):
    text = written[0].read_text(encoding="utf-8")
    assert page.tags["script"] == 1 and page.tags["img"] == 0 and page.bad == []
    assert "<script>window" not in text and "<img" not in text and "</template><script" not in text
    shown = "".join(page.texts)
    for words in (*HOSTILE, HOSTILE_REASON):
        assert words in shown


def test_the_page_fetches_nothing(written, page):
    text = written[0].read_text(encoding="utf-8")
    assert all(link.startswith("#") or link == "data:," for link in page.links)
    assert f'content="{POLICY}"' in text
    assert "@import" not in text and not re.search(r"url\((?!#)", text)
    assert set(re.findall(r"https?://[^\s\"<]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_no_id_is_there_twice_and_every_reference_leads_somewhere(written, page):
    text = written[0].read_text(encoding="utf-8")
    assert [name for name, times in Counter(page.ids).items() if times > 1] == []
    used = {link[1:] for link in page.links if link.startswith("#")} | set(re.findall(r"url\(#([^)]+)\)", text))
    used |= set(re.findall(r'aria-labelledby="([^"]+)"', text))
    assert used <= set(page.ids)


def test_all_sections_are_there_and_small_enough(written, page):
    assert {name for name, _ in SECTIONS} <= set(page.ids)
    assert {f"chart-{name}" for name in CHART_NAMES} <= set(page.ids)
    assert page.tags["h1"] == 1
    assert written[0].stat().st_size < 3_000_000


def test_charts_lie_beside_the_page_as_svg_and_png(written):
    folder = written[0].with_name("page_charts")
    assert sorted(written[1:]) == sorted(folder.iterdir())
    assert {path.stem for path in written[1:]} == set(CHART_NAMES)
    for path in written[1:]:
        if path.suffix == ".svg":
            assert ElementTree.parse(path).getroot().tag.endswith("svg")
            assert "dc:date" not in path.read_text(encoding="utf-8")
        else:
            assert path.read_bytes().startswith(b"\x89PNG")


def test_the_same_report_gives_the_same_bytes(report, written, tmp_path):
    again = write_report(tmp_path / "page.html", report)
    assert [path.name for path in again] == [path.name for path in written]
    for one, other in zip(written, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


@pytest.mark.parametrize("name", [field for field in Report.__dataclass_fields__ if field != "title"])
def test_a_report_with_one_thing_alone_is_a_page(name, report, tmp_path):
    found = write_report(tmp_path / "page.html", Report("alone", **{name: getattr(report, name)}))
    page = Parsed(found[0].read_text(encoding="utf-8"))
    shown = {name for name, _ in SECTIONS} & set(page.ids)
    assert shown == {
        "facts": {"graph"},
        "measured": {"comparison", "curves", "densities"},
        "history": {"training"},
        "suggestions": {"suggestions"},
        "precision_words": {"expect"},
        "precision_curve": {"expect"},
        "best_epoch": set(),
        "selected_by": set(),
        "remarks": {"training"} if report.remarks else set(),
    }.get(name, {"run"})
    assert {link[1:] for link in page.links if link.startswith("#") and not link.startswith("#m")} >= shown


def test_a_report_without_anything_is_a_page(tmp_path):
    found = write_report(tmp_path / "empty.html", Report("<nothing>"))
    assert found == [tmp_path / "empty.html"] and list(tmp_path.iterdir()) == found
    assert "<h1>&lt;nothing&gt;</h1>" in found[0].read_text(encoding="utf-8")


def test_charts_of_an_earlier_report_go_and_other_files_stay(report, tmp_path):
    write_report(tmp_path / "page.html", Report("first", facts=report.facts, history=report.history))
    mine = tmp_path / "page_charts" / "notes.txt"
    mine.write_text("mine")
    write_report(tmp_path / "page.html", Report("second", facts=report.facts))
    names = {path.name for path in (tmp_path / "page_charts").iterdir()}
    assert names == {"degrees.svg", "degrees.png", "notes.txt"}


def test_a_model_may_be_called_anything(report, tmp_path):
    name = '_<b>$x^{$&"模'
    outcomes = [replace(each, method=name) if each.method == "gelato" else each for each in report.measured.outcomes]
    curves = [replace(each, method=name) if each.method == "gelato" else each for each in report.measured.curves]
    densities = [replace(each, method=name) if each.method == "gelato" else each for each in report.measured.densities]
    measured = replace(
        report.measured, name=name, outcomes=tuple(outcomes), curves=tuple(curves), densities=tuple(densities)
    )
    found = write_report(tmp_path / "page.html", Report("named", measured=measured))
    page = Parsed(found[0].read_text(encoding="utf-8"))
    assert page.tags["b"] == 0 and name in "".join(page.texts)


def test_losses_that_are_no_numbers_leave_a_gap(tmp_path):
    history = [{"epoch": 1, "loss": None, "precision": 0.1}, {"epoch": 2, "loss": float("nan"), "precision": 0.2}]
    found = write_report(tmp_path / "page.html", Report("gaps", history=history, best_epoch=2))
    assert "Epoch 2 was kept, with a validation precision@100% of 20.00%." in found[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("svg", "match"),
    [
        ("<svg><script>1</script></svg>", "holds <script>"),
        ('<svg onload="x()"/>', "has onload"),
        ("<svg><foreignObject/></svg>", "holds <foreignObject>"),
        ('<svg xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="http://x.org/#a"/></svg>', "has href"),
        ('<svg style="fill:url(http://x.org)"/>', "has style"),
        ("<p>no picture</p>", "must be one <svg> element"),
        ("<svg>", "must be one whole <svg> element"),
        ("<!DOCTYPE svg><svg/>", "must be one <svg> element"),
    ],
)
def test_a_picture_that_could_run_or_fetch_anything_is_refused(svg, match, tmp_path):
    bad = Suggestion(1, "a", "b", 0.5, picture=svg)
    with pytest.raises(InputError, match=f"the picture of the suggested link a – b {match}"):
        write_report(tmp_path / "page.html", Report("bad", suggestions=[bad]))
    assert list(tmp_path.iterdir()) == []


def test_names_of_any_letters_can_be_written(tmp_path):
    odd = Suggestion(1, "\ud800", "‮abc\x00", 0.5, picture=picture(["a", "<b>"]))
    (found,) = write_report(tmp_path / "page.html", Report("odd", suggestions=[odd]))
    assert "&lt;b&gt;" in found.read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_refused(report, tmp_path):
    with pytest.raises(InputError, match=r"choose a name that ends in \.html"):
        write_report(tmp_path / "page.txt", Report("x"))
    (tmp_path / "page_charts").write_text("in the way")
    with pytest.raises(InputError, match=r"is a file; the charts of page.html need a folder of this name"):
        write_report(tmp_path / "page.html", Report("x", facts=report.facts))


def test_the_modules_load_without_their_packages_and_tell_what_is_missing(tmp_path):
    code = (
        "import sys; missing = sys.argv[2]; sys.modules[missing] = None\n"
        "from gelato.report import Report, write_report\n"
        "from gelato.errors import MissingDependency\n"
        "try: write_report(sys.argv[1], Report('x'))\n"
        "except MissingDependency as error: print(error)\n"
    )
    for package in ("jinja2", "matplotlib"):
        command = [sys.executable, "-c", code, str(tmp_path / "page.html"), package]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert said == f"writing a report needs {package}: pip install 'gelato-links[report]'\n"
