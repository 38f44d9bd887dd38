import { apiTokenOperations } from './api-tokens.ts';
import { auditOperations } from './audit.ts';
import { entryReads } from './entry-reads.ts';
import { identityOperations } from './identities.ts';
import { nameOperations } from './names.ts';
import { optOutOperations } from './opt-outs.ts';
import type { Dialect, Operation } from './operation.ts';
import { recordOperations } from './records.ts';
import { refusalOperations } from './refusals.ts';
import { summaryOperations } from './summaries.ts';
import { uploadOperations } from './uploads.ts';
import { visitorOperations } from './visitors.ts';

/** All operations that are written once for both stores. */
const coldOperations = (dialect: Dialect) => ({
  ...apiTokenOperations(dialect),
  ...auditOperations(dialect),
  ...entryReads(dialect),
  ...identityOperations(dialect),
  ...nameOperations(dialect),
  ...optOutOperations(dialect),
  ...recordOperations(dialect),
  ...refusalOperations(dialect),
  ...summaryOperations(dialect),
  ...uploadOperations(dialect),
  ...visitorOperations(dialect),
});

type Operations = ReturnType<typeof coldOperations>;

/** The operations as SQLite's thread calls them. */
export type ColdOperations = {
  readonly [Name in keyof Operations]: Operations[Name] extends (
    ...args: infer Args
  ) => Operation<infer Result>
    ? (...args: Args) => Result
    : never;
};

/**
 * Each operation as a function that runs it: `ColdOperations`, or `Remote` of them.
 * @param run returns the result of the operation, or a promise of it
 */
export function runnable(dialect: Dialect, run: (begin: () => Operation<unknown>) => unknown) {
  const operations = Object.entries<(...args: never[]) => Operation<unknown>>(
    coldOperations(dialect),
  );
  const functions = operations.map(
    ([name, begin]) => [name, (...args: never[]) => run(() => begin(...args))] as const,
  );
  return Object.fromEntries(functions);
}
