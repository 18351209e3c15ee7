/* Opens a page of the pack in the viewer; everything else of the pack works without script. */
(() => {
  const dialog = document.getElementById("viewer");
  // A root of its own, so that the styles of the pack and of the viewer never meet.
  const host = document.getElementById("viewer-host").attachShadow({ mode: "open" });
  host.append(document.getElementById("viewer-style").content.cloneNode(true));
  const sources = [...document.querySelectorAll("script[data-page]")];
  let place = 0;
  let letter = "";
  let selected = null;

  // Parsed once each: a pack may hold hundreds of pages, and the strip looks at all of them on every turn.
  const parsed = [];
  function read(position) {
    parsed[position] ??= JSON.parse(sources[position].textContent);
    return parsed[position];
  }

  function blocksOf(boxes) {
    return boxes.filter((box) => box.side === "ground_truth").slice(0, 12).map((box) => [...box.xyxy, box.label]);
  }

  function strip() {
    return sources.map((_, position) => {
      const { page, models } = read(position);
      const shown = models.find((each) => each.model.letter === letter) ?? models[models.length - 1];
      return { document: page.document, index: page.index, mistakes: shown.data.mistakes.length, blocks: blocksOf(shown.data.boxes), current: position === place };
    });
  }

  function show(position) {
    place = Math.max(0, Math.min(sources.length - 1, position));
    const { page, models } = read(place);
    const shown = models.find((each) => each.model.letter === letter) ?? models[models.length - 1];
    letter = shown.model.letter;
    const picture = sources[place].parentElement.querySelector("img");
    const data = {
      ...shown.data,
      page: { ...page, ...shown.text, count: null, image: picture ? picture.src : null, notes: [] },
      strip: strip(),
      model: shown.model,
      models: models.map((each) => each.model),
      selected,
      empty: null,
      height: dialog.clientHeight - 74,
      walk: { before: place > 0, after: place < sources.length - 1, total: 0 },
    };
    LayoutScopeViewer.mount(host, data, answer);
  }

  function answer(name, value) {
    if (name === "go" && value) {
      const at = sources.findIndex((_, position) => {
        const { page } = read(position);
        return page.document === value.document && page.index === value.index;
      });
      selected = null;
      show((at < 0 ? place : at) + (value.step || value.mistake || 0));
    } else if (name === "model" && value) {
      letter = value;
      show(place);
    } else if (name === "selected") {
      selected = value ? value.key : null;
    }
  }

  for (const button of document.querySelectorAll("[data-open]")) {
    button.addEventListener("click", () => {
      selected = null;
      dialog.showModal();
      show(Number(button.dataset.open));
      // The keys of the viewer work from the first moment.
      host.querySelector("[tabindex='0']")?.focus();
    });
  }
})();
