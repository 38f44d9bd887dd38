import type { z } from 'zod';
import { isBaseUrl } from './addresses.ts';
import {
  type Answer,
  axiosSender,
  type Call,
  ConnectionPool,
  type RequestObserver,
  type Send,
  Transport,
} from './transport.ts';
import { accepted, createdOf, existingMessage, parsed } from './answers.ts';
import { PlatformError } from './errors.ts';
import { type MediaFile, MediaUpload } from './media-upload.ts';
import {
  type Contact,
  contactSchema,
  type Conversation,
  conversationSchema,
  type CreatedEvent,
  createdEventSchema,
  type CreatedMessage,
  mediaRecordSchema,
  type Message,
  messageSchema,
  type Page,
  pages,
  pageSchema,
  type Ticket,
  ticketCountSchema,
  ticketSchema,
  type UploadedMedia,
} from './resources.ts';
import { checkRetries, type Repetition, type RetryOptions, withRetries } from './retries.ts';
import type {
  CreateEventRequest,
  CreateMessageRequest,
  ListContactsQuery,
  ListMessagesQuery,
  ListTicketsQuery,
  TicketFilters,
} from './schemas.ts';

export interface PlatformClientOptions {
  /** Without the version: `https://host/base`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly shopId: string;
  /** For a whole request, connecting and reading the answer included. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** The same for an upload. Default 120 s. */
  readonly mediaTimeoutMs?: number;
  /** An answer that is larger is refused: `too_large`. Default 64 MiB for what reads, else 1 MiB. */
  readonly maxAnswerBytes?: number;
  /** Without it, every call is one request. */
  readonly retry?: RetryOptions;
  readonly onRequest?: RequestObserver;
  /** Sockets to share with other clients; else the client has its own, closed by `close()`. */
  readonly pool?: ConnectionPool;
  /** Makes the request; by default axios does, on the pool's sockets. */
  readonly send?: Send;
}

/** Of another client: what it shares, and what differs. */
interface Derived {
  readonly transport: Transport;
  readonly requestTimeoutMs: number;
  readonly mediaTimeoutMs: number;
}

export interface CreateMessageResult {
  /** 2xx, or 409 when the body is the message that was already there. */
  readonly status: number;
  /** The message, when the answer has it: an object with an id, or inside one envelope. */
  readonly message?: CreatedMessage;
  /** Of an answer without the message: `empty`, or what its JSON is made of (`ok`, `array`). */
  readonly form?: string;
}

/** Ends after the last page; rejects with what the request for a page rejected with. */
type Pages<Item> = AsyncGenerator<Page<Item>, void, undefined>;

const VERSION = '/v2026-04';
const REQUEST_TIMEOUT_MS = 30_000;
const MEDIA_TIMEOUT_MS = 120_000;
const ticketPage = pageSchema(ticketSchema);
const messagePage = pageSchema(messageSchema);
const contactPage = pageSchema(contactSchema);

/**
 * The platform's REST API for one shop: all 11 operations. Every method rejects with a
 * `PlatformError` and with nothing else (`uploadMedia` also with a `MediaSourceError`).
 *
 * With `retry`, what reads is made again after a failure that may pass, and so is create message
 * with a `remote_id`, by which the platform knows it again. Anything else is only made again when
 * the first request was certainly not taken: nobody listened, or 429.
 */
export class PlatformClient {
  readonly #options: PlatformClientOptions;
  readonly #transport: Transport;
  readonly #ownPool: ConnectionPool | undefined;
  readonly #requestTimeoutMs: number;
  readonly #mediaTimeoutMs: number;
  readonly #retry: RetryOptions | undefined;

