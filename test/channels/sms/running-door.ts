import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import {
  type TwilioAccount,
  twilioShopAccount,
} from '../../../src/channels/sms/providers/twilio/account.ts';
import type {
  FormPairs,
  MessageIdentity,
} from '../../../src/channels/sms/providers/twilio/form.ts';
import { receivedText } from '../../../src/channels/sms/providers/twilio/texts.ts';
import { arrivalOf } from '../../../src/channels/sms/receive.ts';
import type { SmsShop } from '../../../src/channels/sms/shop.ts';
import { createSmsWebhook, type SmsWebhookDeps } from '../../../src/channels/sms/door.ts';
import { type Arrival, createIntake, type Intake } from '../../../src/intake/intake.ts';
import type { LogFields, Logger } from '../../../src/observability/logger.ts';
import { createMetrics, type Metrics } from '../../../src/observability/metrics.ts';
import type { Claimed } from '../../../src/spool/entry.ts';
import type { Store } from '../../../src/spool/store.ts';
import { openStore } from '../../support/store.ts';
import { asShopId } from '../../../src/domain/ids.ts';
import { claimFrom } from '../../support/entries.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  encodeForm,
  OUR_NUMBER,
  type Pairs,
  postWebhook,
  twilioSignature,
  type WebhookAnswer,
} from '../../support/twilio-stand-in.ts';

export const PUBLIC_URL = 'https://sms.acme.example';
export const WEBHOOK_URL = `${PUBLIC_URL}/sms/twilio`;

export const TWILIO: TwilioAccount = { accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN] };

type ShopChanges = Partial<Omit<SmsShop, 'account' | 'services'>> & {
  readonly twilio?: TwilioAccount;
  readonly messagingServiceSids?: readonly string[];
};

/** A shop with a number at Twilio. */
export function smsShop({
  twilio = TWILIO,
  messagingServiceSids,
  ...changes
}: ShopChanges = {}): SmsShop {
  return {
    name: 'acme',
    shopId: asShopId('11111111-1111-4111-8111-111111111111'),
    numbers: [OUR_NUMBER],
    account: twilioShopAccount(twilio),
    ...(messagingServiceSids && { services: messagingServiceSids }),
    optOut: 'provider',
    whatsapp: 'deliver',
    loop: { per10min: 30, perHour: 60, perDay: 150, sameBodyPerHour: 5 },
    ...changes,
  };
}

/** The arrival of a text from Twilio. */
export const toArrival = (
  shop: SmsShop,
  identity: MessageIdentity,
  pairs: FormPairs,
  receivedAt?: number,
): Arrival => arrivalOf(shop, receivedText(identity, pairs), receivedAt);

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly fields: LogFields;
}

export function recordingLogger(lines: LogLine[]): Logger {
  const at =
    (level: string) =>
    (event: string, fields: LogFields = {}) => {
      lines.push({ level, event, fields });
    };
  const logger: Logger = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    with: () => logger,
  };
  return logger;
}

/** The webhook on a real server, over a real store in a folder of its own. */
export interface RunningWebhook {
  /** Where it listens; Twilio signs for `WEBHOOK_URL`. */
  readonly target: string;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly log: readonly LogLine[];
  readonly dir: string;
  /** Sends a form, signed for the public URL unless `signature` says otherwise. */
  send(pairs: Pairs, options?: SendOptions): Promise<WebhookAnswer>;
  /** The first entry that is ready to be delivered. */
  claim(shop?: SmsShop): Promise<Claimed | undefined>;
  close(): Promise<void>;
}

export interface SendOptions {
  readonly query?: string;
  /** `none` sends no header at all. */
  readonly signature?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly agent?: http.Agent;
}

export async function startWebhook(
  options: {
    readonly shops?: readonly SmsShop[];
    readonly publicUrl?: string;
    readonly intake?: Pick<Intake, 'accept'>;
    readonly onStatus?: SmsWebhookDeps['onStatus'];
  } = {},
): Promise<RunningWebhook> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-sms-'));
  const store = await openStore(dir);
  const metrics = createMetrics();
  const log: LogLine[] = [];
  const shops = options.shops ?? [smsShop()];
  const intake =
    options.intake ??
    createIntake({
      spool: store.spool,
      chat: store.chat,
      metrics,
      clock: Date.now,
      onAccepted: () => undefined,
    });
  const app = express();
  app.use(
    createSmsWebhook(
      { shops, publicUrl: options.publicUrl ?? PUBLIC_URL },
      {
        ...{ intake, optOuts: store.optOuts, metrics, logger: recordingLogger(log) },
        onStatus: options.onStatus,
      },
    ),
  );
  const server = http.createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address of this kind.
  const { port } = server.address() as AddressInfo;
  const target = `http://127.0.0.1:${port}/sms/twilio`;
  return {
    target,
    store,
    metrics,
    log,
    dir,
    send: (pairs, { query = '', signature, headers, agent } = {}) =>
      postWebhook({
        target: target + query,
        body: encodeForm(pairs),
        ...(headers && { headers }),
        ...(agent && { agent }),
        ...(signature !== 'none' && {
          signature: signature ?? twilioSignature(AUTH_TOKEN, WEBHOOK_URL + query, pairs),
        }),
      }),
    claim: async (shop = smsShop()) => (await claimFrom(store.spool, shop.shopId, 1, 60_000))[0],
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      await store.spool.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
