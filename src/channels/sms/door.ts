import { performance } from 'node:perf_hooks';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
// Only this module, because the package's root loads the whole REST client. Its `webhook()` is
// never used, since it accepts an environment variable instead of the token.
import { validateRequest, validateRequestWithBody } from 'twilio/lib/webhooks/webhooks.js';
import type { Intake } from '../../intake/intake.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { SpoolFull, SpoolUnavailable } from '../../spool/errors.ts';
import {
  messageStatus,
  parseJson,
  parseUrlencoded,
  readBody,
  readIdentity,
  readSids,
  toArrival,
  WebhookRefused,
} from './receive.ts';
import { createShopDirectory, type ShopDirectory, type SmsShop } from './shop.ts';
import { FormFields, type MessageIdentity } from './stored.ts';

/**
 * The path of a text, from Twilio's request to the payload:
 * - `POST /sms/twilio` is handled here; `receive.ts` parses the body as parameters, up to 64 KiB,
 *   and reads sender and recipient; `shop.ts` finds the shop, one of whose tokens must have signed
 *   the request (`isSigned` below).
 * - `receive.ts` builds the arrival of that shop: lane, dedup key and remote id; `stored.ts` defines
 *   the stored form.
 * - `intake/intake.ts` stores it durably; only then this file responds with 200.
 * - `reconciliation/` finds texts that no webhook delivered through the REST API; they take the
 *   same path.
 * - Delivery calls `normalize.ts`: `normalize/consent.ts` (STOP, START), `limits.ts` (floods),
 *   `normalize/content.ts` (the text), `normalize/medium.ts` and `normalize/text-media.ts` (media;
 *   late ones follow in a separate message).
 * - All calls of Twilio use `providers/twilio/transport.ts`.
 */

const PATH = '/sms/twilio';
/** A text of 1,600 characters with ten media URLs is smaller than 20 KiB. */
const MAX_BODY_BYTES = 64 * 1024;
const RETRY_AFTER_SECONDS = '10';

export interface SmsWebhookOptions {
  readonly shops: readonly SmsShop[];
  /** `http.publicUrl`: the origin, and the path if any, under which Twilio reaches this server. */
  readonly publicUrl: string;
}

export interface SmsWebhookDeps {
  readonly intake: Pick<Intake, 'accept'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Twilio's webhook for inbound messages and for status callbacks, `POST /sms/twilio`.
 *
 * | response | when |
 * | --- | --- |
 * | 200 `<Response/>` | the message is durable, now or since an earlier delivery |
 * | 204 | a status callback |
 * | 400 | a parameter is missing, repeated or malformed |
 * | 403 | not signed with a token of the shop, or no shop to check it with |
 * | 405, 413, 415 | not a POST, larger than 64 KiB, neither a form nor JSON |
 * | 503 | the spool cannot accept it now |
 *
 * Only the 200 has a body that Twilio interprets: the text of any other response would, as TwiML,
 * be sent to the customer. 429 is never used, because Twilio would not retry.
 */
export function createSmsWebhook(options: SmsWebhookOptions, deps: SmsWebhookDeps): Router {
  const webhook = new TwilioWebhook(options, deps);
  const router = express.Router();
  router.post(PATH, (req, res) => webhook.receive(req, res));
  router.all(PATH, (_req, res) => {
    res.setHeader('Allow', 'POST');
    throw new WebhookRefused(405, 'method', 'Configure the webhook as HTTP POST');
  });
  router.use(PATH, (error: unknown, _req: Request, res: Response, next: NextFunction) => {
    // A response was already sent; express closes the connection.
    if (res.headersSent) next(error);
    else webhook.refuse(res, error);
  });
  return router;
}

class TwilioWebhook {
  readonly #shops: ShopDirectory;
  readonly #publicUrl: string;
  readonly #intake: Pick<Intake, 'accept'>;
  readonly #logger: Logger;
  readonly #metrics: Metrics;

  constructor(options: SmsWebhookOptions, deps: SmsWebhookDeps) {
    this.#shops = createShopDirectory(options.shops);
    if (!URL.canParse(options.publicUrl)) throw new TypeError('publicUrl must be a URL');
    this.#publicUrl = options.publicUrl.replace(/\/+$/, '');
    this.#intake = deps.intake;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
  }

