// What links and forms cannot do by themselves: search, keys, explanations on tap, sliders that send.
// Everything listens on the document, because the page is exchanged piece by piece.

const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function reveal() {
  for (const each of all(".scripted[hidden]")) each.hidden = false;
  for (const each of all("form[data-send-on-change] .plain")) each.hidden = true;
}

// --- search among the findings

function search() {
  const field = find("#search");
  if (!field) return;
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of all("[data-search]")) {
    row.hidden = !words.every((word) => row.dataset.search.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  for (const list of all(".features")) {
    const empty = all(":scope > li", list).every((row) => row.hidden);
    list.hidden = empty;
    list.previousElementSibling.hidden = empty;
  }
  find("#no-match").hidden = shown > 0;
}

// --- explanations: on hover by `title`, on tap and by keyboard here

let explained = null;

function explain(element) {
  const hint = find("#hint");
  if (!element || element === explained) {
    explained = null;
    hint.hidden = true;
    return;
  }
  explained = element;
  hint.textContent = element.dataset.why;
  hint.hidden = false;
  const box = element.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left), innerWidth - hint.offsetWidth - 8);
  const below = box.bottom + 6;
  const top = below + hint.offsetHeight > innerHeight ? box.top - hint.offsetHeight - 6 : below;
  hint.style.left = `${left}px`;
  hint.style.top = `${Math.max(4, top)}px`;
}

// --- keys: / searches, u and r undo and redo, arrows walk through the findings

function walk(event) {
  const here = document.activeElement?.closest?.(".features .chip");
  if (!here) return;
  const row = here.closest("[data-search]");
  const chips = all(".chip", row);
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const step = event.key === "ArrowRight" ? 1 : -1;
    chips[(chips.indexOf(here) + step + chips.length) % chips.length].focus();
  } else {
    const rows = all("[data-search]").filter((each) => !each.hidden && each.getClientRects().length);
    const next = rows[rows.indexOf(row) + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    const states = all(".chip", next);
    states[Math.min(chips.indexOf(here), states.length - 1)].focus();
  }
  event.preventDefault();
}

function press(event) {
  if (event.key === "Escape") {
    if (explained) return explain(null);
    const field = find("#search");
    if (field && document.activeElement === field) {
      field.value = "";
      search();
    }
    return;
  }
  const typing = event.target.matches?.("input:not([type=range]):not([type=checkbox]), textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing) {
    if (event.key === "ArrowDown" && event.target.id === "search") {
      find("[data-search]:not([hidden]) .chip")?.focus();
      event.preventDefault();
    }
    return;
  }
  if (event.key === "/") {
    find("#search")?.focus();
    event.preventDefault();
  } else if (event.key.startsWith("Arrow")) {
    walk(event);
  } else {
    const tool = all("[data-key]").find((each) => each.dataset.key === event.key);
    if (tool) tool.click();
  }
}

// --- sliders: the number follows the thumb, the form is sent when it rests

function follow(event) {
  const value = event.target.matches("input[type=range]") && find(".value", event.target.parentElement);
  if (value) value.textContent = `${Math.round(1000 * event.target.value) / 10}%`;
}

function send(event) {
  const form = event.target.closest("form[data-send-on-change]");
  if (form) form.requestSubmit();
}

async function copy(button) {
  const said = button.textContent;
  const text = button.dataset.copy ?? location.href;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy it from the address bar";
  }
  setTimeout(() => { button.textContent = said; }, 1600);
}

// --- long answers: after a second the panel says that it computes, and can be stopped

const clocks = new WeakMap();

