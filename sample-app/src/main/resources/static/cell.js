"use strict";
const $ = id => document.getElementById(id);
const WINDOW_MILLIS = 60_000, WALL_TOLERANCE_MILLIS = 1_000, SILENCE_MILLIS = 3_000, KEPT = 400;

// What the page has seen. It outlives the nodes that told it.
const tenures = new Map(), runs = new Map();
let cell = null, heard = 0, origins = [location.origin], at = 0, stream = null, hold = false, shownRound = null, lastNews = new Map();

// Small helpers. Text is never parsed as HTML; nothing is touched that has not changed, so that focus and screen readers keep their place.

function el(tag, cls, ...content) {
  const node = document.createElement(tag);
  if (cls) node.className = cls;
  node.append(...content.filter(c => c !== null && c !== undefined).map(c => c instanceof Node ? c : String(c)));
  return node;
}
function svg(tag, attributes, ...content) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...content);
  return node;
}
function write(node, text) { if (node.textContent !== String(text)) node.textContent = text; }
function attribute(node, name, value) { if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value); }
/** The children of a parent by key: made once, brought up to date, removed when their key is gone. */
function keyed(parent, keys, make, update) {
  const known = new Map([...parent.children].map(child => [child.dataset.key, child]));
  keys.forEach((key, i) => {
    let child = known.get(key);
    if (!child) { child = make(key); child.dataset.key = key; }
    known.delete(key);
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] || null);
    update(child, key);
  });
  known.forEach(child => child.remove());
}
/** The seconds of an ISO-8601 duration such as PT1M2.5S. */
function seconds(iso) {
  const m = /^PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?$/.exec(iso || "");
  return m ? (+m[1] || 0) * 3600 + (+m[2] || 0) * 60 + (+m[3] || 0) : 0;
}
const short = s => s < 0.1 ? (s * 1000).toFixed(1) + " ms" : s.toFixed(1) + " s";
const ids = () => Object.keys(cell.nodes).sort();
const colour = id => "var(--node-" + Math.max(0, ids().indexOf(id)) % 5 + ")";
const nodeOf = incarnation => incarnation.slice(0, incarnation.lastIndexOf("/"));
const isDemo = () => cell.delayMillis !== null;
/** The wall clock of the node that tells, now. */
const now = () => cell.millis + (performance.now() - heard);

// Talking to the cell: through one node, and through another one when that falls silent.

/** A node that talks to the others over TCP does not say where its page is. */
const isWeb = url => url.startsWith("http");
function originOf(url) {
  const node = new URL(url);
  return /^(localhost|127\.)/.test(node.hostname) && /^(localhost|127\.)/.test(location.hostname)
      ? node.protocol + "//" + location.hostname + ":" + node.port : node.origin;
}
function connect() {
  stream?.close();
  heard = performance.now();
  const source = stream = new EventSource(origins[at] + "/sample/events");
  source.addEventListener("cell", event => { if (source === stream) hear(JSON.parse(event.data)); });
}
function hear(told) {
  // The node that tells may have been asked just now for the first time: then the last one's word stands.
  for (const [id, node] of Object.entries(told.nodes)) {
    if (node.ageMillis >= 0) continue;
    node.ageMillis = 0;
    node.unasked = true;
    if (!node.state || node.state === "RUNNING" || node.state === "PAUSED") node.view = cell?.nodes[id]?.view ?? null;
  }
  cell = told;
  heard = performance.now();
  const here = origins[at];
  origins = ids().map(id => cell.nodes[id].url).filter(isWeb).map(originOf);
  if (!origins.includes(here)) origins.unshift(here);
  at = origins.indexOf(here);
  document.body.dataset.via = cell.self;
  learn();
  show();
}
setInterval(() => {
  const via = cell?.nodes[cell.self];
  const leaving = via && (via.state === "STOPPING" || via.state === "DOWN");
  if (leaving || performance.now() - heard > SILENCE_MILLIS) {
    write($("status"), "this node does not answer; trying another one …");
    at = (at + 1) % origins.length;
    if (cell) cell.self = "";
    connect();
  }
}, 500);

