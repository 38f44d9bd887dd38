import { BlobFiles } from '../../src/spool/blobs.ts';
import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createEmailNormalizer } from '../../src/channels/email/normalize.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import type { RawForm } from '../../src/spool/entry.ts';
import { asBlobName } from '../../src/domain/ids.ts';
import { claimedEmail, shopSettings } from '../../test/channels/email/normalize/jobs.ts';
import { inLanes } from './lanes.ts';

/** The spool stores larger messages in files. */
const INLINE_BYTES = 64 * 1024;

/**
 * The email channel's normalizer with one worker thread: everything that Sluice does to a message
 * between the spool and the platform, including writing attachments to scratch files.
 */
export function start({ folder }: { readonly folder: string }) {
  const normalizer = createEmailNormalizer(
    {
      shops: [{ ...shopSettings, quotes: 'always' }],
      scratchFolder: join(folder, 'scratch'),
      workers: 1,
    },
    {
      blobs: new BlobFiles({ dir: folder, reserveBytes: 0 }),
      knownRemoteIds: () => Promise.resolve(true),
      countMessage: () => Promise.resolve(undefined),
      logger: silentLogger,
    },
  );
  let messages: readonly RawForm[] = [];
  const { signal } = new AbortController();

  const read = async (raw: RawForm): Promise<void> => {
    const normalized = await normalizer.normalize(claimedEmail(raw), signal);
    if (normalized.findings['unreadable'] === true) throw new Error('a message was not read');
    await normalized.dispose();
  };
  return Promise.resolve({
    prepare: async (paths: readonly string[], times: number): Promise<void> => {
      const once = await Promise.all(paths.map(rawForm));
      messages = Array.from({ length: times }, () => once).flat();
    },
    /** Runs the prepared load. @returns the elapsed seconds */
    run: (width: number) => inLanes(messages, width, read),
    stop: () => normalizer.stop(),
  });
}

async function rawForm(path: string): Promise<RawForm> {
  const { size } = await stat(path);
  if (size < INLINE_BYTES) return { kind: 'inline', bytes: await readFile(path) };
  return { kind: 'file', blob: asBlobName(basename(path)), size };
}
