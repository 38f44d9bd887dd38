import type { CreateMessageRequest } from '../../../platform-api/schemas.ts';
import type { Verdict } from '../../../intake/normalizer.ts';
import type { CountedMessage } from '../../../spool/sender-rates.ts';
import type { AuthenticationVerdict } from '../authentication/verdict.ts';
import type { EmailMeta, RawSource } from '../stored.ts';
import type { ShopId } from '../../../domain/ids.ts';
import type { PartContent } from './parts/part-content.ts';
import type { ShopMailSettings } from '../shop.ts';

/** One message to be read; all of it can be cloned to another thread. */
export interface EmailJob {
  readonly shopId: ShopId;
  readonly remoteId: string;
  readonly receivedAt: number;
  readonly released: boolean;
  readonly meta: EmailMeta;
  /** Absent when the sender was not checked. */
  readonly authentication?: AuthenticationVerdict;
  readonly raw: RawSource;
  /** Where media is public: images are shown, as addresses that begin with this. */
  readonly imageBase?: string;
  /** A folder of this message's own, not made yet. */
  readonly scratch: string;
}

/** The result of reading one message. */
export interface EmailResult {
  readonly verdict: Verdict;
  readonly request: CreateMessageRequest;
  readonly files: readonly AttachedFile[];
  readonly notes: Readonly<Record<string, string | number | boolean>>;
  /** The quote and the signature that are not in the content. Shown to a person, never logged. */
  readonly trimmed?: string;
  /** Absent when it does not count toward the loop limits. `message` is absent without an id. */
  readonly counted?: Required<Pick<CountedMessage, 'person' | 'thread' | 'body'>> & {
    readonly message?: string;
  };
  /** There are files in the job's scratch folder. */
  readonly usedScratch: boolean;
}

export interface AttachedFile {
  readonly part: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  /** The placeholder in the content for the address of this image. */
  readonly shownAs?: string;
  /** `raw`: the message itself. */
  readonly source: PartContent | { readonly kind: 'raw' };
}

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
