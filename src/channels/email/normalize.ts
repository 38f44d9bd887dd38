import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  type Attachment,
  missingAttachment,
  type Normalized,
  type Normalizer,
  type Verdict,
} from '../../intake/normalizer.ts';
import type { Logger } from '../../observability/logger.ts';
import { FAILS_POLICY, UNSIGNED_SUBJECT } from '../../platform-api/schemas.ts';
import { type Clock, createMonotonicClock } from '../../runtime/clock.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';
import { workerUrl } from '../../runtime/worker-rpc.ts';
import type { BlobReader } from '../../spool/blobs.ts';
import type { Claimed, Entry, RawForm } from '../../spool/entry.ts';
import type { CountedMessage, RateLimit, RateLimits } from '../../spool/sender-rates.ts';
import type { ShopId } from '../../domain/ids.ts';
import type { Authenticator } from './authentication/authenticator.ts';
import { SenderChecks } from './authentication/sender-checks.ts';
import { parseEmailMeta, type RawSource, type OpenedRaw, openRaw, readRawHead } from './stored.ts';
import { asBuffer, type PartContent, readEncoded } from './normalize/parts/part-content.ts';
import type { AttachedFile, EmailJob, EmailResult } from './normalize/job.ts';
import { MailWorkerPool, UnreadableMessage } from './normalize/threads/mail-worker-pool.ts';
import { removeScratch, sweepScratch } from './normalize/parts/collect-part.ts';
import type { Resolve } from './authentication/dns-resolver.ts';
import { deliveringNetwork } from './delivering-network.ts';
import { compileShop, type ShopMail, type ShopMailSettings } from './shop.ts';
import { rawFile, stubText } from './normalize/parts/attached-files.ts';
import { readHead } from './normalize/head/message-head.ts';

/** Each read uses a thread of the pool; the default of 64 KiB makes uploads slower. */
const UPLOAD_READ_BYTES = 256 * 1024;

export interface EmailNormalizerOptions {
  readonly shops: readonly ShopMailSettings[];
  /** A separate folder for parts in progress; emptied at the start. */
  readonly scratchFolder: string;
  readonly workers?: number;
  /** For one message, from when a worker takes it. */
  readonly deadlineMs?: number;
  readonly maxHeapMb?: number;
  readonly maxBufferMb?: number;
  /** Each message is read with an explanation. */
  readonly explain?: true;
  /** The worker's file, replaced in tests of hostile mail. */
  readonly worker?: URL;
}

interface EmailNormalizerDeps {
  readonly blobs: Pick<BlobReader, 'scratch'>;
  /** Whether a message with one of these ids has passed through here, in either direction. */
  knownRemoteIds(shopId: ShopId, ids: readonly string[]): Promise<boolean>;
  /** Counts a person's message, once; returns the limit that is exceeded. */
  countMessage(mail: CountedMessage, limits: RateLimits): Promise<RateLimit | undefined>;
  /** Without it, forwarders are known by their networks only. */
  readonly resolve?: Resolve;
  /** Without it, senders are not checked. */
  readonly authenticator?: Pick<Authenticator, 'check' | 'alarm'>;
  readonly clock?: Clock;
  readonly logger: Logger;
}

export interface EmailNormalizer {
  /**
   * @throws {NotYet} the sender is still being checked
   * @throws {NormalizingUnavailable} the disk or the workers fail; try again later
   * @throws {TypeError} the entry's shop is not configured
   */
  readonly normalize: Normalizer;
  /** Replaces the shops; messages in progress are read with the earlier settings. */
  serve(shops: readonly ShopMailSettings[]): void;
  stop(): Promise<void>;
}

/**
 * The normalizer of the email channel. It runs in worker threads with a deadline and a memory
 * limit; a message that cannot be read there becomes a stub with the original attached.
 */
