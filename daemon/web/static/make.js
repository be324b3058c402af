// Elements without markup in strings: what comes from the table is text, never code.

export function make(tag, { text, cls, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (cls) element.className = cls;
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children);
  return element;
}

/** Brings the children of `parent` to `items`: kept by key, made once, changed in place. */
export function keep(parent, items, key, create, change) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let element = known.get(name);
    known.delete(name);
    if (!element) {
      element = create(item);
      element.dataset.key = name;
    }
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
    change?.(element, item);
  }
  for (const left of known.values()) left.remove();
}
