import { describe, expect, test } from '@jest/globals';
import { twilioShopAccount } from '../../../src/channels/sms/providers/twilio/account.ts';
import { textSender } from '../../../src/gateway/local.ts';
import type { LocalPlatformOptions } from '../../../src/local-platform/local-platform.ts';
import type { FindTextRoute, TextRoute } from '../../../src/local-platform/outbound/text-route.ts';
import { type LogFields, silentLogger } from '../../../src/observability/logger.ts';
import type { Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { serveMessages } from '../../support/twilio-messages.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  messageSid,
  OUR_NUMBER,
  startTwilioStandIn,
  THEIR_NUMBER,
} from '../../support/twilio-stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';
import { create, messagesOf, SHOP, startPlatform } from '../harness.ts';

const HOUR_MS = 3_600_000;
const TEMPLATE = `HX${'7'.repeat(32)}`;
const WHATSAPP: TextRoute = {
  transport: 'whatsapp',
  ours: OUR_NUMBER,
  theirs: THEIR_NUMBER,
  isOptedOut: false,
};

interface Setting {
  readonly findTextRoute: FindTextRoute;
  readonly whatsappTemplate?: string;
  /** How long ago the customer wrote. */
  readonly agoMs?: number;
  /** Of a text that arrived before and gets no answer. */
  readonly earlierAgoMs?: number;
  readonly remoteId?: string;
  readonly answer?: string;
}

/** A customer's message, and the result of its reply. */
async function answered(setting: Setting) {
  const { findTextRoute, whatsappTemplate, agoMs = 0, remoteId = messageSid(1) } = setting;
  const standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  const twilio = serveMessages(standIn);
  const account = {
    accountSid: ACCOUNT_SID,
    authTokens: [AUTH_TOKEN],
    apiBaseUrl: standIn.baseUrl,
  };
  const codes: unknown[] = [];
  const warn = (_event: string, fields: LogFields = {}) => void codes.push(fields['code']);
  const answer = setting.answer ?? 'From nine to five.';
  const options: Partial<LocalPlatformOptions> = {
    agent: {
      kind: 'custom',
      agent: { answer: () => Promise.resolve({ text: answer, escalate: false }) },
    },
    logger: { ...silentLogger, warn },
    replies: {
      texts: new Map([[SHOP.shopId, textSender(twilioShopAccount(account), { whatsappTemplate })]]),
      schedule: { delaysMs: [20], giveUpAfterMs: 60_000 },
      findTextRoute,
    },
  };
  const platform = await startPlatform(options);
  const text = (content: string, remote_id: string, ago: number, id?: string | null) =>
    create(platform, {
      contact: { phone: THEIR_NUMBER },
      conversation: { direction: 'inbound', type: 'sms', agent_contact: OUR_NUMBER, id },
      message: { content, remote_id, timestamp: new Date(Date.now() - ago).toISOString() },
    });
  const { earlierAgoMs } = setting;
  const before =
    earlierAgoMs === undefined ? undefined : await text('STOP', messageSid(9), earlierAgoMs);
  const conversation = before?.body.conversation_id;
  const { body } = await text('Opening hours?', remoteId, agoMs, conversation);
  const reply = await waitFor('the reply', async (): Promise<Message | undefined> => {
    const all = await messagesOf(platform, body.conversation_id);
    return all.find(({ role, status }) => role === 'agent' && status !== 'PENDING');
  });
  return { status: reply.status, sent: twilio.sent, codes };
}

const always =
  (route: TextRoute | 'lost' | undefined): FindTextRoute =>
  () =>
    Promise.resolve(route);

describe('WhatsApp, 24 hours after the customer wrote', () => {
  test('is open until then', async () => {
    const { status, sent } = await answered({
      findTextRoute: always(WHATSAPP),
      agoMs: 24 * HOUR_MS - 60_000,
    });
    expect(status).toBe('DELIVERED');
    expect(sent).toMatchObject([
      { from: `whatsapp:${OUR_NUMBER}`, to: `whatsapp:${THEIR_NUMBER}` },
    ]);
  });

  test('is open too when a later text arrived before an older one', async () => {
    const { status } = await answered({
      findTextRoute: always(WHATSAPP),
      earlierAgoMs: HOUR_MS,
      agoMs: 30 * HOUR_MS,
    });
    expect(status).toBe('DELIVERED');
  });

  test('fails the reply without a template, and nothing goes by SMS', async () => {
    const { status, sent, codes } = await answered({
      findTextRoute: always(WHATSAPP),
      agoMs: 24 * HOUR_MS,
    });
    expect({ status, sent }).toEqual({ status: 'FAILED', sent: [] });
    expect(codes).toContain('window_closed');
  });

  test('sends the template with the reply on one line', async () => {
    const { status, sent } = await answered({
      findTextRoute: always(WHATSAPP),
      agoMs: 25 * HOUR_MS,
      whatsappTemplate: TEMPLATE,
      answer: `From nine\n\nto five.${' Ask us.'.repeat(200)}`,
    });
    expect(status).toBe('DELIVERED');
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      ...{ from: `whatsapp:${OUR_NUMBER}`, to: `whatsapp:${THEIR_NUMBER}` },
      template: {
        sid: TEMPLATE,
        variables: { 1: expect.stringMatching(/^From nine to five[.] .*[.]{3}$/) },
      },
    });
    expect(JSON.stringify(sent[0]?.template).length).toBeLessThan(1024);
  });

  test('does not apply to SMS and RCS', async () => {
    for (const transport of ['sms', 'rcs'] as const) {
      const { status } = await answered({
        findTextRoute: always({ ...WHATSAPP, transport }),
        agoMs: 48 * HOUR_MS,
      });
      expect({ transport, status }).toEqual({ transport, status: 'DELIVERED' });
    }
  });
});

describe('a route', () => {
  test('begins at the sender that received the text, whatever the conversation has', async () => {
    const ours = '+15550002222';
    const { sent } = await answered({ findTextRoute: always({ ...WHATSAPP, ours }) });
    expect(sent).toMatchObject([{ from: `whatsapp:${ours}`, to: `whatsapp:${THEIR_NUMBER}` }]);
  });

  test('that is no longer known fails the reply to a text message', async () => {
    const { status, sent, codes } = await answered({ findTextRoute: always('lost') });
    expect({ status, sent }).toEqual({ status: 'FAILED', sent: [] });
    expect(codes).toContain('unknown_route');
  });

  test('is not needed for what another client of the API created', async () => {
    const { status, sent } = await answered({
      findTextRoute: always(undefined),
      remoteId: 'of-another-client',
    });
    expect(status).toBe('DELIVERED');
    expect(sent).toMatchObject([{ from: OUR_NUMBER, to: THEIR_NUMBER }]);
  });

  test('that cannot be looked up is retried', async () => {
    let asked = 0;
    const { status } = await answered({
      findTextRoute: () => {
        asked += 1;
        return asked < 3 ? Promise.reject(new Error('not now')) : Promise.resolve(WHATSAPP);
      },
    });
    expect({ status, asked }).toEqual({ status: 'DELIVERED', asked: 3 });
  });

  test('of a customer who has opted out gets no reply, with or without a template', async () => {
    const findTextRoute = always({ ...WHATSAPP, isOptedOut: true });
    for (const agoMs of [0, 48 * HOUR_MS]) {
      const { status, sent } = await answered({
        ...{ findTextRoute, agoMs, whatsappTemplate: TEMPLATE },
      });
      expect({ status, sent }).toEqual({ status: 'FAILED', sent: [] });
    }
  });
});
