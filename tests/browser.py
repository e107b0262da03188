"""Chromium in tests: its options, pages that must not fail, and the contrast of a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

LOWEST_CONTRAST = """() => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1});
  const context = canvas.getContext("2d", {willReadFrequently: true});
  const paint = (...colours) => {
    context.clearRect(0, 0, 1, 1);
    for (const colour of colours.filter((c) => c !== "none")) {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
    }
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const known = {};
  const luminance = (...colours) => known[colours] ??= (() => {
    const [r, g, b] = paint(...colours).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  })();
  let lowest = [99, ""];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter((n) => n.nodeType === 3 && n.data.trim()).map((n) => n.data).join();
    if (!own || !element.checkVisibility() || ["SCRIPT", "OPTION"].includes(element.tagName)) continue;
    const behind = [];
    for (let e = element; e; e = e.parentElement) behind.unshift(getComputedStyle(e).backgroundColor);
    const box = element.closest("svg .box");  // its background is the SVG's, then its own
    const parts = box ? [document.querySelector("svg .back"), box.querySelector("rect")] : [];
    behind.push(...parts.map((part) => getComputedStyle(part).fill));
    const ground = luminance("white", ...behind);
    const text = luminance("white", ...behind, getComputedStyle(element)[box ? "fill" : "color"]);
    const contrast = (Math.max(ground, text) + 0.05) / (Math.min(ground, text) + 0.05);
    if (contrast < lowest[0]) lowest = [contrast, own];
  }
  return lowest;
}"""
"""JavaScript that returns the lowest contrast of a text with its background, and the text."""


@contextmanager
def opened_page(browser: Browser, *, one_file: bool = True, **options: Any) -> Iterator[Page]:
    """Yield a page; fail if it logs an error, uses the network, or, with `one_file`, loads a second file."""
    page = browser.new_context(**options).new_page()
    faults: list[str] = []
    asked: set[str] = set()

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            faults.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.add(request.url.partition("#")[0]))
    yield page
    page.context.close()
    faults += (url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:")))
    assert faults == []
    assert not one_file or len(asked) == 1
