import type { SearchIndex } from './search-index.ts';

/** What travels between the gateway's thread and those of the index. */
export interface SearchWorkerOptions {
  readonly spoolFile: string;
  readonly indexFile: string;
  readonly blobFolder: string;
  /**
   * `follow`: keeps the index up with the spool, when nothing else needs the processor. `answer`:
   * answers questions. `both`: answers, and follows before each; for a command.
   */
  readonly role: 'follow' | 'answer' | 'both';
}

export interface Questions {
  readonly search: SearchIndex['search'];
  readonly count: SearchIndex['count'];
  readonly cards: SearchIndex['cards'];
  readonly neighbours: SearchIndex['neighbours'];
  readonly backlog: () => number;
  /** Follows to the end, and leaves nothing of deleted entries in the files. */
  readonly rewrite: () => void;
}
export type Question = keyof Questions;

export type ToSearchWorker =
  | { readonly settled: readonly string[] }
  | { readonly id: number; readonly question: Question; readonly args: readonly unknown[] }
  | { readonly stop: true };

export interface FromSearchWorker {
  readonly id: number;
  readonly value?: unknown;
  readonly failure?: string;
}
