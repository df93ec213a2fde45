"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const {labels, blocks, cuts} = data;
const spqr = data.spqr.map(([type, block, parent, theta, nodes, points, edges, bends, walk, walkEdges, positions]) =>
  ({type, block, parent, theta, nodes, points, edges, bends, walk, walkEdges, positions}));
const SVG = "http://www.w3.org/2000/svg";
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const graph = document.querySelector("#graph-view svg"), scene = graph.querySelector(".graph");

function make(name, attributes, ...children) {
  const made = name === "td" || name === "th" || name === "tr" || name === "table" || name === "div" || name === "span" || name === "b" ||
    name === "option" || name === "button" ? document.createElement(name) : document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const counted = (k, word) => `${k.toLocaleString("en")} ${word}${k === 1 ? "" : "s"}`;

// ---- what belongs together ---------------------------------------------------------------------------------------------------

const n = labels.length;
const at = labels.map((_, v) => { const c = $("v" + v); return [+c.getAttribute("cx"), +c.getAttribute("cy")]; });
const radius = n ? +$("v0").getAttribute("r") : 1;
const nodeBlocks = labels.map(() => []), nodeSpqr = labels.map(() => []), nodeEdges = labels.map(() => []);
const ends = [], edgeSpqr = [], blockEdges = blocks.map(() => []), blockSpqr = blocks.map(() => []);
const cutOf = new Map(cuts.map((v, c) => [v, c]));
blocks.forEach((nodes, b) => nodes.forEach((v) => nodeBlocks[v].push(b)));
spqr.forEach((c, s) => {
  blockSpqr[c.block].push(s);
  c.nodes.forEach((v) => nodeSpqr[v].push(s));
  for (let k = 0; k < c.edges.length; k += 4) {
    const e = c.edges[k + 2];
    if (e < 0) continue;
    ends[e] = [c.nodes[c.edges[k]], c.nodes[c.edges[k + 1]]];
    edgeSpqr[e] = s;
    blockEdges[c.block].push(e);
    ends[e].forEach((v) => nodeEdges[v].push(e));
  }
});

function counterparts(id) {
  const kind = id[0], k = +id.slice(1);
  const node = (v) => ["v" + v, ...(cutOf.has(v) ? ["c" + cutOf.get(v), "r" + cutOf.get(v)] : [])];
  if (kind === "v") return [...node(k), ...nodeBlocks[k].map((b) => "b" + b), ...nodeSpqr[k].map((s) => "s" + s)];
  if (kind === "e") return [id, ...ends[k].map((v) => "v" + v), "b" + spqr[edgeSpqr[k]].block, "s" + edgeSpqr[k]];
  if (kind === "b") return [id, "k" + k, ...blocks[k].flatMap(node), ...blockEdges[k].map((e) => "e" + e), ...blockSpqr[k].map((s) => "s" + s)];
  if (kind === "c") return counterparts("v" + cuts[k]);
  const c = spqr[k];
  return [id, "b" + c.block, ...c.nodes.map((v) => "v" + v), ...c.edges.filter((e, i) => i % 4 === 2 && e >= 0).map((e) => "e" + e)];
}

const TYPES = {S: "cycle", P: "bond", Q: "single edge", R: "rigid component"};
function nameOf(v) {
  const called = `${data.word} ${v}`;
  return labels[v] === String(v) ? called : `${called} (${labels[v]})`;
}
function describe(id) {
  const kind = id[0], k = +id.slice(1);
  if (kind === "c") return describe("v" + cuts[k]);
  if (kind === "v") {
    const what = nodeBlocks[k].length > 1 ? `cut node of ${counted(nodeBlocks[k].length, "block")}` : nodeBlocks[k].length ? `in block B${nodeBlocks[k][0]}` : "isolated";
    return `${capital(nameOf(k))}: ${what}, in ${counted(nodeSpqr[k].length, "skeleton")}, degree ${nodeEdges[k].length}, canonical index ${data.labelling[k]}, orbit ${data.symmetries.nodes[k]}`;
  }
  if (kind === "e") return `Edge ${nameOf(ends[k][0])} – ${nameOf(ends[k][1])}: in block B${spqr[edgeSpqr[k]].block}, real edge of ${title(edgeSpqr[k])}`;
  if (kind === "b") return `Block B${k}: ${counted(blocks[k].length, "node")}, ${counted(blockEdges[k].length, "edge")}, ${counted(blockSpqr[k].length, "SPQR node")}`;
  const virtual = spqr[k].edges.filter((e, i) => i % 4 === 2 && e < 0).length;
  return `${title(k)}: ${TYPES[spqr[k].type]} of ${counted(spqr[k].nodes.length, "node")} and ${counted(spqr[k].edges.length / 4, "edge")}, ${virtual} of them virtual; block B${spqr[k].block}` +
    (spqr[k].parent < 0 ? ", root of its tree" : `, below ${title(spqr[k].parent)} at theta ${spqr[k].theta}`);
}
const title = (s) => spqr[s].type + s;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

// ---- lighting parts in all views ---------------------------------------------------------------------------------------------

const idle = $("status").textContent;
const overlay = scene ? scene.insertBefore(make("g", {class: "overlay", id: "overlay"}), scene.querySelector(".rings")) : null;
const svgs = [...document.querySelectorAll(".view svg.planegraph")];
const texts = new Map();  // the labels of nodes, by the ids of these
let lit = [], pinned = null, shown = null;

function light(id) {
  if (id === shown) return;
  shown = id;
  lit.forEach((part) => part.classList.remove("lit"));
  lit = id ? counterparts(id).flatMap((part) => [$(part), texts.get(part)]).filter(Boolean) : [];
  lit.forEach((part) => part.classList.add("lit"));
  svgs.forEach((svg) => svg.classList.toggle("dim", id !== null));
  if (overlay) overlay.replaceChildren(...(id && id[0] === "s" ? ghosts(+id.slice(1)) : []));
  $("status").textContent = id ? describe(id) : idle;
}
function ghosts(s) {
  const c = spqr[s], made = [], width = Math.max(1, 0.13 * radius);
  const pairs = new Set();
  for (let k = 0; k < c.edges.length; k += 4) {
    if (c.edges[k + 2] < 0) pairs.add([c.edges[k], c.edges[k + 1]].sort().join(" "));
  }
  for (const pair of pairs) {
    const [a, b] = pair.split(" ").map((i) => at[c.nodes[i]]);
    made.push(make("path", {d: `M${a}L${b}`, class: "ghost", "stroke-width": width, "stroke-dasharray": `${3 * width} ${2.5 * width}`}));
  }
  return made;
}
function pin(id) {
  pinned = id;
  light(id);
  if (id && "se".includes(id[0])) choose(id[0] === "s" ? +id.slice(1) : edgeSpqr[+id.slice(1)]);
}

function partAt(event) {
  const part = event.target.closest("[id]");
  const id = part && /^[vebcskr]\d+$/.test(part.id) ? part.id : null;
  const near = event.currentTarget === graph && (!id || id[0] === "k") ? nearest(event) : null;
  if (near) return near;
  return id && id.replace(/^k/, "b").replace(/^r/, "c");
}
function nearest(event) {  // small parts are hard to hit
  const matrix = scene.getScreenCTM().inverse();
  const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix), reach = 9 * matrix.a;
  let best = null, least = reach;
  at.forEach(([x, y], v) => {
    const d = Math.hypot(x - p.x, y - p.y) - radius;
    if (d < least) [best, least] = ["v" + v, d];
  });
  if (best) return best;
  ends.forEach(([u, v], e) => {
    const [ax, ay] = at[u], dx = at[v][0] - ax, dy = at[v][1] - ay;
    const t = Math.min(1, Math.max(0, ((p.x - ax) * dx + (p.y - ay) * dy) / (dx * dx + dy * dy || 1)));
    const d = Math.hypot(ax + t * dx - p.x, ay + t * dy - p.y);
    if (d < least) [best, least] = ["e" + e, d];
  });
  return best;
}

