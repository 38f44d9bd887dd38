import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { type NextFunction, type Request, type Response, Router } from 'express';
import type { AddressDirectory } from './routing.ts';
import type { TokenShop } from './shop.ts';
import type { Intake } from '../../intake/intake.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { drainRequest } from '../../runtime/final-answer.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import { canonicalAddress } from '../../domain/email-addresses.ts';
import type { ShopId } from '../../domain/ids.ts';
import { DataPace, type DataPaceOptions } from '../../runtime/connection-limits.ts';
import {
  acceptMessage,
  createEnvelope,
  createMessageRate,
  type DoorCheck,
  DoorReport,
  type MessageRateOptions,
  receiveData,
  toRefusal,
  type StoredEntry,
} from './door.ts';
import { type Envelope, MessageSink } from './receive.ts';
import { createNetworks } from '../../runtime/ip-addresses.ts';
import { fromSmtp, InboundRefusal, SmtpRefusal } from './refusals.ts';

export const INBOUND_PATH = '/email/inbound';
const RETRY_AFTER_SECONDS = 30;
/** How much of a refused message is still read, so that the response arrives. */
const DRAIN_BYTES = 1024 * 1024;

/** Sizes in bytes, times in milliseconds. */
export interface InboundOptions {
  readonly shops: readonly TokenShop[];
  /** The name in Received headers. */
  readonly hostname: string;
  readonly maxMessageBytes: number;
  readonly maxRecipients: number;
  /** The maximum number of concurrent messages per shop. */
  readonly maxInProgress: number;
  readonly messageRate: MessageRateOptions;
  readonly trustedRelays: readonly string[];
  readonly dataPace: DataPaceOptions;
  /** From the last byte to the response. */
  readonly answerWithinMs: number;
  /** How often slow clients are checked for. */
  readonly checkEveryMs: number;
}

export interface InboundParts {
  readonly intake: Pick<Intake, 'accept' | 'assertSpace'>;
  readonly blobs: BlobStore;
  readonly authenticator?: DoorCheck;
  readonly directory: AddressDirectory;
  readonly clientIp: (request: IncomingMessage) => string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/**
 * `POST /email/inbound?from=&to=`: a raw message (RFC 5322) over HTTP, for hosts where port 25 is
 * closed and for cloud mail routes. It accepts messages as SMTP does, and requires a token of the
 * shop.
 *
 * | response | when |
 * | --- | --- |
 * | 202, 200 | durable; 200 if it had been accepted before. `{ok: true, entries: [id]}` |
 * | 400, 415 | no envelope, too many recipients, an empty or incomplete body; not message/rfc822 |
 * | 401, 404 | no valid token; a recipient that is not this shop's |
 * | 405 | any method but POST |
 * | 408, 413, 422 | too slow; too large; more than 50 Received headers, or rejected by DMARC |
 * | 429, 503 | above a rate; the spool cannot accept it now. With Retry-After |
 *
 * All but the first have `{ok: false, error}` with a text.
 */
export function createInboundRoute(options: InboundOptions, parts: InboundParts): Router {
  const door = new InboundDoor(options, parts);
  const router = Router();
  router.post(INBOUND_PATH, (req, res) => door.receive(req, res));
  router.all(INBOUND_PATH, (req, res) => {
    res.setHeader('Allow', 'POST');
    door.refuse(req, res, new InboundRefusal('method'));
  });
  router.use(INBOUND_PATH, (error: unknown, req: Request, res: Response, next: NextFunction) => {
    // A response was already sent; express closes the connection.
    if (res.headersSent) next(error);
    else door.refuse(req, res, error);
  });
  return router;
}

class InboundDoor {
  readonly #options: InboundOptions;
  readonly #parts: InboundParts;
  readonly #report: DoorReport;
  readonly #tokens;
  readonly #countMessage;
  readonly #underWay = new Map<ShopId, number>();

  constructor(options: InboundOptions, parts: InboundParts) {
    this.#options = options;
    this.#parts = parts;
    this.#report = new DoorReport('inbound', parts);
    this.#tokens = createInboundTokens(options.shops);
    this.#countMessage = createMessageRate(
      options.messageRate,
      createNetworks(options.trustedRelays),
    );
  }

