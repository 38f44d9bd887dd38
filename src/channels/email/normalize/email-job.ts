import type { CreateMessageRequest } from '../../../platform-api/schemas.ts';
import type { Verdict } from '../../../intake/normalizer.ts';
import type { CountedMessage } from '../../../spool/sender-rates.ts';
import type { AuthenticationVerdict } from '../authentication/verdict.ts';
import type { EmailMeta } from '../email-meta.ts';
import type { RawSource } from '../raw-source.ts';
import type { ShopId } from '../../../domain/ids.ts';
import type { PartContent } from './parts/collect-part.ts';

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

/** What a message comes to. */
export interface EmailResult {
  readonly verdict: Verdict;
  readonly request: CreateMessageRequest;
  readonly files: readonly AttachedFile[];
  readonly notes: Readonly<Record<string, string | number | boolean>>;
  /** The quote and the signature that are not in the content: for a person's eyes, never the log. */
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
  /** What stands in the content for the address of this image. */
  readonly shownAs?: string;
  /** `raw`: the message itself. */
  readonly source: PartContent | { readonly kind: 'raw' };
}
