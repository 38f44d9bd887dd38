/**
 * As much of Preact as the panel needs, in its place within the bundle: class components, keyed
 * children, fragments, refs and one level of context, without hydration, portals, suspense,
 * `dangerouslySetInnerHTML` and the rest. The panel is written and checked against Preact itself.
 */

type Child = VNode | string | number | bigint | boolean | null | undefined | readonly Child[];
type Props = Readonly<Record<string, unknown>>;
type Contexts = ReadonlyMap<object, unknown>;

interface ComponentType {
  new (props: Props): Component;
  readonly contextType?: object;
}
type Draw = (props: Props) => Child;

interface VNode {
  /** `TEXT`, `Fragment`, the name of an element, or a component. */
  readonly type: unknown;
  readonly props: Props;
  readonly key: unknown;
  /** What it is on the page. */
  dom?: Node;
  kids?: VNode[];
  instance?: Component;
}

const TEXT = 0;
const SVG = 'http://www.w3.org/2000/svg';

export const Fragment = (props: Props): Child => props['children'] as Child;

export const jsx = (type: unknown, props: Props, key?: unknown): VNode => ({ type, props, key });
export const jsxs: typeof jsx = (type, props, key) => jsx(type, props, key);

export const createElement = (type: unknown, props: Props | null, ...children: Child[]): VNode =>
  jsx(type, { ...props, children }, props?.['key']);

export function createContext(): object {
  const context = {
    Provider: Object.assign(Fragment.bind(undefined), { of: {} }),
  };
  context.Provider.of = context;
  return context;
}

export class Component {
  props: Props;
  context: unknown;
  /** Set by the renderer. */
  place?: { vnode: VNode; contexts: Contexts; isSvg: boolean };

  constructor(props: Props) {
    this.props = props;
  }

  setState(): void {
    dirty.add(this);
    if (dirty.size === 1) queueMicrotask(drawDirty);
  }

  componentDidMount?(): void;
  componentDidUpdate?(): void;
  componentWillUnmount?(): void;
  render?(): Child;
}

const dirty = new Set<Component>();
/** Told once everything is on the page. */
const settled: (() => void)[] = [];

function drawDirty(): void {
  // In the order in which they asked: one that another one has drawn meanwhile is not in the set.
  for (const component of dirty) {
    dirty.delete(component);
    const { place } = component;
    if (place) redraw(component, place.vnode);
  }
  settle();
}

function settle(): void {
  for (const tell of settled.splice(0)) tell();
}

export function render(child: Child, parent: Element): void {
  mount(vnodeOf(child), parent, null, new Map(), false);
  settle();
}

/** Nothing is an empty text: so everything has a place on the page. */
function vnodeOf(child: Child): VNode {
  if (child === null || child === undefined || typeof child === 'boolean') return text('');
  if (typeof child !== 'object') return text(String(child));
  return Array.isArray(child) ? jsx(Fragment, { children: child }) : (child as VNode);
}

const text = (content: string): VNode => jsx(TEXT, { content });

function kidsOf(children: unknown): VNode[] {
  const list = (Array.isArray(children) ? children : [children]) as Child[];
  return list.length > 0 ? list.map(vnodeOf) : [text('')];
}

const firstDom = (vnode: VNode): Node => vnode.dom ?? firstDom(vnode.kids?.[0] ?? vnode);
const lastDom = (vnode: VNode): Node => vnode.dom ?? lastDom(vnode.kids?.at(-1) ?? vnode);

function mount(
  vnode: VNode,
  parent: Node,
  before: Node | null,
  contexts: Contexts,
  isSvg: boolean,
): void {
  const { type, props } = vnode;
  if (type === TEXT) {
    vnode.dom = document.createTextNode(props['content'] as string);
    parent.insertBefore(vnode.dom, before);
  } else if (typeof type === 'string') {
    const isDrawing = isSvg || type === 'svg';
    const element = isDrawing ? document.createElementNS(SVG, type) : document.createElement(type);
    vnode.dom = element;
    vnode.kids = kidsOf(props['children'] ?? []);
    for (const kid of vnode.kids) mount(kid, element, null, contexts, isDrawing);
    setProps(element, {}, props, isDrawing);
    parent.insertBefore(element, before);
  } else {
    vnode.kids = draw(vnode, contexts, isSvg);
    const inner = contextsIn(vnode, contexts);
    for (const kid of vnode.kids) mount(kid, parent, before, inner, isSvg);
    const { instance } = vnode;
    if (instance) settled.push(() => instance.componentDidMount?.());
  }
}

function contextsIn({ type, props }: VNode, contexts: Contexts): Contexts {
  const { of } = type as { of?: object };
  return of ? new Map([...contexts, [of, props['value']]]) : contexts;
}

/** What a component, or a function of props, is made of now. */
function draw(vnode: VNode, contexts: Contexts, isSvg: boolean): VNode[] {
  const { type, props } = vnode;
  if (!isComponent(type)) return kidsOf((type as Draw)(props));
  const component = (vnode.instance ??= new type(props));
  component.props = props;
  component.context = type.contextType && contexts.get(type.contextType);
  component.place = { vnode, contexts, isSvg };
  dirty.delete(component);
  return kidsOf(component.render?.());
}

