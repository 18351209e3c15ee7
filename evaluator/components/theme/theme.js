/**
 * Says when the reader chose the other theme in the menu: charts are drawn in the colours of one theme by the server,
 * which is not asked again on its own. It shows nothing.
 */

import { html } from "../shared/elements.js";
import { mounting, streamlitComponent } from "../shared/mount.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { ThemeEvents, ThemePayload } from "../shared/payloads.d.ts" */

class FollowedTheme {
  /** @param {ParentNode & Node} parent @param {Send<ThemeEvents>} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {boolean | null} */
    this.drawn = null;
    /** @type {boolean | null} what the server was told last: it is told once, whatever it draws */
    this.told = null;
    this.root = html("div", { class: "layoutscope-theme", hidden: true });
    parent.append(this.root);
    this.app = document.querySelector('[data-testid="stApp"]') ?? document.body;
    // The theme comes with other classes of the whole application.
    this.watcher = new MutationObserver(() => this.look());
    this.watcher.observe(this.app, { attributes: true, attributeFilter: ["class", "style"] });
  }

  /** @param {ThemePayload} data */
  update(data) {
    this.drawn = data.dark;
    this.look();
  }

  look() {
    const dark = getComputedStyle(this.app).colorScheme.includes("dark");
    if (this.drawn === null || dark === this.drawn) this.told = null;
    else if (this.told !== dark) {
      this.told = dark;
      this.send("changed", dark ? "dark" : "light");
    }
  }

  stop() {
    this.watcher.disconnect();
    this.root.remove();
  }
}

export default streamlitComponent(mounting(FollowedTheme));
