import type { PlatformError } from '../platform-api/errors.ts';
import type { CreatedMessage } from '../platform-api/resources.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import type { Claimed } from '../spool/entry.ts';
import type { Spool } from '../spool/spool.ts';
import { Forbidden, type Part } from './answer.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { Notes } from './notes.ts';
import type { Requests } from './requests.ts';
import type { ShopPlatform } from './shop-platform.ts';
import type { Steps } from './steps.ts';

/** One attempt at one entry: what its steps share. */
export interface Work {
  readonly claimed: Claimed;
  readonly shop: ShopPlatform;
  readonly spool: Spool;
  readonly requests: Requests;
  readonly notes: Notes;
  readonly steps: Steps;
  readonly record: AttemptRecord;
  readonly signal: AbortSignal;
  /** It is to find out whether the endpoint works again: its requests use up no budget. */
  readonly probes: Part | undefined;
}

/** What the platform has taken. */
export interface Submitted {
  /** As it went through. */
  readonly request: CreateMessageRequest;
  readonly message: CreatedMessage | undefined;
  /** What an operator should know of it. */
  readonly caveat?: string;
  /** An earlier attempt submitted it: this request may differ from the one that was accepted. */
  readonly isRecalled?: true;
}

/** After an answer that is `forbidden` (`answer.ts`): is it the key, or this one request? */
export async function forbidden(work: Work, part: Part, error: PlatformError): Promise<Forbidden> {
  return new Forbidden(part, error, (await work.shop.checkReadsAnew()) === 'failed');
}
