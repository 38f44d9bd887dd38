import { signal } from '@preact/signals';
import type {
  ActionProgress,
  ActionRequest,
  ApiTokenList,
  AuditPage,
  CannedTexts,
  Channel,
  ConfigurationView,
  DeskFile,
  OutboxList,
  DeskQueue,
  DeskTicketView,
  DoctorReport,
  EntryContent,
  EntryDetail,
  EntryList,
  EntryReading,
  History,
  HistoryRange,
  IncidentList,
  MadeApiToken,
  NewApiToken,
  Overview,
  PersonReport,
  Problem,
  ReloadResult,
  Session,
  ShopTrial,
  TestMessage,
} from '../contract.ts';
import { parseRetryAfter } from '../../runtime/retry-after.ts';
import { gatewayNow, setClock } from './now.ts';
import { type Query, queryString } from './query.ts';
import { Refusal } from './refusal.ts';

/** The current session: `undefined` until the first response, `null` when signed out. */
export const session = signal<Session | null | undefined>(undefined);

/** Whether people sign in with names, as far as known. */
export const isNamed = signal<boolean | undefined>(undefined);

/** The changes of a ticket, as the paths name them. */
export type DeskAction = 'reply' | 'note' | 'assign' | 'complete' | 'reopen' | 'hand-back';

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: unknown;
  /** Sent as it is, instead of a body. */
  readonly file?: File;
  /** Whether the answer is a file. */
  readonly isFile?: boolean;
  readonly query?: Query;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request to the gateway; `path` is relative to `/api`. If the session has ended, the login
 * page is shown; the address stays, so the same page follows the login.
 * @throws {Refusal}
 * @throws AbortError when the signal is aborted
 */
async function ask<T>(path: string, request: RequestOptions = {}): Promise<T> {
  const { method = 'GET', body, file, query = {}, signal: abort } = request;
  const type = file === undefined ? 'application/json' : file.type || 'application/octet-stream';
  const response = await send(`/api${path}${queryString(query)}`, {
    method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      // A page of another origin cannot send this header without a preflight (see contract.ts).
      ...(method !== 'GET' && { 'x-sluice-console': '1', 'content-type': type }),
    },
    ...(method !== 'GET' && { body: file ?? JSON.stringify(body ?? {}) }),
    ...(abort && { signal: abort }),
  });
  const at = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(at)) setClock(at);
  const answer = await bodyOf(response, request.isFile === true && response.ok);
  if (response.ok) return answer as T; // Page and server are built together, with one contract.
  const refusal = refusalOf(response, answer);
  if (refusal.code === 'signed_out') {
    isNamed.value = (answer as Partial<Problem> | undefined)?.isNamed;
    session.value = null;
  }
  throw refusal;
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new Refusal('unreachable', 'The gateway does not respond.');
  }
}

/**
 * The parsed JSON; `undefined` for an empty body and for an error without JSON.
 * @throws {Refusal} the connection broke off
 * @throws AbortError
 */
async function bodyOf(response: Response, isFile: boolean): Promise<unknown> {
  try {
    if (isFile) return await response.blob();
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    if (!response.ok) return undefined;
    throw new Refusal('unreachable', 'The response from the gateway is incomplete.');
  }
}

function refusalOf(response: Response, answer: unknown): Refusal {
  const problem = answer as Partial<Problem> | undefined;
  const afterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now());
  const seconds = problem?.retryAfter ?? (afterMs === undefined ? 0 : Math.ceil(afterMs / 1_000));
  return new Refusal(
    problem?.code ?? (response.status === 401 ? 'signed_out' : 'internal'),
    problem?.message ?? `The gateway responded with status ${response.status}.`,
    seconds === 0 ? undefined : gatewayNow() + seconds * 1_000,
    problem?.changes,
  );
}

const at = encodeURIComponent;
const post = <T>(path: string, body?: unknown): Promise<T> => ask(path, { method: 'POST', body });

const deskTicket = (shop: string, id: string): string =>
  `/platform/desk/${at(shop)}/tickets/${at(id)}`;

