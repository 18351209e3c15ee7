/** Which crops are asked for: those of cards near the screen, one question at a time. */

/** Crops of one question. */
const AT_ONCE = 24;

/** Milliseconds for more cards to come near. */
const ASK_AFTER = 60;

/** Pure: it asks nobody. @template T a crop, or what has one */
export class CropQueue {
  constructor() {
    this.set = "";
    /** @type {Map<string, T>} */
    this.crops = new Map();
    /** @type {Set<string>} */
    this.wanted = new Set();
    /** @type {Set<string>} asked for and not answered */
    this.asked = new Set();
    /** The reader is on the way to another view: a question would call the reader back. */
    this.left = false;
  }

  /** @param {string} set what the cards are of; another set forgets the crops */
  open(set) {
    if (set === this.set) return;
    this.set = set;
    this.left = false;
    this.crops.clear();
    this.wanted.clear();
    this.asked.clear();
  }

  /** @param {string} key of a card @param {boolean} near whether it is near the screen */
  see(key, near) {
    if (!near) this.wanted.delete(key);
    else if (!this.crops.has(key) && !this.asked.has(key)) this.wanted.add(key);
  }

  /** @returns {boolean} whether there is something to ask for, and nothing under way */
  isReady() {
    return !this.left && this.wanted.size > 0 && this.asked.size === 0;
  }

  /** @returns {string[]} keys for the next question, which is under way from now on */
  take() {
    this.asked = new Set([...this.wanted].slice(0, AT_ONCE));
    for (const key of this.asked) this.wanted.delete(key);
    return [...this.asked];
  }

  /** An answer; what did not come is not asked for again until its card comes back to the screen. @param {Record<string, T>} crops */
  answer(crops) {
    for (const [key, crop] of Object.entries(crops)) this.crops.set(key, crop);
    this.asked.clear();
  }
}

/** @template T @extends {CropQueue<T>} the crops of the elements that `near` observes, by their `data-key` */
export class NearCrops extends CropQueue {
  /** @param {(keys: string[]) => void} want asks for crops */
  constructor(want) {
    super();
    this.want = want;
    this.timer = 0;
    this.near = new IntersectionObserver((entries) => {
      for (const entry of entries) this.see(entry.target.getAttribute("data-key") ?? "", entry.isIntersecting);
      this.ask();
    }, { rootMargin: "300px" });
  }

  /** Other elements are observed from now on. */
  begin() {
    this.near.disconnect();
    this.wanted.clear();
  }

  /** One question for all that came near the screen, and only when the last one is answered. */
  ask() {
    window.clearTimeout(this.timer);
    if (this.isReady()) this.timer = window.setTimeout(() => this.want(this.take()), ASK_AFTER);
  }

  stop() {
    window.clearTimeout(this.timer);
    this.near.disconnect();
  }
}
