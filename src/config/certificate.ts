import { readFileSync } from 'node:fs';
import {
  type KeyPair,
  type PairTrouble,
  pairTroubles,
  unreadableFile,
} from '../runtime/key-pair.ts';
import type { Config } from './config.ts';
import type { Mistake } from './mistakes.ts';

/** The files of `smtp.tls`, or why one cannot be read; undefined if none are configured. */
export function configuredPair({ tls }: Config['smtp']): KeyPair | PairTrouble | undefined {
  if (tls?.cert === undefined || tls.key === undefined) return undefined;
  let of: keyof KeyPair = 'cert';
  try {
    const cert = readFileSync(tls.cert, 'utf8');
    of = 'key';
    return { cert, key: readFileSync(tls.key, 'utf8') };
  } catch (error) {
    return unreadableFile(of, error);
  }
}

/** What is wrong with the files of `smtp.tls`: why no start is possible with them, or warnings. */
export function checkPair(
  { smtp }: Config,
  nowMs: number,
): { readonly mistakes: readonly Mistake[]; readonly warnings: readonly string[] } {
  const pair = smtp.enabled ? configuredPair(smtp) : undefined;
  const troubles = pair === undefined ? [] : pairTroubles(pair, smtp.hostname, nowMs);
  return {
    mistakes: troubles
      .filter(({ kind }) => kind === 'unusable')
      .map(({ of, found, todo }) => ({
        path: `smtp.tls.${of}`,
        expected: 'a certificate and its private key',
        found: `${JSON.stringify(smtp.tls?.[of])}: ${found}`,
        fix: todo,
      })),
    warnings: troubles
      .filter(({ kind }) => kind !== 'unusable')
      .map(({ of, found, todo }) => `smtp.tls.${of}: ${found}; ${todo}`),
  };
}
