import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { doorFields, OTHER_SHOPS, platformFields } from '../support/field-limits/door-fields.ts';
import { type Logger, silentLogger } from '../../src/observability/logger.ts';
import { type Field, filled, FILLERS } from '../support/field-limits/field.ts';
import { mailFields } from '../support/field-limits/mail-fields.ts';
import {
  ACME,
  ACME_SHOP,
  CHAT_KEY,
  shopNamed,
  INBOUND_TOKEN,
  INBOX,
  PUBLIC_URL,
} from '../support/gateway-config.ts';
import { type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { tempDir } from '../support/temp-dir.ts';
import { threadTimes, whenIdle } from '../support/thread-times.ts';
import { ACCOUNT_SID, AUTH_TOKEN, OUR_NUMBER } from '../support/twilio-stand-in.ts';

/** `bench -- field-limits` tries all of them, and knows how much less each takes. */
const MAX_MS = 500;
/** A slower machine: what takes longer has to take at most this much more for twice the length. A quadratic pattern takes four times as much. */
const MAX_GROWTH = 3;
const SAMPLE = 3;
/** Where a pattern took quadratic time once. */
const WORST: Readonly<Record<string, readonly string[]>> = {
  'header Subject': ['\r'],
  'profile email': ['.x'],
  'upload head': ['a'],
  'upload name': ['.'],
  'bounce lines': ['-'],
};

const SHOPS = [
  ACME_SHOP,
  ...OTHER_SHOPS.map(({ name, sms }, n) => ({
    ...shopNamed(name, n),
    sms: { twilio: undefined, ...sms },
  })),
];

const temp = tempDir();
const opened: { gateway?: RunningGateway; platformUrl?: string } = {};
beforeAll(async () => {
  const logger: Logger = {
    ...silentLogger,
    info: (event, { url } = {}) => {
      if (event === 'platform.listening' && typeof url === 'string') opened.platformUrl = url;
    },
    with: () => logger,
  };
  opened.gateway = await startGateway(
    {
      ...{ dataDir: temp.path, shops: SHOPS },
      http: { trustProxy: ['127.0.0.0/8'] },
    },
    logger,
  );
});
afterAll(async () => {
  await opened.gateway?.stop();
  temp.remove();
});

function fieldsOf({ smtpPort, httpUrl, adminUrl }: RunningGateway): readonly Field[] {
  return [
    ...mailFields(smtpPort, INBOX),
    ...doorFields({
      ...{
        httpUrl,
        adminUrl,
        publicUrl: PUBLIC_URL,
        chatKey: CHAT_KEY,
        inboundToken: INBOUND_TOKEN,
      },
      twilio: { accountSid: ACCOUNT_SID, authToken: AUTH_TOKEN, number: OUR_NUMBER },
    }),
    ...platformFields({ ...ACME, url: opened.platformUrl ?? '' }),
  ];
}

/** One field in three with one filler, others for each. */
function sampleOf({ name }: Field, nth: number): readonly string[] {
  const filler = nth % SAMPLE === 0 ? FILLERS[(nth / SAMPLE) % FILLERS.length] : undefined;
  return [...(WORST[name] ?? []), ...(filler === undefined ? [] : [filler])];
}

/** Processor time of the busiest, the main thread or all others, in milliseconds. */
async function costOf(send: () => Promise<unknown>): Promise<number> {
  const began = threadTimes(process.pid);
  await send();
  await whenIdle(process.pid);
  const { main, others } = threadTimes(process.pid);
  return Math.round(Math.max(main - began.main, others - began.others));
}

test('no field costs more than in proportion to its length, up to the longest that is let in', async () => {
  const { gateway } = opened;
  if (gateway === undefined) throw new Error('the gateway did not start');
  const slow: string[] = [];
  for (const [nth, field] of fieldsOf(gateway).entries()) {
    for (const filler of sampleOf(field, nth)) {
      for (const [before, after] of field.frames) {
        const room = field.maxBytes - before.length - after.length;
        const send = (length: number) => field.send(before + filled(filler, length) + after);
        let ms = await costOf(() => send(room));
        // A thread of the gateway's that starts meanwhile takes as much.
        if (ms > MAX_MS) ms = await costOf(() => send(room));
        if (ms <= MAX_MS) continue;
        const half = await costOf(() => send(Math.floor(room / 2)));
        if (ms > MAX_GROWTH * half) {
          const what = `${field.door} ${field.name} of ${JSON.stringify(filler)}`;
          slow.push(`${what}: ${ms} ms, and ${half} ms for half of it`);
        }
      }
    }
  }
  expect(slow).toEqual([]);
}, 240_000);
