"""A person at Debian's Chromium: what they press and type, what they see, and what axe-core finds hard to use for somebody."""

import base64
import contextlib
import json
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from tests.acceptance.page.visiting import Visit

CHROMIUM, DRIVER = "chromium", "chromedriver"
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--window-size=1280,900",
)  # fmt: skip
#: The two widths that pages are made for, in CSS pixels, with a height.
WIDTHS = {1280: 900, 390: 844}
#: What the browser logs and a page is ready for: refused logins, cells that somebody else changed, a server that is away.
_EXPECTED = (
    "Failed to load resource: the server responded with a status of 4",
    "Failed to load resource: net::ERR",
)
_PATIENCE = 60  # seconds


@dataclass
class Window:
    """A browser with a profile of its own, as one person has it."""

    driver: webdriver.Chrome
    address: str
    downloads: Path
    shots: Path | None  # where pictures are kept, if anybody wants them
    faults: list[str] = field(default_factory=list)

    # --- going about ------------------------------------------------------------------------------

    def go(self, path: str) -> None:
        """Open a page of ours."""
        self.driver.get(self.address + path)

    @property
    def path(self) -> str:
        """Where they are: the address without the server's."""
        return str(self.driver.current_url).removeprefix(self.address)

    def come_in(self, visit: Visit) -> None:
        """Go on as whoever has logged in already, whose password is not looked at (`Served.logged_in`)."""
        self.go("/login")
        for name, value in visit.cookies.items():
            self.driver.add_cookie(
                {"name": name, "value": value, "path": "/", "httpOnly": True, "sameSite": "Strict"}
            )
        self.go("/")
        assert self.path == "/"

    def log_in(self, name: str, password: str) -> None:
        """Fill in the login."""
        self.go("/login")
        self.type("[name=name]", name)
        self.type("[name=password]", password + Keys.ENTER)
        self.until(lambda: self.path == "/")

    def until(self, reached: Callable[[], object]) -> None:
        """Wait until something is so on the page, which may be replaced meanwhile."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            with contextlib.suppress(WebDriverException, IndexError):
                if reached():
                    return
            assert time.monotonic() < deadline, self.text
            time.sleep(0.03)

    # --- what is seen -----------------------------------------------------------------------------

    def all(self, selector: str) -> list[WebElement]:
        """What there is of this on the page."""
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def one(self, selector: str) -> WebElement:
        """The first of this on the page, once it is there."""
        self.until(lambda: self.all(selector))
        return self.all(selector)[0]

    @property
    def text(self) -> str:
        """What the page says."""
        return str(self.one("body").text)

    @property
    def state(self) -> str:
        """The state of the month whose page it is."""
        return str(self.one("main").get_attribute("data-state"))

    @property
    def totals(self) -> dict[str, int]:
        """The rows of each status."""
        return {
            str(one.get_attribute("data-total")): int(str(one.text).replace(",", ""))
            for one in self.all("[data-total]")
        }

    @property
    def actions(self) -> set[str]:
        """What can be done."""
        return {str(one.get_attribute("data-action")) for one in self.all("[data-action]")}

    def status(self, row: int) -> str:
        """A row's status."""
        return str(self.one(f'[data-row-status="{row}"]').get_attribute("data-status"))

    # --- what is done -----------------------------------------------------------------------------

    def press(self, selector: str) -> None:
        """Press a button or follow a link."""
        self.one(selector).click()

    def choose(self, selector: str, word: str) -> None:
        """Choose from a drop-down by the word that stands there."""
        Select(self.one(selector)).select_by_visible_text(word)

    def act(self, action: str) -> None:
        """Do what can be done."""
        self.press(f'[data-action="{action}"]')

    def type(self, selector: str, text: str) -> None:
        """Type into a field, in place of what is in it."""
        self.one(selector).click()
        self.keys("a", held=Keys.CONTROL)
        self.keys(text)

    def keys(self, *pressed: str, held: str = "") -> None:
        """Press keys, wherever the focus is; one may be held meanwhile."""
        chain = webdriver.ActionChains(self.driver)
        if held:
            chain.key_down(held)
        chain.send_keys(*pressed)
        if held:
            chain.key_up(held)
        chain.perform()

    def choose_files(self, *paths: Path, selector: str = "[name=workbooks]") -> None:
        """Choose files in a form."""
        self.one(selector).send_keys("\n".join(map(str, paths)))

    def press_by_keys(self, selector: str) -> None:
        """Press a button or follow a link by the keyboard alone."""
        self.one(selector)
        self.tab_to(selector)
        self.keys(Keys.ENTER)

    def tab_to(self, selector: str) -> WebElement:
        """Go by the Tab key alone to the first of these; no more often than a patient person would."""
        for _ in range(200):
            self.keys(Keys.TAB)
            focused = self.driver.switch_to.active_element
            if self.driver.execute_script("return arguments[0].matches(arguments[1])", focused, selector):
                return focused
        raise AssertionError(f"{selector} is not reached by Tab")

    def keep_what_is_said(self, selector: str) -> None:
        """From now on keep each text that an element of this page shows, however shortly, also when another page follows."""
        self.driver.execute_script(_KEEP, selector)

    @property
    def said(self) -> list[str]:
        """The texts that were kept, in their order."""
        return list(self.driver.execute_script("return JSON.parse(sessionStorage.getItem('said'))"))

    @property
    def focused(self) -> WebElement:
        """Where the keyboard's focus is."""
        return self.driver.switch_to.active_element

    def mark(self) -> None:
        """Mark the page that is open; a page that is loaded again is not marked."""
        self.driver.execute_script("window.isMarked = true")

    @property
    def is_marked(self) -> bool:
        """Whether the page is still the one that was marked."""
        return bool(self.driver.execute_script("return window.isMarked === true"))

    def downloaded(self) -> Path:
        """The file that was saved last, once it is whole."""

        def workbooks() -> list[Path]:
            return [*self.downloads.glob("*.xlsx")]

        # The browser takes the name with an empty file first.
        self.until(lambda: workbooks() and all(map(zipfile.is_zipfile, workbooks())))
        return max(workbooks(), key=lambda path: path.stat().st_mtime)

    # --- how it looks -----------------------------------------------------------------------------

    def look(self, width: int, *, dark: bool = False) -> None:
        """Look at the page on a screen this wide, light or dark."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": WIDTHS[width], "deviceScaleFactor": 1, "mobile": width < 600},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def shoot(self, name: str) -> None:
        """Keep a picture of the whole page, where they are kept."""
        if self.shots is None:
            return
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        shot = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot",
            {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "scale": 1} | _most(size)},
        )
        (self.shots / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def print(self, name: str) -> None:
        """Keep the page as it is printed, where pictures are kept."""
        if self.shots is None:
            return
        printed = self.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
        (self.shots / f"{name}.pdf").write_bytes(base64.b64decode(printed["data"]))

    def sideways(self) -> list[str]:
        """What sticks out of the screen to the side, so that the whole page has to be pushed; what scrolls by itself does not."""
        return list(self._evaluated(_SIDEWAYS))

    def hard_to_use(self, options: Mapping[str, Any] = MappingProxyType({})) -> list[str]:
        """What axe-core finds on the page that is serious or critical, each with where it is; by all its rules, or as its `options` say.

        It runs in a world of its own beside the page's script, which the Content-Security-Policy leaves to the browser's owner.
        """
        world = self._world()
        if not self._evaluated("'axe' in globalThis", world):
            axe = files("selenium_axe_python").joinpath("axe-core", "axe.min.js")
            self._evaluated(axe.read_text(encoding="utf-8") + "; 0", world)
        given = json.dumps({"resultTypes": ["violations"], **options})
        found = self._evaluated(f"axe.run(document, {given}).then((all) => all.violations)", world)
        return [
            f"{one['id']} ({one['impact']}): {node['html']} {node['failureSummary']}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    def _world(self) -> int:
        """Of the document that is open; by its name it is the same one each time."""
        frame = self.driver.execute_cdp_cmd("Page.getFrameTree", {})["frameTree"]["frame"]["id"]
        return int(
            self.driver.execute_cdp_cmd("Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"})[
                "executionContextId"
            ]
        )

    def _evaluated(self, script: str, world: int | None = None) -> Any:
        given = {"expression": script, "awaitPromise": True, "returnByValue": True}
        answer = self.driver.execute_cdp_cmd(
            "Runtime.evaluate", given if world is None else given | {"contextId": world}
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """What the browser complained of: faults of the script, and what the Content-Security-Policy kept out."""
        return [
            one["message"]
            for one in self.driver.get_log("browser")
            if one["level"] == "SEVERE" and not any(each in one["message"] for each in _EXPECTED)
        ]


_KEEP = """
const shown = document.querySelector(arguments[0]);
const said = [];
const keep = () => {
  if (said.at(-1) !== shown.textContent) said.push(shown.textContent);
  sessionStorage.setItem("said", JSON.stringify(said));
};
new MutationObserver(keep).observe(shown, {childList: true, characterData: true, subtree: true});
"""
_SIDEWAYS = """
(() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > wide + 1)
    .map((one) => one.outerHTML.slice(0, 120));
})()
"""


def _most(size: dict[str, float]) -> dict[str, float]:
    """The size of a picture: the page's, as far as anybody would look at it."""
    return {"width": size["width"], "height": min(size["height"], 6000)}


@contextlib.contextmanager
def window(
    address: str, folder: Path, shots: Path | None, *, lang: str = "en", script: bool = True
) -> Iterator[Window]:
    """A browser of its own while the context lasts, in a language, with or without JavaScript."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which(CHROMIUM))
    profile = tempfile.mkdtemp(dir=folder)
    downloads = Path(tempfile.mkdtemp(dir=folder))
    wished = {"en": "en-GB", "zh": "zh-CN"}[lang]
    for flag in (*_FLAGS, f"--user-data-dir={profile}", f"--lang={wished}", f"--accept-lang={wished}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    prefs: dict[str, Any] = {"download.default_directory": str(downloads), "intl.accept_languages": wished}
    if not script:
        prefs["profile.managed_default_content_settings.javascript"] = 2
    options.add_experimental_option("prefs", prefs)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(shutil.which(DRIVER))))
    try:
        seen = Window(driver, address, downloads, shots)
        yield seen
        assert seen.complaints() == []
    finally:
        driver.quit()
        shutil.rmtree(profile, ignore_errors=True)
