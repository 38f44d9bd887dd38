import { performance } from 'node:perf_hooks';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { ShopId } from '../../domain/ids.ts';
import type { ReplyReport } from '../../domain/reply-fate.ts';
import type { Intake } from '../../intake/intake.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { SpoolFull, SpoolUnavailable } from '../../spool/errors.ts';
import type { ProviderWebhook, ReadRequest, ReceivedText, WebhookContent } from './provider.ts';
import { WEBHOOKS } from './providers/registry.ts';
import { arrivalOf } from './receive.ts';
import { createShopDirectory, type ShopDirectory, type SmsShop } from './shop.ts';
import { contentTypeOf, readBody, WebhookRefused } from './webhook-request.ts';

/**
 * The path of a text, from the provider's request to the payload (`provider.ts` says what a
 * provider is, `providers/registry.ts` which there are):
 * - `POST /sms/<provider>` is handled here; the provider's `webhook.ts` reads the body, up to 64
 *   KiB; `shop.ts` finds the shop, one of whose keys must have signed the request.
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

export interface SmsWebhookOptions {
  readonly shops: readonly SmsShop[];
  /** `http.publicUrl`: the origin, and the path if any, under which providers reach this server. */
  readonly publicUrl: string;
}

export interface SmsWebhookDeps {
  readonly intake: Pick<Intake, 'accept'>;
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
 * | 200 with the provider's body | the message is durable, now or since an earlier delivery |
 * | 204 | a status callback, or an event that does not concern the gateway |
 * | 400 | a parameter is missing, repeated or malformed |
 * | 403 | not signed with a key of the shop, or no shop to check it with |
 * | 405, 413, 415 | not a POST, larger than 64 KiB, a content type that the provider does not send |
 * | 503 | the spool cannot accept it now |
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
  router.all(path, (_req, res) => {
    res.setHeader('Allow', 'POST');
    throw new WebhookRefused(405, 'method', 'Configure the webhook as HTTP POST');
  });
  router.use(path, (error: unknown, _req: Request, res: Response, next: NextFunction) => {
    // A response was already sent; express closes the connection.
    if (res.headersSent) next(error);
    else webhook.refuse(res, error);
  });
}

class Webhook {
  readonly path: string;
  readonly #provider: ProviderWebhook;
  readonly #shops: ShopDirectory;
  readonly #publicUrl: string;
  readonly #intake: Pick<Intake, 'accept'>;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #onStatus: SmsWebhookDeps['onStatus'];

  constructor(provider: ProviderWebhook, options: SmsWebhookOptions, deps: SmsWebhookDeps) {
    this.path = `/sms/${provider.name}`;
    this.#provider = provider;
    this.#shops = createShopDirectory(
      options.shops.filter(({ account }) => account.provider === provider.name),
    );
    if (!URL.canParse(options.publicUrl)) throw new TypeError('publicUrl must be a URL');
    this.#publicUrl = options.publicUrl.replace(/\/+$/, '');
    this.#intake = deps.intake;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#onStatus = deps.onStatus;
  }

  async receive(req: Request, res: Response): Promise<void> {
    this.#assertContentType(req);
    const body = await readBody(req, MAX_BODY_BYTES);
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
    const { content } = request;
    if (content.kind !== 'message') {
      const shops = this.#shops.ofAccount(content.account);
      this.#assertSigned(url, request, shops);
      const signers = shops.filter(({ account }) => request.isSignedBy(account));
      await this.#note(content, signers);
      res.writeHead(204).end();
      return;
    }
    const { text } = content;
    const shop = this.#shopOf(url, request, text);
    const [accepted] = await this.#intake.accept([arrivalOf(shop, text)]);
    if (accepted === undefined) throw new Error('The intake answered nothing');
    res.type(this.#provider.accepted.type).send(this.#provider.accepted.body);
    this.#metrics.ackSeconds.observe({ channel: 'sms' }, (performance.now() - startedAt) / 1000);
    const { duplicate, id } = accepted;
    this.#logger.info('sms.accepted', {
      ...{ entry: id, shop: shop.name, messageSid: text.id, duplicate },
    });
  }

  /** Counts what is no message, and passes reports on. */
  async #note(
    content: Exclude<WebhookContent, { kind: 'message' }>,
    signers: readonly SmsShop[],
  ): Promise<void> {
    if (content.kind === 'other') {
      this.#logger.debug('sms.event_ignored', { event: content.event });
      return;
    }
    for (const { status, code } of content.statuses) {
      this.#metrics.smsStatusCallbacks.inc({ status });
      if (code === undefined) continue;
      this.#logger.warn('sms.not_delivered', { messageSid: content.id, status, code });
    }
    // A reply has one recipient.
    const [told] = content.statuses;
    if (told?.state === undefined || this.#onStatus === undefined) return;
    const { state, code, reason } = told;
    await this.#onStatus({
      ...{ remoteId: content.id, shops: signers.map(({ shopId }) => shopId), state },
      ...(code !== undefined && { code }),
      ...(reason !== undefined && { reason }),
    });
  }

  /**
   * The shop that the message is for. In a group there may be numbers of several shops, and each of
   * their accounts sends an event with the same recipients: the signature tells whose it is.
   * @throws {WebhookRefused}
   */
  #shopOf(url: string, request: ReadRequest, text: ReceivedText): SmsShop {
    const { account, id, service } = text;
    const addressed = [text.to, ...(text.alsoTo ?? [])].flatMap(
      (to) => this.#shops.find(account, to, service) ?? [],
    );
    const shop = addressed.find((each) => request.isSignedBy(each.account));
    if (shop !== undefined) return shop;
    const signers = addressed.length > 0 ? addressed : this.#shops.ofAccount(account);
    this.#assertSigned(url, request, signers);
    // The provider signed it, so this is not an attack: a number is missing in the configuration.
    this.#metrics.alarms.inc({ alarm: 'sms_unknown_number' });
    this.#logger.error('sms.unknown_number', { accountSid: account, messageSid: id });
    throw new WebhookRefused(403, 'unknown_number', 'No shop has this account and number');
  }

  /** @throws {WebhookRefused} */
  #assertContentType({ headers }: Request): void {
    const { contentTypes } = this.#provider;
    const type = contentTypeOf(headers);
    if (type !== undefined && contentTypes.includes(type)) return;
    throw new WebhookRefused(415, 'content_type', `Expected ${contentTypes.join(' or ')}`);
  }

  /** @throws {WebhookRefused} */
  #assertSigned(url: string, request: ReadRequest, signers: readonly SmsShop[]): void {
    if (signers.some(({ account }) => request.isSignedBy(account))) return;
    this.#metrics.webhookSignatureFailures.inc();
    this.#logger.warn('sms.signature_refused', {
      url: loggableUrl(url),
      signature: request.unsigned,
      shops: signers.length,
    });
    throw new WebhookRefused(403, 'signature', 'The signature does not match');
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

/**
 * The URL in a form that may be logged: without user and password, and of limited length. Only the
 * names in its query are shown, because the client chooses the values, and a webhook that is set to
 * GET has the whole message in it.
 */
function loggableUrl(url: string): string {
  return withoutUserinfo(url)
    .replace(/([?&][^=&#]{0,100})[^&#]*/g, (part, name: string) =>
      part === name ? name : `${name}=...`,
    )
    .slice(0, 500);
}

const withoutUserinfo = (url: string): string =>
  url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1');