  async receive(req: Request, res: Response): Promise<void> {
    const shopId = this.#tokens.shopOf(req.headers.authorization);
    if (shopId === undefined) throw new InboundRefusal('unauthorized');
    assertRawMessage(req);
    const envelope = readEnvelope(req.originalUrl, this.#options.maxRecipients);
    assertOwnRecipients(envelope, shopId, this.#parts.directory);
    if (Number(req.headers['content-length'] ?? 0) > this.#options.maxMessageBytes) {
      throw new InboundRefusal('too_large');
    }
    const others = this.#underWay.get(shopId) ?? 0;
    if (others >= this.#options.maxInProgress) throw new InboundRefusal('busy');
    this.#underWay.set(shopId, others + 1);
    try {
      await this.#countMessage(this.#parts.clientIp(req));
      await this.#parts.intake.assertSpace([shopId]);
      await this.#take(req, res, envelope);
    } finally {
      this.#underWay.set(shopId, (this.#underWay.get(shopId) ?? 1) - 1);
    }
  }

  async #take(req: Request, res: Response, envelope: InboundEnvelope): Promise<void> {
    const sink = new MessageSink(this.#parts.blobs);
    try {
      const isWhole = await this.#transfer(req, res, sink);
      if (!isWhole) {
        await sink.abort();
        this.#report.vanished(sink.size);
        return;
      }
      if (sink.size === 0) throw new InboundRefusal('empty');
      const wholeAt = performance.now();
      const taken = await this.#withinTime(
        acceptMessage(sink, this.#envelope(req, envelope), this.#parts),
      );
      this.#acknowledge(res, taken, sink.size, performance.now() - wholeAt);
    } catch (error) {
      await sink.abort().catch(() => undefined);
      throw error;
    }
  }

  /** False if the client has disconnected. */
  async #transfer(req: Request, res: Response, sink: MessageSink): Promise<boolean> {
    const pace = new DataPace(this.#options.dataPace, performance.now());
    const receiving = receiveData(req, sink, {
      maxBytes: this.#options.maxMessageBytes,
      onFlood: () => req.destroy(),
    });
    const timer = setInterval(() => {
      if (!pace.isTooSlow(performance.now(), sink.size, receiving.waitsForStore())) return;
      clearInterval(timer);
      this.refuse(req, res, new InboundRefusal('too_slow'));
      res.once('finish', () => req.destroy());
    }, this.#options.checkEveryMs);
    const transfer = await receiving.done;
    clearInterval(timer);
    if (transfer === 'too_large') throw new InboundRefusal('too_large');
    return transfer === 'complete' && !res.headersSent;
  }

  /** If a message is accepted after the timeout, a repeated request is a duplicate. */
  async #withinTime<Result>(accepting: Promise<Result>): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const { answerWithinMs } = this.#options;
      timer = setTimeout(() => reject(new SmtpRefusal('unavailable')), answerWithinMs);
    });
    try {
      return await Promise.race([accepting, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #envelope(req: Request, { from, recipients }: InboundEnvelope): Envelope {
    const { clientIp, clock } = this.#parts;
    return createEnvelope({
      hostname: this.#options.hostname,
      protocol: 'HTTP',
      id: randomUUID(),
      remoteAddress: clientIp(req),
      heloName: '',
      tls: false,
      // A client with the shop's token counts as a trusted relay, because SPF would check the wrong
      // host.
      trustedRelay: true,
      envelopeFrom: from,
      recipients,
      receivedAt: clock(),
    });
  }

  #acknowledge(res: Response, taken: readonly StoredEntry[], bytes: number, ms: number): void {
    const entries = taken.map(({ id }) => id);
    const duplicate = taken.every((each) => each.duplicate);
    answer(res, duplicate ? 200 : 202, { ok: true, entries });
    this.#report.accepted(taken, { bytes, ms });
  }

  refuse(req: Request, res: Response, error: unknown): void {
    const refusal = error instanceof InboundRefusal ? error : fromSmtp(toRefusal(error));
    const { status, reason, message } = refusal;
    if (reason === 'unavailable') this.#report.failed(error);
    this.#report.refused(reason);
    if (status === 401) res.setHeader('WWW-Authenticate', 'Bearer');
    if (status === 429 || status === 503) res.setHeader('Retry-After', RETRY_AFTER_SECONDS);
    answer(res, status, { ok: false, error: message });
    drainRequest(req, DRAIN_BYTES);
  }
}

/** RFC 5322 as message/rfc822, and with SMTPUTF8 message/global (RFC 6532 §3.7). */
function assertRawMessage(req: Request): void {
  const type = req.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'message/rfc822' && type !== 'message/global')
    throw new InboundRefusal('media_type');
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new InboundRefusal('media_type', 'A compressed body is not accepted');
  }
}

function answer(res: Response, status: number, body: object): void {
  const text = `${JSON.stringify(body)}\n`;
  res
    .writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text);
}

