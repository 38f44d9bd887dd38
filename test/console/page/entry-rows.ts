import type { EntryRow } from '../../../src/console/contract.ts';

/** A row of the list, newer the higher its number. */
export const row = (n: number, change: Partial<EntryRow> = {}): EntryRow => ({
  id: `id-${String(n).padStart(6, '0')}`,
  kind: 'message',
  shop: 'acme',
  channel: 'email',
  state: 'queued',
  receivedAt: n * 1000,
  attempts: 0,
  failures: 0,
  from: 'Ann <ann@example.com>',
  to: 'support@acme.example',
  subject: `Order ${n}`,
  bytes: 2000,
  ...change,
});

/** Newest first, from `first` down to `last`. */
export const rows = (first: number, last: number): EntryRow[] =>
  Array.from({ length: first - last + 1 }, (_, index) => row(first - index));
