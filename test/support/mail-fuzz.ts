import { BlobFiles } from '../../src/spool/blobs.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEmailNormalizer, type EmailNormalizer } from '../../src/channels/email/normalize.ts';
import type { Normalized } from '../../src/intake/normalizer.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import {
  createEventRequestSchema,
  createMessageRequestSchema,
} from '../../src/platform-api/schemas.ts';
import type { Claimed, RawForm } from '../../src/spool/entry.ts';
import { asBlobName, asShopId } from '../../src/domain/ids.ts';
import { claimedEmail, shopSettings } from '../channels/email/normalize/jobs.ts';
import { type MailSeed, mutateMail, readMailSeeds } from './mail-mutations.ts';

/**
 * What a message may take, of the processor's time where its neighbours and other programs made it
 * wait; the pool's own deadline is far above it.
 */
export const SLOW_MS = 5000;
const MAX_FILES = 50;
const MAX_CONTENT = 100_000;
/** Every so many come from a file, as large mail does. */
const EVERY_FROM_FILE = 7;

const SHOPS = (['auto', 'html', 'text'] as const).map((body, index) => ({
  ...shopSettings,
  shopId: asShopId(`7b0d5a3e-1f2c-4a3b-8c4d-00000000010${index}`),
  body,
  quotes: 'always' as const,
}));

export interface Finding {
  readonly seed: number;
  readonly recipe: string;
  /** What is wrong with it. */
  readonly what: string;
}

export interface FuzzReport {
  readonly messages: number;
  readonly seconds: number;
  readonly workerDeaths: number;
  /** Not even a stub came of it. */
  readonly failures: readonly Finding[];
  /** Delivered as no more than a note and the original. */
  readonly stubs: readonly Finding[];
  readonly overTime: readonly Finding[];
  readonly refused: readonly Finding[];
  /** Alone, in processor time. */
  readonly slowest: { readonly seed: number; readonly recipe: string; readonly ms: number };
}

export interface FuzzOptions {
  /** An empty folder; whoever made it removes it. */
  readonly folder: string;
  readonly seeds: Iterable<number>;
  readonly workers?: number;
  /** Of one message, before its worker is ended. */
  readonly deadlineMs?: number;
  readonly onProgress?: (messages: number) => void;
}

/**
 * Sends mutated messages, one for each seed, through the email channel's worker threads, several
 * at a time.
 */
export async function fuzzMail(options: FuzzOptions): Promise<FuzzReport> {
  const fuzz = new MailFuzz(options);
  const started = performance.now();
  try {
    await fuzz.run(options.seeds);
    return await fuzz.report(performance.now() - started);
  } finally {
    await fuzz.stop();
  }
}

