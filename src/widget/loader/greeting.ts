import { read, write } from '../page-storage.ts';

/** Long enough to have looked around, short enough to still be there. */
const DELAY_MS = 4_000;

/**
 * Shows the greeting beside the launcher after a few seconds, once: a visitor who has put it away
 * or opened the chat does not see that greeting again.
 * @returns a function that takes it away, for good
 */
export function greet(options: {
  /** Nothing is shown without one. */
  readonly greeting: string | undefined;
  readonly noteKey: string;
  readonly storage: Storage | undefined;
  readonly show: (greeting: string) => HTMLElement;
}): () => void {
  const { greeting, noteKey, storage, show } = options;
  if (!greeting || read(storage, noteKey) === greeting) return () => undefined;
  let card: HTMLElement | undefined;
  const timer = setTimeout(() => {
    card = show(greeting);
  }, DELAY_MS);
  return () => {
    clearTimeout(timer);
    card?.remove();
    write(storage, noteKey, greeting);
  };
}