// ---- pointing, zooming, moving; the keyboard ----------------------------------------------------------------------------------

const keys = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
const PARTS = {"graph-view": ".nodes [id], .edges [id]", "blocks-view": ".block, .cut", "spqr-view": ".spqr"};

document.querySelectorAll(".view").forEach((view) => {
  const svg = view.querySelector("svg.planegraph"), bar = view.querySelector(".bar"), name = view.querySelector("h2").textContent;
  svg.classList.toggle("many", svg.querySelectorAll(PARTS[view.id]).length > 1500);
  const full = svg.getAttribute("viewBox").split(" ").map(Number);
  let box = [...full], drag = null, stop = null;
  const set = (next) => {
    box = next;
    svg.setAttribute("viewBox", box.join(" "));
    view.classList.toggle("zoomed", box[2] < full[2] * 0.99);
    if (svg === graph) writeLabels();
  };
  const zoom = (factor, x = 0.5, y = 0.5) => {
    const scale = Math.min(Math.max(factor, 0.02 * full[2] / box[2]), full[2] / box[2]);
    const [w, h] = [box[2] * scale, box[3] * scale];
    move([box[0] + (box[2] - w) * x, box[1] + (box[3] - h) * y, w, h]);
  };
  const move = ([x, y, w, h]) => set([Math.min(Math.max(x, full[0]), full[0] + full[2] - w), Math.min(Math.max(y, full[1]), full[1] + full[3] - h), w, h]);
  const widen = () => { const wide = view.classList.toggle("wide"); bar.lastChild.setAttribute("aria-pressed", wide); if (svg === graph) writeLabels(); };
  for (const [sign, what, act] of [["+", "Zoom in", () => zoom(0.7)], ["−", "Zoom out", () => zoom(1 / 0.7)], ["0", "Fit", () => set([...full])], ["⤢", "Enlarge", widen]]) {
    const button = make("button", {"aria-label": `${what}: ${name}`, title: what}, sign === "0" ? "⊡" : sign);
    if (sign === "⤢") button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", act);
    bar.append(button);
  }
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const r = svg.getBoundingClientRect();
    zoom(Math.exp(event.deltaY * 0.004), (event.clientX - r.x) / r.width, (event.clientY - r.y) / r.height);
  }, {passive: false});
  svg.addEventListener("pointerdown", (event) => { drag = {x: event.clientX, y: event.clientY, box: [...box], far: false}; });
  svg.addEventListener("pointermove", (event) => {
    if (drag && event.buttons) {
      const scale = svg.getScreenCTM().a, [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      drag.far ||= Math.hypot(dx, dy) > 5;
      if (drag.far && view.classList.contains("zoomed")) {
        svg.setPointerCapture(event.pointerId);
        move([drag.box[0] - dx / scale, drag.box[1] - dy / scale, box[2], box[3]]);
      }
      return;
    }
    light(partAt(event) || pinned);
  });
  svg.addEventListener("pointerleave", () => light(pinned));
  svg.addEventListener("click", (event) => {
    if (drag && drag.far) return;
    const id = partAt(event);
    pin(id === pinned ? null : id);
  });

  // one stop for Tab; arrows go to the nearest part in their direction
  let parts = null;
  const places = () => (parts ||= [...svg.querySelectorAll(PARTS[view.id])].map((part) => {
    const box = part.getBoundingClientRect();
    return {part, x: box.x + box.width / 2, y: box.y + box.height / 2};
  }));
  const enter = (part) => {
    if (stop) stop.removeAttribute("tabindex");
    stop = part;
    part.setAttribute("tabindex", "0");
    part.setAttribute("role", "img");
    part.setAttribute("aria-label", describe(part.id));
    part.focus({preventScroll: false});
    light(part.id);
  };
  const first = svg.querySelector(PARTS[view.id]);
  if (first) { first.setAttribute("tabindex", "0"); stop = first; }
  svg.addEventListener("focusin", (event) => { if (event.target === stop) { stop.setAttribute("role", "img"); stop.setAttribute("aria-label", describe(stop.id)); light(stop.id); } });
  svg.addEventListener("focusout", () => light(pinned));
  svg.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in keys) {
      const [dx, dy] = keys[event.key], all = places(), here = all.find((p) => p.part === stop);
      let best = null, least = Infinity;
      for (const p of all) {
        const along = (p.x - here.x) * dx + (p.y - here.y) * dy, aside = Math.abs((p.x - here.x) * dy) + Math.abs((p.y - here.y) * dx);
        if (along > 0.01 && along + 2.5 * aside < least) [best, least] = [p, along + 2.5 * aside];
      }
      if (best) enter(best.part);
    } else if (event.key === "Enter" || event.key === " ") pin(stop.id === pinned ? null : stop.id);
    else if (event.key === "+" || event.key === "=") zoom(0.7);
    else if (event.key === "-") zoom(1 / 0.7);
    else if (event.key === "0") set([...full]);
    else return;
    event.preventDefault();
  });
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape") pin(null); });

