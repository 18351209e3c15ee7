/**
 * Elements of the document: what builds HTML and SVG nodes, icons, buttons, and the width of a text.
 *
 * Text from data reaches the document through `textContent` and `setAttribute` only, never as markup.
 */

import { lineParts, percentOf } from "./words.js";

/** @import { Rect } from "./payloads.d.ts" */

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** A picture inside the data, or one by its own path on this server (`pages/app/routes.py`). */
const PICTURE = /^(data:image\/(webp|png|jpeg);base64,[A-Za-z0-9+/=]+|(\/[\w.~-]+)*\/layoutscope\/[0-9a-f]{32}\.picture)$/;

/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

/** @param {string} source @returns {boolean} whether it is the address of a picture that may be shown: none of another host */
export function isPicture(source) {
  return PICTURE.test(source);
}

/** @param {Element} node @param {Attributes} attributes null, undefined and false take an attribute away */
export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * An HTML element; a string child becomes text.
 * @param {string} tag @param {Attributes} [attributes] @param {...(Node | string | null)} children
 * @returns {HTMLElement}
 */
export function html(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** @param {Attributes} [attributes] @returns {HTMLImageElement} the picture of a page */
export function pageImage(attributes = {}) {
  return /** @type {HTMLImageElement} */ (html("img", { class: "page-image", alt: "", draggable: "false", ...attributes }));
}

/** @param {string} letter @returns {HTMLElement} the letter of a model in its colour */
export function letterBadge(letter) {
  return html("i", { class: `letter letter-${letter.toLowerCase()}` }, letter);
}

/** @param {string} name @returns {(Node | string)[]} the name, with the places where a line may end */
export function breakable(name) {
  return lineParts(name).flatMap((part, place) => place ? [document.createElement("wbr"), part] : [part]);
}

/** @param {string} tag @param {Attributes} [attributes] @param {...Node} children @returns {SVGElement} */
export function svg(tag, attributes = {}, ...children) {
  const node = /** @type {SVGElement} */ (document.createElementNS(SVG_NAMESPACE, tag));
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

/** Where an SVG rectangle lies. @param {Rect} r shares of the page @returns {Record<string, string>} */
export function placeOf(r) {
  return { x: percentOf(r[0]), y: percentOf(r[1]), width: percentOf(Math.max(0, r[2] - r[0])), height: percentOf(Math.max(0, r[3] - r[1])) };
}

/**
 * An outline over the whole page; its lines keep their thickness at every zoom.
 * @param {string} path in ten-thousandths of the page @param {string} className @param {Rect} [part] of the page that is shown
 * @returns {SVGElement}
 */
export function outlineOf(path, className, part = [0, 0, 1, 1]) {
  const [x1, y1, x2, y2] = part.map((share) => share * 1e4);
  return svg("svg", { width: "100%", height: "100%", viewBox: `${x1} ${y1} ${x2 - x1} ${y2 - y1}`, preserveAspectRatio: "none", class: "shape" },
    svg("path", { d: path, class: className, "fill-rule": "evenodd", "vector-effect": "non-scaling-stroke" }));
}

const ICON_PATHS = {
  left: "M10 3.5 5.5 8l4.5 4.5",
  right: "M6 3.5 10.5 8 6 12.5",
  up: "M3.5 10 8 5.5l4.5 4.5",
  down: "M3.5 6 8 10.5 12.5 6",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M4 8.3 6.8 11 12 5.2",
  print: "M5 6V3h6v3M5 11H3.5V6h9v5H11M5 9.5h6V13H5z",
};

/** @param {keyof typeof ICON_PATHS} name @returns {SVGElement} */
export function icon(name) {
  return svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, svg("path", { d: ICON_PATHS[name] }));
}

/**
 * A button that a screen reader names by the words on it; what more there is to say is its description.
 * @param {string} name of a button without words, else what they leave out @param {Attributes} attributes
 * @param {(event: MouseEvent) => void} action @param {...(Node | string | null)} children @returns {HTMLButtonElement}
 */
export function button(name, attributes, action, ...children) {
  const node = /** @type {HTMLButtonElement} */ (html("button", { type: "button", ...attributes }, ...children));
  const words = node.textContent?.trim();
  if (name && name !== words && !(words && attributes.title)) node.setAttribute(words ? "aria-description" : "aria-label", name);
  node.addEventListener("click", action);
  return node;
}

/** @param {string} name what a screen reader says @param {...Node} parts @returns {HTMLElement} buttons and texts in one frame */
export function joined(name, ...parts) {
  return html("div", { class: "joined", role: "group", "aria-label": name }, ...parts);
}

/** What each part of a view shows. @type {WeakMap<object, string>} */
const drawnFacts = new WeakMap();

/**
 * Draws a part of a view unless it shows the same already: a press that began on a button which another one has replaced
 * meanwhile is no click.
 * @param {object} part @param {unknown} facts everything that decides what it shows, as JSON holds it @param {() => void} draw
 * @returns {boolean} whether it was drawn
 */
export function drawWhenOther(part, facts, draw) {
  const text = JSON.stringify(facts);
  if (drawnFacts.get(part) === text) return false;
  drawnFacts.set(part, text);
  draw();
  return true;
}

/** What is wider than any place on screen needs no exact width: so many characters are measured. */
const MEASURED = 300;
/** @type {CanvasRenderingContext2D | null} */
let ruler = null;
/** @type {Map<string, number>} */
const widths = new Map();

/**
 * Width of a text on screen without asking for a layout.
 * @param {string} text @param {string} font as in CSS @returns {number} CSS pixels
 */
export function textWidth(text, font) {
  if (text.length > MEASURED) return textWidth(text.slice(0, MEASURED), font) * (text.length / MEASURED);
  const known = widths.get(font + text);
  if (known !== undefined) return known;
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return text.length * 7;
  ruler.font = font;
  const width = ruler.measureText(text).width;
  if (widths.size > 5000) widths.clear();
  widths.set(font + text, width);
  return width;
}

/**
 * The link of the navigation to another view of the dashboard: followed by it, the session stays.
 * @param {string} view as in its address @returns {HTMLElement | null} null outside of the dashboard
 */
export function viewLink(view) {
  return document.querySelector(`[data-testid="stTopNavLink"][href$="/${view}"]`);
}
