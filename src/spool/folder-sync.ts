import { open } from 'node:fs/promises';

/**
 * fsync of a folder, shared: callers that come while one is running wait for the next, which
 * covers everything they did before they asked.
 */
export class FolderSync {
  readonly #dir: string;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(dir: string) {
    this.#dir = dir;
  }

  sync(): Promise<void> {
    if (this.#running === undefined) return this.#run();
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#run();
      });
    return this.#next;
  }

  #run(): Promise<void> {
    const run = syncFolder(this.#dir).finally(() => {
      if (this.#running === run) this.#running = undefined;
    });
    this.#running = run;
    return run;
  }
}

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
