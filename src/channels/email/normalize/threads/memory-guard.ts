import { memoryUsage } from 'node:process';

/** How much may pass before memory is looked at again: asking costs a system call. */
const CHECK_BYTES = 1024 * 1024;

/** A message, or several at once, need more memory than a worker may hold. */
export class MemoryExceeded extends Error {
  override name = 'MemoryExceeded';
}

/**
 * Passes chunks on while this thread's array buffers stay under `maxBytes`. A worker's
 * `resourceLimits` bound its JavaScript heap only, and buffers are outside of it.
 */
export async function* guardMemory(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let passed = 0;
  for await (const chunk of source) {
    passed += chunk.length;
    if (passed >= CHECK_BYTES) {
      passed = 0;
      if (memoryUsage().arrayBuffers > maxBytes) throw new MemoryExceeded('too much in memory');
    }
    yield chunk;
  }
}