  /** @throws {TypeError} requests cannot be made, or retried, with these options */
  constructor(options: PlatformClientOptions, derived?: Derived) {
    if (!isBaseUrl(options.baseUrl)) {
      throw new TypeError('baseUrl: expected an http or https URL without name, query and hash');
    }
    if (options.retry) checkRetries(options.retry);
    this.#options = options;
    this.#requestTimeoutMs =
      derived?.requestTimeoutMs ?? options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    this.#mediaTimeoutMs = derived?.mediaTimeoutMs ?? options.mediaTimeoutMs ?? MEDIA_TIMEOUT_MS;
    this.#retry = options.retry;
    if (derived !== undefined) {
      this.#transport = derived.transport;
      return;
    }
    const pool = options.pool ?? new ConnectionPool();
    this.#ownPool = options.pool === undefined ? pool : undefined;
    const { baseUrl, apiKey, shopId, maxAnswerBytes } = options;
    this.#transport = new Transport({
      apiKey,
      send: options.send ?? axiosSender({ baseUrl, apiKey, shopId, maxAnswerBytes, pool }),
      observe: options.onRequest ?? (() => undefined),
    });
  }

  /** Ends idle connections, unless they are shared. */
  close(): void {
    this.#ownPool?.close();
  }

  /** API §4.1 */
  async createEvent(request: CreateEventRequest, signal?: AbortSignal): Promise<CreatedEvent> {
    const call = this.#post('createEvent', '/events/', request, signal);
    const body = await this.#made(call, 'single', (answer) => accepted(call, answer));
    return createdEventSchema.safeParse(body).data ?? {};
  }

  /** API §4.2 */
  listTickets(query: ListTicketsQuery = {}, signal?: AbortSignal): Promise<Page<Ticket>> {
    return this.#read('listTickets', '/tickets/', ticketPage, signal, query);
  }

  /** The same, page by page: the next one is asked for when it is wanted. */
  ticketPages(query: ListTicketsQuery = {}, signal?: AbortSignal): Pages<Ticket> {
    return pages((each: ListTicketsQuery) => this.listTickets(each, signal), query);
  }

  /** API §4.3 */
  async getTicket(id: string, signal?: AbortSignal): Promise<Ticket> {
    return this.#read('getTicket', resource('/tickets/', id), ticketSchema, signal);
  }

  /** API §4.4 */
  async countTickets(filters: TicketFilters = {}, signal?: AbortSignal): Promise<number> {
    const path = '/tickets/count/';
    return (await this.#read('countTickets', path, ticketCountSchema, signal, filters)).count;
  }

  /** API §4.5 */
  listMessages(query: ListMessagesQuery = {}, signal?: AbortSignal): Promise<Page<Message>> {
    return this.#read('listMessages', '/messages/', messagePage, signal, query);
  }

  /** The same, page by page. */
  messagePages(query: ListMessagesQuery = {}, signal?: AbortSignal): Pages<Message> {
    return pages((each: ListMessagesQuery) => this.listMessages(each, signal), query);
  }

  /** API §4.6 */
  async getMessage(id: string, signal?: AbortSignal): Promise<Message> {
    return this.#read('getMessage', resource('/messages/', id), messageSchema, signal);
  }

  /**
   * API §4.7. What the answer to a new message looks like is not documented: the message, on its
   * own or in an envelope, says that it was created, and so does a 409 with the message that was
   * already there. What any other 2xx means is the caller's to find out.
   */
  async createMessage(
    request: CreateMessageRequest,
    signal?: AbortSignal,
  ): Promise<CreateMessageResult> {
    const call = this.#post('createMessage', '/messages/', request, signal);
    const repetition = request.message.remote_id ? 'repeatable' : 'single';
    return this.#made(call, repetition, (answer) => {
      const body = answer.status === 409 ? existingMessage(call, answer) : accepted(call, answer);
      return { status: answer.status, ...createdOf(body) };
    });
  }

  /** The same client with less patience. */
  within(requestTimeoutMs: number, mediaTimeoutMs = this.#mediaTimeoutMs): PlatformClient {
    return new PlatformClient(this.#options, {
      transport: this.#transport,
      requestTimeoutMs: Math.min(requestTimeoutMs, this.#requestTimeoutMs),
      mediaTimeoutMs: Math.min(mediaTimeoutMs, this.#mediaTimeoutMs),
    });
  }

  /**
   * API §4.8. Streams the file; it is never whole in memory.
   * @throws {MediaSourceError} the file could not be read to its end
   */
  async uploadMedia(file: MediaFile, signal?: AbortSignal): Promise<UploadedMedia> {
    const path = `${VERSION}/media/`;
    return withRetries(() => this.#upload(file, path, signal), this.#retry, 'single', {
      method: 'POST',
      path,
      signal,
    });
  }

  /** API §4.9 */
  async getConversation(id: string, signal?: AbortSignal): Promise<Conversation> {
    const path = resource('/conversations/', id);
    return this.#read('getConversation', path, conversationSchema, signal);
  }

  /** API §4.10 */
  listContacts(query: ListContactsQuery = {}, signal?: AbortSignal): Promise<Page<Contact>> {
    return this.#read('listContacts', '/contacts/', contactPage, signal, query);
  }

  /** The same, page by page. */
  contactPages(query: ListContactsQuery = {}, signal?: AbortSignal): Pages<Contact> {
    return pages((each: ListContactsQuery) => this.listContacts(each, signal), query);
  }

  /** API §4.11 */
  async getContact(id: string, signal?: AbortSignal): Promise<Contact> {
    return this.#read('getContact', resource('/contacts/', id), contactSchema, signal);
  }

  async #read<Schema extends z.ZodType>(
    operation: string,
    path: string,
    schema: Schema,
    signal: AbortSignal | undefined,
    query: object = {},
  ): Promise<z.output<Schema>> {
    const call: Call = {
      operation,
      method: 'GET',
      path: VERSION + path,
      query: queryString(query),
      timeoutMs: this.#requestTimeoutMs,
      signal,
    };
    return this.#made(call, 'repeatable', (answer) => parsed(call, answer, schema));
  }

  async #upload(
    file: MediaFile,
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<UploadedMedia> {
    const upload = new MediaUpload(file);
    const call: Call = {
      operation: 'uploadMedia',
      method: 'POST',
      path,
      body: upload.form,
      timeoutMs: this.#mediaTimeoutMs,
      signal,
    };
    try {
      return parsed(call, await this.#transport.call(call), mediaRecordSchema);
    } catch (error) {
      throw upload.failure ?? error;
    } finally {
      upload.close();
    }
  }

  /** The call's outcome, with its retries. */
  #made<T>(call: Call, repetition: Repetition, read: (answer: Answer) => T): Promise<T> {
    const attempt = async () => read(await this.#transport.call(call));
    return withRetries(attempt, this.#retry, repetition, call);
  }

  #post(operation: string, path: string, body: object, signal: AbortSignal | undefined): Call {
    return {
      operation,
      method: 'POST',
      path: VERSION + path,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
      timeoutMs: this.#requestTimeoutMs,
      signal,
    };
  }
}

/**
 * The path of a resource. Without an id, or with one that a URL takes for a step in the path, it
 * would be another's.
 * @throws {PlatformError} `invalid`
 */
function resource(list: string, id: string): string {
  if (/^\.{0,2}$|\p{Cs}/u.test(id)) {
    throw new PlatformError({ code: 'invalid', method: 'GET', path: VERSION + list });
  }
  return `${list}${encodeURIComponent(id)}/`;
}

/** API §4: an array is one parameter with comma-separated values. */
function queryString(query: object): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) params.set(name, String(value));
  }
  return params.toString();
}
