import { CommandFailed, UsageError } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

/** More than any platform takes as one message. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The text that is typed or piped in, without the line break that ends it.
 * @throws {UsageError} it is too long, or no UTF-8
 */
export async function readInput(terminal: Terminal): Promise<string> {
  const { input } = terminal;
  if (input === undefined) throw new CommandFailed('there is no standard input');
  if (input.isTTY) terminal.err('Write the text; Ctrl-D on a line of its own ends it.\n');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    // Without an encoding, a stream of bytes yields nothing else.
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > MAX_BYTES) throw new UsageError('the standard input is over 16 MiB');
    chunks.push(bytes);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, size));
    return text.replace(/\r?\n$/, '');
  } catch (cause) {
    throw new UsageError('the standard input is no UTF-8 text', { cause });
  }
}
