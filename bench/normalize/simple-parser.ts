import { readFile, stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { inLanes } from './lanes.ts';

const INLINE_BYTES = 64 * 1024;
const answer = z.object({ id: z.number(), error: z.string().optional() });

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The baseline: mailparser's `simpleParser` with its defaults, in one worker thread. */
export function start() {
  const worker = new Worker(new URL('./simple-parser-worker.mjs', import.meta.url));
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  worker.on('message', (told: unknown) => {
    const { id, error } = answer.parse(told);
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve();
    else asked?.reject(new Error(error));
  });
  let messages: readonly (string | Uint8Array)[] = [];

  const read = (source: string | Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, source });
    });
  return Promise.resolve({
    prepare: async (paths: readonly string[], times: number): Promise<void> => {
      const once = await Promise.all(paths.map(sourceOf));
      messages = Array.from({ length: times }, () => once).flat();
    },
    /** Runs the prepared load. @returns the elapsed seconds */
    run: (width: number) => inLanes(messages, width, read),
  });
}

/** Small messages come from memory, as they would from a database. */
async function sourceOf(path: string): Promise<string | Uint8Array> {
  const { size } = await stat(path);
  return size < INLINE_BYTES ? new Uint8Array(await readFile(path)) : path;
}