  async receive(req: Request, res: Response): Promise<void> {
    const json = isJson(req);
    const body = await readBody(req, MAX_BODY_BYTES);
    const startedAt = performance.now();
    const pairs = json ? parseJson(body) : parseUrlencoded(body);
    const fields = new FormFields(pairs);
    const content: SignedContent = json ? { kind: 'json', body } : { kind: 'form', fields };
    const status = messageStatus(fields);
    if (status !== undefined) {
      // It is about one of our messages, so its `To` is the customer.
      const { accountSid } = readSids(fields);
      this.#assertSigned(req, this.#shops.ofAccount(accountSid), content);
      this.#metrics.smsStatusCallbacks.inc({ status });
      res.writeHead(204).end();
      return;
    }
    const identity = readIdentity(fields);
    const shop = this.#shopOf(req, identity, fields.first('MessagingServiceSid'), content);
    const [accepted] = await this.#intake.accept([toArrival(shop, identity, pairs)]);
    if (accepted === undefined) throw new Error('The intake answered nothing');
    res.type('text/xml').send(EMPTY_TWIML);
    this.#metrics.ackSeconds.observe({ channel: 'sms' }, (performance.now() - startedAt) / 1000);
    const { duplicate, id } = accepted;
    const { messageSid } = identity;
    this.#logger.info('sms.accepted', { entry: id, shop: shop.name, messageSid, duplicate });
  }

  /** The shop that the message is for, whose token signed it. @throws {WebhookRefused} */
  #shopOf(
    req: Request,
    { accountSid, messageSid, to }: MessageIdentity,
    messagingServiceSid: string | undefined,
    content: SignedContent,
  ): SmsShop {
    const shop = this.#shops.find(accountSid, to, messagingServiceSid);
    const signers = shop === undefined ? this.#shops.ofAccount(accountSid) : [shop];
    this.#assertSigned(req, signers, content);
    if (shop !== undefined) return shop;
    // Twilio signed it, so this is not an attack: a number is missing in the configuration.
    this.#metrics.alarms.inc({ alarm: 'sms_unknown_number' });
    this.#logger.error('sms.unknown_number', { accountSid, messageSid });
    throw new WebhookRefused(403, 'unknown_number', 'No shop has this account and number');
  }

  /** @throws {WebhookRefused} */
  #assertSigned(req: Request, signers: readonly SmsShop[], content: SignedContent): void {
    const signature = req.headers['x-twilio-signature'];
    // Twilio sends no other form of request target (RFC 9112 §3.2.2), and another form could turn
    // the public URL into one of another host.
    const path = req.originalUrl.startsWith('/') ? req.originalUrl : '';
    const url = this.#publicUrl + path;
    const signed =
      path !== '' &&
      typeof signature === 'string' &&
      signers.some((shop) => isSigned(shop.twilio.authTokens, signature, url, content));
    if (signed) return;
    this.#metrics.webhookSignatureFailures.inc();
    this.#logger.warn('sms.signature_refused', {
      url: loggableUrl(url),
      signature: signature === undefined ? 'missing' : 'wrong',
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

const EMPTY_TWIML = '<?xml version="1.0" encoding="UTF-8"?><Response/>';

/** @throws {WebhookRefused} neither a form nor JSON */
function isJson(req: Request): boolean {
  const type = req.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return false;
  if (type === 'application/json') return true;
  const expected = 'Expected application/x-www-form-urlencoded or application/json';
  throw new WebhookRefused(415, 'content_type', expected);
}

/**
 * The signed content: a form's parameters, or a JSON body by its hash in the URL's `bodySHA256`.
 */
type SignedContent =
  | { readonly kind: 'form'; readonly fields: FormFields }
  | { readonly kind: 'json'; readonly body: Buffer };

/**
 * Whether one of these tokens signed the request (Twilio, "Webhooks security"). The library tries
 * the URL with and without its port, because Twilio's services differ in which one they sign.
 * Twilio removes user and password before signing ("Security", notes on validating requests), which
 * the library leaves to its caller.
 * @param url the public URL as configured at Twilio, with the raw query; never built from Host
 */
function isSigned(
  authTokens: readonly string[],
  signature: string,
  url: string,
  content: SignedContent,
): boolean {
  const urls = [...new Set([withoutUserinfo(url), url])];
  const signed = (valid: (token: string, candidate: string) => boolean): boolean =>
    authTokens.some((token) => urls.some((candidate) => valid(token, candidate)));
  if (content.kind === 'form') {
    const params = content.fields.signed();
    return signed((token, candidate) => validateRequest(token, signature, candidate, params));
  }
  // Without the hash, the signature would not cover the body.
  if (!new URL(url).searchParams.get('bodySHA256')) return false;
  const body = content.body.toString('utf8');
  return signed((token, candidate) => validateRequestWithBody(token, signature, candidate, body));
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
