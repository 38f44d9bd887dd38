import type { ShopMailSettings } from '../shop-mail.ts';
import type { EmailJob, EmailResult } from '../email-job.ts';

/** What a worker is started with. */
export interface WorkerSettings {
  readonly shops: readonly ShopMailSettings[];
  readonly maxBufferBytes: number;
}

export type ToWorker =
  | { readonly kind: 'read'; readonly id: number; readonly job: EmailJob }
  /** For the messages after it. Those of a shop that is not among them are read as before. */
  | { readonly kind: 'shops'; readonly shops: readonly ShopMailSettings[] }
  /** The answer to `known?`. */
  | { readonly kind: 'known'; readonly id: number; readonly known: boolean };

export type FromWorker =
  | { readonly kind: 'ready' }
  /** Whether one of these message-ids has passed here. */
  | { readonly kind: 'known?'; readonly id: number; readonly ids: readonly string[] }
  | { readonly kind: 'done'; readonly id: number; readonly result: EmailResult }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: WorkerFailure };

export interface WorkerFailure {
  /**
   * `system`: the disk or the raw form, the same message may succeed later. `memory`: too much at
   * once, alone it may fit. `message`: this message, each time.
   */
  readonly cause: 'system' | 'memory' | 'message';
  readonly name: string;
  readonly code?: string;
}
