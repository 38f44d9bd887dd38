import { beforeEach, describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { telnyxShopAccount } from '../../../../../src/channels/sms/providers/telnyx/account.ts';
import { telnyxApi } from '../../../../../src/channels/sms/providers/telnyx/api.ts';
import type { TextNotSent } from '../../../../../src/channels/sms/providers/text-not-sent.ts';
import { textSender } from '../../../../../src/gateway/local.ts';
import { ProviderSms } from '../../../../../src/local-platform/outbound/provider-sms.ts';
import { SmsLog, smsParts } from '../../../../../src/local-platform/outbound/sms.ts';
import { ends } from '../../../../support/ends.ts';
import { serveTelnyx, type TelnyxApi, telnyxError } from '../../../../support/telnyx-api.ts';
import {
  API_KEY,
  type Members,
  PUBLIC_KEY,
  TELNYX_NUMBER,
  telnyxId,
} from '../../../../support/telnyx-stand-in.ts';
import { textFailureOf } from '../../../../support/text-failure.ts';
import { tempDir } from '../../../../support/temp-dir.ts';
import { startTwilioStandIn, type TwilioStandIn } from '../../../../support/twilio-stand-in.ts';

const PERSON = '+14155552671';
const TEXT = { from: TELNYX_NUMBER, to: PERSON, body: 'Monday to Friday.' };

let standIn: TwilioStandIn;
let telnyx: TelnyxApi;

beforeEach(async () => {
  standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  telnyx = serveTelnyx(standIn);
});

const account = (apiKey = API_KEY) =>
  telnyxShopAccount({ apiKey, publicKey: PUBLIC_KEY, apiBaseUrl: standIn.baseUrl });
const sender = (apiKey?: string, timeoutMs?: number) =>
  telnyxApi.createSender(account(apiKey), timeoutMs === undefined ? {} : { timeoutMs });

/** Long enough for its record to be listed. */
const longAgo = () => new Date(Date.now() - 10 * 60_000);
const keepSent = (
  n: number,
  more: { readonly at?: number; readonly to?: string; readonly payload?: Members } = {},
) => {
  const { at = Date.now() - 5 * 60_000, to = PERSON, payload } = more;
  telnyx.keepSent({ id: telnyxId(n), at, to, payload: { text: TEXT.body, ...payload } });
};

test('a text goes out, and its id is what Telnyx says', async () => {
  const id = await sender().sendText(TEXT);
  const { from, to, body: text } = TEXT;
  expect(telnyx.sent).toEqual([{ id, from, to, text }]);
});

const over = (transport: string) => ({
  ...TEXT,
  from: `${transport}:${TELNYX_NUMBER}`,
  to: `${transport}:${PERSON}`,
});

test('a reply over WhatsApp goes to the path of WhatsApp, with bare numbers', async () => {
  const seen: unknown[] = [];
  standIn.route(({ path, body }) => {
    seen.push([path, JSON.parse(body)]);
    return { status: 200, body: JSON.stringify({ data: { id: telnyxId(1) } }) };
  });
  expect(await sender().sendText(over('whatsapp'))).toBe(telnyxId(1));
  const whatsapp_message = { type: 'text', text: { body: TEXT.body } };
  expect(seen).toEqual([
    ['/v2/messages/whatsapp', { from: TELNYX_NUMBER, to: PERSON, whatsapp_message }],
  ]);
});

test('a reply over RCS is refused, and nothing is sent', async () => {
  expect(await textFailureOf(sender().sendText(over('rcs')))).toMatchObject({
    ...{ kind: 'permanent', code: 'rcs' },
  });
  expect(standIn.requests).toEqual([]);
});

describe('a text that is not sent', () => {
  test.each<[status: number, code: string, kind: TextNotSent['kind']]>([
    [400, '10015', 'permanent'],
    [401, '10009', 'transient'],
    [403, '10010', 'transient'],
    [404, '10005', 'permanent'],
    [422, '40310', 'permanent'],
    [429, '10011', 'transient'],
    [500, '10007', 'transient'],
    [503, '10007', 'transient'],
  ])('with the status %d and the code %s: %s', async (status, code, kind) => {
    telnyx.answerNext(telnyxError(status, code));
    const failure = await textFailureOf(sender().sendText(TEXT));
    expect(failure).toMatchObject({ kind, code, message: `Telnyx answered ${status}` });
  });

  test('to a person who wrote STOP is refused for good', async () => {
    telnyx.answerNext(telnyxError(403, '40300'));
    // Telnyx answers 403 for the block, which for other codes means the key.
    expect(await textFailureOf(sender().sendText(TEXT))).toMatchObject({
      kind: 'permanent',
      code: '40300',
    });
  });

  test('after a broken connection may have been', async () => {
    telnyx.answerNext('reset');
    expect(await textFailureOf(sender().sendText(TEXT))).toMatchObject({ kind: 'unsure' });
  });

  test('after an answer without an id may have been', async () => {
    telnyx.answerNextText({
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect(await textFailureOf(sender().sendText(TEXT))).toMatchObject({ kind: 'unsure' });
  });

  test('after silence may have been', async () => {
    telnyx.answerNext('stall');
    expect(await textFailureOf(sender(undefined, 50).sendText(TEXT))).toMatchObject({
      kind: 'unsure',
      code: 'timeout',
    });
  });

  test('as a template is refused, since Telnyx has none', async () => {
    const { from, to } = TEXT;
    const template = { from, to, template: 'HX', shown: 'x' };
    expect(await textFailureOf(sender().sendText(template))).toMatchObject({ kind: 'permanent' });
    expect(telnyx.requests).toEqual([]);
  });

  test('has no key in its error', async () => {
    const secret = 'KEY_that_is_secret';
    const failure = await textFailureOf(sender(secret).sendText(TEXT));
    expect(failure.kind).toBe('transient');
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(secret);
  });
});

test('a text that may have been sent is found, if it has the same words and recipient', async () => {
  const since = new Date();
  const id = await sender().sendText(TEXT);
  await sender().sendText({ ...TEXT, body: 'Other words' });
  await sender().sendText({ ...TEXT, to: '+14155550199' });
  expect(await sender().findSent(TEXT, since)).toEqual([id]);
  expect(await sender().findSent({ ...TEXT, body: 'Never said' }, longAgo())).toEqual([]);
});

test('what was sent long before is not found', async () => {
  keepSent(1, { at: Date.now() - 3_600_000 });
  expect(await sender().findSent(TEXT, longAgo())).toEqual([]);
});

test.each<[label: string, to: string, payload: Members]>([
  ['a longer number', `${PERSON}9`, {}],
  ['another number of ours', PERSON, { from: { phone_number: '+15550003333' } }],
  ['a message that cannot be read', PERSON, { to: 'nobody' }],
])('the same words to %s are not the text', async (_label, to, payload) => {
  keepSent(1, { to, payload });
  expect(await sender().findSent(TEXT, longAgo())).toEqual([]);
  keepSent(2);
  expect(await sender().findSent(TEXT, longAgo())).toEqual([telnyxId(2)]);
});

test('a record whose message can no longer be retrieved hides no other', async () => {
  keepSent(1);
  keepSent(2);
  telnyx.gone.add(telnyxId(2));
  expect(await sender().findSent(TEXT, longAgo())).toEqual([telnyxId(1)]);
});

test('that nothing is listed yet is not taken for none', async () => {
  const minuteAgo = new Date(Date.now() - 60_000);
  expect(await textFailureOf(sender().findSent(TEXT, minuteAgo))).toMatchObject({
    kind: 'unsure',
    code: 'not_listed_yet',
  });
});

test('that the records cannot be read is not taken for none', async () => {
  telnyx.answerNext({ status: 200, headers: { 'Content-Type': 'application/json' }, body: '[]' });
  expect((await textFailureOf(sender().findSent(TEXT, new Date()))).kind).toBe('unsure');
});

test.each([
  ['GSM 03.38', 'Grüße für 5 €', 670],
  ['ASCII', 'Hello, we are open!', 1530],
  ['letters of Europe in GSM 03.38', 'Grüße, à bientôt'.replace('ô', 'o'), 1530],
  ['an emoji', 'Yes \u{1f44d}', 670],
  ['brackets, which take two septets', '[x]', 670],
])('a text with %s has parts of at most %#', (_label, text, chars) => {
  expect(sender().maxChars(text)).toBe(chars);
});

test('a reply that is cut stays in GSM 03.38, so that its last part is not too long', () => {
  const content = 'One sentence more. '.repeat(1000);
  const last = smsParts(content, sender().maxChars(content)).at(-1) ?? '';
  expect(last).toMatch(/more\. \.\.\.$/);
  expect(last.length).toBeLessThanOrEqual(sender().maxChars(last));
});

test('a reply of the local platform goes out in parts, each sent once', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const way = new ProviderSms(
    new Map([['shop', textSender(account())]]),
    new SmsLog(`${dir.path}/outbox`),
  );
  const parts: string[] = [];
  const attempt = (unsureSince?: Date) => ({
    unsureSince,
    partsSent: parts.length,
    partSent: (id: string) => Promise.resolve(void parts.push(id)),
    isKnown: (id: string) => parts.includes(id),
    signal: new AbortController().signal,
  });
  const content = Array.from({ length: 200 }, (_, n) => `Sentence number ${n}.`).join(' ');
  const reply = {
    ...{ id: 'reply', shop: 'shop', content, format: 'TEXT', at: new Date() },
    ...{ from: TELNYX_NUMBER, fromName: 'Acme', to: PERSON, toName: undefined, email: undefined },
  };
  // Telnyx takes the second part, and the answer is lost.
  const since = new Date();
  telnyx.answerNextText({ status: 200 }, 'kept');
  const first = way.send(reply, attempt());
  await expect(first).rejects.toMatchObject({ kind: 'unsure' });
  await way.send(reply, attempt(since));
  expect(telnyx.sent.map(({ text }) => text).join(' ')).toBe(content);
  expect(parts).toEqual(telnyx.sent.map(({ id }) => id));
});
