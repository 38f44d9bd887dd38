import type { Reason } from '../../../../src/domain/reasons.ts';
import { join } from 'node:path';
import { FormFields, readIdentity } from '../../../../src/channels/sms/providers/twilio/form.ts';
import { createSmsNormalizer } from '../../../../src/channels/sms/normalize.ts';
import { type Arrival, createIntake } from '../../../../src/intake/intake.ts';
import {
  AttachmentLate,
  AttachmentUnavailable,
  type Normalized,
  NotYet,
} from '../../../../src/intake/normalizer.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import type { CreateMessageRequest } from '../../../../src/platform-api/schemas.ts';
import type { Claimed, Outcome } from '../../../../src/spool/entry.ts';
import type { Store } from '../../../../src/spool/store.ts';
import { openStore } from '../../../support/store.ts';
import { claimFrom, retryLater, because } from '../../../support/entries.ts';
import { ends } from '../../../support/ends.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  inboundForm,
  mediaForm,
  mediaPath,
  mediaSid,
  messageSid,
  type StandInAnswer,
  startTwilioStandIn,
  type TwilioStandIn,
} from '../../../support/twilio-stand-in.ts';
import { smsShop, toArrival } from '../running-door.ts';

export const MINUTE = 60_000;
export const ME = mediaSid;
export const placeholder = (n: number): string =>
  `[attachment could not be retrieved: image/jpeg, ${ME(n)}]`;

/** What became of one entry in one attempt. */
export interface Attempted {
  readonly outcome: Outcome['state'] | 'nothing';
  readonly remoteId?: string;
  readonly lane?: string;
  readonly request?: CreateMessageRequest;
  readonly content?: string;
  /** Names of the attachments; `saved` for what an earlier attempt uploaded. */
  readonly files?: readonly string[];
  readonly late?: readonly string[];
  readonly followUp?: Arrival | undefined;
  readonly reason?: string;
  readonly waitMs?: number;
}

interface AttemptHow {
  readonly released?: boolean;
  readonly platform?: 'down';
}

/** The texts of one shop from a store to a platform that is not there, by a clock of its own. */
export class LateScene {
  now = Date.UTC(2026, 4, 1);
  readonly receivedAt = this.now;
  readonly dir: string;
  readonly #twilio: TwilioStandIn;
  #store: Store;
  #normalize;
  readonly #metrics = createMetrics();
  readonly #shop;
  #texts = 0;

