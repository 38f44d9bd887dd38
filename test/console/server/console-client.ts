import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Of a JSON answer. */
  readonly body: unknown;
}

export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  /** One that is undefined is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** What the console's page is to its server: it keeps the cookie and sends the header. */
export interface ConsoleClient {
  readonly url: string;
  cookie: string;
  ask(path: string, asked?: Asked): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  signIn(password: string, operator?: string): Promise<Answer>;
}

export function consoleClient(url: string): ConsoleClient {
  const client: ConsoleClient = {
    url,
    cookie: '',
    async ask(path, asked = {}) {
      const answer = await send(url, path, client.cookie, asked);
      const [cookie] = [answer.headers['set-cookie']].flat();
      if (cookie !== undefined) client.cookie = cookie.split(';', 1)[0] ?? '';
      return answer;
    },
    get: (path) => client.ask(path),
    post: (path, body = {}) => client.ask(path, { method: 'POST', body }),
    signIn: (password, operator) =>
      client.post('/api/login', { password, ...(operator !== undefined && { operator }) }),
  };
  return client;
}

/** By node:http: `fetch` sends no Host and no Origin of one's own choice. */
function send(url: string, path: string, cookie: string, asked: Asked): Promise<Answer> {
  const { method = 'GET', body, headers = {} } = asked;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const all: Record<string, string | undefined> = {
    ...(method !== 'GET' && { 'x-sluice-console': '1' }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(cookie !== '' && { cookie }),
    ...headers,
  };
  const given = Object.fromEntries(
    Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers: given, agent: false });
    sent.on('error', reject);
    sent.on('response', (response) => {
      buffer(response).then((bytes) => {
        const answered = bytes.toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: answered,
          body: parsed(answered),
        });
      }, reject);
    });
    sent.end(body === undefined ? undefined : text);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
