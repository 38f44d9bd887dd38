/**
 * Intake and delivery at one store, as a process of its own for `file-call-faults.ts`: two small
 * messages and two as files are accepted, claimed, read and settled; what was delivered is swept. Each
 * line on its standard output is written at once, between those of `failing-call.c`:
 *
 *   acked KEY, delivered KEY   after the store's answer
 *   refused STEP ERROR         by the name of the error
 *   fatal                      then it ends with 1, as it does when the store cannot be opened
 *   closing, closed            at the end; then it ends with 0
 *   unhandled TEXT             then it ends with 3: never right
 */
import { writeFileSync, writeSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { assertIntact } from '../../dist/spool/blobs.js';
import { openSqliteStore } from '../../dist/spool/sqlite/open.js';

const SHOP_ID = '00000000-0000-4000-8000-000000000001';
/** The last is longer than a ballast that was given up is not looked at. */
const PAUSES_MS = [50, 1100];

const { dir, name, trigger, countFrom, tries, isKilled } = JSON.parse(process.argv[2]);
const say = (line) => writeSync(1, `${line}\n`);

for (const event of ['unhandledRejection', 'uncaughtException']) {
  process.on(event, (error) => {
    say(`unhandled ${String(error?.stack ?? error).replaceAll('\n', ' ')}`);
    process.exit(3);
  });
}

/** What every step ends with: an answer, or a refusal that is told. */
async function step(title, work) {
  try {
    return await work();
  } catch (error) {
    say(`refused ${title} ${error?.name} ${error?.message}`);
    return undefined;
  }
}

/** Until it is not refused. */
async function persistently(title, work) {
  for (let nth = 1; ; nth += 1) {
    const answer = await step(title, work);
    if (answer !== undefined || nth === tries) return answer;
    await delay(PAUSES_MS[nth - 1]);
  }
}

/** As email does it. */
async function rawForm(spool, nth) {
  await spool.blobs.assertSpace();
  if (nth % 2 === 0) return { kind: 'inline', bytes: Buffer.from(`message ${nth}`) };
  const writer = spool.blobs.writer({ inlineMaxBytes: 0 });
  try {
    const finished = once(writer, 'finish');
    for (let part = 0; part < 10; part += 1) writer.write(Buffer.alloc(10_000, `${nth}${part}`));
    writer.end();
    await finished;
    return await writer.commit();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

async function accept(spool, nth) {
  const raw = await rawForm(spool, nth);
  const dedupKey = `${name}-${nth}`;
  const entry = {
    ...{ id: `${Date.now()}-${dedupKey}`, kind: 'message', shopId: SHOP_ID, channel: 'email' },
    ...{ lane: `lane ${nth % 3}`, dedupKey, remoteId: dedupKey, receivedAt: Date.now() },
    ...{ meta: { key: dedupKey }, raw },
  };
  const accepted = await spool.accept([entry]);
  spool.assertSound();
  say(`acked ${dedupKey}`);
  return accepted;
}

/** One cannot be read now: it is left for another time. The last one is never delivered. */
async function deliver(spool, { entry, lease, raw }) {
  const { key } = entry.meta;
  const isRead = await step('read', () => assertIntact(raw, spool.blobs).then(() => true));
  const isLast = key.endsWith('-3');
  const later = { state: 'queued', retryInMs: isLast ? 3_600_000 : 0 };
  const outcome =
    isRead && !isLast
      ? { state: 'delivered', platformMessageId: key }
      : { ...later, waitsFor: 0, reason: 'later', failed: true, counts: true, failingMs: 1 };
  const settled = await spool.settle(lease, { detach: false, ...outcome }, { steps: [] });
  spool.assertSound();
  if (settled && outcome.state === 'delivered') say(`delivered ${key}`);
  return settled;
}

if (countFrom === 'opening') writeFileSync(trigger, '');
const store = await step('open', () =>
  openSqliteStore({ dir, role: 'owner', reserveBytes: 1_000_000 }),
);
if (store === undefined) process.exit(1);
const { spool } = store;
spool.onFatal(() => {
  say('fatal');
  process.exit(1);
});
if (countFrom === 'opened') writeFileSync(trigger, '');
await persistently('recover', () => spool.recover());
for (let nth = 0; nth < 4; nth += 1) await persistently('accept', () => accept(spool, nth));
if (isKilled) process.kill(process.pid, 'SIGKILL');
for (let round = 0; round < tries + 1; round += 1) {
  const request = { shopId: SHOP_ID, limit: 10, from: ['due'] };
  const [claimed] = (await persistently('claim', () => spool.claim([request], 60_000, 10))) ?? [[]];
  for (const each of claimed) await persistently('settle', () => deliver(spool, each));
  if (claimed.length === 0) break;
}
const retention = { rawMs: -1000, deadMs: 3_600_000, entriesMs: 3_600_000 };
await persistently('sweep', () => spool.sweep(retention));
say('closing');
await step('close', () => spool.close());
say('closed');
