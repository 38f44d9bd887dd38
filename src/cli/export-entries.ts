import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { counted } from '../runtime/amounts.ts';
import type { RawForm } from '../spool/entry.ts';
import type { FoundEntry } from '../spool/entry-index.ts';
import { oldestFirst } from './each-found.ts';
import { UsageError } from './exit-codes.ts';
import { exportLine } from './queue-entry.ts';
import { interruptible, type ProcessEvents } from './process-end.ts';
import { fromLine, MboxQuote } from './mbox-lines.ts';
import { document } from './json.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { type Output, withFile } from './output-file.ts';
import { progressOf } from './progress.ts';
import { filterOf, type FilterOptions } from './queue-filter.ts';
import { rawParts } from './show-entry.ts';
import { note, type Terminal } from './terminal.ts';

export interface ExportOptions extends FilterOptions {
  readonly format: 'mbox' | 'jsonl';
  readonly output?: string;
  readonly raw: boolean;
  readonly json?: true;
}

interface Exported {
  written: number;
  /** Entries that an mbox cannot contain, by reason. */
  readonly leftOut: Map<string, number>;
}

const MAX_COUNTED = 10_000_000;
/** The raw form becomes one JSON string, which takes several times its size in memory. */
const MAX_JSON_RAW_BYTES = 256 * 1024 * 1024;

/** `queue export`: writes the matching entries, oldest first. */
export async function exportEntries(
  words: readonly string[],
  options: ExportOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  const { format } = options;
  if (format === 'mbox' && !options.raw) {
    throw new UsageError('an mbox contains raw messages: --no-raw works with jsonl only');
  }
  if (format === 'mbox' && options.output === undefined && terminal.columns !== undefined) {
    // Raw content can contain escape sequences that a terminal would execute.
    throw new UsageError('an mbox is not printed to a terminal: give --output');
  }
  if (options.json && options.output === undefined) {
    throw new UsageError(
      '--json prints the result of --output; the entries themselves are JSON already',
    );
  }
  await withSpool(command, terminal, async (open) => {
    const filter = filterOf(open, options, words);
    const total = await open.index.count(filter, MAX_COUNTED);
    const progress = progressOf(terminal, { name: 'export', total, unit: 'entries' });
    const exported: Exported = { written: 0, leftOut: new Map() };
    let outcome = `${format}, interrupted`;
    try {
      await interruptible(events, (signal) =>
        withOutput(options.output, terminal, async (output) => {
          let seen = 0;
          for await (const found of oldestFirst(open, filter, signal)) {
            await exportEntry(open, found, options, output, exported);
            seen += 1;
            progress.at(seen);
          }
        }),
      );
      outcome = format;
    } finally {
      progress.end();
      await open.audit('export', counted(exported.written, 'entry', 'entries'), outcome);
    }
    printResult(exported, options, terminal);
  });
}

async function exportEntry(
  open: OpenSpool,
  found: FoundEntry,
  { format, raw: withRaw }: ExportOptions,
  output: Output,
  exported: Exported,
): Promise<void> {
  const { entry } = found;
  const { spool, operator } = open;
  const leaveOut = (why: string) => exported.leftOut.set(why, (exported.leftOut.get(why) ?? 0) + 1);
  if (format === 'mbox' && (entry.channel !== 'email' || entry.kind !== 'message')) {
    leaveOut(entry.kind === 'event' ? 'event' : entry.channel);
    return;
  }
  const raw = withRaw ? await spool.raw(entry.id) : undefined;
  if (format === 'mbox') {
    if (raw === undefined) leaveOut('swept');
    else {
      await writeMbox(open, found, raw, output);
      exported.written += 1;
    }
    return;
  }
  const [timeline, record] = await Promise.all([
    spool.timeline(entry.id),
    operator.record(entry.id),
  ]);
  const isTooLarge = raw?.kind === 'file' && raw.size > MAX_JSON_RAW_BYTES;
  const bytes = raw && !isTooLarge ? await buffer(rawParts(open, raw)) : undefined;
  const line = exportLine(found, open.shopName(entry.shopId), timeline, record, bytes);
  await output.write(Buffer.from(line));
  exported.written += 1;
}

async function writeMbox(
  open: OpenSpool,
  { entry }: FoundEntry,
  raw: RawForm,
  output: Output,
): Promise<void> {
  const sender = entry.meta['envelopeFrom'];
  const start = fromLine(typeof sender === 'string' ? sender : '', entry.receivedAt);
  await output.write(Buffer.from(start));
  await pipeline(rawParts(open, raw), new MboxQuote(), async (parts: AsyncIterable<Buffer>) => {
    for await (const part of parts) await output.write(part);
  });
}

/** Words go to the error output, because the entries may be printed. */
function printResult(
  exported: Exported,
  { format, output, json }: ExportOptions,
  terminal: Terminal,
): void {
  if (json) {
    const { written } = exported;
    const leftOut = Object.fromEntries(exported.leftOut);
    terminal.out(document({ output, format, written, leftOut }));
    return;
  }
  const left = [...exported.leftOut].map(([why, count]) => `${count} ${why}`);
  const rest = left.length === 0 ? '' : `; left out: ${left.join(', ')}`;
  // What was left out is part of the result; how much was written is in the file.
  const print = rest === '' ? note : (on: Terminal, text: string) => on.err(text);
  print(
    terminal,
    `${counted(exported.written, 'entry', 'entries')}${output === undefined ? '' : ` written to ${output}`}${rest}\n`,
  );
}

/** Writes to a file, or without a name to standard output. */
async function withOutput(
  file: string | undefined,
  terminal: Terminal,
  work: (output: Output) => Promise<void>,
): Promise<void> {
  if (file !== undefined) return withFile(file, work);
  terminal.exitOnClosedPipe?.();
  return work({ write: (bytes) => terminal.outBytes(bytes) });
}
