import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { normalizeMessage } from '../../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop } from '../../../../src/channels/email/normalize/shop-mail.ts';
import { emailJob, shopSettings } from './jobs.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/email');
const shop = compileShop(shopSettings);

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
  const { verdict, request, files, notes } = await normalizeMessage(emailJob(bytes, scratch), {
    shop,
    maxBufferBytes: Infinity,
    // The platform has sent <m1@acme.example> and knows nothing else.
    isKnown: (ids) => Promise.resolve(ids.includes('<m1@acme.example>')),
  });
  const attachments = files.map(({ name, type, size, part }) => ({ name, type, size, part }));
  return { verdict, request, attachments, notes };
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