// ---- labels at nodes: names, numbers of a renumbering, or orbits ---------------------------------------------------------------

let numbering = null, coloured = false;
const always = scene && scene.classList.contains("labelled");
function labelOf(v) {
  if (coloured) return String(data.symmetries.nodes[v]);
  return numbering === null ? labels[v] : String(data.numberings[numbering].new[v]);
}
function writeLabels() {  // of a large graph, those of the part that is zoomed in
  if (!scene) return;
  let group = scene.querySelector(".labels");
  const scale = graph.getScreenCTM()?.a ?? 1, large = always || radius * scale >= 7;
  scene.classList.toggle("labelled", large);
  texts.clear();
  if (!large) { group?.remove(); return; }
  if (!group) scene.append(group = make("g", {class: "labels"}));
  const box = graph.viewBox.baseVal, seen = [];
  for (let v = 0; v < n; v++) {
    const [x, y] = placeOf(v);
    if (!always && (x < box.x || y < box.y || x > box.x + box.width || y > box.y + box.height)) continue;
    const words = labelOf(v), size = radius * Math.min(1.15, 2.6 / Math.max(words.length, 1));
    const text = make("text", {x, y: y + 0.36 * size, "font-size": size, class: $("v" + v).classList.contains("lit") ? "lit" : ""}, words);
    texts.set("v" + v, text);
    seen.push(text);
  }
  group.replaceChildren(...seen);
}

