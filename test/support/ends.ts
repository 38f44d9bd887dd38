import { afterAll, afterEach } from '@jest/globals';

const undo: (() => unknown)[] = [];

/** What a test starts ends with it, the last first. */
export function ends(step: () => unknown): void {
  undo.push(step);
}

async function undoAll(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step();
}

afterEach(undoAll);
// What a beforeAll started before it failed: no test of it runs.
afterAll(undoAll);