  constructor(dir: string, twilio: TwilioStandIn, store: Store) {
    this.dir = dir;
    this.#twilio = twilio;
    this.#store = store;
    const account = { accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN] };
    this.#shop = smsShop({ twilio: { ...account, apiBaseUrl: twilio.baseUrl } });
    this.#normalize = this.#normalizer();
  }

  get #intake() {
    const { spool, chat } = this.#store;
    const clock = () => this.now;
    return createIntake({
      ...{ spool, chat, metrics: this.#metrics, clock },
      onAccepted: () => undefined,
    });
  }

  #normalizer() {
    return createSmsNormalizer(
      {
        shops: [this.#shop],
        scratchDir: join(this.dir, 'scratch'),
        media: { retry: { retries: 2, minTimeoutMs: 1 } },
      },
      {
        optOuts: this.#store.optOuts,
        personOf: (lane) => this.#store.spool.personOf(lane),
        countMessage: () => Promise.resolve(undefined),
        clock: () => this.now,
        logger: silentLogger,
        metrics: this.#metrics,
      },
    );
  }

  /** What Twilio answers from now on about the nth picture of the first text. */
  answer(n: number, answer: StandInAnswer): void {
    this.#twilio.script(this.#path(n), answer);
  }

  asked(n: number): number {
    return this.#twilio.requests.filter(({ path }) => path === this.#path(n)).length;
  }

  #path = (n: number): string => mediaPath(messageSid(1, 'MM'), ME(n));

  async alarms(): Promise<number> {
    const { values } = await this.#metrics.alarms.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  }

  /** Accepts a text as the webhook does. Resolves with its MessageSid. */
  async accept({
    pictures = 0,
    ...form
  }: {
    readonly pictures?: number;
    readonly Body?: string;
    readonly From?: string;
  }): Promise<string> {
    this.#texts += 1;
    const sid = messageSid(this.#texts, 'MM');
    const pairs = inboundForm({ MessageSid: sid, ...mediaForm(sid, pictures), ...form });
    const identity = readIdentity(new FormFields(pairs));
    await this.#intake.accept([toArrival(this.#shop, identity, pairs)]);
    return sid;
  }

  /** Nothing of what is in memory outlives it. */
  async restart(): Promise<void> {
    await this.#store.spool.close();
    this.#store = await openStore(this.dir);
    await this.#store.spool.recover();
    this.#normalize = this.#normalizer();
  }

  close(): Promise<void> {
    return this.#store.spool.close();
  }

  /** One attempt at the next entry, as delivery makes it. What waits may be claimed again at once. */
  async attempt(how: AttemptHow = {}): Promise<Attempted> {
    const { spool } = this.#store;
    const [claimed] = await claimFrom(spool, this.#shop.shopId, 1, MINUTE);
    if (claimed === undefined) return { outcome: 'nothing' };
    const signal = new AbortController().signal;
    const { remoteId, lane } = claimed.entry;
    try {
      const released = how.released ?? false;
      const normalized = await this.#normalize({ ...claimed, released }, signal);
      try {
        return { remoteId, lane, ...(await this.#submit(claimed, normalized, how)) };
      } finally {
        await normalized.dispose();
      }
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
      await this.#waits(claimed, error.reason);
      return { outcome: 'queued', remoteId, lane, waitMs: error.retryAfterMs };
    }
  }

  async #waits({ lease }: Claimed, reason: Reason): Promise<void> {
    const outcome = retryLater({ reason, counts: false, failingMs: 0, detach: true });
    await this.#store.spool.settle(lease, outcome, { steps: [] });
  }

  async #submit(
    claimed: Claimed,
    normalized: Normalized,
    { platform }: AttemptHow,
  ): Promise<Attempted> {
    const { verdict, request } = normalized;
    const { spool } = this.#store;
    if (verdict.kind !== 'deliver') {
      await spool.settle(
        claimed.lease,
        { state: verdict.kind, reason: verdict.reason },
        { steps: [] },
      );
      return { outcome: verdict.kind, reason: verdict.reason.code };
    }
    const { files, missing, late } = await this.#upload(claimed, normalized);
    if (platform === 'down') {
      await this.#waits(claimed, because('down'));
      return { outcome: 'queued' };
    }
    await spool.settle(claimed.lease, { state: 'delivered' }, { steps: [] });
    const followUp = late.length === 0 ? undefined : normalized.followUp?.(late);
    if (followUp !== undefined) await this.#intake.accept([followUp]);
    const content = [request.message.content, ...missing].join('\n');
    return { outcome: 'delivered', request, content, files, late, followUp };
  }

  async #upload({ media, lease }: Claimed, { attachments }: Normalized) {
    const files: string[] = [];
    const missing: string[] = [];
    const late: string[] = [];
    for (const attachment of attachments) {
      const { part } = attachment;
      if (media.has(part)) {
        files.push('saved');
        continue;
      }
      try {
        const { name } = await attachment.open(new AbortController().signal);
        files.push(name);
        await this.#store.spool.saveMedia(lease, part, { id: `id of ${part}` });
      } catch (error) {
        if (error instanceof AttachmentLate) late.push(part);
        else if (!(error instanceof AttachmentUnavailable)) throw error;
        missing.push(attachment.placeholder);
      }
    }
    return { files, missing, late };
  }
}

export async function lateScene(): Promise<LateScene> {
  const dir = tempDir();
  ends(() => dir.remove());
  const twilio = await startTwilioStandIn();
  ends(() => twilio.close());
  const store = await openStore(dir.path);
  const scene = new LateScene(dir.path, twilio, store);
  ends(() => scene.close());
  return scene;
}