interface InboundEnvelope {
  /** Empty for the null sender of bounces. */
  readonly from: string;
  /** At least one, without duplicates. */
  readonly recipients: readonly string[];
}

/**
 * Reads `?from=&to=` of a request target. `+` is literal and not a space, because addresses contain
 * no spaces and people write `support+order@acme.example` into such a URL.
 * @throws {InboundRefusal}
 */
export function readEnvelope(target: string, maxRecipients: number): InboundEnvelope {
  const froms: string[] = [];
  const recipients = new Set<string>();
  for (const [name, value] of parameters(target)) {
    if (name === 'from') froms.push(value);
    else if (name === 'to') recipients.add(address(value, 'to'));
  }
  const [from, ...others] = froms;
  if (from === undefined || others.length > 0) {
    throw new InboundRefusal('envelope', 'Give one from=, empty for the null sender');
  }
  if (recipients.size === 0) throw new InboundRefusal('envelope', 'Give at least one to=');
  if (recipients.size > maxRecipients) {
    const text = `Give at most ${maxRecipients} to=, the rest in another request`;
    throw new InboundRefusal('too_many_recipients', text);
  }
  return { from: from === '' ? '' : address(from, 'from'), recipients: [...recipients] };
}

/**
 * All recipients must belong to this shop: the token is for its mail only, and the response must
 * not reveal which addresses other shops have.
 * @throws {InboundRefusal}
 */
function assertOwnRecipients(
  { recipients }: InboundEnvelope,
  shopId: ShopId,
  directory: AddressDirectory,
): void {
  for (const [index, recipient] of recipients.entries()) {
    const route = directory.route(recipient);
    if (typeof route !== 'string' && route.shopId === shopId) continue;
    const which = recipients.length === 1 ? 'The recipient' : `Recipient ${index + 1}`;
    throw new InboundRefusal('unknown_recipient', `${which} is no mailbox of this shop`);
  }
}

function parameters(target: string): [name: string, value: string][] {
  const [, query = ''] = /\?([^#]*)/.exec(target) ?? [];
  return query.split('&').map((pair) => {
    const at = pair.indexOf('=');
    const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    try {
      return [decodeURIComponent(name), decodeURIComponent(value)];
    } catch (cause) {
      throw new InboundRefusal('envelope', 'The query is not percent-encoded UTF-8', { cause });
    }
  });
}

function address(value: string, name: string): string {
  // RFC 5321 §4.1.1.3: a bare postmaster is a recipient.
  const bare = name === 'to' && value.toLowerCase() === 'postmaster';
  const canonical = bare ? value : canonicalAddress(value.replace(/^<(.*)>$/s, '$1'));
  if (canonical === undefined) throw new InboundRefusal('envelope', `${name}= is no address`);
  return canonical;
}

/** Finds the shop of a bearer token. */
interface InboundTokens {
  /** For an `Authorization` header (RFC 6750 §2.1); undefined if it matches no shop. */
  shopOf(authorization: string | undefined): ShopId | undefined;
}

const BEARER = /^Bearer +([^\s]+) *$/i;

/**
 * Compares hashes, and always with all tokens, so that neither the duration nor the number of
 * comparisons reveals anything about a token.
 */
export function createInboundTokens(shops: readonly TokenShop[]): InboundTokens {
  const known = shops.flatMap(({ shopId, tokens }) =>
    tokens.map((token) => ({ shopId, digest: sha256(token) })),
  );
  return {
    shopOf(authorization) {
      const token = BEARER.exec(authorization ?? '')?.[1];
      if (token === undefined) return undefined;
      const digest = sha256(token);
      let found: ShopId | undefined;
      for (const each of known) {
        if (timingSafeEqual(each.digest, digest)) found ??= each.shopId;
      }
      return found;
    },
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
