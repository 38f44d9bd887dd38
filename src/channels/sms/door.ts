import type { OutgoingHttpHeaders } from 'node:http';
import { performance } from 'node:perf_hooks';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { ShopId } from '../../domain/ids.ts';
import type { ReplyReport } from '../../domain/reply-fate.ts';
import type { Intake } from '../../intake/intake.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { Seldom } from '../../runtime/seldom.ts';
import { SpoolFull, SpoolUnavailable } from '../../spool/errors.ts';
import type { OptOutStore } from '../../spool/opt-out-store.ts';
import { recordBlocked } from './normalize/consent.ts';
import type { ProviderWebhook, ReadRequest, ReceivedText, WebhookContent } from './provider.ts';
import { WEBHOOKS } from './providers/registry.ts';
import { arrivalOfContent, type LastingContent } from './receive.ts';
import { createShopDirectory, isOurs, type ShopDirectory, type SmsShop } from './shop.ts';
import {
  type BadParameter,
  contentTypeOf,
  loggableUrl,
  readBody,
  WebhookRefused,
} from './webhook-request.ts';
import { withoutEnd } from '../../runtime/without-end.ts';

/**
 * The path of a text, from the provider's request to the payload (`provider.ts` says what a
 * provider is, `providers/registry.ts` which there are):
 * - `POST /sms/<provider>` is handled here; the provider's `webhook.ts` reads the body, of
 *   limited size; `shop.ts` finds the shop of each message, one of whose keys must have signed the
 *   request.
 * - `receive.ts` builds the arrival of that shop: lane, dedup key and remote id; `stored.ts` defines
 *   the stored form.
 * - `intake/intake.ts` stores it durably; only then this file responds with 200.
 * - `reconciliation/` finds texts that no webhook delivered through the provider's API; they take
 *   the same path.
 * - Delivery calls `normalize.ts`: the provider's `texts.ts` reads the stored text,
 *   `normalize/consent.ts` (STOP, START), `limits.ts` (floods), `normalize/content.ts` (the text),
 *   `normalize/medium.ts` and `normalize/text-media.ts` (media; late ones follow in a separate
 *   message).
 * - All requests to providers use `providers/requests.ts`.
 */

/** A text of 1,600 characters with ten media URLs is smaller than 20 KiB. */
const MAX_BODY_BYTES = 64 * 1024;
const RETRY_AFTER_SECONDS = '10';
const HOUR_MS = 3_600_000;
/** How many keys that were refused are told in an hour. */
const MAX_REFUSED_KEYS = 20;

export interface SmsWebhookOptions {
  readonly shops: readonly SmsShop[];
  /** `http.publicUrl`: the origin, and the path if any, under which providers reach this server. */
  readonly publicUrl: string;
}

export interface SmsWebhookDeps {
  readonly intake: Pick<Intake, 'accept'>;
  readonly optOuts: OptOutStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** What became of a message of ours, or of another sender of the account. */
  readonly onStatus?: ((report: StatusReport) => Promise<void>) | undefined;
}

/** A provider's report of a message that was sent. */
export interface StatusReport extends ReplyReport {
  /** The provider's id of the message. */
  readonly remoteId: string;
  /** The shops of the account that signed it. */
  readonly shops: readonly ShopId[];
}

/**
 * The webhooks for inbound messages and for status callbacks: `POST /sms/<provider>` for each
 * provider, whether or not a shop uses it.
 *
 * | response | when |
 * | --- | --- |
 * | 200 with the provider's body | all messages are durable, now or since an earlier delivery |
 * | 204 (or 200) | status callbacks, test requests, echoes that are not stored, or events that do not concern the gateway |
 * | 400 | a parameter is missing, repeated or malformed |
 * | 403 | not signed with a key of the shop, or no shop to check it with |
 * | 405, 413, 415 | not a POST, larger than 64 KiB (or the provider's own limit), a content type that the provider does not send |
 * | 503 | the spool cannot accept it now |
 *
 * If a request has several messages, those that can be accepted are durable before it is refused for
 * another one: the provider repeats the whole request, and known messages are not stored twice.
 *
 * Only the 200 has a body that a provider may interpret: the text of any other response could be
 * sent to the customer. 429 is never used, because providers would not retry.
 */
export function createSmsWebhook(options: SmsWebhookOptions, deps: SmsWebhookDeps): Router {
  const router = express.Router();
  for (const provider of WEBHOOKS) addWebhook(router, new Webhook(provider, options, deps));
  return router;
}

