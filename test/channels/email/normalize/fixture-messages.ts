import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkMessage } from '../../../../src/channels/email/authentication/check-message.ts';
import {
  DnsError,
  type Resolve,
} from '../../../../src/channels/email/authentication/dns-resolver.ts';
import type { EmailJob } from '../../../../src/channels/email/normalize/job.ts';
import { normalizeMessage } from '../../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop } from '../../../../src/channels/email/shop.ts';
import { emailJob, meta, shopSettings } from './jobs.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/email');
const shop = compileShop(shopSettings);
/** The relay through which the messages came that have a line of its own. */
const RELAY = 'relay.acme.example';
/** What the domains publish whose people the messages name; no other publishes anything. */
const POLICIES: Readonly<Record<string, string>> = {
  'visitor.example': 'reject',
  'legit.example': 'reject',
  'shopify.com': 'reject',
  'acme.example': 'none',
  'attack.example': 'none',
  'gmail.com': 'none',
};

/** The names of all messages under test/fixtures/email/, without `.eml`, in order. */
export function fixtureNames(): readonly string[] {
  return namesOf('.eml');
}

/** Expectations whose message is gone. */
export function orphanedExpectations(): readonly string[] {
  const messages = new Set(fixtureNames());
  return namesOf('.json').filter((name) => !messages.has(name));
}

/** What the platform would get of the message, as it is written into the expectation. */
export async function actualPayload(name: string, scratch: string) {
  const bytes = readFileSync(join(FOLDER, `${name}.eml`));
  const job = emailJob(bytes, scratch, await authenticated(bytes));
  const { verdict, request, files, findings } = await normalizeMessage(job, {
    shop,
    maxBufferBytes: Infinity,
    // The platform has sent <m1@acme.example> and knows nothing else.
    isKnown: (ids) => Promise.resolve(ids.includes('<m1@acme.example>')),
  });
  const attachments = files.map(({ name, type, size, part }) => ({ name, type, size, part }));
  return { verdict, request, attachments, notes: findings };
}

/** What is found of the sender of a message that a relay has looked at; else it was not checked. */
async function authenticated(bytes: Uint8Array): Promise<Partial<EmailJob>> {
  if (!Buffer.from(bytes).includes(`Authentication-Results: ${RELAY};`)) return {};
  const resolve: Resolve = (name) => {
    const policy = POLICIES[name.replace(/^_dmarc\./, '')];
    if (!name.startsWith('_dmarc.') || policy === undefined) {
      return Promise.reject(new DnsError('ENOTFOUND'));
    }
    return Promise.resolve([[`v=DMARC1; p=${policy}`]]);
  };
  const request = {
    ...meta,
    raw: { kind: 'bytes' as const, bytes },
    trustedRelay: true,
    trustedArcSealers: [],
    senders: shop.senders,
  };
  const settings = {
    hostname: 'mx.acme.example',
    trustedAuthservIds: [RELAY],
    totalMs: 5000,
    endsWithinMs: 60_000,
  };
  return { authentication: await checkMessage(request, settings, resolve) };
}

/** Undefined when nothing was accepted yet. */
export function expectedPayload(name: string): unknown {
  const file = expectationOf(name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

export function acceptPayload(name: string, payload: unknown): void {
  writeFileSync(expectationOf(name), `${JSON.stringify(payload, null, 2)}\n`);
}

function expectationOf(name: string): string {
  return join(FOLDER, `${name}.json`);
}

function namesOf(extension: string): readonly string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(extension))
    .map((name) => name.slice(0, -extension.length))
    .sort();
}