// ---- the walk of a component ---------------------------------------------------------------------------------------------------

const select = $("component"), slider = $("step"), skeleton = $("skeleton");
let chosen = null, runner = null;

spqr.forEach((c, s) => select.append(make("option", {value: s}, `${title(s)}: ${TYPES[c.type]}, ${counted(c.edges.length / 4, "edge")}, block B${c.block}`)));
$("walk-panel").hidden = spqr.length === 0;

function walkNode(c, i) { return c.nodes[c.walk[i]]; }
function target(c, i) {  // where the dart ends
  const k = 4 * c.walkEdges[i];
  return c.edges[k] === c.walk[i] ? c.edges[k + 1] : c.edges[k];
}
function positionIn(c, i) { return c.positions ? c.positions[i] : i + 1; }

function choose(s) {
  if (s === chosen) return;
  if (chosen !== null) $("s" + chosen).classList.remove("chosen");
  chosen = s;
  $("s" + s).classList.add("chosen");
  select.value = s;
  slider.max = spqr[s].walk.length;
  slider.value = 1;
  halt();
  drawSkeleton();
  step();
}
const point = (c, i) => [c.points[2 * i], c.points[2 * i + 1]];
function route(c, k) {  // of the skeleton's edge k
  const [u, v] = [c.edges[4 * k], c.edges[4 * k + 1]], [a, b] = [point(c, u), point(c, v)], bend = c.bends[k] || 0;
  return `M${a}Q${[(a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + 2 * bend]} ${b}`;
}
function sizeOf(c) {  // of nodes
  const lengths = [];
  for (let k = 0; k < c.edges.length; k += 4) {
    const [a, b] = [point(c, c.edges[k]), point(c, c.edges[k + 1])];
    lengths.push(Math.hypot(a[0] - b[0], a[1] - b[1]));
  }
  lengths.sort((a, b) => a - b);
  let least = 0.3 * lengths[Math.floor(0.15 * lengths.length)];
  if (c.nodes.length <= 100) {  // none shall hide another
    for (let i = 0; i < c.nodes.length; i++) for (let j = 0; j < i; j++) {
      const [a, b] = [point(c, i), point(c, j)];
      least = Math.min(least, 0.46 * Math.hypot(a[0] - b[0], a[1] - b[1]));
    }
  }
  return Math.min(58, Math.max(3.5, least));
}
function drawSkeleton() {
  const c = spqr[chosen], r = sizeOf(c), kinds = {real: "", virtual: ""};
  for (let k = 0; k < c.edges.length / 4; k++) kinds[c.edges[4 * k + 2] < 0 ? "virtual" : "real"] += route(c, k);
  const width = Math.min(8, Math.max(2.2, r / 5));
  skeleton.setAttribute("class", `planegraph ${c.type}`);
  skeleton.replaceChildren(
    make("g", {class: "skeleton"}, make("path", {class: "real", d: kinds.real, "stroke-width": width}), make("path", {class: "virtual", d: kinds.virtual, "stroke-width": width, "stroke-dasharray": `${2.4 * width} ${2 * width}`})),
    make("path", {id: "done", class: "done", "stroke-width": 2.1 * width}),
    make("g", {id: "dart-arrow"}),
    make("g", {}, ...c.nodes.map((v, i) => {
      const [x, y] = point(c, i), group = make("g", {class: "node", transform: `translate(${x} ${y})`}, make("circle", {r, "stroke-width": r / 10}));
      if (r > 22) {
        const words = labelOf(v), size = r * Math.min(0.95, 2.6 / words.length);
        group.append(make("text", {y: 0.36 * size, "font-size": size}, words));
        const side = [x - 500, y - 500], away = Math.hypot(...side) || 1;
        group.append(make("text", {class: "kappa", x: side[0] / away * 1.66 * r, y: side[1] / away * 1.66 * r + 15, "font-size": 46}));
      }
      return group;
    })));
}
function relabelSkeleton() {
  const c = spqr[chosen], r = sizeOf(c);
  [...skeleton.querySelectorAll(".node")].forEach((group, i) => {
    const text = group.querySelector("text");
    if (!text) return;
    const words = labelOf(c.nodes[i]), size = r * Math.min(0.95, 2.6 / words.length);
    text.textContent = words;
    text.setAttribute("font-size", size);
    text.setAttribute("y", 0.36 * size);
  });
}
function arrow(path, width, from, to) {  // a part of a path, with a tip
  const line = make("path", {d: path, class: "arrow", "stroke-width": width});
  const total = line.getTotalLength(), a = line.getPointAtLength(Math.min(from, total / 3)), tip = line.getPointAtLength(Math.max(total - to, total / 2));
  const before = line.getPointAtLength(Math.max(total - to - 3.4 * width, total / 3)), mid = line.getPointAtLength(total / 2);
  const [dx, dy] = [tip.x - before.x, tip.y - before.y], size = Math.hypot(dx, dy) || 1, [nx, ny] = [-dy / size * 1.7 * width, dx / size * 1.7 * width];
  const control = {x: 2 * mid.x - (a.x + before.x) / 2, y: 2 * mid.y - (a.y + before.y) / 2};
  line.setAttribute("d", `M${a.x} ${a.y}Q${control.x} ${control.y} ${before.x} ${before.y}`);
  return [line, make("path", {class: "tip", d: `M${tip.x} ${tip.y}L${before.x + nx} ${before.y + ny}L${before.x - nx} ${before.y - ny}Z`})];
}
function step(showInGraph = false) {
  const c = spqr[chosen], i = +slider.value - 1, k = c.walkEdges[i], u = c.walk[i], v = target(c, i), r = sizeOf(c);
  const [edge, other] = [c.edges[4 * k + 2], c.edges[4 * k + 3]];
  let seen = 0;
  for (let j = 0; j <= i; j++) seen = Math.max(seen, c.walk[j] + 1);
  $("done").setAttribute("d", c.walkEdges.slice(0, i).map((e) => route(c, e)).join(""));
  const [a, b] = [point(c, u), point(c, v)], bend = c.bends[k] || 0;
  $("dart-arrow").replaceChildren(...arrow(`M${a}Q${[(a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + 2 * bend]} ${b}`, Math.max(7, r / 4), 1.1 * r, 1.15 * r));
  [...skeleton.querySelectorAll(".node")].forEach((group, j) => {
    group.classList.toggle("now", j === u);
    group.firstChild.setAttribute("r", j === u ? Math.max(r, 16) : r);
    const kappa = group.querySelector(".kappa");
    if (kappa) kappa.textContent = j < seen ? `κ${j + 1}` : "";
  });
  const figures = [["step", `${i + 1} of ${c.walk.length}`], ["position", positionIn(c, i)], ["κ, order of first visit", u + 1], ["canonical index", canonical(i)]];
  $("figures").replaceChildren(...figures.map(([what, value]) => make("div", {}, make("span", {}, what), make("b", {}, String(value)))));
  $("figures").children[1].id = "position";
  $("figures").children[2].id = "kappa";
  const called = (w) => numbering === null ? nameOf(w) : `${data.word} ${labelOf(w)}`;
  $("dart").textContent = `${capital(called(c.nodes[u]))} → ${called(c.nodes[v])}, ` + (edge >= 0 ? "a real edge" : `a virtual edge: behind it is ${title(other)}`);
  strip(i);
  if (showInGraph) {
    light("s" + chosen);
    const [p, q] = [placeOf(c.nodes[u]), placeOf(c.nodes[v])];
    overlay.replaceChildren(...ghosts(chosen), ...arrow(`M${p}L${q}`, Math.max(1.4, 0.3 * radius), 1.1 * radius, 1.2 * radius));
    $("status").textContent = `${title(chosen)}, step ${i + 1}: ${$("dart").textContent}; κ ${u + 1}, position ${positionIn(c, i)}`;
  }
}
const offsets = spqr.map(() => 0);
spqr.forEach((c, s) => { if (s + 1 < spqr.length) offsets[s + 1] = offsets[s] + c.walk.length; });
function canonical(i) {  // computed from the decomposition of the numbering that is shown
  if (numbering === null) return data.labelling[walkNode(spqr[chosen], i)];
  const now = data.numberings[numbering];
  return now.labelling[now.walk[offsets[chosen] + i]];
}
function strip(i) {
  const c = spqr[chosen], total = c.walk.length, first = Math.max(0, Math.min(i - 9, total - 20)), last = Math.min(total, first + 20);
  const steps = Array.from({length: last - first}, (_, j) => first + j);
  const input = (j) => numbering === null ? labelOf(walkNode(c, j)) : data.numberings[numbering].walk[offsets[chosen] + j];
  const row = (name, value) => make("tr", {}, make("th", {scope: "row"}, name), ...steps.map((j) => make("td", j === i ? {class: "now"} : {}, String(value(j)))));
  $("strip").replaceChildren(make("table", {"aria-label": "The walk around this step"},
    row("position", (j) => positionIn(c, j)), row(numbering === null ? data.word : "new number", input), row("κ", (j) => c.walk[j] + 1), row("canonical", canonical)));
}
function halt() {
  clearInterval(runner);
  runner = null;
  $("run").setAttribute("aria-pressed", "false");
  $("run").textContent = "Run";
}
function go(by) { slider.value = +slider.value + by; step(true); }
$("back").addEventListener("click", () => go(-1));
$("forth").addEventListener("click", () => go(1));
slider.addEventListener("input", () => step(true));
select.addEventListener("change", () => pin("s" + select.value));
$("run").addEventListener("click", () => {
  if (runner) { halt(); return; }
  if (+slider.value === +slider.max) slider.value = 0;
  runner = setInterval(() => { if (+slider.value === +slider.max) halt(); else go(1); }, 500);
  $("run").setAttribute("aria-pressed", "true");
  $("run").textContent = "Stop";
});