function addWebhook(router: Router, webhook: Webhook): void {
  const { path } = webhook;
  router.post(path, (req, res) => webhook.receive(req, res));
  if (webhook.isVerified) router.get(path, (req, res) => webhook.verify(req, res));
  router.all(path, (_req, res) => {
    res.setHeader('Allow', webhook.isVerified ? 'GET, POST' : 'POST');
    throw new WebhookRefused(405, 'method', 'Configure the webhook as HTTP POST');
  });
  router.use(path, (error: unknown, _req: Request, res: Response, next: NextFunction) => {
    // A response was already sent; express closes the connection.
    if (res.headersSent) next(error);
    else webhook.refuse(res, error);
  });
}

type Status = WebhookContent & { readonly kind: 'status' };
type Noted = Status | (WebhookContent & { readonly kind: 'other' });

interface ShopContent {
  readonly shop: SmsShop;
  readonly content: LastingContent;
}

interface Sorted {
  readonly lasting: readonly ShopContent[];
  readonly noted: readonly Noted[];
  /** Why the first of the others was refused. */
  readonly refusal: WebhookRefused | undefined;
}

interface ShopFound {
  readonly kind: 'found';
  readonly shop: SmsShop;
}

/** Nothing of it is stored. */
interface Passed {
  readonly kind: 'passed';
}

interface Refused {
  readonly kind: 'refused';
  readonly refusal: WebhookRefused;
  /** Tells the operator. */
  report(url: string): void;
}

class Webhook {
  readonly path: string;
  /** Whether the provider checks the URL by a GET. */
  readonly isVerified: boolean;
  readonly #provider: ProviderWebhook;
  readonly #acceptedHeaders: OutgoingHttpHeaders;
  readonly #shops: ShopDirectory;
  readonly #publicUrl: string;
  readonly #intake: Pick<Intake, 'accept'>;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #onStatus: SmsWebhookDeps['onStatus'];
  readonly #consent: Pick<SmsWebhookDeps, 'intake' | 'optOuts'>;
  readonly #refusedKeys = new Seldom(HOUR_MS, MAX_REFUSED_KEYS);
  readonly #tests = new Seldom(HOUR_MS, 1);

