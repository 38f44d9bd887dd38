import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Claimed } from '../../src/spool/entry.ts';
import { WAITS_FOR } from '../../src/spool/entry.ts';
import { CLAIM } from '../../src/spool/postgres/delivery-functions.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { anEntry, SHOP } from '../../test/support/entries.ts';
import { withClient } from '../../test/support/postgres-cluster.ts';
import { median } from '../support/statistics.ts';

const LEASE_MS = 45_000;
export const CLAIMED_AT_ONCE = 16;
/** Lanes among which the traffic of a busy fleet is spread: people who write several times. */
const PEOPLE = 20_000;
const TICK_MS = 50;

/** What claims of 16 cost. */
export interface ClaimCost {
  /** Medians of one claim. */
  readonly buffers: number;
  readonly ms: number;
  /** The mean, which has the claims that read all due lanes. */
  readonly meanBuffers: number;
}

/** A store, and a connection to its database. */
export interface Measured {
  readonly spool: Spool;
  readonly client: Client;
}

/** Stores entries that wait, each in a lane of its own, by one statement. */
export async function fill(url: string, entries: number): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`
      WITH made AS MATERIALIZED (
        SELECT nextval('entry_seq') AS seq, gen_random_uuid() AS id, gen_random_uuid() AS dedup,
          (random() * 281474976710655)::bigint AS lane,
          (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 60000 AS at
        FROM generate_series(1, ${entries})
      ), entries AS (
        INSERT INTO entry (seq, id, kind, shop, channel, lane, lane_key, dedup, remote_id, received_at,
          meta, raw_size, summary_version, "from", "to", subject, more)
        SELECT seq, id, 'message', '${SHOP}', 'email', 'lane ' || seq, lane, dedup,
          '<' || id || '@example.com>', at, '{"envelope":{"from":"ann@example.com","to":"help@shop.example"}}',
          2048, 1, 'Ann <ann@example.com>', 'help@shop.example', 'Where is my order?', '' FROM made
      ), raws AS (
        INSERT INTO raw SELECT seq, decode(repeat('ab', 2048), 'hex') FROM made
      ), jobs AS (
        INSERT INTO job (seq, lane, next_at) SELECT seq, lane, at FROM made
      )
      INSERT INTO lane (key, shop, head, due_at, waits, failures, after)
      SELECT lane, '${SHOP}', seq, at, 0, 0, seq - 1 FROM made`);
    await client.query('VACUUM ANALYZE');
  });
}

const claim = async (spool: Spool, limit: number): Promise<readonly Claimed[]> => {
  const from = [WAITS_FOR.shop, WAITS_FOR.media, 'untried'] as const;
  const request = { shopId: SHOP, limit, from, retries: limit };
  const [claimed = []] = await spool.claim([request], LEASE_MS, limit);
  return claimed;
};

const settle = (spool: Spool, claimed: readonly Claimed[]) =>
  Promise.all(
    claimed.map(({ lease }) =>
      spool.settle(
        lease,
        { state: 'delivered', platformMessageId: lease.id },
        { steps: [{ at: Date.now(), step: 'delivered' }] },
      ),
    ),
  );

/** What all claims have cost so far, by the server's count. */
async function spent(client: Client): Promise<{ buffers: number; ms: number }> {
  const { rows } = await client.query<{ buffers: string; ms: number }>(
    `SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0) AS buffers,
       coalesce(sum(total_exec_time), 0) AS ms
     FROM pg_stat_statements WHERE query LIKE '%${CLAIM.name}%'
       AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return { buffers: Number(rows[0]?.buffers), ms: Number(rows[0]?.ms) };
}

/** One claim of 16, whose entries are delivered then. */
async function oneClaim({ spool, client }: Measured) {
  const before = await spent(client);
  const claimed = await claim(spool, CLAIMED_AT_ONCE);
  const after = await spent(client);
  if (claimed.length < CLAIMED_AT_ONCE) throw new Error(`only ${claimed.length} were claimed`);
  await settle(spool, claimed);
  return { buffers: after.buffers - before.buffers, ms: after.ms - before.ms };
}

/** Claims from each store in turn, so that other load on the machine affects all of them. */
export async function costsOfClaims(
  stores: readonly Measured[],
  claims: number,
): Promise<ClaimCost[]> {
  const measured = stores.map(() => [] as { buffers: number; ms: number }[]);
  // The first ones plan their statements.
  for (let n = -6; n < claims; n += 1) {
    for (const [index, store] of stores.entries()) {
      const cost = await oneClaim(store);
      if (n >= 0) measured[index]?.push(cost);
    }
  }
  return measured.map((costs) => ({
    buffers: median(costs.map(({ buffers }) => buffers)),
    meanBuffers: costs.reduce((sum, { buffers }) => sum + buffers, 0) / costs.length,
    ms: median(costs.map(({ ms }) => ms)),
  }));
}

/** A busy fleet's traffic through one store: accepts, claims and settles as many a second. */
export async function churn(spool: Spool, seconds: number, perSecond: number): Promise<number> {
  const endAt = performance.now() + seconds * 1000;
  const begunAt = performance.now();
  let messages = 0;
  while (performance.now() < endAt) {
    const owed = Math.ceil(((performance.now() - begunAt) / 1000) * perSecond) - messages;
    const entries = Array.from({ length: Math.max(0, Math.min(owed, 200)) }, () =>
      anEntry({ lane: `person ${Math.floor(Math.random() * PEOPLE)}` }),
    );
    if (entries.length > 0) {
      await spool.accept(entries);
      await settle(spool, await claim(spool, entries.length));
      messages += entries.length;
    }
    await delay(TICK_MS);
  }
  return messages;
}
