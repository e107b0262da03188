"""The tutorial as a notebook: it is made of the page, whose steps tests/runtimes runs, and up to date."""

from __future__ import annotations

import json

from building.documentation.notebook import NOTEBOOK, PAGE, notebook


def test_up_to_date() -> None:
    expected = notebook(PAGE.read_text(encoding="utf-8"))
    assert NOTEBOOK.read_text(encoding="utf-8") == expected, "run python -m building.documentation.notebook"
    assert "examples/" not in expected  # it is run where no clone is


def test_cells() -> None:
    page = """# Title

```bash
python -m venv .venv
pip install one
```

Words.

```python title="a.py"
print(1)
```

<!-- test: exit 1 -->
```bash
python a.py \\
  b
```

```text
1
```

```yaml
on: [push]
```
"""
    cells = json.loads(notebook(page))["cells"]
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells] == [
        ("markdown", "# Title"),
        ("code", "%pip install one"),
        ("markdown", "Words."),
        ("code", "%%writefile a.py\nprint(1)"),
        ("code", "!python a.py b"),
        ("markdown", "```yaml\non: [push]\n```"),
    ]
    assert "".join(cells[4]["outputs"][0]["text"]) == "1\n"