// ---- renumbering ---------------------------------------------------------------------------------------------------------------

function sameWalks(now) {
  let row = 0;
  return spqr.every((c) => c.walk.every((i) => now.labelling[now.walk[row++]] === data.labelling[c.nodes[i]]));
}
function renumbered(next) {
  numbering = next;
  writeLabels();
  $("original").disabled = next === null;
  const cell = (what, value, same) => make("div", {}, make("span", {}, what), make("b", {style: "font-size:.85rem"}, value), ...(same ? [make("span", {class: "same"}, same)] : []));
  if (next === null) {
    $("numbering").replaceChildren(make("span", {class: "soft"}, `${counted(data.numberings.length, "random numbering")} of this graph: decomposed and canonised anew when this page was made. The numbers change; the code and the walks in canonical indices do not.`));
  } else {
    const now = data.numberings[next], walks = sameWalks(now);
    const rows = spqr.reduce((sum, c) => sum + c.walk.length, 0);
    const box = make("div", {class: "figures"},
      cell(`code of numbering ${next + 1} of ${data.numberings.length}`, now.digest, now.digest === data.digest ? "✓ equal to that of the original" : "✗ differs"),
      cell("all walks, in canonical indices", counted(rows, "dart"), walks ? "✓ equal to those of the original" : "✗ differ"));
    box.style.gridTemplateColumns = "repeat(auto-fit,minmax(13rem,1fr))";
    $("numbering").replaceChildren(box);
  }
  if (chosen !== null) { relabelSkeleton(); step(shown === "s" + chosen); }
}
$("renumber").addEventListener("click", () => renumbered(numbering === null ? 0 : (numbering + 1) % data.numberings.length));
$("original").addEventListener("click", () => renumbered(null));

