import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Inspection } from '../../src/local-platform/store/store.ts';
import type { MessageRow } from '../../src/local-platform/store/rows.ts';
import type { Sent } from './ledger.ts';

/** Violations as text; all lists are empty if there are none. */
export interface Verdict {
  /** Acknowledged messages that the platform does not have. */
  readonly lost: readonly string[];
  /** Messages that the platform has more than once. */
  readonly twice: readonly string[];
  readonly outOfOrder: readonly string[];
  /** Messages with missing or changed attachments. */
  readonly damaged: readonly string[];
  /** Messages at the platform that were not sent. */
  readonly unknown: readonly string[];
}

export const faultsIn = (verdict: Verdict): readonly string[] =>
  Object.entries(verdict).flatMap(([kind, found]: [string, readonly string[]]) =>
    found.map((what) => `${kind}: ${what}`),
  );

/**
 * Compares the acknowledged messages with those at the platform, by `remote_id` and by the marker
 * in the content: one alone would not detect a message submitted under another's id.
 */
export async function verify(
  sent: readonly Sent[],
  platform: Inspection,
  shopId: string,
): Promise<Verdict> {
  const stored = platform.messages(shopId);
  const markers = new Map(sent.map((message) => [message.marker, message]));
  const byMarker = groupBy(stored, ({ content }) => markerIn(content) ?? content.slice(0, 60));
  const byRemoteId = groupBy(stored, (message) => message.remote_id ?? '');
  return {
    lost: sent
      .filter(({ acknowledged }) => acknowledged)
      .filter(({ marker, remoteId }) => !byMarker.has(marker) || !byRemoteId.has(remoteId))
      .map(({ marker }) => marker),
    twice: [...byMarker, ...byRemoteId]
      .filter(([, messages]) => messages.length > 1)
      .map(([what, messages]) => `${what} (${messages.length} times)`),
    outOfOrder: outOfOrder(stored, markers),
    damaged: await damaged(stored, markers, platform),
    unknown: [...byMarker.keys()].filter((marker) => !markers.has(marker)),
  };
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const markerIn = (content: string): string | undefined => /\[[a-z-]+\d+:\d+\]/.exec(content)?.[0];

/** The platform lists messages in the order of their creation. */
function outOfOrder(
  stored: readonly MessageRow[],
  markers: ReadonlyMap<string, Sent>,
): readonly string[] {
  const latest = new Map<string, number>();
  return stored.flatMap(({ content }) => {
    const message = markers.get(markerIn(content) ?? '');
    if (message === undefined) return [];
    const before = latest.get(message.lane) ?? -1;
    latest.set(message.lane, Math.max(before, message.nth));
    return message.nth < before ? [`${message.marker} came after ${before}`] : [];
  });
}

async function damaged(
  stored: readonly MessageRow[],
  markers: ReadonlyMap<string, Sent>,
  platform: Inspection,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { id, content } of stored) {
    const message = markers.get(markerIn(content) ?? '');
    if (message === undefined) continue;
    const files = platform.attachments(id);
    const sums = await Promise.all(files.map(({ path }) => sha256(path)));
    const wanted = message.files.map((file) => file.sha256);
    if (sums.join() !== wanted.join()) found.push(message.marker);
  }
  return found;
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
