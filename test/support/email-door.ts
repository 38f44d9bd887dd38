import { buffer } from 'node:stream/consumers';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  createEmailServer,
  EMAIL_SERVER_DEFAULTS,
  type EmailServerOptions,
  type EmailServerParts,
} from '../../src/channels/email/door-smtp.ts';
import { openTls } from '../../src/channels/email/tls.ts';
import { createIntake } from '../../src/intake/intake.ts';
import { createAddressDirectory } from '../../src/channels/email/routing.ts';
import type { EmailShop } from '../../src/channels/email/shop.ts';
import type { LogFields, Logger } from '../../src/observability/logger.ts';
import { createMetrics, type Metrics } from '../../src/observability/metrics.ts';
import type { Entry } from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openStore } from './store.ts';
import { asShopId } from '../../src/domain/ids.ts';
import { SmtpClient } from './smtp-client.ts';
import { tempDir } from './temp-dir.ts';

export const ACME = asShopId('6f1c0a52-5a0e-4b59-9a3e-5f0a4a6f1a01');
export const OTHER = asShopId('6f1c0a52-5a0e-4b59-9a3e-5f0a4a6f1a02');

export const SHOPS: readonly EmailShop[] = [
  {
    shopId: ACME,
    addresses: ['support@acme.example', 'sales@acme.example', '*@help.acme.example'],
    formSenders: ['forms@site.example'],
    severalInboxes: 'first',
  },
  {
    shopId: OTHER,
    addresses: ['hello@other.example', 'team@other.example'],
    formSenders: [],
    severalInboxes: 'each',
  },
];

/** A small message of one customer. */
export const MESSAGE = [
  'From: Ann <ann@example.com>',
  'To: support@acme.example',
  'Subject: Hello',
  'Message-ID: <one@example.com>',
  '',
  'Hi',
].join('\r\n');

export interface LogLine {
  readonly event: string;
  readonly fields: LogFields;
}

export interface EmailDoor {
  readonly port: number;
  readonly spool: Spool;
  readonly metrics: Metrics;
  readonly lines: readonly LogLine[];
  readonly dataDir: string;
  connect(): Promise<SmtpClient>;
  /** Connects and reads the greeting. */
  greeted(): Promise<SmtpClient>;
  /** Sends one message and resolves with the answer to its final dot. */
  deliver(message: string, recipients?: readonly string[], from?: string): Promise<string>;
  entries(): Promise<readonly Entry[]>;
  /** Files of the blob folder, unfinished ones included. */
  files(): readonly string[];
  stop(graceMs?: number): Promise<void>;
  close(): Promise<void>;
}

export type DoorChange = Partial<EmailServerOptions> & {
  readonly parts?: (parts: EmailServerParts) => Partial<EmailServerParts>;
};

/** A running SMTP door before a real store, in a folder and on a port of its own. */
export async function openDoor({ parts: change, ...options }: DoorChange = {}): Promise<EmailDoor> {
  const dir = tempDir();
  const store = await openStore(dir.path, 1024);
  const { spool } = store;
  const metrics = createMetrics();
  const lines: LogLine[] = [];
  const logger = recordingLogger(lines);
  const tls = await openTls(
    { dataDir: dir.path, hostname: 'mx.acme.example', checkEveryMs: 60_000 },
    { logger, metrics },
  );
  const parts: EmailServerParts = {
    intake: createIntake({
      spool,
      chat: store.chat,
      metrics,
      clock: Date.now,
      onAccepted: () => undefined,
    }),
    blobs: spool.blobs,
    directory: createAddressDirectory(SHOPS),
    tls,
    logger,
    metrics,
    clock: Date.now,
  };
  const server = createEmailServer(
    {
      ...EMAIL_SERVER_DEFAULTS,
      checkEveryMs: 20,
      host: '127.0.0.1',
      port: 0,
      hostname: 'mx.acme.example',
      ...options,
    },
    { ...parts, ...change?.(parts) },
  );
  const { port } = await server.start().catch(async (error: unknown) => {
    await server.stop(0);
    tls.close();
    await spool.close();
    dir.remove();
    throw error;
  });
  let stopped: Promise<void> | undefined;
  const stop = (graceMs = 1000): Promise<void> => (stopped ??= server.stop(graceMs));
  const greeted = async (): Promise<SmtpClient> => {
    const client = await SmtpClient.connect(port);
    await client.reply();
    return client;
  };
  return {
    port,
    spool,
    metrics,
    lines,
    dataDir: dir.path,
    connect: () => SmtpClient.connect(port),
    greeted,
    async deliver(message, recipients = ['support@acme.example'], from = 'ann@example.com') {
      const client = await greeted();
      await client.envelope(recipients, from);
      await client.say('DATA');
      client.send(message);
      const answer = await client.say('\r\n.');
      await client.say('QUIT');
      client.end();
      return answer;
    },
    entries: () => spool.list({ limit: 1000 }),
    files: () => readdirSync(join(dir.path, 'blobs')),
    stop,
    async close() {
      await stop(0);
      tls.close();
      await spool.close();
      dir.remove();
    },
  };
}

/** The bytes of an entry, wherever they are kept. */
export async function rawOf(at: EmailDoor, entry: Entry | undefined): Promise<Buffer> {
  if (entry === undefined) throw new Error('no entry');
  const raw = await at.spool.raw(entry.id);
  if (raw === undefined) throw new Error('no raw form');
  return raw.kind === 'inline' ? Buffer.from(raw.bytes) : buffer(at.spool.blobs.read(raw.blob));
}

function recordingLogger(lines: LogLine[], base: LogFields = {}): Logger {
  const record = (event: string, fields: LogFields = {}): void => {
    lines.push({ event, fields: { ...base, ...fields } });
  };
  return {
    error: record,
    warn: record,
    info: record,
    debug: record,
    with: (fields) => recordingLogger(lines, { ...base, ...fields }),
  };
}
