import { beforeEach, describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { whatsappApi } from '../../../../../src/channels/sms/providers/whatsapp-cloud/api.ts';
import { whatsappWebhook } from '../../../../../src/channels/sms/providers/whatsapp-cloud/webhook.ts';
import type { TextNotSent } from '../../../../../src/channels/sms/providers/text-not-sent.ts';
import { textSender } from '../../../../../src/gateway/local.ts';
import { ProviderSms } from '../../../../../src/local-platform/outbound/provider-sms.ts';
import { SmsLog } from '../../../../../src/local-platform/outbound/sms.ts';
import { ends } from '../../../../support/ends.ts';
import {
  type GraphApi,
  graphError,
  graphJson,
  serveGraph,
  VERSION,
} from '../../../../support/graph-api.ts';
import { textFailureOf } from '../../../../support/text-failure.ts';
import { tempDir } from '../../../../support/temp-dir.ts';
import { startTwilioStandIn, type TwilioStandIn } from '../../../../support/twilio-stand-in.ts';
import {
  FAILED,
  type Members,
  statusEvent,
  wamid,
  WHATSAPP_NUMBER,
  whatsappAccount,
} from '../../../../support/whatsapp-stand-in.ts';

const FROM = `whatsapp:${WHATSAPP_NUMBER}`;
const TEMPLATE = { name: 'reply_later', language: 'en_US' };

let standIn: TwilioStandIn;
let graph: GraphApi;
let people = 0;
let text: { readonly from: string; readonly to: string; readonly body: string };

beforeEach(async () => {
  standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  graph = serveGraph(standIn);
  // What was sent is remembered by the process.
  people += 1;
  const to = `whatsapp:+1415555${String(2000 + people)}`;
  text = { from: FROM, to, body: 'Monday to Friday.' };
});

const account = (changes: Parameters<typeof whatsappAccount>[0] = {}) =>
  whatsappAccount({ apiBaseUrl: standIn.baseUrl + VERSION, template: TEMPLATE, ...changes });
const sender = (changes?: Parameters<typeof whatsappAccount>[0], timeoutMs?: number) =>
  whatsappApi.createSender(account(changes), timeoutMs === undefined ? {} : { timeoutMs });

/** A status as the webhook hands it on once its signature was checked. */
function report(status: Members, now = Date.now()): void {
  const body = Buffer.from(statusEvent(status));
  const request = { headers: {}, body, url: undefined, now };
  const { contents } = whatsappWebhook.read(request);
  for (const content of typeof contents === 'function' ? contents() : contents) {
    if (content.kind === 'status') whatsappWebhook.note?.(content, now);
  }
}

test('a text goes out, and its id is what Meta says', async () => {
  const id = await sender().sendText(text);
  expect(graph.sent).toEqual([
    {
      id,
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: text.to.replace('whatsapp:', ''),
      biz_opaque_callback_data: expect.stringMatching(/^[\w-]{43}$/),
      type: 'text',
      text: { body: text.body },
    },
  ]);
});

test('a text to a person whose number is hidden goes to their id', async () => {
  await sender().sendText({ ...text, to: 'whatsapp:US.13491208655302741918' });
  expect(graph.sent[0]).toMatchObject({ recipient: 'US.13491208655302741918' });
  expect(graph.sent[0]).not.toHaveProperty('to');
});

test('a template goes out with its language and the answer', async () => {
  const { from, to } = text;
  await sender().sendText({ from, to, template: TEMPLATE.name, shown: text.body });
  expect(graph.sent[0]?.template).toEqual({
    name: 'reply_later',
    language: { code: 'en_US' },
    components: [{ type: 'body', parameters: [{ type: 'text', text: text.body }] }],
  });
});

describe('a text that is not sent', () => {
  test.each<[what: string, status: number, code: number, kind: TextNotSent['kind']]>([
    ['the window is closed', 400, 131_047, 'permanent'],
    ['undeliverable', 400, 131_026, 'permanent'],
    ['a parameter', 400, 100, 'permanent'],
    ['an id that cannot be written to', 400, 131_062, 'permanent'],
    ['no such template', 404, 132_001, 'permanent'],
    ['a paused template', 400, 132_015, 'permanent'],
    ['the rate of the number', 429, 130_429, 'transient'],
    ['the rate of the number, as Graph puts it', 400, 130_429, 'transient'],
    ['the rate of the pair', 400, 131_056, 'transient'],
    ['the rate of the app', 400, 4, 'transient'],
    ['the rate of the account', 400, 80_007, 'transient'],
    ['marked as spam', 400, 131_048, 'transient'],
    ['maintenance', 400, 131_057, 'transient'],
    ['overloaded', 503, 131_016, 'transient'],
    ['something went wrong', 500, 131_000, 'transient'],
    ['an expired token', 401, 190, 'transient'],
    ['a missing permission', 403, 10, 'transient'],
    ['a missing permission of another number', 400, 200, 'transient'],
    ['a payment', 400, 131_042, 'transient'],
    ['a number that is not registered', 400, 133_010, 'transient'],
    ['a blocked account', 403, 368, 'transient'],
  ])('because of %s (%d, %d): %s', async (_what, status, code, kind) => {
    graph.answerNext(graphError(status, code));
    expect(await textFailureOf(sender().sendText(text))).toMatchObject({
      ...{ kind, code: String(code), message: `WhatsApp answered ${status}` },
    });
  });

  test.each([
    ['a broken connection', 'reset' as const],
    ['an answer without an id', graphJson(200, { messages: [] })],
    ['an answer that is no JSON', { status: 200, body: 'captive portal' }],
    ["a proxy's answer", { status: 502, body: 'Bad gateway' }],
    ["a proxy's timeout", { status: 504, body: '' }],
  ])('after %s may have been', async (_what, answer) => {
    graph.answerNext(answer);
    expect((await textFailureOf(sender().sendText(text))).kind).toBe('unsure');
  });

  test('after silence may have been', async () => {
    graph.answerNext('stall');
    expect(await textFailureOf(sender({}, 50).sendText(text))).toMatchObject({
      ...{ kind: 'unsure', code: 'timeout' },
    });
  });

  test('from a number that is not the account’s waits for an operator', async () => {
    const sending = sender().sendText({ ...text, from: 'whatsapp:+15550000000' });
    expect(await textFailureOf(sending)).toMatchObject({
      kind: 'transient',
      code: 'unknown_sender',
    });
    expect(standIn.requests).toEqual([]);
  });

  test('has no token in its error', async () => {
    const accessToken = 'EAA-that-is-secret';
    const failure = await textFailureOf(sender({ accessToken }).sendText(text));
    expect(failure).toMatchObject({ kind: 'transient', code: '190' });
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(accessToken);
  });
});

describe('a text that may have been sent', () => {
  const since = () => new Date(Date.now() - 1000);
  const longAgo = () => new Date(Date.now() - 6 * 60_000);
  const tagged = async () => {
    graph.answerNextMessage({ status: 502 }, 'kept');
    await textFailureOf(sender().sendText(text));
    const [sent] = graph.sent;
    if (sent === undefined) throw new Error('nothing was sent');
    return sent;
  };

  test('is known by the status that Meta reports', async () => {
    const { id, biz_opaque_callback_data: tag } = await tagged();
    expect(await textFailureOf(sender().findSent(text, since()))).toMatchObject({
      ...{ kind: 'unsure', code: 'no_status_yet' },
    });
    report({ id, status: 'sent', biz_opaque_callback_data: tag });
    expect(await sender().findSent(text, since())).toEqual([id]);
    expect(await sender().findSent({ ...text, body: 'Other' }, longAgo())).toEqual([]);
  });

  test('is sent again if Meta reports nothing for five minutes', async () => {
    expect(await sender().findSent(text, longAgo())).toEqual([]);
  });

  test('is not one that failed', async () => {
    const { id, biz_opaque_callback_data: tag } = await tagged();
    report({ id, status: 'sent', biz_opaque_callback_data: tag });
    report({ id, ...FAILED, biz_opaque_callback_data: tag });
    expect(await sender().findSent(text, longAgo())).toEqual([]);
  });

  test('is not one with the same words that was known before', async () => {
    const id = await sender().sendText(text);
    const sent = graph.sent[0]?.biz_opaque_callback_data;
    report({ id, status: 'read', biz_opaque_callback_data: sent }, Date.now() + 60_000);
    const later = new Date(Date.now() + 30_000);
    expect(await textFailureOf(sender().findSent(text, later))).toMatchObject({ kind: 'unsure' });
  });

  test('is not known by a status without its tag', async () => {
    const { id } = await tagged();
    report({ id, status: 'sent' });
    expect(await sender().findSent(text, longAgo())).toEqual([]);
  });

  test('is forgotten after ten thousand others', async () => {
    const { id, biz_opaque_callback_data: tag } = await tagged();
    report({ id, status: 'sent', biz_opaque_callback_data: tag });
    for (let n = 0; n < 10_000; n += 1) {
      const others = { id: wamid(1_000_000 + n), account: 'whatsapp', tag: 'another' };
      whatsappWebhook.note?.({ kind: 'status', ...others, statuses: [] }, Date.now());
    }
    expect(await sender().findSent(text, longAgo())).toEqual([]);
  });
});

describe('a reply of the local platform', () => {
  const reply = (more: { readonly content: string; readonly needsTemplate?: true }) => ({
    ...{ id: 'reply', shop: 'shop', format: 'TEXT', at: new Date() },
    ...{ from: FROM, fromName: 'Acme', to: text.to, toName: undefined, email: undefined },
    ...more,
  });
  const parts: string[] = [];
  beforeEach(() => void parts.splice(0));
  const attempt = (unsureSince?: Date) => ({
    unsureSince,
    partsSent: parts.length,
    partSent: (id: string) => Promise.resolve(void parts.push(id)),
    isKnown: (id: string) => parts.includes(id),
    signal: new AbortController().signal,
  });

  function outbound(template: string | undefined = TEMPLATE.name) {
    const dir = tempDir();
    ends(() => dir.remove());
    const texts = new Map([['shop', textSender(account(), { whatsappTemplate: template })]]);
    return new ProviderSms(texts, new SmsLog(`${dir.path}/outbox`));
  }

  test('goes out in parts of 4096 characters, each sent once', async () => {
    const content = Array.from({ length: 400 }, (_, n) => `Sentence number ${n}.`).join(' ');
    const way = outbound();
    graph.answerNextMessage({ status: 502 }, 'kept');
    await expect(way.send(reply({ content }), attempt())).rejects.toMatchObject({ kind: 'unsure' });
    const [lost] = graph.sent;
    const started = new Date(Date.now() - 1000);
    await expect(way.send(reply({ content }), attempt(started))).rejects.toMatchObject({
      kind: 'unsure',
    });
    expect(graph.sent).toHaveLength(1);
    report({ id: lost?.id, biz_opaque_callback_data: lost?.biz_opaque_callback_data });
    await way.send(reply({ content }), attempt(started));
    expect(graph.sent.map(({ text: words }) => words?.body).join(' ')).toBe(content);
    expect(parts).toEqual(graph.sent.map(({ id }) => id));
  });

  test('is the template after the service window', async () => {
    const content = 'We are open.\nSee you!';
    await outbound().send(reply({ content, needsTemplate: true }), attempt());
    expect(graph.sent[0]?.template?.components[0].parameters[0].text).toBe('We are open. See you!');
  });

  test('fails after the service window without a template', async () => {
    const dir = tempDir();
    ends(() => dir.remove());
    const texts = new Map([['shop', textSender(account())]]);
    const way = new ProviderSms(texts, new SmsLog(`${dir.path}/outbox`));
    const sending = way.send(reply({ content: 'Hi', needsTemplate: true }), attempt());
    await expect(sending).rejects.toMatchObject({ kind: 'permanent', code: 'window_closed' });
    expect(graph.sent).toEqual([]);
  });
});
