"use strict";
(() => {
  const SHOWN = 25;
  const MANY_BARS = 16;
  const data = JSON.parse(document.getElementById("vinculum-data").textContent);
  const text = (number) => data.texts[number];
  const [ID, OPERATOR, TYPE, KIND, SEVERITY, WORDS, CLAUSE, STATEMENT, ELEMENTS, DIFFERING, ULPS, EXAMPLE, SOURCE, FINDING, REASON] = [
    "id", "operator", "type", "kind", "severity", "words", "clause", "statement", "elements", "differing", "ulps", "example", "source", "finding", "reason",
  ].map((name) => data.columns.indexOf(name));

  // Every text is set as text: nothing that a runtime said becomes markup.
  function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  function address(...parts) {
    return "#" + parts.map(encodeURIComponent).join("/");
  }

  function quoted(word) {
    return "'" + word.replaceAll("'", "'\"'\"'") + "'";
  }

  /* Tabs */

  const bar = document.getElementById("vinculum-tabs");
  const tabs = [...bar.querySelectorAll("a")];
  const panels = [...document.querySelectorAll(".panel")];
  const panelOf = (number) => panels[number + panels.length - data.runtimes.length];

  function prepareTabs() {
    bar.setAttribute("role", "tablist");
    bar.hidden = tabs.length < 2;
    tabs.forEach((tab, number) => {
      tab.id = `tab-${number}`;
      tab.setAttribute("role", "tab");
      // An address that names an element would take the focus away from the tab.
      panels[number].id = `panel-${number}`;
      tab.setAttribute("aria-controls", panels[number].id);
      panels[number].setAttribute("role", "tabpanel");
      panels[number].removeAttribute("aria-label");
      panels[number].setAttribute("aria-labelledby", tab.id);
    });
    bar.addEventListener("keydown", (event) => {
      const current = tabs.indexOf(document.activeElement);
      const steps = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: tabs.length - 1 };
      if (event.key === " " && current >= 0) {
        event.preventDefault();
        tabs[current].click();
      }
      if (!(event.key in steps) || current < 0) return;
      event.preventDefault();
      const next = tabs[(steps[event.key] + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
  }

  function select(panel) {
    tabs.forEach((tab, number) => {
      const selected = panels[number] === panel;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      panels[number].hidden = !selected;
    });
  }

  /* Histograms */

  function histogram(rows, caption) {
    const bars = new Map();
    for (const row of rows) for (const [power, count] of row[ULPS] || []) bars.set(power, (bars.get(power) || 0) + count);
    if (!bars.size) return null;
    if (bars.size > MANY_BARS) return histogramOf(coarser(bars), caption);
    return histogramOf([...bars].map(([power, count]) => [power, data.ulps[power], count]), caption);
  }

  // Beyond 2^8 ulps eight powers of two make a bar.
  function coarser(bars) {
    const merged = new Map();
    for (const [power, count] of bars) {
      const least = power < 8 ? power : power - (power % 8);
      const label = power < 8 ? data.ulps[power] : `2^${least} to below 2^${least + 8} ulps`;
      merged.set(least, [least, label, (merged.get(least)?.[2] || 0) + count]);
    }
    return [...merged.values()];
  }

  function histogramOf(bars, caption) {
    const largest = Math.max(...bars.map(([, , count]) => count));
    const list = element("ol");
    for (const [, name, count] of bars.sort((a, b) => a[0] - b[0])) {
      const drawn = element("span", { className: "bar" });
      drawn.style.width = `${(100 * count) / largest}%`;
      const label = element("span", { textContent: name });
      list.append(element("li", {}, label, drawn, element("span", { className: "count", textContent: count.toLocaleString("en") })));
    }
    return element("figure", { className: "histogram" }, element("figcaption", { textContent: caption }), list);
  }

  /* One case */

  function definitions(pairs) {
    const list = element("dl");
    for (const [name, value, mono] of pairs) {
      if (value === "" || value === undefined) continue;
      list.append(element("dt", { textContent: name }), element("dd", { textContent: value, className: mono ? "mono" : "" }));
    }
    return list;
  }

  function copyButton(source, pre) {
    const said = element("span", { role: "status" });
    const button = element("button", { type: "button", textContent: "Copy" });
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source);
        said.textContent = "Copied.";
      } catch {
        // Some browsers give a page from a file no clipboard.
        getSelection().selectAllChildren(pre);
        said.textContent = document.execCommand("copy") ? "Copied." : "Selected; copy it with the keyboard.";
      }
    });
    return element("div", { className: "tools" }, button, said);
  }

  function code(heading, source) {
    const pre = element("pre", { tabIndex: 0, textContent: source });
    return [element("h4", { textContent: heading }), pre, copyButton(source, pre)];
  }

  function body(runtime, row) {
    const made = element("div", { className: "body" });
    const compared = row[ELEMENTS] && !(row[DIFFERING] && text(row[WORDS])) ? `${row[DIFFERING].toLocaleString("en")} of ${row[ELEMENTS].toLocaleString("en")} quotients differ` : "";
    made.append(
      definitions([["Clause", text(row[CLAUSE])], ["It says", text(row[STATEMENT])], ["What happened", text(row[WORDS])], ["Compared", compared]]),
    );
    if (row[EXAMPLE]) {
      const [index, expected, actual, ...operands] = row[EXAMPLE].map(text);
      const names = operands.length > 1 ? ["Dividend", "Divisor"] : ["Operand"];
      made.append(
        element("h4", { textContent: "A quotient that differs" }),
        definitions([["Index", index, true], ...operands.map((value, k) => [names[k], value, true]), ["Expected", expected, true], ["Given", actual, true]]),
      );
    }
    if (row[REASON]) {
      const [reason, link] = row[REASON].map(text);
      const known = element("p", {}, element("b", { textContent: "Known: " }), reason);
      if (/^https?:/.test(link)) known.append(" ", element("a", { href: link, rel: "noreferrer", textContent: link }));
      made.append(known);
    }
    const bars = histogram([row], "How many quotients are off by how much");
    if (bars) made.append(bars);
    if (row[SOURCE]) made.append(...code(`In ${runtime.title} itself`, row[SOURCE].map(text).join("\n") + "\n"));
    made.append(...code("Again with Vinculum", `vinculum conform ${quoted(runtime.backend)} --full --only ${quoted(text(row[ID]))}\n`));
    made.append(element("p", { className: "note" }, element("a", { href: address(runtime.backend, "case", text(row[ID])), textContent: "Link to this case" })));
    return made;
  }

  function item(runtime, row) {
    const [name] = data.kinds[row[KIND]];
    const summary = element(
      "summary",
      {},
      element("b", { className: `badge g-${text(row[SEVERITY])}`, textContent: name }),
      element("span", { className: "id", textContent: text(row[ID]).split("/").join(" / ") }),
      element("span", { className: "words", textContent: text(row[WORDS]).slice(0, 300) }),
    );
    const details = element("details", {}, summary);
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(body(runtime, row));
    });
    return element("li", {}, details);
  }

  /* The list of a runtime's cases */

  function lister(runtime, panel) {
    const place = panel.querySelector(".cases");
    const nothing = { kind: "deviating", cell: null, found: null, asked: null, id: null, words: "" };
    let wanted = { ...nothing };
    let limit = SHOWN;

    const kinds = element("select");
    const counts = data.kinds.map((_, number) => runtime.cases.filter((row) => row[KIND] === number).length);
    const deviating = data.kinds.reduce((sum, kind, number) => sum + (kind[1] ? counts[number] : 0), 0);
    kinds.append(new Option(`all that deviate (${deviating})`, "deviating"), new Option(`every case (${runtime.cases.length})`, "all"));
    data.kinds.forEach(([name], number) => counts[number] && kinds.append(new Option(`${name} (${counts[number]})`, name)));
    const words = element("input", { type: "search", placeholder: "int64 constant", autocomplete: "off", spellcheck: false });
    const chosen = element("button", { type: "button", hidden: true });
    const form = element(
      "form",
      { className: "filter", role: "search" },
      element("label", {}, "Verdict", kinds),
      element("label", {}, "Words in the case or its message", words),
      chosen,
    );
    const status = element("p", { role: "status", className: "note" });
    const overall = element("div");
    const list = element("ol", { className: "list" });
    const more = element("button", { type: "button" });
    const heading = element("h3", { textContent: "Cases", tabIndex: -1 });
    place.replaceChildren(heading, form, status, overall, list, more);

    const haystacks = runtime.cases.map((row) => `${text(row[ID])} ${data.kinds[row[KIND]][0]} ${text(row[WORDS])} ${text(row[CLAUSE])}`.toLowerCase());

    function matches(row, number, needles) {
      const [name, deviates] = data.kinds[row[KIND]];
      if (wanted.id !== null) return text(row[ID]) === wanted.id;
      if (wanted.kind === "deviating" ? !deviates : wanted.kind !== "all" && wanted.kind !== name) return false;
      if (wanted.cell && (text(row[OPERATOR]) !== wanted.cell[0] || text(row[TYPE]) !== wanted.cell[1])) return false;
      if (wanted.found !== null && row[FINDING] !== wanted.found) return false;
      if (wanted.asked !== null && !runtime.asked[wanted.asked].includes(number)) return false;
      return needles.every((needle) => haystacks[number].includes(needle));
    }

    function show() {
      const needles = wanted.words.toLowerCase().split(/\s+/).filter(Boolean);
      // The worst verdicts first, and else as the suite has them.
      const rows = runtime.cases.filter((row, number) => matches(row, number, needles)).sort((a, b) => a[KIND] - b[KIND]);
      const label = wanted.id !== null ? "one case" : wanted.cell ? wanted.cell.join(", ") : wanted.found !== null ? runtime.findings[wanted.found] : wanted.asked !== null ? data.questions[wanted.asked] : null;
      chosen.hidden = label === null;
      chosen.textContent = `Only ${label} \u00d7`;
      chosen.setAttribute("aria-label", `Only ${label}; show the others too`);
      kinds.value = wanted.kind;
      words.value = wanted.words;
      const shown = rows.slice(0, limit);
      status.textContent = rows.length
        ? `${rows.length.toLocaleString("en")} case${rows.length === 1 ? "" : "s"}${rows.length > shown.length ? `, the first ${shown.length} shown` : ""}.`
        : "No case matches.";
      const bars = rows.length > 1 && histogram(rows, `Errors in ulps, of all quotients in the cases listed`);
      overall.replaceChildren(...(bars ? [bars] : []));
      list.replaceChildren(...shown.map((row) => item(runtime, row)));
      if (rows.length === 1 || (rows.length && wanted.asked !== null)) list.querySelector("details").open = true;
      more.hidden = rows.length <= shown.length;
      more.textContent = `Show ${Math.min(SHOWN, rows.length - shown.length)} more`;
      for (const link of panel.querySelectorAll(".cell a")) {
        const current = wanted.cell && link.getAttribute("href") === address(runtime.backend, "cell", ...wanted.cell);
        if (current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }

    function want(changes) {
      wanted = { ...wanted, ...changes };
      limit = SHOWN;
      show();
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    kinds.addEventListener("change", () => want({ kind: kinds.value, id: null }));
    words.addEventListener("input", () => want({ words: words.value, id: null }));
    chosen.addEventListener("click", () => {
      want({ cell: null, found: null, asked: null, id: null });
      kinds.focus();
    });
    more.addEventListener("click", () => {
      const before = list.children.length;
      limit += SHOWN;
      show();
      list.children[before]?.querySelector("summary").focus();
    });
    show();

    return (what, ...parts) => {
      const cell = what === "cell" ? parts : null;
      const asked = what === "asked" && runtime.asked[Number(parts[0])] ? Number(parts[0]) : null;
      const about = (row, number) => (cell ? text(row[OPERATOR]) === cell[0] && text(row[TYPE]) === cell[1] : runtime.asked[asked].includes(number));
      const faulty = () => runtime.cases.some((row, number) => data.kinds[row[KIND]][1] && about(row, number));
      if (cell || asked !== null) want({ ...nothing, cell, asked, kind: faulty() ? "deviating" : "all" });
      else if (what === "kind") want({ ...nothing, kind: parts[0] });
      else if (what === "found") want({ ...nothing, found: Number(parts[0]) });
      else if (what === "case") want({ ...nothing, id: parts[0], kind: "all" });
      else return;
      heading.scrollIntoView({ block: "start" });
      heading.focus({ preventScroll: true });
    };
  }

  /* What the address says */

  const listers = new Map();

  function follow() {
    let parts;
    try {
      parts = location.hash.slice(1).split("/").map(decodeURIComponent);
    } catch {
      parts = [""];
    }
    const number = data.runtimes.findIndex((runtime) => runtime.backend === parts[0]);
    if (number < 0) {
      select(panels[0]);
      if (data.runtimes.length === 1) listerOf(0);
      return;
    }
    select(panelOf(number));
    listerOf(number)(...parts.slice(1));
  }

  function listerOf(number) {
    if (!listers.has(number)) listers.set(number, lister(data.runtimes[number], panelOf(number)));
    return listers.get(number);
  }

  prepareTabs();
  addEventListener("hashchange", follow);
  // A link to where the page already is changes nothing in the address, but is followed all the same.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  follow();
})();
