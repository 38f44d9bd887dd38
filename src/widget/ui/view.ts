import { effect } from '@preact/signals-core';
import { Component, createContext, type ComponentChild } from 'preact';
import type { Ui } from './ui.ts';

const UiContext = createContext<Ui | undefined>(undefined);
export const UiProvider = UiContext.Provider;

interface Effect {
  readonly deps: readonly unknown[];
  readonly run: () => (() => void) | undefined;
  stop?: (() => void) | undefined;
}

/** What is drawn right now, and how many of its slots it has asked for. */
let current: View | undefined;
let asked = 0;

abstract class View<Props extends object = object> extends Component<Props> {
  static override contextType = UiContext;
  /** What the functions below keep, in the order in which they are called. */
  readonly slots: unknown[] = [];
  readonly effects = new Map<number, Effect>();
  due: Effect[] = [];
  #stopReading = (): void => undefined;

  abstract draw(props: Props): ComponentChild;

  override render(): ComponentChild {
    this.#stopReading();
    let drawn: ComponentChild;
    let isFirst = true;
    this.#stopReading = effect(() => {
      if (isFirst) drawn = this.#drawn();
      // This run reads nothing, which ends the effect; drawing again begins a new one.
      else this.setState({});
      isFirst = false;
    });
    return drawn;
  }

  #drawn(): ComponentChild {
    const [outer, outerAsked] = [current, asked];
    [current, asked] = [this, 0];
    try {
      return this.draw(this.props);
    } finally {
      [current, asked] = [outer, outerAsked];
    }
  }

  override componentDidMount(): void {
    for (const each of this.due.splice(0)) {
      each.stop?.();
      each.stop = each.run();
    }
  }

  override componentDidUpdate(): void {
    this.componentDidMount();
  }

  override componentWillUnmount(): void {
    this.#stopReading();
    for (const each of this.effects.values()) each.stop?.();
  }
}

/**
 * A component that is drawn again when a signal changes that it has read. With the functions below
 * it is as much of `@preact/signals` and `preact/hooks` as the panel needs, at a tenth of the size;
 * they are called in the same order each time it is drawn.
 */
export const view = <Props extends object>(draw: (props: Props) => ComponentChild) =>
  class extends View<Props> {
    draw(props: Props): ComponentChild {
      return draw(props);
    }
  };

function drawing(): View {
  if (!current) throw new Error('not within a view');
  return current;
}

/** What every part of the panel has at hand. */
export function useUi(): Ui {
  const ui = drawing().context as Ui | undefined;
  if (!ui) throw new Error('drawn outside of the panel');
  return ui;
}

/** The same object each time. */
export function useRef<T>(initial: T): { current: T } {
  const { slots } = drawing();
  // The slot of a place in a view always holds what was put there first.
  return (slots[asked++] ??= { current: initial }) as { current: T };
}

/** For `ref`: the element, while it is on the page. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as `useRef` has
export const useElement = <T extends Element>(): { current: T | null } => useRef<T | null>(null);

/** A value whose change draws the view again. */
export function useState<T>(initial: T): [T, (value: T) => void] {
  const view = drawing();
  const slot = useRef(initial);
  const set = (value: T): void => {
    if (slot.current === value) return;
    slot.current = value;
    view.setState({});
  };
  return [slot.current, set];
}

/** A value that is made again only when something changes that it is made from. */
export function useMemo<T>(make: () => T, deps: readonly unknown[]): T {
  const slot = useRef<{ deps: readonly unknown[]; value: T } | undefined>(undefined);
  if (!slot.current || differ(slot.current.deps, deps)) slot.current = { deps, value: make() };
  return slot.current.value;
}

/** What is done once it is on the page, and again when `deps` change; it returns how to undo it. */
export function useEffect(run: Effect['run'], deps: readonly unknown[]): void {
  const { effects, due } = drawing();
  const place = asked++;
  const before = effects.get(place);
  if (before && !differ(before.deps, deps)) return;
  const next: Effect = { deps, run, stop: before?.stop };
  effects.set(place, next);
  due.push(next);
}

const differ = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.some((value, i) => value !== b[i]);
