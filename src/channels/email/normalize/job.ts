import type { EmailReading } from '../../../domain/email-reading.ts';
import type { CreateMessageRequest } from '../../../platform-api/schemas.ts';
import type { Verdict } from '../../../intake/normalizer.ts';
import type { CountedMessage } from '../../../spool/sender-rates.ts';
import type { AuthenticationVerdict, SenderConfirmation } from '../authentication/verdict.ts';
import type { EmailMeta, RawSource } from '../stored.ts';
import type { ShopId } from '../../../domain/ids.ts';
import type { PartContent } from './parts/part-content.ts';
import type { ShopMailSettings } from '../shop.ts';

/** One message to read; can be cloned to another thread. */
export interface EmailJob {
  readonly shopId: ShopId;
  readonly remoteId: string;
  readonly receivedAt: number;
  readonly released: boolean;
  readonly meta: EmailMeta;
  /** Absent if the sender was not checked. */
  readonly authentication?: AuthenticationVerdict;
  readonly raw: RawSource;
  /** For public media: images are shown, with addresses that begin with this. */
  readonly imageBase?: string;
  /** A separate folder for this message, which does not exist yet. */
  readonly scratch: string;
  /** An operator asks how it is read. */
  readonly explain?: true;
}

/** The result of reading one message. */
export interface EmailResult {
  readonly verdict: Verdict;
  readonly request: CreateMessageRequest;
  readonly files: readonly AttachedFile[];
  readonly findings: Readonly<Record<string, string | number | boolean>>;
  /**
   * The quote and the signature that were removed from the content. Shown to operators, never
   * logged.
   */
  readonly trimmed?: string;
  /** Absent if it does not count toward the loop limits. `message` is absent without an id. */
  readonly counted?: Required<Pick<CountedMessage, 'person' | 'thread' | 'body'>> & {
    readonly message?: string;
  };
  /** `MessageHead.confirmation` */
  readonly confirmation: SenderConfirmation;
  /** How it was read, if that was asked. */
  readonly reading?: EmailReading;
  /** The job's scratch folder contains files. */
  readonly usedScratch: boolean;
}

export interface AttachedFile {
  readonly part: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  /** The placeholder for this image's address in the content. */
  readonly shownAs?: string;
  /** `raw`: the message itself. */
  readonly source: PartContent | { readonly kind: 'raw' };
}

/** The data with which a worker is started. */
export interface WorkerSettings {
  readonly shops: readonly ShopMailSettings[];
  readonly maxBufferBytes: number;
}

/** What a thread that reads mail offers. */
export interface MailThread {
  /** Fails with a `MailFailure` as its kind. */
  read(job: EmailJob): Promise<EmailResult>;
  /** For later messages. Those of a removed shop are read with its earlier settings. */
  setShops(shops: readonly ShopMailSettings[]): void;
}

/** What such a thread asks of the one that started it. */
export interface MailThreadOwner {
  /** The thread accepts jobs from now on. */
  ready(): void;
  /** Whether one of these message-ids has passed through here. */
  isKnown(shopId: ShopId, ids: readonly string[]): Promise<boolean>;
}

/**
 * `system`: the disk or the raw form failed; the same message may succeed later. `memory`: too much
 * at once; the message alone may fit. `message`: this message always fails.
 */
export type MailFailure = 'system' | 'memory' | 'message';
