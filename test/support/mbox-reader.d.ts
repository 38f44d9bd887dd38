/** What the tests use of the package, which brings no types. */
declare module 'mbox-reader' {
  import type { Readable } from 'node:stream';

  export function mboxReader(
    source: Readable,
  ): AsyncIterable<{ readonly returnPath: string; readonly content: Buffer }>;
}
