import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { socketPathOf } from '../runtime/local-socket.ts';
import { codeOf } from '../runtime/error-code.ts';
import type { ShownCondition } from './conditions.ts';

/** `absent`: nothing listens, as while a gateway starts. `failed`: a gateway is there, and gives no right answer. */
export type Asked<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'absent' | 'failed'; readonly why: string };

export interface Question<Answer> {
  readonly method?: 'POST';
  /** Below `/api`. */
  readonly path: string;
  readonly answer: z.ZodType<Answer>;
  /** The user's name, for the audit log. */
  readonly user?: string;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 3000;
const WHY: Readonly<Record<string, string>> = {
  EACCES: 'no access to its data folder: run the command as its user',
};

/** Asks the gateway of a data folder on this machine. Never rejects. */
export async function askGateway<Answer>(
  dir: string,
  question: Question<Answer>,
): Promise<Asked<Answer>> {
  const { answer, timeoutMs = TIMEOUT_MS } = question;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { status, body } = await ask(dir, question, signal);
    const { data } = answer.safeParse(body);
    return data === undefined
      ? { kind: 'failed', why: `/api${question.path} responded with status ${status}` }
      : { kind: 'answered', answer: data };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ECONNREFUSED') {
      return { kind: 'absent', why: 'no gateway takes commands on this data folder' };
    }
    // A stopped process accepts no connections, so its queue fills up.
    const isLate = signal.aborted || code === 'EAGAIN';
    const why = isLate ? `no answer within ${timeoutMs / 1000} s` : (WHY[code] ?? code);
    return { kind: 'failed', why: why === '' ? 'no valid answer' : why };
  }
}

async function ask(
  dir: string,
  { method, path, user = '' }: Pick<Question<unknown>, 'method' | 'path' | 'user'>,
  signal: AbortSignal,
): Promise<{ readonly status: number | undefined; readonly body: unknown }> {
  const { path: socketPath, close } = await socketPathOf(dir);
  try {
    const headers = { 'x-sluice-console': '1', 'x-sluice-user': user };
    const asking = request({
      ...{ socketPath, method, path: `/api${path}`, headers, signal, agent: false },
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      asking.on('error', reject).on('response', resolve).end();
    });
    return { status: response.statusCode, body: await json(response) };
  } finally {
    await close();
  }
}

const overview = z.object({
  // An older gateway does not send them.
  refusedPages: z
    .array(z.object({ shop: z.string(), origin: z.string(), isOwn: z.boolean(), at: z.number() }))
    .default([]),
  conditions: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      severity: z.enum(['warning', 'critical']),
      shop: z.exactOptional(z.string()),
      part: z.exactOptional(z.enum(['messages', 'media'])),
      since: z.exactOptional(z.number()),
      sentence: z.string(),
      remedy: z.string(),
      words: z.exactOptional(z.string()),
      stopsIntake: z.boolean(),
    }),
  ),
});

const askOverview = (dir: string) => askGateway(dir, { path: '/overview', answer: overview });

/** What is wrong, in the words of the running gateway. */
export async function askConditions(dir: string): Promise<Asked<readonly ShownCondition[]>> {
  const asked = await askOverview(dir);
  // A newer gateway may send kinds that this version does not know.
  return asked.kind === 'answered'
    ? { ...asked, answer: asked.answer.conditions as readonly ShownCondition[] }
    : asked;
}

/** The pages that the running gateway's chat has refused since its start. */
export async function askRefusedPages(
  dir: string,
): Promise<Asked<z.output<typeof overview>['refusedPages']>> {
  const asked = await askOverview(dir);
  return asked.kind === 'answered' ? { ...asked, answer: asked.answer.refusedPages } : asked;
}
