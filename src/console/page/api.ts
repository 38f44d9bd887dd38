import { signal } from '@preact/signals';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type {
  ActionProgress,
  ActionRequest,
  AuditPage,
  Channel,
  ConfigurationView,
  DoctorReport,
  EntryContent,
  EntryDetail,
  EntryList,
  History,
  Overview,
  Problem,
  ReloadResult,
  Session,
  ShopTrial,
  TestMessage,
} from '../contract.ts';
import { parseRetryAfter } from '../../runtime/retry-after.ts';
import { setClock } from './now.ts';
import { Refusal } from './refusal.ts';

/** `undefined` until the gateway has said, `null` while nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** Parameters of a query; what is `undefined` or empty is left out, a list is repeated. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  readonly query?: Query;
  readonly signal?: AbortSignal | undefined;
}

/** `?a=1&b=2`, or nothing. */
function queryString(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const values = typeof value === 'object' ? value : [value];
    for (const one of values) if (one !== undefined && one !== '') params.append(name, String(one));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/**
 * Asks the gateway; `path` is below `/api`. Whoever is signed out meanwhile is led to the login and,
 * since the address stays, back to the same page.
 * @throws Refusal; AbortError when the signal was aborted
 */
async function ask<T>(path: string, request: Ask = {}): Promise<T> {
  const { method = 'GET', body, query = {}, signal: abort } = request;
  const response = await send(`/api${path}${queryString(query)}`, {
    method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      // No foreign page can send this without asking first (see contract.ts).
      ...(method !== 'GET' && { 'x-sluice-console': '1', 'content-type': 'application/json' }),
    },
    ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
    ...(abort && { signal: abort }),
  });
  const at = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(at)) setClock(at);
  const answer = await bodyOf(response);
  if (response.ok) return answer as T; // The contract is ours on both sides.
  const refusal = refusalOf(response, answer);
  if (refusal.code === 'signed_out') session.value = null;
  throw refusal;
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new Refusal('unreachable', 'The gateway does not answer.');
  }
}

/** Nothing where there is no JSON. @throws AbortError; Refusal when the connection breaks in it */
async function bodyOf(response: Response): Promise<unknown> {
  try {
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    if (!response.ok) return undefined;
    throw new Refusal('unreachable', 'The answer of the gateway broke off.');
  }
}

function refusalOf(response: Response, answer: unknown): Refusal {
  const problem = answer as Partial<Problem> | undefined;
  const afterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now());
  return new Refusal(
    problem?.code ?? (response.status === 401 ? 'signed_out' : 'internal'),
    problem?.message ?? `The gateway answered ${response.status}.`,
    problem?.retryAfter ?? (afterMs === undefined ? undefined : Math.ceil(afterMs / 1000)),
  );
}

const at = encodeURIComponent;
const post = <T>(path: string, body?: unknown): Promise<T> => ask(path, { method: 'POST', body });

/** The routes of contract.ts. */
export const api = {
  session: () => ask<Session>('/session'),
  login: (body: { operator?: string; password: string }) => post<Session>('/login', body),
  logout: () => post('/logout'),
  overview: (signal?: AbortSignal) => ask<Overview>('/overview', { signal }),
  history: (signal?: AbortSignal) => ask<History>('/history', { signal }),
  entries: (query: Query, signal?: AbortSignal) => ask<EntryList>('/entries', { query, signal }),
  entry: (id: string, signal?: AbortSignal) => ask<EntryDetail>(`/entries/${at(id)}`, { signal }),
  content: (id: string, signal?: AbortSignal) =>
    ask<EntryContent>(`/entries/${at(id)}/content`, { signal }),
  act: (request: ActionRequest) => post<ActionProgress>('/actions', request),
  action: (id: string, signal?: AbortSignal) =>
    ask<ActionProgress>(`/actions/${at(id)}`, { signal }),
  undo: (id: string) => post<ActionProgress>(`/actions/${at(id)}/undo`),
  platform: <T>(shop: string, resource: string, query: Query = {}, signal?: AbortSignal) =>
    ask<T>(`/platform/${at(shop)}/${resource}`, { query, signal }),
  configuration: (signal?: AbortSignal) => ask<ConfigurationView>('/configuration', { signal }),
  reload: () => post<ReloadResult>('/configuration/reload'),
  testMessage: (shop: string, channel: Channel) =>
    post<TestMessage>('/test-message', { shop, channel }),
  tryShop: (shop: string) => post<ShopTrial>(`/shops/${at(shop)}/try`),
  audit: (query: Query, signal?: AbortSignal) => ask<AuditPage>('/audit', { query, signal }),
  doctor: (signal?: AbortSignal) => ask<DoctorReport>('/doctor', { signal }),
};

/** Where a download lies; use it in `<a href download>`. */
export const addressOf = {
  raw: (id: string) => `/api/entries/${at(id)}/raw`,
  html: (id: string) => `/api/entries/${at(id)}/html`,
  attachment: (id: string, part: string) => `/api/entries/${at(id)}/attachments/${at(part)}`,
};

/** What a part of the page asked for. `data` stays while it is asked for again. */
interface Loaded<T> {
  readonly data: T | undefined;
  readonly failure: Refusal | undefined;
  readonly loading: boolean;
  readonly reload: () => void;
}

/**
 * Loads when a part appears and whenever one of `keys` changes; an answer that is no longer wanted
 * is aborted.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[] = [],
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    data: undefined,
    failure: undefined,
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, failure: undefined, loading: true }));
    load(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ data, failure: undefined, loading: false });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        setState((before) => ({ ...before, failure: asRefusal(error), loading: false }));
      },
    );
    return () => abort.abort();
  }, [turn, ...keys]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, reload };
}

/** What can be said to a person of anything that was thrown. */
export const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal('internal', 'This page has made a mistake.');
