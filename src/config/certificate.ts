import { readFileSync } from 'node:fs';
import { type KeyPair, pairTroubles } from '../runtime/key-pair.ts';
import type { Config } from './config.ts';
import type { Mistake } from './mistakes.ts';

/** The files of `smtp.tls`; undefined if none are configured. One that cannot be read is empty. */
export function configuredPair({ tls }: Config['smtp']): KeyPair | undefined {
  if (tls?.cert === undefined || tls.key === undefined) return undefined;
  return { cert: textOf(tls.cert), key: textOf(tls.key) };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
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