/** One function per route of contract.ts. */
export const api = {
  session: () => ask<Session>('/session'),
  login: (body: { operator?: string; password: string }) => post<Session>('/login', body),
  logout: () => post('/logout'),
  overview: (signal?: AbortSignal) => ask<Overview>('/overview', { signal }),
  history: (range: HistoryRange, signal?: AbortSignal) =>
    ask<History>('/history', { query: { range }, signal }),
  incidents: (signal?: AbortSignal) => ask<IncidentList>('/incidents', { signal }),
  entries: (query: Query, signal?: AbortSignal) => ask<EntryList>('/entries', { query, signal }),
  entry: (id: string, signal?: AbortSignal) => ask<EntryDetail>(`/entries/${at(id)}`, { signal }),
  reading: (id: string, signal?: AbortSignal) =>
    ask<EntryReading>(`/entries/${at(id)}/reading`, { signal }),
  content: (id: string, signal?: AbortSignal) =>
    ask<EntryContent>(`/entries/${at(id)}/content`, { signal }),
  act: (request: ActionRequest) => post<ActionProgress>('/actions', request),
  action: (id: string, signal?: AbortSignal) =>
    ask<ActionProgress>(`/actions/${at(id)}`, { signal }),
  undo: (id: string) => post<ActionProgress>(`/actions/${at(id)}/undo`),
  platform: <T>(shop: string, resource: string, query: Query = {}, signal?: AbortSignal) =>
    ask<T>(`/platform/${at(shop)}/${resource}`, { query, signal }),
  deskQueue: (signal?: AbortSignal) => ask<DeskQueue>('/platform/desk/queue', { signal }),
  deskTicket: (shop: string, id: string, query: Query = {}, signal?: AbortSignal) =>
    ask<DeskTicketView>(deskTicket(shop, id), { query, signal }),
  changeTicket: (shop: string, id: string, change: DeskAction, body: object) =>
    post<DeskTicketView>(`${deskTicket(shop, id)}/${change}`, body),
  present: (shop: string, id: string, writing: boolean) =>
    post(`${deskTicket(shop, id)}/presence`, { writing }),
  seen: (shop: string, id: string, message: string) =>
    post(`${deskTicket(shop, id)}/seen`, { message }),
  outbox: (signal?: AbortSignal) => ask<OutboxList>('/platform/desk/outbox', { signal }),
  changeReply: (shop: string, id: string, action: string, body: object) =>
    post(`/platform/desk/${at(shop)}/replies/${at(id)}/${action}`, body),
  deskUpload: (shop: string, file: File) =>
    ask<DeskFile>(`/platform/desk/${at(shop)}/files`, {
      ...{ method: 'POST', file, query: { name: file.name } },
    }),
  deskTexts: (words: string, signal?: AbortSignal) =>
    ask<CannedTexts>('/platform/desk/texts', { query: { words }, signal }),
  configuration: (signal?: AbortSignal) => ask<ConfigurationView>('/configuration', { signal }),
  reload: () => post<ReloadResult>('/configuration/reload'),
  testMessage: (shop: string, channel: Channel) =>
    post<TestMessage>('/test-message', { shop, channel }),
  tryShop: (shop: string) => post<ShopTrial>(`/shops/${at(shop)}/try`),
  audit: (query: Query, signal?: AbortSignal) => ask<AuditPage>('/audit', { query, signal }),
  findPerson: (person: object, signal?: AbortSignal) =>
    ask<PersonReport>('/people/search', { method: 'POST', body: person, signal }),
  erasePerson: (person: object) => post<PersonReport>('/people/erase', person),
  exportPerson: (person: object) =>
    ask<Blob>('/people/export', { method: 'POST', body: person, isFile: true }),
  tokens: (signal?: AbortSignal) => ask<ApiTokenList>('/tokens', { signal }),
  makeToken: (wanted: NewApiToken) => post<MadeApiToken>('/tokens', wanted),
  revokeToken: (id: string) => ask(`/tokens/${at(id)}`, { method: 'DELETE' }),
  doctor: (signal?: AbortSignal) => ask<DoctorReport>('/doctor', { signal }),
};

/** The URLs of downloads, for `<a href download>`. */
export const addressOf = {
  audit: (query: Query) => `/api/audit.csv${queryString(query)}`,
  raw: (id: string) => `/api/entries/${at(id)}/raw`,
  html: (id: string) => `/api/entries/${at(id)}/html`,
  attachment: (id: string, part: string) => `/api/entries/${at(id)}/attachments/${at(part)}`,
};

/** Converts anything thrown to a refusal that can be shown. */
export const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal('internal', 'Internal error in this page.');
