/**
 * The name of the reviewer in this browser: a session that has one leaves it here, a session without one gets it. It
 * shows nothing.
 */

import { html } from "../shared/elements.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { keepReviewer, knownReviewer } from "../shared/reviewer_name.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { ReviewerEvents, ReviewerPayload } from "../shared/payloads.d.ts" */

class RememberedReviewer {
  /** @param {ParentNode & Node} parent @param {Send<ReviewerEvents>} send */
  constructor(parent, send) {
    this.send = send;
    this.root = html("div", { class: "layoutscope-reviewer", hidden: true });
    this.exchanged = false;
    parent.append(this.root);
  }

  /** @param {ReviewerPayload} data */
  update(data) {
    if (data.name) {
      keepReviewer(data.name);
      this.exchanged = true;
    } else if (!this.exchanged && knownReviewer()) {
      // Once: who takes the name away in this session is asked again.
      this.exchanged = true;
      this.send("name", knownReviewer());
    }
  }

  stop() {
    this.root.remove();
  }
}

export default streamlitComponent(mounting(RememberedReviewer));
