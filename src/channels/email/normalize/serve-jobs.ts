import type { MessagePort } from 'node:worker_threads';
import type { EmailJob, EmailResult } from './email-job.ts';
import { MemoryExceeded } from './memory-guard.ts';
import type { NormalizeContext } from './normalize-message.ts';
import { compileShop } from './shop-mail.ts';
import type { FromWorker, ToWorker, WorkerFailure, WorkerSettings } from './worker-messages.ts';

export type Work = (job: EmailJob, context: NormalizeContext) => Promise<EmailResult>;

/** Answers jobs on a port, several at a time. Nothing here throws: the other side has the say. */
export function serveJobs(port: MessagePort, settings: WorkerSettings, work: Work): void {
  const shops = new Map(settings.shops.map((shop) => [shop.shopId, compileShop(shop)]));
  const questions = new Map<number, (known: boolean) => void>();
  const send = (message: FromWorker, transfer: ArrayBuffer[] = []) => {
    port.postMessage(message, transfer);
  };

  const isKnown = (id: number, ids: readonly string[]) =>
    new Promise<boolean>((resolve) => {
      questions.set(id, resolve);
      send({ kind: 'known?', id, ids });
    });

  const read = async (id: number, job: EmailJob): Promise<void> => {
    try {
      const shop = shops.get(job.shopId);
      if (shop === undefined) throw new TypeError('a job for a shop that is not configured');
      const { maxBufferBytes } = settings;
      const result = await work(job, { shop, maxBufferBytes, isKnown: (ids) => isKnown(id, ids) });
      const { owned, transfer } = withOwnBytes(result);
      send({ kind: 'done', id, result: owned }, transfer);
    } catch (error) {
      send({ kind: 'failed', id, failure: toFailure(error) });
    }
  };

  port.on('message', (message: ToWorker) => {
    if (message.kind === 'read') {
      void read(message.id, message.job);
      return;
    }
    questions.get(message.id)?.(message.known);
    questions.delete(message.id);
  });
  send({ kind: 'ready' });
}

/** Bytes in buffers of their own: cloning a view takes along all of the buffer that it looks at. */
function withOwnBytes(result: EmailResult): { owned: EmailResult; transfer: ArrayBuffer[] } {
  const transfer: ArrayBuffer[] = [];
  const files = result.files.map((file) => {
    if (file.source.kind !== 'bytes') return file;
    const bytes = new Uint8Array(file.source.bytes);
    transfer.push(bytes.buffer);
    return { ...file, source: { kind: 'bytes' as const, bytes } };
  });
  return { owned: { ...result, files }, transfer };
}

function toFailure(error: unknown): WorkerFailure {
  const name = error instanceof Error ? error.name : typeof error;
  if (error instanceof MemoryExceeded) return { cause: 'memory', name };
  if (!(error instanceof Error && 'syscall' in error)) return { cause: 'message', name };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { cause: 'system', name, ...(code !== undefined && { code }) };
}