export function createEmailNormalizer(
  options: EmailNormalizerOptions,
  deps: EmailNormalizerDeps,
): EmailNormalizer {
  const { scratchFolder } = options;
  sweepScratch(scratchFolder);
  let shops = compiled(options.shops);
  const pool = new MailWorkerPool(
    {
      url: options.worker ?? workerUrl(import.meta.url, './normalize/threads/worker.ts'),
      settings: {
        shops: options.shops,
        maxBufferBytes: (options.maxBufferMb ?? 192) * 1024 * 1024,
      },
      workers: options.workers ?? 2,
      inFlight: 16,
      deadlineMs: options.deadlineMs ?? 30_000,
      maxHeapMb: options.maxHeapMb ?? 256,
      isKnown: (shopId, ids) => deps.knownRemoteIds(shopId, ids),
    },
    deps.logger,
  );

  const checks = new SenderChecks(deps.authenticator, deps.clock ?? createMonotonicClock());

  /** Continues after the signal is aborted, to clean up when the worker has finished. */
  const read = async (claimed: Claimed, signal: AbortSignal): Promise<Normalized> => {
    const shop = shops.get(claimed.entry.shopId);
    if (shop === undefined) throw new TypeError('the entry is of a shop that is not configured');
    const raw = openedOnce(claimed.raw, deps.blobs);
    try {
      return await readFrom(raw.open, claimed, shop, signal);
    } catch (error) {
      const check = checks.underWay(claimed.entry.id);
      if (check === undefined) await raw.dispose();
      else void check.then(raw.dispose);
      throw error;
    }
  };
  const readFrom = async (
    open: () => Promise<OpenedRaw>,
    claimed: Claimed,
    shop: ShopMail,
    signal: AbortSignal,
  ): Promise<Normalized> => {
    const meta = parseEmailMeta(claimed.entry.meta);
    const { trustedArcSealers, senders, senderRules } = shop;
    const request = async () => {
      const { source } = await open();
      return { ...meta, raw: source, trustedArcSealers, senders };
    };
    const isEnforced = senderRules.dmarc !== 'observe';
    const known = meta.authentication;
    const authentication = await checks.verdict(claimed, known, isEnforced, request);
    const { source: raw, dispose } = await open();
    const job: EmailJob = {
      ...(authentication !== undefined && !claimed.released && { authentication }),
      shopId: claimed.entry.shopId,
      remoteId: claimed.entry.remoteId,
      receivedAt: claimed.entry.receivedAt,
      released: claimed.released,
      meta,
      raw,
      // The base is not guessable; otherwise a sender could insert the address of another image.
      ...(shop.showImages && { imageBase: `https://${randomUUID()}.invalid/` }),
      scratch: join(scratchFolder, randomUUID()),
      ...(options.explain && { explain: true }),
    };
    signal.throwIfAborted();
    try {
      const result = await readOrStub(pool, job, claimed.entry.rawSize, shop, signal);
      signal.throwIfAborted();
      if (isUnchecked(result.verdict)) deps.authenticator?.alarm();
      const limit = await overLimit(result, claimed.entry, shop, deps);
      // The caller has gone and would not dispose of the result.
      signal.throwIfAborted();
      const verdict: Verdict =
        limit === undefined
          ? result.verdict
          : { kind: 'held', reason: { code: 'rate_limit', params: { limit } } };
      const unverifiedFrom = await unverifiedSource(result, job, shop, deps);
      return {
        ...toNormalized({ ...result, verdict }, job, dispose, unverifiedFrom),
        ...(authentication && { steps: [{ step: 'authenticated', detail: authentication }] }),
      };
    } catch (error) {
      // Files that cannot be removed now are removed at the next start.
      await removeScratch(job.scratch).catch(() => undefined);
      throw error;
    }
  };
  return {
    normalize: async (claimed, signal) => {
      signal.throwIfAborted();
      return unlessAborted(read(claimed, signal), signal);
    },
    serve: (next) => {
      shops = compiled(next);
      pool.setShops(next);
    },
    stop: () => pool.stop(),
  };
}

/** Opens a raw form at its first use. `dispose` never rejects, and does nothing before that. */
function openedOnce(raw: RawForm, blobs: EmailNormalizerDeps['blobs']) {
  let opened: Promise<OpenedRaw> | undefined;
  return {
    open: () => (opened ??= openRaw(raw, blobs)),
    dispose: () =>
      opened?.then(
        ({ dispose }) => dispose(),
        () => undefined,
      ),
  };
}

const compiled = (shops: readonly ShopMailSettings[]): ReadonlyMap<ShopId, ShopMail> =>
  new Map(shops.map((shop) => [shop.shopId, compileShop(shop)]));

