import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMessageRequestSchema } from '../../../src/platform-api/schemas.ts';
import type { Entry } from '../../../src/spool/entry.ts';
import type { EntryState } from '../../../src/domain/entry-state.ts';
import type { Spool } from '../../../src/spool/spool.ts';
import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import { asEntryId } from '../../../src/domain/ids.ts';
import { INBOX } from '../../support/gateway-config.ts';
import { mimeMail, shapelessMail } from '../../support/mail-arbitraries.ts';
import { runCount } from '../../support/run-count.ts';
import { type RunningGateway, startGateway } from '../../support/running-gateway.ts';
import { ScriptedPlatform } from '../../support/scripted-platform.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

/** The same messages on each run; another seed by `PROPERTY_SEED`, which a failure prints. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_260_105);
const RUNS = runCount(150);
const FINAL: ReadonlySet<EntryState> = new Set(['delivered', 'held', 'suppressed']);

/** A whole gateway: its SMTP door, its spool on disk, its worker threads, and its delivery. */
describe('whatever is sent as a message', () => {
  const dir = tempDir();
  const platform = new ScriptedPlatform();
  let gateway: RunningGateway;
  let spool: Spool;

  beforeAll(async () => {
    const platformUrl = await platform.start();
    gateway = await startGateway({ dataDir: dir.path, platformUrl });
    ({ spool } = await openSqliteStore({ dir: dir.path, role: 'beside', reserveBytes: 0 }));
  });

  afterAll(async () => {
    await spool.close();
    await gateway.stop();
    await platform.stop();
    dir.remove();
  });

  /** Ids of entries, and what became of them. */
  const taken = new Map<string, EntryState>();

  const settled = (id: string): Promise<Entry> =>
    waitFor(
      `the end of ${id}`,
      async () => {
        const entry = await spool.get(asEntryId(id));
        return entry !== undefined && FINAL.has(entry.state) && entry;
      },
      2,
    );

  const takenToItsEnd = async (message: string): Promise<void> => {
    const answer = await send(gateway.smtpPort, message);
    const [, id] = /^250 2\.0\.0 Ok: queued as (\S+)$/.exec(answer) ?? [];
    expect([answer, id]).toEqual([answer, expect.any(String)]);
    if (id === undefined) return;
    const { state, remoteId } = await settled(id);
    const bodies = platform.of('POST /messages/').map(({ body }): unknown => JSON.parse(body));
    platform.seen.length = 0;
    for (const body of bodies) {
      expect(createMessageRequestSchema.safeParse(body).error).toBeUndefined();
      expect(body).toMatchObject({ message: { remote_id: remoteId } });
    }
    // A message that is sent again is the one that was taken before.
    const isNew = state === 'delivered' && !taken.has(id);
    expect(bodies).toHaveLength(isNew ? 1 : 0);
    taken.set(id, state);
  };

  test.each([
    ['any bytes', shapelessMail],
    ['MIME trees, right and wrong', mimeMail],
  ])('%s: it is delivered as the contract wants it, held or suppressed', async (_, mail) => {
    await fc.assert(fc.asyncProperty(mail, takenToItsEnd), { seed: SEED, numRuns: RUNS });
    expect(new Set(taken.values())).toContain('delivered');
  });
});

/** Sends bytes, one for each character, and answers the reply to the final dot. */
async function send(port: number, message: string): Promise<string> {
  const client = await SmtpClient.connect(port);
  try {
    await client.reply();
    await client.envelope([INBOX]);
    await client.say('DATA');
    // RFC 5321 §4.5.2
    client.send(message.replaceAll(/(^|\r\n)\./g, '$1..'));
    return await client.say('\r\n.');
  } finally {
    client.destroy();
  }
}
