import { beforeEach, expect, test } from '@jest/globals';
import { type Arrival, Backlog, createIntake, type Intake } from '../../src/intake/intake.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { BlobStore } from '../../src/spool/blobs.ts';
import { SpoolFull } from '../../src/spool/errors.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openStore } from '../support/store.ts';
import { ends } from '../support/ends.ts';
import { claimFrom, OTHER_SHOP, SHOP } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';

const FREE_BYTES = 1000;
let spool: Spool;
let backlog: Backlog;
let intake: Intake;
let nth = 0;

/** A disk with so much free space, whatever is accepted. */
const smallDisk = (blobs: BlobStore): Pick<BlobStore, 'assertSpace' | 'remove'> => ({
  remove: (blob) => blobs.remove(blob),
  assertSpace: (spareBytes = 0) =>
    spareBytes > FREE_BYTES ? Promise.reject(new SpoolFull('short')) : Promise.resolve(),
});

beforeEach(async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const store = await openStore(dir.path);
  spool = store.spool;
  ends(() => spool.close());
  backlog = new Backlog();
  intake = createIntake({
    // The intake uses these two of the blobs alone.
    spool: { ...spool, blobs: smallDisk(spool.blobs) as BlobStore },
    ...{ chat: store.chat, backlog, metrics: createMetrics(), clock: Date.now },
    onAccepted: () => undefined,
  });
});

function anArrival(shopId = SHOP, bytes = 300): Arrival {
  nth += 1;
  return {
    ...{ shopId, channel: 'sms', lane: `lane ${nth}`, dedupKey: `${nth}`, remoteId: `${nth}` },
    summary: { from: '', to: '', subject: '', more: '' },
    ...{ meta: {}, raw: { kind: 'inline', bytes: Buffer.alloc(bytes) } },
  };
}

test('a shop whose backlog is larger than what is free is refused, and others are not', async () => {
  for (let n = 0; n < 4; n += 1) await intake.accept([anArrival()]);
  await expect(intake.accept([anArrival()])).rejects.toThrow(SpoolFull);
  // It is refused before its bytes come, too.
  await expect(intake.assertSpace([SHOP])).rejects.toThrow(SpoolFull);
  await intake.assertSpace([OTHER_SHOP]);
  await intake.accept([anArrival(OTHER_SHOP)]);
  // For both or for neither.
  await expect(intake.accept([anArrival(OTHER_SHOP), anArrival()])).rejects.toThrow(SpoolFull);
});

test('it is let in again when the store counts less, and duplicates never count', async () => {
  const first = anArrival();
  for (let n = 0; n < 6; n += 1) await intake.accept([first]);
  for (let n = 0; n < 3; n += 1) await intake.accept([anArrival()]);
  await expect(intake.accept([anArrival()])).rejects.toThrow(SpoolFull);
  backlog.counted(await spool.backlogBytes());
  expect(backlog.bytesOf(SHOP)).toBe(1200);
  for (const { lease } of await claimFrom(spool, SHOP, 2, 60_000)) {
    await spool.settle(lease, { state: 'delivered' }, { steps: [] });
  }
  backlog.counted(await spool.backlogBytes());
  expect(backlog.bytesOf(SHOP)).toBe(600);
  await intake.accept([anArrival()]);
});