function startClock(panel, ctx) {
  stopClock(panel);
  const started = performance.now();
  const note = Object.assign(document.createElement("p"), { className: "busy-note" });
  const said = document.createElement("span");
  const stop = Object.assign(document.createElement("button"), { className: "term", textContent: "Stop" });
  stop.addEventListener("click", () => panel.dispatchEvent(new Event("htmx:abort")));
  note.append(said, " ", stop);
  const tick = setInterval(() => {
    said.textContent = `Computing for ${Math.round((performance.now() - started) / 1000)} s.`;
    if (!note.isConnected) panel.before(note);
  }, 1000);
  clocks.set(panel, { tick, note, ctx });
}

function stopClock(panel) {
  const clock = clocks.get(panel);
  if (!clock) return;
  clearInterval(clock.tick);
  clock.note.remove();
  clocks.delete(panel);
}

// What a panel showed before belongs to another case: it goes when there is no new answer.
function giveUp(panel) {
  const again = Object.assign(document.createElement("button"), { className: "term", textContent: "Ask again" });
  again.addEventListener("click", () => panel.dispatchEvent(new Event("again")));
  const said = Object.assign(document.createElement("p"), { className: "refusal", textContent: "No answer. " });
  said.append(again);
  panel.replaceChildren(said);
}

document.addEventListener("input", (event) => (event.target.id === "search" ? search() : follow(event)));
document.addEventListener("change", send);
document.addEventListener("keydown", press);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy-link], [data-copy]");
  if (button) return copy(button);
  const why = event.target.closest("[data-why]");
  if (why && !event.target.closest("a")) {
    if (why.closest("summary")) event.preventDefault();
    explain(why);
  } else {
    explain(null);
  }
});
document.addEventListener("scroll", () => explained && explain(null), true);
// --- one case at a time: a panel is dimmed from the click on until its own new answer is in it

const isPanel = (element) => element.matches?.(".panel");

function dim(panel) {
  stopClock(panel);
  if (!panel.hasAttribute("aria-busy")) panel.dataset.answered = "";
  panel.setAttribute("aria-busy", "true");
  panel.dispatchEvent(new Event("htmx:abort"));
}

// A request failed: what is shown stays as it is, and the banner says why nothing new came.
function fail(event, text) {
  if (isPanel(event.target)) {
    if (clocks.get(event.target)?.ctx === event.detail.ctx) giveUp(event.target);
    return;
  }
  warn(text);
  for (const panel of all(".panel[aria-busy]")) {
    if ("answered" in panel.dataset) panel.removeAttribute("aria-busy");
    else panel.dispatchEvent(new Event("again"));
    delete panel.dataset.answered;
  }
}

function warn(text) {
  const banner = find("#banner");
  banner.textContent = text;
  banner.hidden = !text;
}

document.addEventListener("htmx:before:request", (event) => {
  if (!isPanel(event.target)) return all(".panel").forEach(dim);
  event.target.setAttribute("aria-busy", "true");
  delete event.target.dataset.answered;
  startClock(event.target, event.detail.ctx);
});
document.addEventListener("htmx:after:request", (event) => {
  const { status } = event.detail.ctx.response;
  if (status < 400) return;
  event.preventDefault(); // an error is never put in the place of a case
  const said = new DOMParser().parseFromString(event.detail.ctx.text, "text/html");
  const why = find("[role=alert]", said)?.textContent ?? `The program answered with error ${status}.`;
  fail(event, status === 403 ? `${why} ${find("#banner").dataset.locked}` : why);
});
document.addEventListener("htmx:error", (event) => {
  if (isPanel(event.target) || event.detail.error?.name !== "AbortError") fail(event, find("#banner").dataset.gone);
});
document.addEventListener("htmx:finally:request", (event) => {
  if (clocks.get(event.target)?.ctx !== event.detail.ctx) return; // given up for a later question
  stopClock(event.target);
  event.target.removeAttribute?.("aria-busy");
});
document.addEventListener("htmx:after:swap", (event) => {
  warn("");
  reveal();
  search();
  const said = find("[data-say]", event.target);
  if (said) find("#announce").textContent = `${find("#decided")?.textContent ?? ""}. ${said.textContent}`;
});
reveal();