// ---- symmetries ----------------------------------------------------------------------------------------------------------------

const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a900", "#7b858f"];
let images = null;  // of each node, after the symmetries played so far
let shift = null;  // while one is played: where each node is
function placeOf(v) { return shift ? shift[v] : at[images ? images[v] : v]; }

function cycles(moved, to) {
  const next = new Map(moved.map((v, i) => [v, to[i]])), seen = new Set(), found = [];
  for (const v of moved) {
    if (seen.has(v)) continue;
    const cycle = [];
    for (let w = v; !seen.has(w); w = next.get(w)) { seen.add(w); cycle.push(w); }
    found.push(cycle);
  }
  return found;
}
function showGenerator() {
  const [moved, to] = data.symmetries.generators[+$("generator").value], found = cycles(moved, to);
  const words = found.slice(0, 12).map((c) => `(${c.slice(0, 24).join(" ")}${c.length > 24 ? " …" : ""})`).join(" ");
  $("cycles").textContent = `Moves ${counted(moved.length, data.word)}, keeps ${n - moved.length}: ${words}${found.length > 12 ? " …" : ""}`;
}
function moveParts() {
  for (let v = 0; v < n; v++) {
    const [x, y] = placeOf(v), part = $("v" + v);
    part.setAttribute("cx", x);
    part.setAttribute("cy", y);
    if (cutOf.has(v)) { $("r" + cutOf.get(v)).setAttribute("cx", x); $("r" + cutOf.get(v)).setAttribute("cy", y); }
  }
  ends.forEach(([u, v], e) => $("e" + e).setAttribute("d", `M${placeOf(u)}L${placeOf(v)}`));
  writeLabels();
}
function glide(goal, then) {
  const from = at.map((_, v) => placeOf(v)), start = performance.now(), long = calm ? 1 : 1400;
  const moved = goal.map((_, v) => v).filter((v) => from[v] !== at[goal[v]]);
  const centre = [0, 1].map((k) => moved.reduce((sum, v) => sum + from[v][k], 0) / (moved.length || 1));
  const polar = ([x, y]) => [Math.hypot(x - centre[0], y - centre[1]), Math.atan2(y - centre[1], x - centre[0])];
  const between = (a, b, t) => {  // turning about the centre, so that a rotation looks like one
    const [r, angle] = polar(a), [s, to] = polar(b);
    let turn = (to - angle) % (2 * Math.PI);
    if (turn > Math.PI + 0.01) turn -= 2 * Math.PI;
    if (turn < -Math.PI + 0.01) turn += 2 * Math.PI;
    const radius = r + (s - r) * t;
    return [centre[0] + radius * Math.cos(angle + turn * t), centre[1] + radius * Math.sin(angle + turn * t)];
  };
  $("play").disabled = $("rest").disabled = true;
  const frame = (now) => {
    const t = Math.min(1, Math.max(0, (now - start) / long)), ease = t * t * (3 - 2 * t);
    shift = goal.map((to, v) => from[v] === at[to] ? at[to] : between(from[v], at[to], ease));
    if (t === 1) { shift = null; images = goal; }
    moveParts();
    if (t < 1) requestAnimationFrame(frame); else { $("play").disabled = false; then(); }
  };
  requestAnimationFrame(frame);
}
const {order, nodes, edges, generators, total} = data.symmetries, orbits = new Set(nodes).size;
$("order").textContent = `${order} ${order === "1" ? "symmetry" : "symmetries"}, ${counted(orbits, `orbit`)} of ${data.word}s, ${counted(new Set(edges).size, "orbit")} of edges`;
generators.forEach((_, g) => $("generator").append(make("option", {value: g}, `${g + 1} of ${total.toLocaleString("en")}`)));
$("moves").hidden = generators.length === 0;
if (generators.length) showGenerator(); else $("cycles").textContent = "The identity is the only one.";
$("generator").addEventListener("change", showGenerator);
$("play").addEventListener("click", () => {
  const [moved, to] = generators[+$("generator").value], next = new Map(moved.map((v, i) => [v, to[i]]));
  glide(at.map((_, v) => { const w = images ? images[v] : v; return next.get(w) ?? w; }), () => { $("rest").disabled = false; });
});
$("rest").addEventListener("click", () => glide(at.map((_, v) => v), () => {
  images = null;
  ends.forEach((_, e) => $("e" + e).setAttribute("d", straight[e]));
}));
const straight = ends.map((_, e) => $("e" + e).getAttribute("d"));
const colour = (of) => {  // the largest orbits have colours, the others share grey; numbers say which is which
  const size = new Map();
  of.forEach((o) => size.set(o, (size.get(o) || 0) + 1));
  const ranked = [...size.keys()].sort((a, b) => size.get(b) - size.get(a) || a - b);
  return new Map(ranked.map((o, k) => [o, COLOURS[Math.min(k, COLOURS.length - 1)]]));
};
$("orbits").addEventListener("click", () => {
  coloured = !coloured;
  $("orbits").setAttribute("aria-pressed", coloured);
  scene.classList.toggle("orbits", coloured);
  const ofNodes = colour(nodes), ofEdges = colour(edges);
  nodes.forEach((o, v) => { $("v" + v).style.fill = coloured ? ofNodes.get(o) : ""; });
  edges.forEach((o, e) => { coloured ? $("e" + e).style.setProperty("--orbit", ofEdges.get(o)) : $("e" + e).style.removeProperty("--orbit"); });
  writeLabels();
});
// ---- start ---------------------------------------------------------------------------------------------------------------------

renumbered(null);
if (spqr.length) choose(spqr.reduce((best, c, s) => c.nodes.length > spqr[best].nodes.length ? s : best, 0));
addEventListener("resize", writeLabels);
})();