async function post(path) {
  try {
    const answer = await fetch(origins[at] + path, {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"});
    if (!answer.ok) news("refused: " + path.split("/").pop() + " is not possible now");
  } catch (failure) {
    news("that did not get through; try again");
  }
}

// What is known.

function learn() {
  for (const [id, node] of Object.entries(cell.nodes)) {
    for (const t of node.view?.tenures || []) {
      const key = [t.lease, t.incarnation, t.token].join("|"), known = tenures.get(key);
      // After a longer look a tenure can only have begun earlier and ended later than was known.
      tenures.set(key, {...t, id: nodeOf(t.incarnation), clock: node.view.clock,
          from: known && known.from < BigInt(t.fromNanos) ? known.from : BigInt(t.fromNanos),
          until: known && known.until > BigInt(t.untilNanos) ? known.until : BigInt(t.untilNanos),
          fromMillis: Math.min(t.fromMillis, known?.fromMillis ?? Infinity), untilMillis: Math.max(t.untilMillis, known?.untilMillis ?? 0)});
    }
    for (const r of node.view?.runs || []) runs.set([r.node, r.lease, r.token, r.startedAt].join("|"), {...r, millis: Date.parse(r.startedAt)});
  }
  for (const map of [tenures, runs]) while (map.size > KEPT) map.delete(map.keys().next().value);
}
/** Every two tenures of one lease that were held at once: by one monotonic clock exactly, else by wall clocks with a tolerance. */
function violations(all) {
  const found = [];
  for (let i = 0; i < all.length; i++) {
    for (let j = 0; j < i; j++) {
      const a = all[i], b = all[j];
      if (a.lease !== b.lease) continue;
      const one = a.incarnation === b.incarnation || (a.clock && a.clock === b.clock);
      const overlap = one
          ? Number((a.until < b.until ? a.until : b.until) - (a.from > b.from ? a.from : b.from)) / 1e6
          : Math.min(a.untilMillis, b.untilMillis) - Math.max(a.fromMillis, b.fromMillis) - WALL_TOLERANCE_MILLIS;
      if (overlap > 0) found.push(a.id + " and " + b.id + " both led “" + a.lease + "” for " + overlap.toFixed(3) + " ms");
    }
  }
  return found;
}
function news(text) { write($("news"), text); }
function leaseNames() {
  return [...new Set(Object.values(cell.nodes).flatMap(n => Object.keys(n.view?.lease.leases || {})))].sort();
}
function holder(name) {
  for (const id of ids()) {
    const lease = cell.nodes[id].view?.lease.leases[name];
    if (lease?.heldHere && cell.nodes[id].state !== "PAUSED") {
      return {id, left: Math.max(0, seconds(lease.remaining) - cell.nodes[id].ageMillis / 1000), ...lease};
    }
  }
  return null;
}
// Who leads and is no member, as a member has heard.
function outsider(name) {
  return ids().map(id => cell.nodes[id].view?.lease.leases[name]?.leader).find(leader => leader && !ids().includes(leader));
}

// Showing it.

function show() {
  const names = leaseNames(), answering = ids().filter(id => cell.nodes[id].view && cell.nodes[id].state !== "PAUSED");
  const any = answering.map(id => cell.nodes[id].view.lease)[0];
  const answers = !any && ids().some(id => cell.nodes[id].unasked) ? "asking …" : answering.length + " of " + ids().length + " nodes answer";
  write($("status"), (any ? "cell “" + any.cell + "”, " : "") + answers + (any ? ", majority " + any.majority : "") + " · seen through " + cell.self);
  const all = [...tenures.values()], found = violations(all);
  $("verdict").className = found.length ? "verdict violated" : "verdict";
  attribute($("verdict"), "role", found.length ? "alert" : "status");
  write($("verdict"), found.length ? "VIOLATED: " + found[0] : all.length ? "Never two leaders at once in " + all.length + " tenures" : "");
  keyed($("nodes"), ids(), makeNode, updateNode);
  keyed($("leases"), names, makeLease, updateLease);
  showNetwork();
  showTimeline(names);
  showRound(names);
  const last = [...runs.values()].sort((a, b) => b.millis - a.millis).slice(0, 12);
  keyed($("runs"), last.map(r => [r.node, r.lease, r.token, r.startedAt].join("|")), key => runRow(runs.get(key)), () => {});
  for (const name of names) {
    const leader = holder(name)?.id || null;
    if (lastNews.has(name) && leader && lastNews.get(name) !== leader) news(leader + " leads " + name);
    if (leader || !lastNews.has(name)) lastNews.set(name, leader);
  }
}

const CUTS = {"Cut off": ["cut", "BOTH", "nothing gets in or out"], "Cut incoming": ["cut-in", "IN", "nothing gets in"],
  "Cut outgoing": ["cut-out", "OUT", "nothing gets out"]};

function button(text, label, action) {
  const made = el("button", "", text);
  made.type = "button";
  made.setAttribute("aria-label", label);
  made.onclick = action;
  return made;
}
function makeNode(id) {
  const card = el("article", "card node"), link = el("a", "", id);
  card.style.setProperty("--node", colour(id));
  card.setAttribute("aria-label", id);
  if (isWeb(cell.nodes[id].url)) link.href = originOf(cell.nodes[id].url) + "/";
  const bar = el("div", "drain quarantine", el("i"));
  bar.setAttribute("role", "meter");
  bar.setAttribute("aria-label", "quarantine left");
  card.append(el("div", "top", el("span", "name", link), el("span", "badge role"), el("span", "badge state")), bar, el("dl"));
  if (isDemo()) {
    const act = action => post("/sample/demo/nodes/" + encodeURIComponent(id) + "/" + action);
    // A button does what it says, whatever the cell has become since it was drawn.
    const says = (event, text) => event.currentTarget.textContent === text;
    const controls = el("div", "controls");
    controls.append(button("Pause", "Pause " + id, event => act(says(event, "Resume") ? "resume" : "pause")));
    controls.lastChild.dataset.does = "pause";
    for (const [text, [action, , title]] of Object.entries(CUTS)) {
      controls.append(button(text, text + ": " + title + " of " + id, event => act(event.currentTarget.getAttribute("aria-pressed") === "true" ? "join" : action)));
      controls.lastChild.title = title;
      controls.lastChild.dataset.does = action;
    }
    controls.append(button("Kill", "Kill " + id, event => act(says(event, "Restart") ? "restart" : "kill")));
    controls.lastChild.dataset.does = "kill";
    card.append(controls);
  }
  return card;
}
/** How the other nodes see this one, and this one the others. */
function links(id) {
  const seen = ids().filter(other => other !== id && cell.nodes[other].view && cell.nodes[other].state !== "PAUSED")
      .map(other => cell.nodes[other].view.lease.members?.[id]).filter(Boolean);
  const trips = Object.values(cell.nodes[id].view?.lease.members || {}).filter(m => m.reachable && m.roundTrip).map(m => seconds(m.roundTrip));
  return {total: seen.length, reached: seen.filter(m => m.reachable).length,
    problem: seen.map(m => m.problem).find(Boolean), trip: trips.length ? trips.reduce((a, b) => a + b) / trips.length : null};
}
function updateNode(card, id) {
  const node = cell.nodes[id], told = node.view?.lease, state = node.state;
  const led = told && state !== "PAUSED" ? Object.entries(told.leases).filter(([, l]) => l.heldHere).map(([n]) => n).sort() : [];
  const role = card.querySelector(".role"), badge = card.querySelector(".state");
  let text, cls;
  if (state && state !== "RUNNING") [text, cls] = [state, state === "DOWN" || state === "STOPPING" ? "bad" : "wait"];
  else if (!told) [text, cls] = node.unasked ? ["ASKING", "wait"] : ["NO ANSWER", "bad"];
  else [text, cls] = [told.acceptor.state, told.acceptor.state === "VOTING" ? "good" : told.acceptor.state === "QUARANTINED" ? "wait" : ""];
  attribute(badge, "class", "badge state " + cls);
  write(badge, text);
  role.hidden = !told || state === "PAUSED";
  attribute(role, "class", "badge role" + (led.length ? " leader" : ""));
  write(role, led.length ? "LEADER" : "FOLLOWER");
  attribute(card, "class", "card node" + (told && state !== "PAUSED" ? "" : " off"));
  const bar = card.querySelector(".drain"), left = told ? seconds(told.acceptor.quarantineRemaining) : 0;
  const quarantined = told && told.acceptor.state === "QUARANTINED" && left > 0;
  bar.hidden = !quarantined;
  if (quarantined) {
    const total = Math.max(left, ...Object.values(told.leases).map(l => seconds(l.leaseTime)));
    bar.firstChild.style.width = 100 * left / total + "%";
    attribute(bar, "aria-valuemax", total.toFixed(1));
    attribute(bar, "aria-valuenow", left.toFixed(1));
  }
  const link = links(id), rows = [];
  if (quarantined) rows.push(["Silent for", short(left)]);
  rows.push(["Leads", !told ? "—" : state === "PAUSED" ? "stands still" : led.join(", ") || "nothing"]);
  rows.push(["Leases in its acceptor", told ? told.acceptor.leases : "—"]);
  rows.push(["Reached by", link.total ? link.reached + " of " + link.total + " others" : "—", link.reached < link.total]);
  rows.push(["Round trip", link.trip === null || !told ? "—" : short(link.trip)]);
  if (node.cut && node.cut !== "NONE") rows.push(["Network", Object.values(CUTS).find(c => c[1] === node.cut)[2], true]);
  else if (link.problem && link.reached < link.total) rows.push(["Problem", link.problem, true]);
  const list = card.querySelector("dl");
  if (list.children.length !== 2 * rows.length) list.replaceChildren(...rows.flatMap(() => [el("dt"), el("dd")]));
  rows.forEach(([key, value, problem], i) => {
    write(list.children[2 * i], key);
    write(list.children[2 * i + 1], value);
    attribute(list.children[2 * i + 1], "class", problem ? "problem" : "");
  });
  for (const control of card.querySelectorAll("[data-does]")) {
    const does = control.dataset.does, up = state === "RUNNING" || state === "PAUSED";
    if (does === "kill") {
      write(control, state === "DOWN" ? "Restart" : "Kill");
      attribute(control, "aria-label", control.textContent + " " + id);
      control.disabled = !up && state !== "DOWN";
    } else if (does === "pause") {
      write(control, state === "PAUSED" ? "Resume" : "Pause");
      attribute(control, "aria-label", control.textContent + " " + id);
      attribute(control, "aria-pressed", state === "PAUSED");
      control.disabled = !up;
    } else {
      attribute(control, "aria-pressed", Object.values(CUTS).find(c => c[0] === does)[1] === node.cut);
      control.disabled = !up;
    }
  }
}
function makeLease(name) {
  const row = el("div", "lease"), bar = el("div", "drain", el("i"));
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", "lease " + name);
  bar.setAttribute("role", "meter");
  bar.setAttribute("aria-label", "time left of " + name);
  const resign = button("Resign", "Resign " + name, () => {
    const held = holder(name);
    if (held) post("/sample/leases/" + encodeURIComponent(name) + "/resign?node=" + encodeURIComponent(held.id));
  });
  row.append(el("b", "", name), el("span", "", el("span", "badge")), el("div", "bar", bar), el("span", "left"),
      el("span", "token", el("small", "", "token "), el("span")), el("span", "extensions", el("span"), el("small", "", " extensions")),
      el("span", "resign", resign));
  return row;
}
function updateLease(row, name) {
  const held = holder(name), other = held ? undefined : outsider(name);
  const badge = row.querySelector(".badge"), bar = row.querySelector(".drain");
  attribute(badge, "class", "badge " + (held ? "leader" : other ? "" : "wait"));
  write(badge, held ? held.id : other ?? "no leader");
  row.style.setProperty("--node", held ? colour(held.id) : "var(--line)");
  const total = held ? seconds(held.leaseTime) : 1, left = held ? held.left : 0;
  bar.firstChild.style.width = Math.min(100, 100 * left / total) + "%";
  attribute(bar, "aria-valuemax", total);
  attribute(bar, "aria-valuenow", left.toFixed(1));
  write(row.querySelector(".left"), held ? short(left) + " left" : "");
  write(row.querySelector(".token").lastChild, held ? held.fencingToken : "—");
  write(row.querySelector(".extensions").firstChild, held ? held.extensions : "0");
  row.querySelector("button").disabled = !held;
}
function showNetwork() {
  $("network").hidden = !isDemo();
  if (!isDemo()) return;
  keyed($("delays"), ["0", "40", "120"], millis => {
    const made = button(millis === "0" ? "no time" : millis + " ms", millis === "0" ? "no delay" : millis + " milliseconds each way",
        () => post("/sample/demo/network?delayMillis=" + millis));
    made.dataset.delay = millis;
    return made;
  }, (control, millis) => attribute(control, "aria-pressed", String(cell.delayMillis) === millis));
}

function showTimeline(names) {
  const width = Math.max(300, Math.round($("timeline").clientWidth)), narrow = width < 560;
  const label = narrow ? 0 : 90, rowHeight = narrow ? 58 : 44, height = names.length * rowHeight + 22;
  const end = now(), start = end - WINDOW_MILLIS, x = t => label + (width - label) * Math.max(0, Math.min(1, (t - start) / WINDOW_MILLIS));
  const picture = svg("svg", {viewBox: "0 0 " + width + " " + height, role: "img"});
  const words = [];
  for (let s = 0; s <= 60; s += narrow ? 20 : 10) {
    const t = end - s * 1000, anchor = s === 0 ? "end" : s === 60 ? "start" : "middle";
    picture.append(svg("line", {class: "grid", x1: x(t), x2: x(t), y1: 0, y2: height - 18}),
        svg("text", {class: "soft", x: x(t), y: height - 4, "text-anchor": anchor}, s === 0 ? "now" : "−" + s + " s"));
  }
  names.forEach((name, i) => {
    const top = i * rowHeight + (narrow ? 20 : 6);
    picture.append(svg("text", {x: 0, y: narrow ? top - 6 : top + 16, "font-weight": 600}, name));
    const seen = [...tenures.values()].filter(t => t.lease === name && t.untilMillis > start).sort((a, b) => a.fromMillis - b.fromMillis);
    for (const t of seen) {
      const from = x(t.fromMillis), to = Math.max(from + 2, x(t.untilMillis));
      const bar = svg("rect", {class: "tenure", x: from, y: top, width: to - from, height: 22, rx: 3, style: "fill:" + colour(t.id)});
      bar.append(svg("title", {}, t.id + " led " + name + ", token " + t.token + (t.end ? ", " + t.end.toLowerCase() : "")));
      picture.append(bar);
      if (to - from > 50) picture.append(svg("text", {class: "on", x: from + 6, y: top + 15.5}, t.id));
    }
    for (const r of runs.values()) {
      if (r.lease !== name || r.millis < start) continue;
      picture.append(svg("circle", {cx: x(r.millis), cy: top + 29, r: 2.6, style: "fill:" + (isProblem(r) ? "var(--bad)" : "var(--text)")},
          svg("title", {}, r.node + ": " + r.result)));
    }
    words.push(name + ": " + (seen.map(t => t.id).filter((id, k, list) => id !== list[k - 1]).join(", then ") || "nobody"));
  });
  picture.setAttribute("aria-label", words.join(". "));
  $("timeline").replaceChildren(picture);
  const legend = ids().join();
  if ($("legend").dataset.of !== legend) {
    $("legend").dataset.of = legend;
    $("legend").replaceChildren(...ids().map(id => {
      const entry = el("span", "", el("i"), id);
      entry.style.setProperty("--node", colour(id));
      return entry;
    }), el("span", "", el("i", "dot"), "a guarded job ran"));
  }
}

const REQUESTS = ["prepare", "propose", "release"];
const WORDS = {prepare: "asks {to} to promise", propose: "proposes itself to {to}", release: "tells {to} that it gave the lease up",
  promised: "promises", blocked: "promises, but reports a live lease", accepted: "accepts", rejected: "rejects", lost: "gets no answer from {to}"};

function showRound(names) {
  const rounds = Object.values(cell.nodes).flatMap(n => n.view?.rounds || []);
  $("round-section").hidden = !isDemo();
  const choice = $("round-lease");
  const options = ["", ...names];
  if ([...choice.options].map(o => o.value).join() !== options.join()) {
    const was = choice.value;
    choice.replaceChildren(...options.map(name => new Option(name || "any", name)));
    choice.value = was;
  }
  if (hold) return;
  const last = r => r.lines[r.lines.length - 1].millis;
  const settled = r => r.lines.some(l => !REQUESTS.includes(l.type)) || now() - r.lines[0].millis > 500;
  const round = rounds.filter(r => (!choice.value || r.lease === choice.value) && r.lines[0].type !== "release" && settled(r)).sort((a, b) => last(b) - last(a))[0];
  if (!round) return;
  const key = round.node + round.counter + "|" + round.lines.length + "|" + $("round").clientWidth;
  if (key === shownRound) return;
  shownRound = key;
  drawRound(round);
}
function drawRound(round) {
  // The proposer in the middle, so that no arrow passes through another node.
  const others = ids().filter(id => id !== round.node), half = Math.ceil(others.length / 2);
  const columns = [...others.slice(0, half), round.node, ...others.slice(half)];
  const width = Math.max(300, Math.min(740, $("round").clientWidth)), x = id => width * (columns.indexOf(id) + .5) / columns.length;
  const begun = round.lines[0].millis, arrows = [], sent = {};
  let y = 46;
  round.lines.forEach((line, i) => {
    if (REQUESTS.includes(line.type)) {
      const before = round.lines[i - 1];
      if (before && before.type !== line.type) y += 14;
      (sent[line.to] ??= {})[line.type] = y;
      const lost = round.lines.slice(i + 1).find(l => l.type === "lost" && l.to === line.to);
      arrows.push({...line, y1: y, y2: y + 30, lost: !!lost});
    } else if (line.type !== "lost") {
      const asked = sent[line.from] || {}, early = line.type === "promised" || line.type === "blocked" || asked.propose === undefined;
      const from = ((early ? asked.prepare : asked.propose) ?? y) + 30;
      y = Math.max(y + 18, from + 22);
      arrows.push({...line, y1: from, y2: y});
    }
  });
  const height = Math.max(...arrows.map(a => a.y2)) + 26;
  const picture = svg("svg", {viewBox: "0 0 " + width + " " + height, role: "img"});
  const types = ["prepare", "propose", "release", "promised", "blocked", "accepted", "rejected", "lost"];
  const fills = {prepare: "--node-0", propose: "--node-2", release: "--soft", promised: "--good", accepted: "--good", blocked: "--bad", rejected: "--bad", lost: "--soft"};
  picture.append(svg("defs", {}, ...types.map(type => svg("marker", {id: "head-" + type, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8,
    markerHeight: 8, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse"}, svg("path", {d: "M0,0 L8,4 L0,8 z", style: "fill:var(" + fills[type] + ")"})))));
  for (const id of columns) {
    picture.append(svg("line", {class: "grid", x1: x(id), x2: x(id), y1: 30, y2: height - 6}),
        svg("rect", {x: x(id) - 44, y: 4, width: 88, height: 25, rx: 5, style: "fill:" + colour(id)}),
        svg("text", {class: "on", x: x(id), y: 21, "text-anchor": "middle"}, id));
  }
  for (const a of arrows) {
    const type = a.lost ? "lost" : a.type, x1 = x(a.from), x2 = a.lost ? x(a.from) + .62 * (x(a.to) - x(a.from)) : x(a.to);
    const y2 = a.lost ? a.y1 + .62 * (a.y2 - a.y1) : a.y2;
    picture.append(svg("line", {class: "arrow " + type, x1, y1: a.y1, x2, y2, "marker-end": a.lost ? "" : "url(#head-" + type + ")"}));
    if (a.lost) picture.append(svg("text", {x: x2, y: y2 + 4, "text-anchor": "middle", "font-weight": 700, style: "fill:var(--bad)"}, "✕"));
    const at = REQUESTS.includes(a.type) ? .58 : .3;
    picture.append(svg("text", {class: "halo", x: x1 + at * (x(a.to) - x1), y: a.y1 + at * (a.y2 - a.y1) + 4, "text-anchor": "middle"}, a.type));
  }
  const outcome = round.lines.filter(l => l.type === "accepted").length + 1 > columns.length / 2 ? "accepted by a majority" : "no majority yet";
  const summary = round.node + ", lease “" + round.lease + "”, ballot " + round.counter + ": " + outcome + ", "
      + (round.lines[round.lines.length - 1].millis - begun).toFixed(1) + " ms";
  picture.setAttribute("aria-label", summary);
  write($("round-summary"), summary + ". Its own acceptor answers inside the process.");
  $("round").replaceChildren(picture);
  $("round-words").replaceChildren(...round.lines.map(l => el("li", "", l.from + " " + WORDS[l.type].replace("{to}", l.to)
      + " (" + (l.millis - begun).toFixed(1) + " ms)")));
}
$("round-hold").onclick = () => {
  hold = !hold;
  attribute($("round-hold"), "aria-pressed", hold);
};
$("round-lease").onchange = () => { shownRound = null; hold = false; attribute($("round-hold"), "aria-pressed", false); };

function isProblem(run) { return !run.heldThroughout || /^(REFUSED|failed)/.test(run.result); }
function runRow(run) {
  return el("tr", "", el("td", "", new Date(run.startedAt).toLocaleTimeString()), el("td", "", run.node), el("td", "", run.lease),
      el("td", "", run.token), el("td", isProblem(run) ? "problem" : "", run.result + (run.heldThroughout ? "" : " (lease ended meanwhile)")));
}
connect();