const isUnchecked = (verdict: Verdict): boolean =>
  verdict.kind === 'held' && verdict.reason.code === 'sender_not_checked';

/** A loop between two machines is recognized by how many messages one of them sends. */
async function overLimit(
  { counted, verdict }: EmailResult,
  entry: Entry,
  shop: ShopMail,
  deps: EmailNormalizerDeps,
): Promise<RateLimit | undefined> {
  // A message that is not submitted does not count, so that forged mail cannot use up another
  // person's limits.
  if (counted === undefined || verdict.kind !== 'deliver') return undefined;
  const { id, shopId, receivedAt } = entry;
  const { person, thread, body, message = id } = counted;
  return deps.countMessage({ shopId, message, person, thread, body, at: receivedAt }, shop.loop);
}

async function readOrStub(
  pool: MailWorkerPool,
  job: EmailJob,
  bytes: number,
  shop: ShopMail,
  signal: AbortSignal,
): Promise<EmailResult> {
  try {
    return await pool.run(job, bytes, signal);
  } catch (error) {
    if (!(error instanceof UnreadableMessage)) throw error;
    return stubResult(job, bytes, shop);
  }
}

/** `Normalized.unverifiedFrom` */
async function unverifiedSource(
  { confirmation }: EmailResult,
  { meta, raw }: EmailJob,
  { forwarders }: ShopMail,
  { resolve }: EmailNormalizerDeps,
): Promise<string | undefined> {
  if (confirmation === 'confirmed') return undefined;
  if (confirmation === 'fails policy') return FAILS_POLICY;
  const receivedLine = async () => (await readRawHead(raw)).head.first('received');
  const network = await deliveringNetwork(meta, forwarders, receivedLine, resolve);
  return confirmation === 'subject unsigned' ? network + UNSIGNED_SUBJECT : network;
}

function toNormalized(
  result: EmailResult,
  job: EmailJob,
  disposeRaw: OpenedRaw['dispose'],
  unverifiedFrom: string | undefined,
): Normalized {
  const hasFiles = result.usedScratch;
  return {
    verdict: result.verdict,
    request: result.request,
    attachments: result.files.map((file) => toAttachment(file, job.raw)),
    findings: result.findings,
    ...(result.trimmed !== undefined && { trimmed: result.trimmed }),
    ...(result.reading !== undefined && { reading: result.reading }),
    ...(unverifiedFrom !== undefined && { unverifiedFrom }),
    // Most messages have no scratch file, and checking for one costs more than parsing.
    dispose: async () => {
      await disposeRaw();
      if (hasFiles) await removeScratch(job.scratch);
    },
  };
}

function toAttachment(file: AttachedFile, raw: RawSource): Attachment {
  const { part, name, type, size, shownAs } = file;
  const source = file.source.kind === 'raw' ? raw : file.source;
  const stream = () => streamOf(source);
  return {
    part,
    placeholder: missingAttachment('delivered', name, type),
    ...(shownAs !== undefined && { shownAs }),
    about: { name, type, size },
    open: () => Promise.resolve({ name, type, size, stream }),
  };
}

function streamOf(source: PartContent): Readable {
  switch (source.kind) {
    case 'bytes':
      return Readable.from([asBuffer(source.bytes)], { objectMode: false });
    case 'file':
      return createReadStream(source.path, { highWaterMark: UPLOAD_READ_BYTES });
    case 'encoded':
      return Readable.from(readEncoded(source), { objectMode: false });
  }
}

/**
 * The result for an unreadable message: subject, sender and threading, with the original attached.
 */
async function stubResult(job: EmailJob, bytes: number, shop: ShopMail): Promise<EmailResult> {
  const block = await readRawHead(job.raw);
  const head = readHead(block.head, job, shop, []);
  return {
    verdict: head.verdict,
    request: head.request(stubText(head.subject), 'TEXT'),
    // The body is unknown, so each message counts as a different one.
    ...(head.counted && { counted: { ...head.counted, body: job.remoteId } }),
    confirmation: head.confirmation,
    files: [rawFile(head.subject, bytes)],
    findings: { body: 'none', unreadable: true, attachments: 1 },
    // Failed attempts may have left files there.
    usedScratch: true,
  };
}
