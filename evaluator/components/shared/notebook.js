/** From a widget of a notebook to the component in it, as `mount.js` does it for Streamlit. */

import { html } from "./elements.js";
import { IN_NOTEBOOK } from "./focus.js";

/** @import { Send } from "./mount.js" */

/**
 * What anywidget hands over.
 * @typedef {object} WidgetModel
 * @property {(name: string) => any} get
 * @property {(content: {name: unknown, value: unknown}) => void} send
 * @property {(event: string, act: () => void) => void} on
 * @property {(event: string, act: () => void) => void} off
 */

/** Of 765, the sum of red, green and blue: text that is lighter is that of a dark theme. */
const MIDDLE = 382;

/** @param {Element} node @returns {string} the colour scheme of what is around it, in any notebook */
function schemeAt(node) {
  const [red = 0, green = 0, blue = 0] = (getComputedStyle(node).color.match(/[\d.]+/g) ?? []).map(Number);
  return red + green + blue > MIDDLE ? "dark" : "light";
}

/**
 * @template P payload
 * @template E events by name
 * @param {(parent: ParentNode & Node, data: P, send: Send<E>) => () => void} show
 * @returns {{render: (view: {model: WidgetModel, el: HTMLElement}) => () => void}} what anywidget calls for each place of the widget
 */
export function notebookWidget(show) {
  return {
    render({ model, el }) {
      const host = html("div", { [IN_NOTEBOOK]: "" });
      const parent = host.attachShadow({ mode: "open" });
      parent.append(html("style", {}, model.get("styles")));
      el.append(host);
      const follow = () => host.style.setProperty("color-scheme", schemeAt(el));
      const themes = new MutationObserver(follow);
      for (const node of [document.documentElement, document.body]) themes.observe(node, { attributes: true });
      follow();
      let stop = () => {};
      const draw = () => {
        stop = show(parent, model.get("data"), (name, value) => model.send({ name, value }));
      };
      model.on("change:data", draw);
      draw();
      return () => {
        model.off("change:data", draw);
        themes.disconnect();
        host.remove();
        stop();
      };
    },
  };
}
