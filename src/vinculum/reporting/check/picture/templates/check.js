// Lays the pictures out with dagre, which stands above, and draws them. Whatever a model says is set as text.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  // The picture's own style, so that it can be saved as a file: light or dark as the reader's system is.
  const STYLE = `
    svg { --surface: #fff; --text: #1b1f24; --quiet: #57606a; --line: #9aa3ad; --accent: #0b57a4;
      --certain: #a30f27; --possible: #8a5a00; --unconfirmed: #57606a; --box: #f6f7f8; --hot: #fdeef0; --warm: #fdf5e3; }
    @media (prefers-color-scheme: dark) { svg { --surface: #181c22; --text: #e8ebee; --quiet: #a3acb6; --line: #5f6a76;
      --accent: #7db8f5; --certain: #ff8090; --possible: #f0b648; --unconfirmed: #a3acb6; --box: #21262d; --hot: #3a1c22;
      --warm: #352a14; } }
    text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; fill: var(--text); }
    .title { font-weight: 600; } .badge { font-weight: 600; fill: var(--colour); }
    .name, .bounds { font: 12px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
    .name, .small { fill: var(--quiet); font-size: 12px; } .witness { fill: var(--accent); font-size: 12px; }
    .label { font-size: 12px; fill: var(--quiet); paint-order: stroke; stroke: var(--surface); stroke-width: 4px; }
    rect { fill: var(--box); stroke: var(--line); stroke-width: 1.2; }
    .input rect, .output rect { fill: var(--surface); stroke-width: 1.5; } .fold rect { stroke-dasharray: 5 4; fill: none; }
    .certain, .witnessed { --colour: var(--certain); --ground: var(--hot); }
    .witnessed-outside, .possible { --colour: var(--possible); --ground: var(--warm); }
    .unconfirmed { --colour: var(--unconfirmed); --ground: var(--box); }
    .marked rect { stroke: var(--colour); stroke-width: 2.5; } .finding rect { fill: var(--ground); stroke-width: 3; }
    path { fill: none; stroke: var(--line); stroke-width: 1.3; } path.way { stroke: var(--accent); stroke-width: 3; }
    .tip { fill: var(--line); stroke: none; } .tip-way { fill: var(--accent); stroke: none; }
    .back { fill: var(--surface); stroke: none; }`;
  const LINE = 17, PAD = 9, NARROW = 560, LEAST = 0.84;

  const make = (parent, name, attributes = {}, text = "") => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return parent.appendChild(element);
  };
  const middle = (text, most) =>
    text.length <= most ? text : `${text.slice(0, Math.ceil(most / 2) - 1)}…${text.slice(-Math.floor(most / 2))}`;

  const boxOf = (svg, box, model, narrow) => {
    const marked = box.severity ? `marked ${box.severity.replaceAll(" ", "-")}` : "";
    const group = make(svg, "g", {class: `box ${box.kind} ${marked}`});
    make(group, "title", {}, [...box.lines.map(line => line[1]), box.full].join("\n"));
    const inside = box.numbers.length ? make(group, "a", {href: `#${model}-${box.numbers[0]}`}) : group;
    const rect = make(inside, "rect", {rx: box.kind === "input" || box.kind === "output" ? 16 : 5});
    const lines = box.lines.flatMap(([kind, text]) =>
      kind === "badge" && narrow ? text.split(": ").map(part => [kind, part]) : [[kind, text]]);
    const texts = lines.map(([kind, text], place) => {
      const cut = middle(text, narrow ? (kind === "title" || kind === "badge" ? 22 : 24) : 40);
      return make(inside, "text", {class: kind, x: PAD, y: PAD + 12 + place * LINE}, cut);
    });
    const width = Math.ceil(Math.max(...texts.map(text => text.getComputedTextLength()))) + 2 * PAD;
    const height = texts.length * LINE + 2 * PAD - 3;
    rect.setAttribute("width", width);
    rect.setAttribute("height", height);
    return {group, width, height};
  };

  // For narrow screens a picture of each finding alone: the way to it, what it reads, the shortest way to an output.
  const parts = data => {
    const found = data.boxes.filter(box => box.kind === "finding");
    return found.length < 2 ? [data] : found.map(box => {
      const kept = new Set([box.id]);
      for (const id of kept) {  // Grows while it is walked.
        for (const arrow of data.arrows) if (arrow.end === id && arrow.way) kept.add(arrow.start);
      }
      for (const arrow of data.arrows) if (arrow.end === box.id) kept.add(arrow.start);
      for (const id of onward(data, box.id)) kept.add(id);
      return {
        boxes: data.boxes.filter(one => kept.has(one.id)),
        arrows: data.arrows.filter(arrow => kept.has(arrow.start) && kept.has(arrow.end)),
      };
    });
  };
  const onward = (data, from) => {
    const came = new Map([[from, null]]);
    for (const id of came.keys()) {
      if (data.boxes.find(box => box.id === id).kind === "output") {
        const way = [];
        for (let at = id; at !== null; at = came.get(at)) way.push(at);
        return way;
      }
      for (const arrow of data.arrows) if (arrow.start === id && !came.has(arrow.end)) came.set(arrow.end, id);
    }
    return [];
  };

  const draw = (place, model, data) => {
    place.replaceChildren();
    const room = place.clientWidth - 16, narrow = room < NARROW;
    for (const part of narrow ? parts(data) : [data]) drawPart(place, model, part, room, narrow);
    place.scrollLeft = (place.scrollWidth - place.clientWidth) / 2;
  };

  const drawPart = (place, model, data, room, narrow) => {
    const svg = make(place, "svg", {xmlns: SVG, role: "img", "aria-label": "Graph of the nodes that lead to findings"});
    make(svg, "style", {}, STYLE);
    const definitions = make(svg, "defs");
    const own = `tip-${model}-${document.querySelectorAll("marker").length}`;
    for (const [id, size] of [[own, 7], [`${own}-way`, 4]]) {
      const tip = make(definitions, "marker",
        {id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: size, markerHeight: size, orient: "auto"});
      make(tip, "path", {d: "M0 0L10 5L0 10z", class: size === 4 ? "tip-way" : "tip"});
    }
    const back = make(svg, "rect", {class: "back"});
    const graph = new dagre.graphlib.Graph({multigraph: true});
    graph.setGraph({rankdir: "TB", nodesep: narrow ? 14 : 36, ranksep: 30, edgesep: 10, marginx: 4, marginy: 4});
    const groups = {};
    for (const box of data.boxes) {
      const {group, width, height} = boxOf(svg, box, model, narrow);
      groups[box.id] = group;
      graph.setNode(box.id, {width, height});
    }
    data.arrows.forEach((arrow, number) => graph.setEdge(arrow.start, arrow.end,
      {number, weight: arrow.way ? 4 : 1, width: arrow.label ? 48 : 0, height: arrow.label ? 14 : 0, labelpos: "c"}, `${number}`));
    dagre.layout(graph);
    const {width, height} = graph.graph();
    const lines = make(svg, "g");
    svg.insertBefore(lines, svg.querySelector(".box"));
    for (const edge of graph.edges()) {
      const {points, x, y, number} = graph.edge(edge), arrow = data.arrows[number];
      const [first, ...rest] = points.map(point => `${point.x.toFixed(1)} ${point.y.toFixed(1)}`);
      let d = `M${first}`;
      for (let i = 0; i < rest.length - 1; i++) {
        const end = i === rest.length - 2 ? rest[i + 1]
          : `${((points[i + 1].x + points[i + 2].x) / 2).toFixed(1)} ${((points[i + 1].y + points[i + 2].y) / 2).toFixed(1)}`;
        d += `Q${rest[i]} ${end}`;
      }
      if (rest.length === 1) d += `L${rest[0]}`;
      make(lines, "path", {d, class: arrow.way ? "way" : "", "marker-end": `url(#${own}${arrow.way ? "-way" : ""})`});
      if (arrow.label) make(lines, "text", {class: "label", x, y: y + 4, "text-anchor": "middle"}, arrow.label);
    }
    for (const id of graph.nodes()) {
      const node = graph.node(id);
      groups[id].setAttribute("transform", `translate(${(node.x - node.width / 2).toFixed(1)} ${(node.y - node.height / 2).toFixed(1)})`);
    }
    const scale = Math.max(LEAST, Math.min(1, room / width));
    for (const element of [back]) { element.setAttribute("width", width); element.setAttribute("height", height); }
    svg.setAttribute("viewBox", `0 0 ${width.toFixed(0)} ${height.toFixed(0)}`);
    svg.setAttribute("width", (width * scale).toFixed(0));
    svg.setAttribute("height", (height * scale).toFixed(0));
  };

  const data = JSON.parse(document.getElementById("data").textContent);
  const places = [...document.querySelectorAll(".picture")];
  const all = () => places.forEach(place => draw(place, place.dataset.model, data[place.dataset.model][place.dataset.picture]));
  all();
  let last = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== last) { last = innerWidth; all(); } });
})();
