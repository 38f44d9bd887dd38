import type { MessagePort } from 'node:worker_threads';
import type {
  EmailJob,
  EmailResult,
  MailFailure,
  MailThread,
  MailThreadOwner,
  WorkerSettings,
} from '../job.ts';
import { MemoryExceeded } from '../parts/read-file-parts.ts';
import type { NormalizeContext } from '../normalize-message.ts';
import { compileShop, type ShopMail, type ShopMailSettings } from '../../shop.ts';
import { isSystemError } from '../../../../runtime/error-code.ts';
import { serveRpc, transferring } from '../../../../runtime/worker-rpc.ts';

export type Work = (job: EmailJob, context: NormalizeContext) => Promise<EmailResult>;

/**
 * Messages that are read concurrently share the turns of the event loop, and a turn costs about the
 * same for eight as for one. More would only use memory. Further messages wait here, so that the
 * thread has work while results are being transferred.
 */
const CONCURRENCY = 8;

/** Reads messages for the pool, several at a time. */
export function serveJobs(port: MessagePort | null, settings: WorkerSettings, work: Work): void {
  const { maxBufferBytes } = settings;
  const shops = new Map<string, ShopMail>();
  const setShops = (all: readonly ShopMailSettings[]): void => {
    for (const shop of all) shops.set(shop.shopId, compileShop(shop));
  };
  setShops(settings.shops);

  const waiting: (() => void)[] = [];
  let reading = 0;
  const read = async (job: EmailJob): Promise<EmailResult> => {
    // Its settings at the time of its arrival.
    const shop = shops.get(job.shopId);
    if (shop === undefined) throw new TypeError('a job for a shop that is not configured');
    if (reading === CONCURRENCY) await new Promise<void>((resolve) => waiting.push(resolve));
    else reading += 1;
    // Without an answer, nothing is trimmed and all of the text is delivered.
    const isKnown = (ids: readonly string[]) =>
      callOwner('isKnown', job.shopId, ids).catch(() => false);
    try {
      return withOwnBytes(await work(job, { shop, maxBufferBytes, isKnown }));
    } finally {
      const next = waiting.shift();
      if (next === undefined) reading -= 1;
      else next();
    }
  };

  const callOwner = serveRpc<MailThread, MailThreadOwner>(port, { read, setShops }, kindOf);
  // It rejects only when the thread is ended.
  callOwner('ready').catch(() => undefined);
}

/** Copies bytes into separate buffers, because cloning a view copies its whole buffer. */
function withOwnBytes(result: EmailResult): EmailResult {
  const transfer: ArrayBuffer[] = [];
  const files = result.files.map((file) => {
    if (file.source.kind !== 'bytes') return file;
    const bytes = ownBytes(file.source.bytes, transfer);
    transfer.push(bytes.buffer);
    return { ...file, source: { kind: 'bytes' as const, bytes } };
  });
  return transferring({ ...result, files }, transfer);
}

/**
 * Avoids the copy if nothing else uses the buffer; a transferred buffer is no longer available
 * here.
 */
function ownBytes(view: Uint8Array, transferred: readonly ArrayBuffer[]): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = view;
  const isOwn =
    buffer instanceof ArrayBuffer &&
    buffer.byteLength === byteLength &&
    !transferred.includes(buffer);
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(view);
}

function kindOf(error: unknown): MailFailure {
  if (error instanceof MemoryExceeded) return 'memory';
  return isSystemError(error) ? 'system' : 'message';
}