  constructor(provider: ProviderWebhook, options: SmsWebhookOptions, deps: SmsWebhookDeps) {
    this.path = `/sms/${provider.name}`;
    this.isVerified = provider.challenge !== undefined;
    this.#provider = provider;
    const { type, body } = provider.accepted;
    this.#acceptedHeaders = {
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Length': Buffer.byteLength(body),
    };
    this.#shops = createShopDirectory(
      options.shops.filter(({ account }) => account.provider === provider.name),
    );
    if (!URL.canParse(options.publicUrl)) throw new TypeError('publicUrl must be a URL');
    this.#publicUrl = withoutEnd(options.publicUrl, /\//);
    this.#intake = deps.intake;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#onStatus = deps.onStatus;
    this.#consent = deps;
  }

  async receive(req: Request, res: Response): Promise<void> {
    const { accepted, maxBodyBytes = MAX_BODY_BYTES, notedStatus = 204 } = this.#provider;
    this.#assertContentType(req);
    const body = await readBody(req, maxBodyBytes);
    const startedAt = performance.now();
    // Providers send no other form of request target (RFC 9112 §3.2.2), and another form could turn
    // the public URL into one of another host.
    const path = req.originalUrl.startsWith('/') ? req.originalUrl : '';
    const url = this.#publicUrl + path;
    const { headers } = req;
    const request = this.#provider.read({
      ...{ headers, body, now: Date.now() },
      url: path === '' ? undefined : url,
    });
    const { lasting, noted, refusal } = this.#sort(url, request);
    if (lasting.length > 0) await this.#accept(lasting);
    // Only now, because a request that is answered 503 comes again.
    for (const content of noted) await this.#note(content, request);
    if (refusal !== undefined) throw refusal;
    if (lasting.length === 0) {
      res.writeHead(notedStatus).end();
      return;
    }
    res.writeHead(200, this.#acceptedHeaders).end(accepted.body);
    this.#metrics.ackSeconds.observe({ channel: 'sms' }, (performance.now() - startedAt) / 1000);
  }

  /**
   * Sorts the contents of a request. Each is the business of the shop whose key signed it.
   * @throws {WebhookRefused}
   */
  #sort(url: string, request: ReadRequest): Sorted {
    const lasting: ShopContent[] = [];
    const noted: Noted[] = [];
    const refusals = new Map<string, WebhookRefused>();
    for (const content of this.#contentsOf(url, request)) {
      const shop = this.#shopOf(request, content);
      if (shop.kind === 'refused') {
        const { refusal } = shop;
        // Once for a request, which may have hundreds of messages.
        if (!refusals.has(refusal.reason)) shop.report(url);
        refusals.set(refusal.reason, refusals.get(refusal.reason) ?? refusal);
      } else if (shop.kind === 'found') {
        if ('text' in content) lasting.push({ shop: shop.shop, content });
        else if (content.kind !== 'unreadable') noted.push(content);
      }
    }
    const [refusal] = refusals.values();
    return { lasting, noted, refusal };
  }

  /** @throws {WebhookRefused} a stranger's request that is costly to read, or that cannot be read */
  #contentsOf(url: string, request: ReadRequest): readonly WebhookContent[] {
    const { contents } = request;
    if (typeof contents !== 'function') return contents;
    const { all } = this.#shops;
    if (all.some(({ account }) => request.isSignedBy(account))) return contents();
    const stranger = this.#unsigned(request, all);
    stranger.report(url);
    throw stranger.refusal;
  }

  /** Resolves when all of them are durable. @throws {SpoolFull} {SpoolUnavailable} none is */
  async #accept(lasting: readonly ShopContent[]): Promise<void> {
    const results = await this.#intake.accept(
      lasting.map(({ shop, content }) => arrivalOfContent(shop, content)),
    );
    for (const [index, { shop, content }] of lasting.entries()) {
      const result = results[index];
      if (result === undefined) throw new Error('The intake answered nothing');
      const { id: entry, duplicate } = result;
      this.#logger.info('sms.accepted', {
        ...{ entry, shop: shop.name, messageSid: content.text.id, duplicate },
      });
    }
  }

  /** Counts what is no message, and passes reports on. */
  async #note(content: Noted, request: ReadRequest): Promise<void> {
    if (content.kind === 'other') {
      this.#logger.info('sms.event_ignored', { event: content.event });
      return;
    }
    this.#provider.note?.(content, Date.now());
    for (const { status, code } of content.statuses) {
      this.#metrics.smsStatusCallbacks.inc({ status });
      if (code === undefined) continue;
      this.#logger.warn('sms.not_delivered', { messageSid: content.id, status, code });
    }
    // A reply has one recipient.
    const [told] = content.statuses;
    if (told?.code !== undefined && told.code === this.#provider.optOutCode) {
      await this.#optOut(content, request);
    }
    if (told?.state === undefined || this.#onStatus === undefined) return;
    const { state, code, reason } = told;
    const signers = this.#shops
      .ofAccount(content.account)
      .filter(({ account }) => request.isSignedBy(account));
    await this.#onStatus({
      ...{ remoteId: content.id, shops: signers.map(({ shopId }) => shopId), state },
      ...(code !== undefined && { code }),
      ...(reason !== undefined && { reason }),
    });
  }

  async #optOut({ account, id, between }: Status, request: ReadRequest): Promise<void> {
    if (between === undefined) return;
    const shop = this.#shops.find(account, between.ours);
    if (shop === undefined || !request.isSignedBy(shop.account)) return;
    await recordBlocked({ shopId: shop.shopId, account, ...between, id }, this.#consent);
  }

  /**
   * The shop that the content is for. In a group there may be numbers of several shops, and each of
   * their accounts sends an event with the same recipients: the signature tells whose it is. A shop
   * whose key signed the request cannot send messages to another one, even in the same request.
   */
  #shopOf(request: ReadRequest, content: WebhookContent): ShopFound | Passed | Refused {
    const text = 'text' in content ? content.text : undefined;
    const { account } = 'text' in content ? content.text : content;
    const addressed = text === undefined ? [] : this.#addressed(text);
    const signers = addressed.length > 0 ? addressed : this.#shops.ofAccount(account);
    const shop = signers.find((each) => request.isSignedBy(each.account));
    if (shop === undefined) return this.#unsigned(request, signers);
    if (text !== undefined && addressed.length === 0) {
      return 'isTest' in text && text.isTest ? this.#test() : this.#unknownNumber(text);
    }
    const isEcho =
      content.kind === 'echo' || (content.kind === 'message' && isOurs(shop, content.text.from));
    if (isEcho) return this.#echo(shop, content);
    if (content.kind === 'unreadable') return this.#unreadable(content.refusal);
    return { kind: 'found', shop };
  }

  #addressed({
    account,
    to,
    alsoTo = [],
    service,
  }: Pick<ReceivedText, 'account' | 'to' | 'alsoTo' | 'service'>): readonly SmsShop[] {
    return [to, ...alsoTo].flatMap((each) => this.#shops.find(account, each, service) ?? []);
  }

  #unsigned(
    { unsigned: signature, sharedKey }: ReadRequest,
    { length: shops }: readonly SmsShop[],
  ): Refused {
    const refusal = new WebhookRefused(403, 'signature', 'The signature does not match');
    const report = (url: string) => {
      this.#metrics.webhookSignatureFailures.inc();
      this.#logger.warn('sms.signature_refused', { url: loggableUrl(url), signature, shops });
      // Anyone can name any key.
      if (sharedKey === undefined || shops === 0) return;
      if (!this.#refusedKeys.isDue(sharedKey, Date.now())) return;
      this.#metrics.alarms.inc({ alarm: 'sms_shared_key' });
      this.#logger.error('sms.shared_key_refused', { sharedKey, setting: 'twilio.sharedKeys' });
    };
    return { kind: 'refused', refusal, report };
  }

  #test(): Passed {
    const provider = this.#provider.name;
    if (this.#tests.isDue(provider, Date.now()))
      this.#logger.info('sms.test_request', { provider });
    return { kind: 'passed' };
  }

  /**
   * What the shop writes on its own phone. The documented API has no place for it, and a message from
   * our number to our number belongs to no conversation: these are only counted.
   */
  #echo(shop: SmsShop, { kind, text }: LastingContent): ShopFound | Passed {
    const isNoted = kind === 'echo' && shop.hasNotes === true;
    this.#metrics.smsEchoes.inc({ shop: shop.name });
    this.#logger.info('sms.echo', { shop: shop.name, messageSid: text.id, isNoted });
    return isNoted ? { kind: 'found', shop } : { kind: 'passed' };
  }

  /** The provider signed it, so this is not an attack: a number is missing in the configuration. */
  #unknownNumber({ account: accountSid, id: messageSid }: LastingContent['text']): Refused {
    const text = 'No shop has this account and number';
    const refusal = new WebhookRefused(403, 'unknown_number', text);
    const report = () => {
      this.#metrics.alarms.inc({ alarm: 'sms_unknown_number' });
      this.#logger.error('sms.unknown_number', { accountSid, messageSid });
    };
    return { kind: 'refused', refusal, report };
  }

  /** The provider repeats the request, so the message may be read after an upgrade. */
  #unreadable(refusal: BadParameter): Refused {
    const report = () => {
      this.#metrics.alarms.inc({ alarm: 'sms_unreadable_message' });
      this.#logger.error('sms.unreadable_message', { parameter: refusal.parameter });
    };
    return { kind: 'refused', refusal, report };
  }

  /**
   * Responds to the GET by which a provider checks the URL. The text is the provider's, so a
   * browser must not take it for a page.
   */
  verify(req: Request, res: Response): void {
    const accounts = this.#shops.all.map(({ account }) => account);
    const { searchParams } = new URL(req.originalUrl, 'http://gateway');
    const text = this.#provider.challenge?.(searchParams, accounts);
    if (text === undefined) {
      res.setHeader('Allow', 'GET, POST');
      throw new WebhookRefused(403, 'challenge', 'The token is none of a shop');
    }
    res.setHeader('X-Content-Type-Options', 'nosniff').type('text/plain').send(text);
  }

  /** @throws {WebhookRefused} */
  #assertContentType({ headers }: Request): void {
    const { contentTypes } = this.#provider;
    const type = contentTypeOf(headers);
    if (type !== undefined && contentTypes.includes(type)) return;
    throw new WebhookRefused(415, 'content_type', `Expected ${contentTypes.join(' or ')}`);
  }

  refuse(res: Response, error: unknown): void {
    const { status, reason, message } = this.#refusalFor(error);
    this.#metrics.refused.inc({ channel: 'sms', reason });
    if (status === 503) res.set('Retry-After', RETRY_AFTER_SECONDS);
    // The rest of an unread body must not be interpreted as the next request.
    if (status === 413 || status === 415) res.set('Connection', 'close');
    res.status(status).type('text/plain').send(`${message}\n`);
  }

  #refusalFor(error: unknown): WebhookRefused {
    if (error instanceof WebhookRefused) return error;
    if (error instanceof SpoolFull || error instanceof SpoolUnavailable) {
      this.#logger.error('sms.not_accepted', errorFields(error));
      return new WebhookRefused(503, 'spool', 'Try again later');
    }
    this.#logger.error('sms.webhook_failed', errorFields(error));
    return new WebhookRefused(500, 'internal', 'Internal error');
  }
}
