import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Frees everything that nothing holds on to. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  // The flag counts for contexts that are made after it.
  const collect = runInNewContext('gc') as () => void;
  collect();
}
