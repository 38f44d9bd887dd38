import type { MessagePort } from 'node:worker_threads';
import type {
  EmailJob,
  EmailResult,
  FromWorker,
  ToWorker,
  WorkerFailure,
  WorkerSettings,
} from '../job.ts';
import { MemoryExceeded } from '../parts/read-file-parts.ts';
import type { NormalizeContext } from '../normalize-message.ts';
import { compileShop, type ShopMail, type ShopMailSettings } from '../../shop.ts';
import { TurnBatch } from '../../../../runtime/worker-threads.ts';

export type Work = (job: EmailJob, context: NormalizeContext) => Promise<EmailResult>;

/**
 * Messages that are read concurrently share the turns of the event loop, and a turn costs about the
 * same for eight as for one. More would only use memory. Further messages wait here, so that the
 * thread has work while results are being transferred.
 */
const CONCURRENCY = 8;

/** A message, with its shop's settings at the time of its arrival. */
interface Waiting {
  readonly id: number;
  readonly job: EmailJob;
  readonly shop: ShopMail | undefined;
}

/** Answers jobs on a port, several at a time. Failures are reported to the other side. */
export function serveJobs(port: MessagePort, settings: WorkerSettings, work: Work): void {
  const shops = new Map<string, ShopMail>();
  const setShops = (all: readonly ShopMailSettings[]): void => {
    for (const shop of all) shops.set(shop.shopId, compileShop(shop));
  };
  setShops(settings.shops);
  const questions = new Map<number, (known: boolean) => void>();
  const outgoing = new TurnBatch<FromWorker>((messages, transfer) => {
    port.postMessage(messages, transfer);
  });

  const isKnown = (id: number, ids: readonly string[]) =>
    new Promise<boolean>((resolve) => {
      questions.set(id, resolve);
      outgoing.add({ kind: 'known?', id, ids });
    });

  const read = async ({ id, job, shop }: Waiting): Promise<void> => {
    try {
      if (shop === undefined) throw new TypeError('a job for a shop that is not configured');
      const { maxBufferBytes } = settings;
      const result = await work(job, { shop, maxBufferBytes, isKnown: (ids) => isKnown(id, ids) });
      const { owned, transfer } = withOwnBytes(result);
      outgoing.add({ kind: 'done', id, result: owned }, transfer);
    } catch (error) {
      outgoing.add({ kind: 'failed', id, failure: toFailure(error) });
    }
  };

  const waiting: Waiting[] = [];
  let reading = 0;
  const readNext = (): void => {
    const next = reading < CONCURRENCY ? waiting.shift() : undefined;
    if (next === undefined) return;
    reading += 1;
    void read(next).finally(() => {
      reading -= 1;
      readNext();
    });
  };

  const take = (message: ToWorker): void => {
    if (message.kind === 'read') {
      const { id, job } = message;
      waiting.push({ id, job, shop: shops.get(job.shopId) });
      readNext();
      return;
    }
    if (message.kind === 'shops') {
      setShops(message.shops);
      return;
    }
    questions.get(message.id)?.(message.known);
    questions.delete(message.id);
  };
  port.on('message', (messages: readonly ToWorker[]) => messages.forEach(take));
  outgoing.add({ kind: 'ready' });
}

/** Copies bytes into separate buffers, because cloning a view copies its whole buffer. */
function withOwnBytes(result: EmailResult): { owned: EmailResult; transfer: ArrayBuffer[] } {
  const transfer: ArrayBuffer[] = [];
  const files = result.files.map((file) => {
    if (file.source.kind !== 'bytes') return file;
    const bytes = ownBytes(file.source.bytes, transfer);
    transfer.push(bytes.buffer);
    return { ...file, source: { kind: 'bytes' as const, bytes } };
  });
  return { owned: { ...result, files }, transfer };
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

function toFailure(error: unknown): WorkerFailure {
  const name = error instanceof Error ? error.name : typeof error;
  if (error instanceof MemoryExceeded) return { cause: 'memory', name };
  if (!(error instanceof Error && 'syscall' in error)) return { cause: 'message', name };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { cause: 'system', name, ...(code !== undefined && { code }) };
}
