import { effect } from '@preact/signals-core';
import type { MainOptions } from '../main-part.ts';
import { isPhone } from '../phone.ts';
import type { Ui } from './ui.ts';

/** HTML, "Close requests and close watchers": Android's Back among them. Not in every browser. */
interface Watchers {
  readonly CloseWatcher?: new () => { onclose: () => void; destroy(): void };
}

/**
 * On a phone, where the panel is all that is seen, Back closes it. The page's history stays as it is,
 * unless the page asks for an entry (`data-back="history"`), for browsers without `CloseWatcher`.
 */
export function closeOnBack({ isOpen, close }: Ui, { tag }: MainOptions): void {
  effect(() => {
    if (!isOpen.value || !isPhone()) return undefined;
    if (tag['back'] === 'history') return closeOnEntry(close);
    const { CloseWatcher } = window as Watchers;
    const watcher = CloseWatcher && new CloseWatcher();
    if (watcher) watcher.onclose = close;
    return () => watcher?.destroy();
  });
}

const isOurs = (): boolean => (history.state as { sluice?: true } | null)?.sluice === true;

/** @returns a function that takes the entry out again */
function closeOnEntry(close: () => void): () => void {
  // After a reload, or a step forward, it is there. The page's router finds its own state in it.
  if (!isOurs()) history.pushState({ ...(history.state as object | null), sluice: true }, '');
  const onPop = (): void => {
    if (!isOurs()) close();
  };
  addEventListener('popstate', onPop);
  return () => {
    removeEventListener('popstate', onPop);
    if (isOurs()) history.back();
  };
}
