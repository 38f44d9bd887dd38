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
import { accepted, type Created, createdOf, existingMessage, parsed } from './answers.ts';
import { PlatformError } from './errors.ts';
import { type MediaFile, MediaUpload } from './media-upload.ts';
import {
  type Contact,
  contactSchema,
  type Conversation,
  conversationSchema,
  type CreatedEvent,
  createdEventSchema,
  isUsableId,
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
import {
  type CreateEventRequest,
  type CreateMessageRequest,
  type ListContactsQuery,
  type ListMessagesQuery,
  type ListTicketsQuery,
  type TicketFilters,
  ECHO_HEADER,
  UNVERIFIED_HEADER,
} from './schemas.ts';

export interface PlatformClientOptions {
  /** Without the version: `https://host/base`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly shopId: string;
  /** For a whole request, including connecting and reading the answer. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** The same for an upload. Default 120 s. */
  readonly mediaTimeoutMs?: number;
  /** A larger answer is an error, `too_large`. Default 64 MiB for GET, 1 MiB for POST. */
  readonly maxAnswerBytes?: number;
  /** Default: no retries. */
  readonly retry?: RetryOptions;
  readonly onRequest?: RequestObserver;
  /** The platform is the embedded one, which is told, and tells, what no field of the API says. */
  readonly isEmbedded?: boolean;
  /** Sockets to share with other clients. Default: its own, which `close()` closes. */
  readonly pool?: ConnectionPool;
  /** Makes the requests. Default: axios with the pool's sockets. */
  readonly send?: Send;
}

export interface CreateMessageResult extends Created {
  /** 2xx, or 409 when the body is an existing message. */
  readonly status: number;
  /** The 409 as an error. It counts unless the message is the one that was sent. */
  readonly refusal?: PlatformError;
}

/** Ends after the last page; rejects when the request for a page fails. */
type Pages<Item> = AsyncGenerator<Page<Item>, void, undefined>;

const VERSION = '/v2026-04';
const REQUEST_TIMEOUT_MS = 30_000;
const MEDIA_TIMEOUT_MS = 120_000;
const ticketPage = pageSchema(ticketSchema);
const messagePage = pageSchema(messageSchema);
const contactPage = pageSchema(contactSchema);

/**
 * A client of the platform's REST API for one shop, with all 11 operations. Methods reject only with a
 * `PlatformError` (`uploadMedia` also with a `MediaSourceError`).
 *
 * With `retry`, reads and create message with a `remote_id`, the dedup key, are retried after temporary
 * failures. Other calls are retried only when the platform certainly did not process the first
 * request: it was not reached, or answered 429.
 */
export class PlatformClient {
  readonly #options: PlatformClientOptions;
  readonly #transport: Transport;
  readonly #ownPool: ConnectionPool | undefined;
  readonly #requestTimeoutMs: number;
  readonly #mediaTimeoutMs: number;
  readonly #retry: RetryOptions | undefined;

  /** @throws {TypeError} the base URL or the retry options are not valid */
  constructor(options: PlatformClientOptions) {
    if (!isBaseUrl(options.baseUrl)) {
      throw new TypeError(
        'baseUrl: expected an http or https URL without user name, query and hash',
      );
    }
    if (options.retry) checkRetries(options.retry);
    this.#requestTimeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    this.#mediaTimeoutMs = options.mediaTimeoutMs ?? MEDIA_TIMEOUT_MS;
    this.#retry = options.retry;
    const {
      baseUrl,
      apiKey,
      shopId,
      maxAnswerBytes,
      onRequest: observe = () => undefined,
    } = options;
    let { send } = options;
    if (send === undefined) {
      const pool = options.pool ?? new ConnectionPool();
      if (options.pool === undefined) this.#ownPool = pool;
      send = axiosSender({ baseUrl, apiKey, shopId, maxAnswerBytes, pool });
    }
    this.#options = { ...options, send };
    this.#transport = new Transport({ apiKey, send, observe });
  }

  get isEmbedded(): boolean {
    return this.#options.isEmbedded === true;
  }

  /** Ends idle connections, unless they are shared. */
  close(): void {
    this.#ownPool?.close();
  }

  /** API §4.1 */
  async createEvent(request: CreateEventRequest, signal?: AbortSignal): Promise<CreatedEvent> {
    const call = this.#post('createEvent', '/events/', request, signal);
    const body = await this.#request(call, 'single', (answer) => accepted(call, answer));
    return createdEventSchema.safeParse(body).data ?? {};
  }

  /** API §4.2 */
  listTickets(query: ListTicketsQuery = {}, signal?: AbortSignal): Promise<Page<Ticket>> {
    return this.#read('listTickets', '/tickets/', ticketPage, signal, query);
  }

  /** Like `listTickets`, page by page; each page is requested when it is needed. */
  ticketPages(query: ListTicketsQuery = {}, signal?: AbortSignal): Pages<Ticket> {
    return pages((each: ListTicketsQuery) => this.listTickets(each, signal), query);
  }

  /** API §4.3 */
  async getTicket(id: string, signal?: AbortSignal): Promise<Ticket> {
    return this.#readOne('getTicket', '/tickets/', id, ticketSchema, signal);
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

  /** Like `listMessages`, page by page. */
  messagePages(query: ListMessagesQuery = {}, signal?: AbortSignal): Pages<Message> {
    return pages((each: ListMessagesQuery) => this.listMessages(each, signal), query);
  }

  /** API §4.6 */
  async getMessage(id: string, signal?: AbortSignal): Promise<Message> {
    return this.#readOne('getMessage', '/messages/', id, messageSchema, signal);
  }

  /**
   * API §4.7. The answer to a new message is not documented. A 2xx with the message, plain or in an
   * envelope, confirms that it exists. The caller has to verify any other 2xx, and a 409 with a message.
   * @param told what only the embedded platform gets: the value of `UNVERIFIED_HEADER`, and `ECHO_HEADER`
   */
  async createMessage(
    request: CreateMessageRequest,
    signal?: AbortSignal,
    told: {
      readonly unverifiedFrom?: string | undefined;
      readonly isEcho?: boolean | undefined;
    } = {},
  ): Promise<CreateMessageResult> {
    const { unverifiedFrom, isEcho = false } = told;
    const headers = this.isEmbedded && {
      ...(unverifiedFrom !== undefined && { [UNVERIFIED_HEADER]: unverifiedFrom }),
      ...(isEcho && { [ECHO_HEADER]: '1' }),
    };
    const call = this.#post('createMessage', '/messages/', request, signal, headers || {});
    const repetition = request.message.remote_id ? 'repeatable' : 'single';
    return this.#request(call, repetition, (answer) => {
      const { status } = answer;
      if (status === 409) return { status, ...existingMessage(call, answer) };
      return { status, ...createdOf(accepted(call, answer)) };
    });
  }

  /** A client with the same connections and shorter timeouts. */
  within(requestTimeoutMs: number, mediaTimeoutMs = this.#mediaTimeoutMs): PlatformClient {
    return new PlatformClient({
      ...this.#options,
      requestTimeoutMs: Math.min(requestTimeoutMs, this.#requestTimeoutMs),
      mediaTimeoutMs: Math.min(mediaTimeoutMs, this.#mediaTimeoutMs),
    });
  }

  /** A client with the same connections and with these retries. */
  retrying(retry: RetryOptions): PlatformClient {
    return new PlatformClient({ ...this.#options, retry });
  }

  /**
   * API §4.8. Streams the file.
   * @throws {MediaSourceError} the file could not be read completely
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
    return this.#readOne('getConversation', '/conversations/', id, conversationSchema, signal);
  }

  /** API §4.10 */
  listContacts(query: ListContactsQuery = {}, signal?: AbortSignal): Promise<Page<Contact>> {
    return this.#read('listContacts', '/contacts/', contactPage, signal, query);
  }

  /** Like `listContacts`, page by page. */
  contactPages(query: ListContactsQuery = {}, signal?: AbortSignal): Pages<Contact> {
    return pages((each: ListContactsQuery) => this.listContacts(each, signal), query);
  }

  /** API §4.11 */
  async getContact(id: string, signal?: AbortSignal): Promise<Contact> {
    return this.#readOne('getContact', '/contacts/', id, contactSchema, signal);
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
    return this.#request(call, 'repeatable', (answer) => parsed(call, answer, schema));
  }

  /** An answer with another id is that of another resource. */
  async #readOne<Resource extends { readonly id: string }>(
    operation: string,
    list: string,
    id: string,
    schema: z.ZodType<Resource>,
    signal: AbortSignal | undefined,
  ): Promise<Resource> {
    const isAsked = (resource: Resource) => resource.id.toLowerCase() === id.toLowerCase();
    return this.#read(operation, resource(list, id), schema.refine(isAsked), signal);
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
      body: upload.body,
      headers: upload.headers,
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

  /** Makes the call, with retries, and reads its answer. */
  #request<T>(call: Call, repetition: Repetition, read: (answer: Answer) => T): Promise<T> {
    const attempt = async () => read(await this.#transport.call(call));
    return withRetries(attempt, this.#retry, repetition, call);
  }

  #post(
    operation: string,
    path: string,
    body: object,
    signal: AbortSignal | undefined,
    headers: Call['headers'] = {},
  ): Call {
    return {
      operation,
      method: 'POST',
      path: VERSION + path,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
      timeoutMs: this.#requestTimeoutMs,
      signal,
    };
  }
}

/**
 * The path of a resource.
 * @throws {PlatformError} `invalid`: the id could address something else
 */
function resource(list: string, id: string): string {
  if (!isUsableId(id)) {
    throw new PlatformError({ code: 'invalid', method: 'GET', path: VERSION + list });
  }
  return `${list}${id}/`;
}

/** Encodes an array as one parameter with comma-separated values (API §4). */
function queryString(query: object): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) params.set(name, String(value));
  }
  return params.toString();
}
