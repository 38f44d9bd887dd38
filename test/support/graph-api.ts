import { z } from 'zod';
import type { StandInAnswer, TwilioStandIn } from './twilio-stand-in.ts';
import { ACCESS_TOKEN, type Members, PHONE_NUMBER_ID, wamid } from './whatsapp-stand-in.ts';

/** The base URL of the API is that of the stand-in with this path. */
export const VERSION = '/v25.0';

export interface GraphApi {
  /** What was sent, in order, with its id; refused messages are not among it. */
  readonly sent: readonly (z.output<typeof sentSchema> & { readonly id: string })[];
  /** Answers for the next messages that are sent; `kept` ones Meta sends nevertheless. */
  answerNextMessage(answer: StandInAnswer, kept?: 'kept'): void;
  /** Answers for the next requests of any kind. */
  answerNext(...answers: readonly StandInAnswer[]): void;
  /** By id of a medium: its link, in place of `/media/<id>` at the stand-in. */
  readonly links: Map<string, unknown>;
  /** By phone number ID. */
  readonly numbers: Map<string, Members>;
}

const sentSchema = z.strictObject({
  messaging_product: z.literal('whatsapp'),
  recipient_type: z.literal('individual'),
  to: z.string().optional(),
  recipient: z.string().optional(),
  biz_opaque_callback_data: z.string().max(512),
  type: z.enum(['text', 'template']),
  text: z.strictObject({ body: z.string().max(4096) }).optional(),
  template: z
    .strictObject({
      name: z.string(),
      language: z.strictObject({ code: z.string() }),
      components: z.tuple([
        z.strictObject({
          type: z.literal('body'),
          parameters: z.tuple([z.strictObject({ type: z.literal('text'), text: z.string() })]),
        }),
      ]),
    })
    .optional(),
});

export const graphJson = (status: number, body: unknown): StandInAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
export const graphError = (status: number, code: number): StandInAnswer =>
  graphJson(status, {
    error: {
      message: `(#${code}) of +16505551234`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details: 'Details' },
      fbtrace_id: 'A4O5a8RAgePwbcGSu',
    },
  });

/** Ids are never given twice, because the process remembers what it has sent. */
let messages = 0;

/** The parts of the Graph API that the gateway calls, after its public description. */
export function serveGraph(standIn: TwilioStandIn): GraphApi {
  const sent: (z.output<typeof sentSchema> & { id: string })[] = [];
  const nextMessages: { answer: StandInAnswer; kept: boolean }[] = [];
  const next: StandInAnswer[] = [];
  const links = new Map<string, unknown>();
  const numbers = new Map<string, Members>();

  const send = (body: string): StandInAnswer => {
    const message = sentSchema.parse(JSON.parse(body));
    const scripted = nextMessages.shift();
    if (scripted !== undefined && !scripted.kept) return scripted.answer;
    messages += 1;
    const id = wamid(1000 + messages);
    sent.push({ id, ...message });
    const contacts = [{ input: message.to, wa_id: message.to?.slice(1) }];
    const answer = { messaging_product: 'whatsapp', contacts, messages: [{ id }] };
    return scripted?.answer ?? graphJson(200, answer);
  };

  standIn.route(({ path: url, method, body, authorization }) => {
    if (!url.startsWith(`${VERSION}/`)) return undefined;
    const { pathname, searchParams } = new URL(url, 'http://api');
    const path = pathname.slice(VERSION.length + 1);
    const scripted = next.shift();
    if (scripted !== undefined) return scripted;
    if (authorization !== `Bearer ${ACCESS_TOKEN}`) return graphError(401, 190);
    if (method === 'POST') {
      return path === `${PHONE_NUMBER_ID}/messages` ? send(body) : graphError(400, 100);
    }
    const number = numbers.get(path);
    if (number !== undefined) {
      const fields = (searchParams.get('fields') ?? '').split(',');
      const asked = fields.map((field) => [field, number[field]] as const);
      return graphJson(200, { ...Object.fromEntries(asked), id: path });
    }
    if (!links.has(path)) return graphError(400, 100);
    const link = links.get(path) ?? `${standIn.baseUrl}/media/${path}`;
    const medium = { mime_type: 'image/jpeg', sha256: '4b4719', file_size: '303833', id: path };
    return graphJson(200, { messaging_product: 'whatsapp', url: link, ...medium });
  });
  return {
    ...{ sent, links, numbers },
    answerNextMessage: (answer, how) => void nextMessages.push({ answer, kept: how === 'kept' }),
    answerNext: (...answers) => void next.push(...answers),
  };
}
