"""The picture of a hazard: ``docs/assets/check.svg``, as ``vinculum check --html`` draws it in Chromium.

``make check-picture`` runs it. README and the site show the file, light or dark as the reader's system is.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx.parser

import vinculum
from vinculum.analysis.triage import sorted_out
from vinculum.reporting.check.picture.document import document

ROOT = Path(__file__).parents[2]
MODEL = """
<ir_version: 10, opset_import: ["" : 18]>
mean (float[n, 3] x, int64[n, 3] mask) => (float[n, 1] mean)
<int64[1] axis = {1}>
{
    weights = Cast<to = 1>(mask)
    kept = Mul(x, weights)
    total = ReduceSum(kept, axis)
    count = ReduceSum(weights, axis)
    mean = Div(total, count)
}
"""
PICTURE = ROOT / "docs" / "assets" / "check.svg"
_SAVED = "() => new XMLSerializer().serializeToString(document.querySelector('svg'))"


def page() -> str:
    """Return the page on a mean over a mask, which may be empty."""
    model = onnx.parser.parse_model(MODEL)
    report = vinculum.check(model, assume=["mask=0|1", "x=-9:9"], runs=100)
    return document([(sorted_out(report, "mean.onnx"), model)])


def main() -> None:
    """Draw the page and keep its picture."""
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        file.write_text(page(), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 900, "height": 800})
        shown.goto(file.as_uri())
        PICTURE.write_text(shown.evaluate(_SAVED) + "\n", encoding="utf-8")
        browser.close()


if __name__ == "__main__":
    main()
