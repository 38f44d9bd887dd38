/**
 * Tables that both stores have, the one of entries first: the name in SQLite and in PostgreSQL. `goesWith`: its
 * rows belong to an entry by its `seq`, and are deleted with its raw form or with the entry. A migration copies
 * all of them, and an erasure has their space freed.
 */
export const TABLES = {
  entries: { names: ['entries', 'entry'] },
  raws: { names: ['raws', 'raw'], goesWith: 'raw' },
  media: { names: ['media', 'media'], goesWith: 'raw' },
  records: { names: ['records', 'record'], goesWith: 'raw' },
  timeline: { names: ['timeline', 'timeline'], goesWith: 'entry' },
  moves: { names: ['moves', 'move'], goesWith: 'entry' },
  conversations: { names: ['conversations', 'conversation'] },
  optOuts: { names: ['opt_outs', 'opt_out'] },
  personNames: { names: ['person_names', 'person_name'] },
  senderCounts: { names: ['sender_counts', 'sender_count'] },
  visitors: { names: ['visitors', 'visitor'] },
  journal: { names: ['journal', 'journal'] },
  uploads: { names: ['uploads', 'upload'] },
  shopHealth: { names: ['shop_health', 'shop_health'] },
  refusals: { names: ['refusals', 'refusal'] },
  refused: { names: ['refused', 'refused'] },
  marks: { names: ['marks', 'mark'] },
  probeRequests: { names: ['probe_requests', 'probe_request'] },
  audit: { names: ['audit', 'audit'] },
  apiTokens: { names: ['api_tokens', 'api_token'] },
  erasedKeys: { names: ['erased_keys', 'erased_key'] },
  erasedOptOuts: { names: ['erased_opt_outs', 'erased_opt_out'] },
  erasureRest: { names: ['erasure_rest', 'erasure_rest'] },
} as const satisfies Record<string, Table>;

export interface Table {
  readonly names: readonly [sqlite: string, postgres: string];
  readonly goesWith?: 'raw' | 'entry';
}

type Store = 'sqlite' | 'postgres';
export type TableNames = { readonly [Name in keyof typeof TABLES]: string };

const nameIn = (store: Store, { names }: Table): string => names[store === 'sqlite' ? 0 : 1];

/** The tables that both stores have, by their names in this one. */
export const tablesOf = (store: Store): TableNames =>
  // The keys are those of `TABLES`.
  Object.fromEntries(
    Object.entries(TABLES).map(([name, table]) => [name, nameIn(store, table)]),
  ) as TableNames;

/** The tables whose rows are deleted with an entry's raw form, or then with the entry. */
export const partsOf = (store: Store, whole: 'raw' | 'entry'): string[] =>
  Object.values<Table>(TABLES).flatMap((table) =>
    table.goesWith === whole ? [nameIn(store, table)] : [],
  );