class MailFuzz {
  readonly #options: FuzzOptions;
  readonly #mail: readonly MailSeed[] = readMailSeeds();
  readonly #normalizer: EmailNormalizer;
  readonly #found = {
    failures: new Array<Finding>(),
    stubs: new Array<Finding>(),
    refused: new Array<Finding>(),
  };
  /** They took longer than they may, with their neighbours. */
  readonly #late: number[] = [];
  #messages = 0;
  #workerDeaths = 0;
  #slowest = { seed: 0, ms: 0 };

  constructor(options: FuzzOptions) {
    this.#options = options;
    const { workers, deadlineMs } = options;
    this.#normalizer = createEmailNormalizer(
      {
        shops: SHOPS,
        scratchFolder: join(options.folder, 'scratch'),
        ...(workers !== undefined && { workers }),
        ...(deadlineMs !== undefined && { deadlineMs }),
      },
      {
        blobs: new BlobFiles({ dir: options.folder, reserveBytes: 0 }),
        knownRemoteIds: () => Promise.resolve(true),
        countMessage: () => Promise.resolve(undefined),
        logger: {
          ...silentLogger,
          warn: (event) => {
            if (event === 'email.worker_died') this.#workerDeaths += 1;
          },
        },
      },
    );
  }

  stop(): Promise<void> {
    return this.#normalizer.stop();
  }

  async run(seeds: Iterable<number>): Promise<void> {
    const queue = seeds[Symbol.iterator]();
    const lane = async (): Promise<void> => {
      for (let next = queue.next(); next.done !== true; next = queue.next()) {
        await this.#one(next.value);
      }
    };
    // As many as the pool takes at once: a message does not wait in line while its time is taken.
    await Promise.all(Array.from({ length: 8 }, lane));
  }

  /** The slowest and the late ones are timed once more, without neighbours in the same thread. */
  async report(elapsedMs: number): Promise<FuzzReport> {
    const slowest = await this.#alone(this.#slowest.seed);
    const overTime: Finding[] = [];
    for (const seed of this.#late) {
      const { recipe, ms } = await this.#alone(seed);
      if (ms > SLOW_MS) overTime.push({ seed, recipe, what: `${ms.toFixed(0)} ms` });
    }
    return {
      messages: this.#messages,
      seconds: elapsedMs / 1000,
      workerDeaths: this.#workerDeaths,
      ...this.#found,
      overTime,
      slowest,
    };
  }

  /** The processor time of one message, in all threads of this process. */
  async #alone(seed: number): Promise<FuzzReport['slowest']> {
    const { claimed, recipe } = this.#claim(seed);
    const started = process.cpuUsage();
    const read = await this.#normalizer
      .normalize(claimed, new AbortController().signal)
      .catch(() => undefined);
    const { user, system } = process.cpuUsage(started);
    await read?.dispose();
    return { seed, recipe, ms: (user + system) / 1000 };
  }

  async #one(seed: number): Promise<void> {
    const { claimed, recipe } = this.#claim(seed);
    const note = (found: Finding[], what: string) => found.push({ seed, recipe, what });
    const started = performance.now();
    try {
      const read = await this.#normalizer.normalize(claimed, new AbortController().signal);
      if (read.findings['unreadable'] === true) note(this.#found.stubs, 'unreadable');
      for (const what of await mistakesIn(read)) note(this.#found.refused, what);
      await read.dispose();
    } catch (error) {
      note(this.#found.failures, String(error));
    }
    const ms = performance.now() - started;
    if (ms > SLOW_MS) this.#late.push(seed);
    if (ms > this.#slowest.ms) this.#slowest = { seed, ms };
    this.#messages += 1;
    this.#options.onProgress?.(this.#messages);
  }

  #claim(seed: number): { claimed: Claimed; recipe: string } {
    const { bytes, recipe } = mutateMail(this.#mail, seed);
    const shop = SHOPS[seed % SHOPS.length] ?? shopSettings;
    const { entry, ...rest } = claimedEmail(this.#rawForm(seed, bytes));
    return { claimed: { ...rest, entry: { ...entry, shopId: shop.shopId } }, recipe };
  }

  #rawForm(seed: number, bytes: Buffer): RawForm {
    if (seed % EVERY_FROM_FILE !== 0) return { kind: 'inline', bytes };
    const blob = asBlobName(`${seed}.eml`);
    writeFileSync(join(this.#options.folder, blob), bytes);
    return { kind: 'file', blob, size: bytes.length };
  }
}

/** What the platform, or whoever reads the message there, would not take. */
async function mistakesIn({ request, verdict, attachments }: Normalized): Promise<string[]> {
  const mistakes: string[] = [];
  const { error } = createMessageRequestSchema.safeParse(request);
  if (error !== undefined) mistakes.push(`payload: ${error.message}`);
  const events = verdict.kind === 'suppressed' ? (verdict.events ?? []) : [];
  for (const event of events) {
    const wrong = createEventRequestSchema.safeParse(event).error;
    if (wrong !== undefined) mistakes.push(`event: ${wrong.message}`);
  }
  const { content } = request.message;
  if (content.trim() === '') mistakes.push('empty content');
  if (content.length > MAX_CONTENT) mistakes.push('content too long');
  // Half of a pair is no text: JSON carries it, the other side cannot store it.
  if (hasHalfPair(JSON.stringify(request))) mistakes.push('half a surrogate pair');
  if (attachments.length > MAX_FILES) mistakes.push('too many attachments');
  if (new Set(attachments.map(({ part }) => part)).size < attachments.length) {
    mistakes.push('two attachments with one identity');
  }
  for (const attachment of attachments) {
    const opened = await attachment.open(new AbortController().signal);
    const { name, size } = opened;
    let bytes = 0;
    for await (const chunk of opened.stream() as AsyncIterable<Buffer>) bytes += chunk.length;
    if (bytes !== size) mistakes.push(`an attachment of ${size} bytes has ${bytes}`);
    if (name === '' || name.length > 130 || /[/\\\p{Cc}]/u.test(name)) mistakes.push('file name');
  }
  return mistakes;
}

/** `JSON.stringify` writes the half of a surrogate pair as an escape, and nothing else that way. */
function hasHalfPair(json: string): boolean {
  return /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/.test(json);
}
