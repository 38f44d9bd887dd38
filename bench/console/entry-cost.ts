import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type HeaderBlock, parseHeaderBlock } from '../../src/channels/email/header-block.ts';
import { summaryOfHeaders } from '../../src/channels/email/stored.ts';
import { asEntryId, asShopId } from '../../src/domain/ids.ts';
import type { NewEntry } from '../../src/spool/entry.ts';
import { Follow } from '../../src/spool/search/follow.ts';
import { IndexDatabase, indexFileOf } from '../../src/spool/search/index-database.ts';
import { logBytes, MAX_LOG_BYTES, openDatabase } from '../../src/spool/sqlite/database.ts';
import { createOperations } from '../../src/spool/sqlite/operations.ts';
import { median } from '../support/statistics.ts';

/** Entries per commit and per step of the index, at about two hundred emails per second. */
const PER_COMMIT = 20;
const PER_LOOK = 100;
const PER_ROUND = 2000;
const SHOP = asShopId('5b1f0c6e-9d3a-4c77-8a41-2d6e0f9b7c35');
const META = { envelopeFrom: 'ann.miller@customer.example', envelopeTo: ['help@acme.example'] };

/** The processor time in microseconds that lists and the search cost per 2 KB email. */
export interface EntryCost {
  /** Before the acknowledgement: making the summary and storing it with the entry. */
  readonly intake: number;
  /** Afterwards: updating the index, including SQLite's later work. */
  readonly index: number;
}

/** The medians of several rounds, alternating with a store whose entries have no summary. */
export function entryCost(dir: string, rounds: number): EntryCost {
  const bare = openStore(join(dir, 'bare'));
  const full = openStore(join(dir, 'full'));
  const index = new IndexDatabase(indexFileOf(dir));
  const follow = new Follow(index, full.file);
  const intake: number[] = [];
  const indexed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    let [summed, without, look] = [0, 0, 0];
    for (let n = 0; n < PER_ROUND; n += PER_COMMIT) {
      const entries = Array.from({ length: PER_COMMIT }, (_, nth) => anEmail(round + n + nth));
      without += spent(() => bare.accept(entries.map(({ entry }) => entry)));
      summed += spent(() =>
        // Cloned, as on the way to the database's thread.
        full.accept(
          entries.map(({ entry, head }) => ({
            ...entry,
            summary: structuredClone(summaryOfHeaders(META, head)),
          })),
        ),
      );
      full.deliver();
      if ((n + PER_COMMIT) % PER_LOOK === 0) look += spent(() => follow.stepNow());
    }
    intake.push((summed - without) / PER_ROUND);
    indexed.push(look / PER_ROUND);
  }
  follow.close();
  index.close();
  bare.close();
  full.close();
  return { intake: median(intake), index: median(indexed) };
}

function openStore(dir: string) {
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'spool.db');
  const db = openDatabase(file, 'owner');
  const { operations } = createOperations(db, Date.now);
  const deliver = db.prepare(
    `UPDATE entries SET state = 'delivered', platform_message_id = 'msg_' || id,
       conversation_id = 'conv_' || seq, settled_at = received_at WHERE state = 'queued'`,
  );
  return {
    file,
    accept: (entries: readonly NewEntry[]) => {
      db.transaction(() => operations.accept(entries)).immediate();
      if (logBytes(file) > MAX_LOG_BYTES) db.pragma('wal_checkpoint(PASSIVE)');
    },
    deliver: () => deliver.run(),
    close: () => db.close(),
  };
}

/** The processor time of this process with all threads, in microseconds. */
function spent(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const WORDS = 'order parcel return size colour refund invoice address late missing blue shoe'.split(
  ' ',
);

function anEmail(n: number): { entry: NewEntry; head: HeaderBlock } {
  const id = asEntryId(randomUUID());
  const word = (at: number) => WORDS[(n * 7 + at * 5) % WORDS.length] ?? '';
  const text = [
    `Received: from mail.customer.example (mail.customer.example [192.0.2.7]) by acme.example`,
    `From: Ann Miller <ann.miller${n}@customer.example>`,
    'To: Acme Support <help@acme.example>',
    `Subject: Re: ${word(1)} ${word(2)} of order ${1_000_000 + n}`,
    `Message-ID: <${id}@mail.customer.example>`,
    '',
    'text of a letter '.repeat(100),
  ].join('\r\n');
  const bytes = Buffer.from(text);
  return {
    head: parseHeaderBlock(bytes),
    entry: {
      id,
      kind: 'message',
      shopId: SHOP,
      channel: 'email',
      lane: id,
      dedupKey: id,
      remoteId: `<${id}@mail.customer.example>`,
      receivedAt: Date.now(),
      meta: META,
      raw: { kind: 'inline', bytes },
    },
  };
}
