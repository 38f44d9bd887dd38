import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { withSocketPath } from '../runtime/local-socket.ts';
import { codeOf } from '../runtime/error-code.ts';
import type { ShownCondition } from './conditions.ts';

/** `absent`: nothing listens, as while a gateway starts. `silent`: a gateway is there and does not answer. */
export type Asked<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'absent' | 'silent' | 'failed'; readonly why: string };

export interface Question<Answer> {
  readonly method?: 'POST';
  /** Below `/api`. */
  readonly path: string;
  readonly answer: z.ZodType<Answer>;
  /** The user's name, for the audit log. */
  readonly user?: string;
  /** Milliseconds. */
  readonly within?: number;
}

const WITHIN_MS = 3000;

/** Asks the gateway of a data folder on this machine. Never rejects. */
export async function askGateway<Answer>(
  dir: string,
  { method, path, answer, user = '', within = WITHIN_MS }: Question<Answer>,
): Promise<Asked<Answer>> {
  try {
    const { status, body } = await withSocketPath(dir, async (socketPath) => {
      const signal = AbortSignal.timeout(within);
      const headers = { 'x-sluice-console': '1', 'x-sluice-user': user };
      const asking = request({ socketPath, path: `/api${path}`, method, headers, signal });
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        asking.once('response', resolve).once('error', reject).end();
      });
      return { status: response.statusCode, body: await json(response) };
    });
    const { data } = answer.safeParse(body);
    return data === undefined
      ? { kind: 'failed', why: `/api${path} responded with status ${status}` }
      : { kind: 'answered', answer: data };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ABORT_ERR') return { kind: 'silent', why: 'timeout' };
    const isAbsent = code === 'ENOENT' || code === 'ECONNREFUSED';
    return { kind: isAbsent ? 'absent' : 'failed', why: code === '' ? 'no valid answer' : code };
  }
}

const overview = z.object({
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

/** What is wrong, in the words of the running gateway. */
export async function askConditions(
  dir: string,
  within?: number,
): Promise<Asked<readonly ShownCondition[]>> {
  const asked = await askGateway(dir, {
    path: '/overview',
    answer: overview,
    ...(within !== undefined && { within }),
  });
  // A kind of a newer version is none that is looked for here.
  return asked.kind === 'answered'
    ? { ...asked, answer: asked.answer.conditions as readonly ShownCondition[] }
    : asked;
}
