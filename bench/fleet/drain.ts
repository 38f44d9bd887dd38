import { setTimeout as delay } from 'node:timers/promises';
import { column, withClient } from '../../test/support/postgres-cluster.ts';

const LOOK_EVERY_MS = 500;

/** Looks at the leases in the database until the signal. @returns how many ran out while they were held */
export async function countExpiredLeases(url: string, over: AbortSignal): Promise<number> {
  const expired = new Set<string>();
  const look = () =>
    withClient(url, async (client) => {
      while (!over.aborted) {
        const { rows } = await client.query<{ generation: string }>(
          `SELECT generation FROM lane WHERE owned
         AND due_at < extract(epoch FROM clock_timestamp()) * 1000`,
        );
        for (const { generation } of rows) expired.add(generation);
        await delay(LOOK_EVERY_MS, undefined, { signal: over }).catch(() => undefined);
      }
    });
  while (!over.aborted) {
    // The database may be down.
    await look().catch(() => delay(LOOK_EVERY_MS));
  }
  return expired.size;
}

export interface Rest {
  readonly entries: number;
  readonly jobs: number;
  /** Lanes that have a head or jobs. */
  readonly lanes: number;
  /** Entries that are neither queued nor delivered, by state. */
  readonly others: readonly string[];
}

/** Waits until nothing is queued, or the time is over. @returns what is left in the database then */
export async function drained(url: string, withinMs: number): Promise<Rest> {
  const until = performance.now() + withinMs;
  return withClient(url, async (client) => {
    const numberOf = async (text: string) =>
      Number((await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${text}`)).rows[0]?.n);
    const jobs = () => numberOf('job');
    while ((await jobs()) > 0 && performance.now() < until) await delay(LOOK_EVERY_MS);
    const { rows } = await client.query<{ state: string; n: string }>(
      `SELECT state, count(*) AS n FROM outcome WHERE state <> 'delivered' GROUP BY state`,
    );
    return {
      entries: await numberOf('entry'),
      jobs: await jobs(),
      lanes: await numberOf(
        'lane WHERE head IS NOT NULL OR owned OR key IN (SELECT lane FROM job)',
      ),
      others: rows.map(({ state, n }) => `${n} ${state}`),
    };
  });
}

/** How many messages the platform was found to have. */
export async function foundByLooks(url: string): Promise<number> {
  const [count = '0'] = await column(
    url,
    `SELECT count(*)::text FROM timeline WHERE steps LIKE '%"step":"found"%'`,
  );
  return Number(count);
}

/** The steps of a message, as JSON. */
export async function timelineOf(url: string, remoteId: string): Promise<string> {
  const id = remoteId.replaceAll("'", "''");
  const steps = await column(
    url,
    `SELECT steps FROM timeline JOIN entry USING (seq) WHERE remote_id = '${id}' ORDER BY no`,
  );
  return steps.join(' | ');
}
