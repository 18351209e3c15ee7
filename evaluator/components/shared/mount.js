/**
 * From a parent element to the component in it: one for each parent, because Streamlit calls a component's default
 * export again with the same parent whenever the data change.
 *
 * What the export returns is called when the component is taken away, and also when the data change again before its
 * call has been awaited: the component stays then, with all that the reader has begun in it.
 */

/**
 * @template E events by name
 * @typedef {(...event: { [N in keyof E]: [name: N, value: E[N]] }[keyof E]) => void} Send
 */
/**
 * @template P payload
 * @template E events by name
 * @typedef {{send: Send<E>, update: (data: P) => void, stop: () => void}} Mounted
 */
/**
 * What Streamlit hands over. A state value stays until it changes, a trigger value is there for one run.
 * @template P payload
 * @typedef {object} StreamlitComponent
 * @property {ParentNode & Node} parentElement
 * @property {[P]} data
 * @property {(name: string, value: unknown) => void} setTriggerValue
 * @property {(name: string, value: unknown) => void} setStateValue
 */

/**
 * Shows data in a parent: the first call builds the component, later ones keep what the reader did; the result takes it
 * away again.
 * @template P payload
 * @template E events by name
 * @param {new (parent: ParentNode & Node, send: Send<E>) => Mounted<P, E>} View
 * @returns {(parent: ParentNode & Node, data: P, send: Send<E>) => () => void}
 */
export function mounting(View) {
  /** @type {WeakMap<object, Mounted<P, E>>} */
  const mounted = new WeakMap();
  return (parent, data, send) => {
    const component = mounted.get(parent) ?? new View(parent, send);
    mounted.set(parent, component);
    component.send = send;
    component.update(data);
    return () => {
      if (parent.isConnected) return;
      component.stop();
      mounted.delete(parent);
    };
  };
}

/**
 * What Streamlit calls on mount and on each change of the data.
 * @template P payload
 * @template E events by name
 * @param {(parent: ParentNode & Node, data: P, send: Send<E>) => () => void} show
 * @param {(keyof E)[]} lasting events that stay until they change
 * @returns {(component: StreamlitComponent<P>) => () => void}
 */
export function streamlitComponent(show, lasting = []) {
  return (component) => show(component.parentElement, component.data[0], (name, value) => {
    if (lasting.includes(name)) component.setStateValue(String(name), value);
    else component.setTriggerValue(String(name), value);
  });
}
