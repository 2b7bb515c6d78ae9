// SPDX-License-Identifier: MIT
// The page: strokes, buttons, and what the machine says.
import { Machine, draw, paint, side, testDigits } from "./machine.js";

const at = (id) => document.getElementById(id);
const canvas = at("canvas");
const context = canvas.getContext("2d", { willReadFrequently: true });
const dark = matchMedia("(prefers-color-scheme: dark)");
const ink = () => (dark.matches ? [240, 240, 240] : [20, 20, 20]);
const percent = (value) => `${Number(value.toPrecision(3))}\u00a0%`;

let machine;
let tests;
let last = null; // the machine's last answer
let comment = "";

// --- What is said ---

function risk() { return machine.facts.thresholds[Number(at("risk").value)]; }

function showRisk() {
  const now = risk();
  at("risk-value").textContent = percent(now.risk_percent);
  at("risk-note").textContent =
    `Of MNIST's 10 000 test digits, this accepts ${now.coverage_percent.toFixed(1)}\u00a0%, ` +
    `of which ${now.error_percent.toFixed(2)}\u00a0% are wrong.`;
}

function showVoices(id, list) {
  const place = at(id);
  place.replaceChildren();
  for (const { support, part } of list) {
    const { image, label } = machine.picture(support);
    const figure = document.createElement("figure");
    const picture = document.createElement("canvas");
    paint(picture, image, ink());
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", `a training digit, ${label}`);
    const caption = document.createElement("figcaption");
    caption.textContent = `${label}: ${part > 0 ? "+" : "−"}${Math.abs(part).toFixed(3)}`;
    figure.append(picture, caption);
    place.append(figure);
  }
}

function show() {
  const empty = last === null;
  document.body.classList.toggle("empty", empty);
  const bars = at("bars").children;
  for (let c = 0; c < 10; ++c) {
    const p = empty ? 0 : last.probabilities[c];
    bars[c].querySelector(".bar").style.width = `${100 * p}%`;
    bars[c].querySelector("output").textContent = empty ? "" : `${(100 * p).toFixed(p < 0.1 ? 1 : 0)} %`;
    bars[c].classList.toggle("best", !empty && c === last.label);
  }
  if (empty) {
    at("verdict").textContent = "Draw a digit";
    at("why").textContent = "";
    at("seen").getContext("2d").clearRect(0, 0, 28, 28);
    return;
  }
  const accepted = last.score > risk().threshold;
  at("verdict").textContent = accepted ? `It is a ${last.label}` : "I would rather not say";
  at("why").textContent = `${comment}The gap between the outputs of ${last.label} and ${last.second} is ` +
    `${last.score.toFixed(3)}; at this risk, ` +
    (risk().threshold > -2 ? `gaps above ${risk().threshold.toFixed(3)} are answered.` : "everything is answered.");
  paint(at("seen"), last.image, ink());
  for (const name of document.querySelectorAll(".first")) name.textContent = last.label;
  for (const name of document.querySelectorAll(".second")) name.textContent = last.second;
  showVoices("for", last.for);
  showVoices("against", last.against);
}

async function ask() {
  try {
    const start = performance.now();
    last = await machine.classify(canvas);
    at("time").textContent = last === null ? "" : `Answered in ${(performance.now() - start).toFixed(1)} ms.`;
    show();
  } catch (error) {
    at("verdict").textContent = "Something is wrong";
    at("why").textContent = error.message;
  }
}

// --- What is drawn ---

let point; // where the pen is, while it is down,
let pen = null; // and which it is: the first finger, or the mouse with its first button
const place = (event) => {
  const box = canvas.getBoundingClientRect(); // with the border
  return [(event.clientX - box.left - canvas.clientLeft) * side / canvas.clientWidth,
    (event.clientY - box.top - canvas.clientTop) * side / canvas.clientHeight];
};
function line(from, to) {
  context.strokeStyle = `rgb(${ink().join(" ")})`;
  context.lineWidth = 22;
  context.lineCap = context.lineJoin = "round";
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}
function dot(at) { // A line of no length draws nothing.
  context.fillStyle = `rgb(${ink().join(" ")})`;
  context.beginPath();
  context.arc(...at, 11, 0, 2 * Math.PI);
  context.fill();
}
let waiting = false;
function askSoon() {
  if (waiting || !machine) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; ask(); });
}
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || !event.isPrimary) return;
  canvas.setPointerCapture(event.pointerId);
  pen = event.pointerId;
  if (comment) clear();
  point = place(event);
  dot(point);
  askSoon();
});
canvas.addEventListener("pointermove", (event) => {
  if (event.pointerId !== pen) return;
  if (!(event.buttons & 1)) pen = null; // It was lifted unseen.
  if (pen === null) return;
  const parts = event.getCoalescedEvents?.() ?? [];
  for (const part of parts.length > 0 ? parts : [event]) {
    const to = place(part);
    line(point, to);
    point = to;
  }
  askSoon();
});
for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
  canvas.addEventListener(end, (event) => { if (event.pointerId === pen) pen = null; });
}

function clear() {
  context.clearRect(0, 0, side, side);
  comment = "";
}
at("clear").addEventListener("click", () => { clear(); ask(); });
at("example").addEventListener("click", async () => {
  try {
    tests ??= await testDigits(".");
  } catch (error) {
    at("why").textContent = error.message;
    return;
  }
  const i = Math.floor(Math.random() * tests.count);
  draw(context, tests.image(i), ink());
  comment = `Test digit ${i + 1}, a ${tests.label(i)}. `;
  ask();
});
at("risk").addEventListener("input", () => { showRisk(); show(); });
dark.addEventListener("change", () => { clear(); ask(); });

// --- Start ---

for (let c = 0; c < 10; ++c) {
  const row = document.createElement("li");
  row.innerHTML = `<b>${c}</b><span class="track"><span class="bar"></span></span><output></output>`;
  at("bars").append(row);
}
try {
  machine = await Machine.load(".");
  const { facts } = machine;
  const number = (value) => value.toLocaleString("en").replaceAll(",", " ");
  at("risk").max = facts.thresholds.length - 1;
  at("risk").value = Math.max(0, facts.thresholds.length - 2);
  at("risk").disabled = at("clear").disabled = at("example").disabled = false;
  for (const [name, value] of Object.entries({
    train: number(facts.train_size), draws: facts.draws, support: number(facts.support),
    calibration: number(facts.risk_size), slope: number(facts.slope_size),
    confidence: `${100 * (1 - facts.delta)} %`, error: percent(facts.test_error_percent) })) {
    for (const place of document.querySelectorAll(`[data-fact=${name}]`)) place.textContent = value;
  }
  showRisk();
  await ask();
} catch (error) {
  at("verdict").textContent = "The machine could not be loaded";
  at("why").textContent = error.message;
}
