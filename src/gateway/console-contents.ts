import { join } from 'node:path';
import { chatRaw } from '../channels/chat/stored.ts';
import { verdictSchema } from '../channels/email/authentication/verdict.ts';
import { openRaw } from '../channels/email/stored.ts';
import { MessageViewer } from '../channels/email/view/message-viewer.ts';
import { parametersIn, readStored } from '../channels/sms/stored.ts';
import { type EntryContents, NotReadable } from '../console/server/content-routes.ts';
import type { Normalized } from '../intake/normalizer.ts';
import type { Claimed, Entry, RawForm } from '../spool/entry.ts';
import { parsedJson, shownText } from '../spool/stored-form.ts';
import { channelNormalizers, type ReadingParts } from './normalizers.ts';

/**
 * Reads entries for the console with the channels' own normalizers, separate from those of
 * delivery. Reading has no side effects: nothing is counted, no opt-out is recorded and no sender
 * is looked up.
 */
export function consoleContents(parts: ReadingParts): EntryContents {
  const { live, store, stack } = parts;
  const viewer = new MessageViewer({
    scratchFolder: join(live.value.dataDir, 'tmp', 'console-view'),
  });
  stack.push('message viewer', () => viewer.stop());
  const normalizers = channelNormalizers(parts, {
    prefix: 'console-',
    countMessage: () => Promise.resolve(undefined),
    email: { workers: 1, deadlineMs: 20_000, explain: true },
    // An operator waits for a single entry here, while delivery has to share its time.
    media: { overdueMs: 10 * 60_000 },
  });
  const view = async (raw: RawForm, html: boolean) => {
    try {
      const { source, dispose } = await openRaw(raw, store.spool.blobs);
      try {
        return await viewer.view(source, { html });
      } finally {
        await dispose();
      }
    } catch (cause) {
      throw new NotReadable('the message cannot be read', { cause });
    }
  };
  /** With what delivery found out about the sender, which is on the timeline. */
  const asChecked = async (entry: Entry): Promise<Entry> => {
    const steps = await store.spool.timeline(entry.id);
    const checked = steps.findLast(({ step }) => step === 'authenticated');
    const verdict = verdictSchema.safeParse(checked?.detail);
    if (!verdict.success) return entry;
    return { ...entry, meta: { ...entry.meta, authentication: verdict.data } };
  };
  const normalized = async (claimed: Claimed, signal: AbortSignal): Promise<Normalized> => {
    try {
      return await normalizers[claimed.entry.channel](claimed, signal);
    } catch (cause) {
      throw new NotReadable('the message cannot be read', { cause });
    }
  };
  return {
    rawText: (entry, head) => rawText(entry, head),
    async received(entry, raw) {
      if (entry.kind === 'event') return { hasHtml: false };
      if (entry.channel === 'email') {
        const { text, hasHtml } = await view(raw, false);
        return { hasHtml, ...(text !== undefined && { text }) };
      }
      return { text: shortText(entry, raw), hasHtml: false };
    },
    async html(entry, raw) {
      if (entry.channel !== 'email' || entry.kind === 'event') return undefined;
      return (await view(raw, true)).html;
    },
    async prepared(entry, raw, signal) {
      if (entry.kind === 'event') return eventRequest(raw);
      return normalized(claimOf(entry, raw), signal);
    },
    async reading(entry, raw, signal) {
      if (entry.channel !== 'email' || entry.kind === 'event') return undefined;
      const claimed = claimOf(await asChecked(entry), raw);
      // Not as released, so that it shows what was decided.
      const read = await normalized({ ...claimed, released: false }, signal);
      await read.dispose();
      if (read.reading === undefined) throw new NotReadable('the message cannot be read');
      return read.reading;
    },
  };
}

/** The claim as if an operator had released the entry: it is read without checks of its sender. */
const claimOf = (entry: Entry, raw: RawForm): Claimed => ({
  entry,
  raw,
  lease: { id: entry.id, generation: 0 },
  media: new Map(),
  released: true,
  isUnended: false,
  notes: {},
});

function eventRequest(raw: RawForm) {
  const request: unknown = raw.kind === 'inline' ? parsedJson(raw.bytes) : undefined;
  return { request, attachments: [], dispose: () => Promise.resolve() };
}

function rawText(entry: Entry, head: Uint8Array): { text: string; type: string } {
  if (entry.channel === 'email' && entry.kind === 'message') {
    return { text: decoded(head), type: 'message/rfc822' };
  }
  const form = entry.channel === 'sms' ? parametersIn(entry.meta, head) : undefined;
  if (form !== undefined) {
    const text = form.map(([name, value]) => `${name}: ${value}`).join('\n');
    return { text, type: 'application/x-www-form-urlencoded' };
  }
  const object = parsedJson(head);
  const text = object === undefined ? decoded(head) : JSON.stringify(object, null, 2);
  return { text, type: 'application/json' };
}

/** Decodes UTF-8, or byte by byte (Latin-1) when the head is not UTF-8, so that nothing is lost. */
function decoded(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  return text.slice(0, -4).includes('\ufffd') ? buffer.toString('latin1') : text;
}

/**
 * The beginning of a text or a chat message as one line; undefined for what has none.
 * @param length in characters
 */
export function snippetOf(entry: Entry, raw: RawForm, length: number): string | undefined {
  if (entry.channel === 'email' || entry.kind === 'event') return undefined;
  try {
    const text = shownText(shortText(entry, raw));
    return text === '' ? undefined : text.slice(0, length);
  } catch {
    return undefined;
  }
}

function shortText(entry: Entry, raw: RawForm): string {
  try {
    if (raw.kind !== 'inline') throw new Error('a text is always stored inline');
    if (entry.channel === 'web_chat') return chatRaw(raw.bytes).text;
    return readStored(claimOf(entry, raw)).message.body;
  } catch (cause) {
    throw new NotReadable('the message cannot be read', { cause });
  }
}
