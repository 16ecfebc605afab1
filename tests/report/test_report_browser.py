"""The page in a real browser: quick, silent, sortable, searchable, safe, and whole on a phone."""

import json
import shutil
import time

import pytest
from report_run import HOSTILE

from gelato.report import write_report

webdriver = pytest.importorskip("selenium.webdriver", reason="driving a browser needs selenium")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

FLAGS = (
    *("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"),
    *("disable-component-update", "disable-sync", "disable-dev-shm-usage", "window-size=1280,900"),
)
BROWSERS = ("chromium", "google-chrome", "chromium-browser")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason=f"needs chromedriver and one of {', '.join(BROWSERS)}"
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in FLAGS:
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(report, tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("report") / "page.html", report)[0].as_uri()


@pytest.fixture
def page(driver, address):
    """The page, freshly opened; whatever a test does, nothing may run, fail or be asked for elsewhere."""
    for log in ("browser", "performance"):
        driver.get_log(log)
    driver.get(address)
    yield driver
    assert driver.execute_script("return window.flag") is None
    assert [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    sent = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [each["params"]["request"]["url"] for each in sent if each["method"] == "Network.requestWillBeSent"]
    assert address in asked
    assert [url for url in asked if not url.startswith((address, "data:"))] == []


def column(page, key):
    """What the visible rows show in a column, from top to bottom."""
    return page.execute_script(
        "return [...document.querySelectorAll(`#links tbody:not([hidden]) [data-key=${arguments[0]}]`)]"
        ".map((cell) => cell.dataset.value ?? cell.textContent)",
        key,
    )


def header(page, key):
    return page.find_element(By.CSS_SELECTOR, f"button[data-sort={key}]")


def click(page, element):
    """Bring something out from under the bar, and click it."""
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def sorting(page, key):
    return header(page, key).find_element(By.XPATH, "..").get_attribute("aria-sort")


def test_the_page_opens_within_two_seconds(page):
    timing = "const it = performance.getEntriesByType('navigation')[0]; return it.loadEventEnd"
    while not (loaded := page.execute_script(timing)):
        time.sleep(0.05)
    assert loaded < 2000


def test_scores_sort_both_ways_with_the_mouse(page, report):
    scores = [each.score for each in report.suggestions]
    click(page, header(page, "score"))
    assert sorting(page, "score") == "descending"
    assert list(map(float, column(page, "score"))) == sorted(scores, reverse=True)
    click(page, header(page, "score"))
    assert sorting(page, "score") == "ascending"
    assert list(map(float, column(page, "score"))) == sorted(scores)
    assert sorting(page, "rank") == "none"
    click(page, header(page, "rank"))
    assert column(page, "rank") == [str(each.rank) for each in report.suggestions]


def test_names_sort_with_the_keyboard(page):
    header(page, "source").send_keys(Keys.ENTER)
    names = column(page, "source")
    ordered = page.execute_script(
        "const by = new Intl.Collator(undefined, {numeric: true, sensitivity: 'base'});"
        "return arguments[0].every((name, i, all) => !i || by.compare(all[i - 1], name) <= 0)",
        names,
    )
    assert sorting(page, "source") == "ascending" and ordered and len(set(names)) > 50
    header(page, "source").send_keys(Keys.SPACE)
    assert sorting(page, "source") == "descending"
    assert column(page, "source")[0] == names[-1]


def test_a_chance_that_is_not_known_comes_last_both_ways(page):
    for _ in range(2):
        click(page, header(page, "chance"))
        assert column(page, "chance")[-1] == ""
        assert column(page, "rank")[-1] == "7"


def test_the_search_keeps_rows_with_that_name_or_reason(page, report):
    field, shown = page.find_element(By.ID, "search"), page.find_element(By.ID, "shown")
    field.send_keys("PYTHON3-a")
    found = [each for each in report.suggestions if "python3-a" in f"{each.source}\n{each.target}\n{each.reason}"]
    assert 0 < len(found) < len(report.suggestions)
    assert column(page, "rank") == [str(each.rank) for each in found]
    assert shown.text == f"{len(found)} of {len(report.suggestions)} shown"
    field.clear()
    field.send_keys(report.suggestions[0].reason)
    assert "1" in column(page, "rank") and "5" not in column(page, "rank")
    field.clear()
    field.send_keys("no such thing")
    assert column(page, "rank") == [] and page.find_element(By.ID, "nothing").is_displayed()
    field.clear()
    field.send_keys(Keys.SPACE)
    assert shown.text == f"{len(report.suggestions)} of {len(report.suggestions)} shown"


def test_every_row_opens_and_closes_its_explanation(page, report):
    rows = page.find_elements(By.CSS_SELECTOR, "#links tbody")
    assert page.find_elements(By.CSS_SELECTOR, ".because") == []
    for row, suggestion in list(zip(rows, report.suggestions, strict=True))[:6]:
        button = row.find_element(By.CSS_SELECTOR, ".why")
        click(page, button)
        told = row.find_element(By.CSS_SELECTOR, ".because")
        assert button.get_attribute("aria-expanded") == "true"
        assert told.find_element(By.CSS_SELECTOR, ".lines").text == "\n".join(suggestion.explanation_lines)
        assert told.find_element(By.CSS_SELECTOR, "svg").is_displayed()
    click(page, header(page, "rank"))  # the last come first, and take their explanations with them
    assert rows[0].find_element(By.CSS_SELECTOR, ".because").is_displayed()
    click(page, rows[0].find_element(By.CSS_SELECTOR, ".why"))
    assert rows[0].find_elements(By.CSS_SELECTOR, ".because") == []


def test_hostile_names_are_shown_and_do_not_run(page):
    row = page.find_elements(By.CSS_SELECTOR, "#links tbody")[3]
    assert {row.find_element(By.CSS_SELECTOR, f"[data-key={key}]").text for key in ("source", "target")} == set(HOSTILE)
    click(page, row.find_element(By.CSS_SELECTOR, ".why"))
    page.find_element(By.ID, "search").send_keys(HOSTILE[0])
    click(page, header(page, "target"))
    assert "4" in column(page, "rank")
    assert page.execute_script("return document.images.length + document.scripts.length") == 1


def wide(page, width):
    """Give the window another width, as a phone has."""
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 700}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return page.execute_script("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_the_page_does_not_overflow_sideways(page, width):
    for button in page.find_elements(By.CSS_SELECTOR, ".why")[:3]:
        click(page, button)
    try:
        content, window = wide(page, width)
        assert content <= window <= width
        columns = page.execute_script("return getComputedStyle(document.querySelector('.figures')).gridTemplateColumns")
        assert len(columns.split()) == 1 or width > 700
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def light_of(page, selector, what="backgroundColor"):
    """How light a colour is, from 0 to 255."""
    colour = page.execute_script(f"return getComputedStyle(document.querySelector('{selector}')).{what}")
    return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 3


def test_the_button_switches_between_light_and_dark(page):
    button = page.find_element(By.ID, "theme")
    assert light_of(page, "body") > 200 > 100 > light_of(page, "body", "color")
    button.click()
    assert light_of(page, "body") < 60 and light_of(page, "body", "color") > 200
    assert light_of(page, "figure svg text", "fill") > 200  # charts follow
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert light_of(page, "body") > 200


def test_a_dark_system_gets_a_dark_page_and_may_choose_a_light_one(page):
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    try:
        assert light_of(page, "body") < 60
        page.find_element(By.ID, "theme").click()
        assert light_of(page, "body") > 200
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_every_section_can_be_reached_from_the_contents(page):
    for link in page.find_elements(By.CSS_SELECTOR, "nav a"):
        link.click()
        target = page.execute_script(
            "return document.querySelector(arguments[0])", f"#{link.get_attribute('hash')[1:]}"
        )
        assert target.is_displayed()