const isComponent = (type: unknown): type is ComponentType =>
  (type as { prototype?: unknown }).prototype instanceof Component;

function redraw(component: Component, vnode: VNode): void {
  const { contexts, isSvg } = component.place ?? { contexts: new Map(), isSvg: false };
  const last = lastDom(vnode);
  const parent = last.parentNode;
  if (!parent) return;
  vnode.kids = patchKids(
    vnode.kids ?? [],
    draw(vnode, contexts, isSvg),
    parent,
    last.nextSibling,
    contexts,
    isSvg,
  );
  settled.push(() => component.componentDidUpdate?.());
}

/** Makes `next` out of what `old` is on the page; the two are of one type. */
function patch(old: VNode, next: VNode, parent: Node, contexts: Contexts, isSvg: boolean): void {
  if (old === next) return;
  const { type, props } = next;
  if (type === TEXT) {
    next.dom = old.dom as Text;
    if (old.props['content'] !== props['content'])
      (next.dom as Text).data = props['content'] as string;
  } else if (typeof type === 'string') {
    const element = (next.dom = old.dom as Element);
    const isDrawing = isSvg || type === 'svg';
    const kids = kidsOf(props['children'] ?? []);
    next.kids = patchKids(old.kids ?? [], kids, element, null, contexts, isDrawing);
    setProps(element, old.props, props, isDrawing);
  } else {
    const after = lastDom(old).nextSibling;
    if (old.instance) next.instance = old.instance;
    const inner = contextsIn(next, contexts);
    next.kids = patchKids(old.kids ?? [], draw(next, contexts, isSvg), parent, after, inner, isSvg);
    const { instance } = next;
    if (instance) settled.push(() => instance.componentDidUpdate?.());
  }
}

/** By key, or by place where there is none; what is already in order is not moved. */
function patchKids(
  old: readonly VNode[],
  next: VNode[],
  parent: Node,
  end: Node | null,
  contexts: Contexts,
  isSvg: boolean,
): VNode[] {
  const keyed = new Map(old.filter(({ key }) => key !== undefined).map((kid) => [kid.key, kid]));
  const matches = next.map(({ type, key }, i) => {
    const match = key === undefined ? old[i] : keyed.get(key);
    return match && match.type === type && match.key === key ? match : undefined;
  });
  const kept = new Set(matches);
  for (const kid of old) if (!kept.has(kid)) unmount(kid, true);
  let before = end;
  for (let i = next.length - 1; i >= 0; i -= 1) {
    const kid = next[i] ?? text('');
    const match = matches[i];
    if (match) {
      patch(match, kid, parent, contexts, isSvg);
      if (lastDom(kid).nextSibling !== before) move(kid, parent, before);
    } else mount(kid, parent, before, contexts, isSvg);
    before = firstDom(kid);
  }
  return next;
}

function move({ dom, kids = [] }: VNode, parent: Node, before: Node | null): void {
  if (dom) parent.insertBefore(dom, before);
  else for (const kid of kids) move(kid, parent, before);
}

function unmount({ dom, kids = [], instance, props }: VNode, isTop: boolean): void {
  const ref = props['ref'] as Ref | undefined;
  if (ref) ref.current = null;
  instance?.componentWillUnmount?.();
  if (instance) {
    delete instance.place;
    dirty.delete(instance);
  }
  for (const kid of kids) unmount(kid, isTop && !dom);
  // What is in an element goes with it.
  if (isTop && dom) (dom as ChildNode).remove();
}

interface Ref {
  current: Element | null;
}

function setProps(element: Element, old: Props, next: Props, isDrawing: boolean): void {
  for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
    const value = next[name];
    if (name === 'children' || name === 'key') continue;
    if (name === 'ref') (value as Ref).current = element;
    // What was typed is not what was drawn last: the field itself is asked.
    else if (name === 'value') setValue(element as HTMLInputElement, value as string);
    else if (value !== old[name]) setProp(element, name, old[name], value, isDrawing);
  }
}

function setValue(field: HTMLInputElement, value: string): void {
  if (field.value !== value) field.value = value;
}

function setProp(
  element: Element,
  name: string,
  old: unknown,
  value: unknown,
  isDrawing: boolean,
): void {
  if (name.startsWith('on')) {
    const type = name.slice(2).toLowerCase();
    if (old) element.removeEventListener(type, old as EventListener);
    if (value) element.addEventListener(type, value as EventListener);
  } else if (name === 'style') {
    Object.assign((element as HTMLElement).style, value);
  } else {
    const attribute = isDrawing ? name : name.toLowerCase();
    const isWord = /^(aria|data)-/.test(name);
    if (value === undefined || value === null || (value === false && !isWord))
      element.removeAttribute(attribute);
    else
      element.setAttribute(
        attribute,
        value === true && !isWord ? '' : `${value as string | number | boolean}`,
      );
  }
}
