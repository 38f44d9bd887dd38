import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { ENTRY_STATES } from '../../src/domain/entry-state.ts';
import { ends } from '../support/ends.ts';
import type { ScriptedPlatform } from '../support/scripted-platform.ts';
import { tempDir } from '../support/temp-dir.ts';
import { ACME, type KnownEntry, ReleaseScene } from './release-data.ts';

const RELEASES = fileURLToPath(new URL('../fixtures/releases/', import.meta.url));
const known = z.array(
  z.object({
    id: z.string(),
    shop: z.string(),
    channel: z.string(),
    state: z.enum(ENTRY_STATES),
    remoteId: z.string(),
  }),
);

/** That which the gateway was killed before it had delivered it. */
const isUnfinished = ({ state }: KnownEntry): boolean => ['queued', 'delivering'].includes(state);
/** Not a line for a contact's timeline. */
const isMessage = ({ remoteId }: KnownEntry): boolean => !remoteId.startsWith('event:');
const inOrder = (entries: readonly KnownEntry[]) =>
  entries.toSorted((one, other) => (one.id < other.id ? -1 : 1));
const remoteIds = (platform: ScriptedPlatform) =>
  platform.messages.map(({ message }) => message['remote_id']).toSorted();

test.each(readdirSync(RELEASES))(
  'a gateway on a data folder of %s delivers what was waiting, once, and loses nothing',
  async (version) => {
    const dir = tempDir();
    ends(() => dir.remove());
    execFileSync('tar', ['xzf', join(RELEASES, version, 'data.tar.gz'), '-C', dir.path]);
    const before = known.parse(
      JSON.parse(readFileSync(join(RELEASES, version, 'entries.json'), 'utf8')),
    );
    const scene = new ReleaseScene(dir.path);
    ends(() => scene.stop());
    const gateway = await scene.start();

    const after = await scene.entries('what was waiting', (found) => !found.some(isUnfinished));
    expect(inOrder(after)).toEqual(
      inOrder(before).map((entry) => ({
        ...entry,
        state: isUnfinished(entry) ? 'delivered' : entry.state,
      })),
    );
    for (const [name, platform] of [
      ['bean', scene.bean],
      ['corn', scene.corn],
    ] as const) {
      const waiting = before.filter((entry) => entry.shop === name && isUnfinished(entry));
      expect(waiting).toHaveLength(3);
      expect(remoteIds(platform)).toEqual(waiting.map(({ remoteId }) => remoteId).toSorted());
    }

    // What a channel has stored can still be read, in each state.
    const kinds = new Map(
      before.filter(isMessage).map((entry) => [`${entry.channel} ${entry.state}`, entry.id]),
    );
    expect(kinds.size).toBeGreaterThanOrEqual(16);
    for (const id of kinds.values())
      expect(await scene.command('queue', 'show', id, '--raw')).toMatch(
        /ann|away|refused|discarded|waiting|underway|STOP/,
      );

    // The local platform has what it had, and the replies to it.
    const delivered = before.filter(({ shop, state }) => shop === 'acme' && state === 'delivered');
    const listed = await scene.command('platform', 'messages', 'list', '--shop', 'acme', '--json');
    for (const { remoteId } of delivered)
      expect(listed.split(JSON.stringify(remoteId))).toHaveLength(2);

    // A sender's retry of a message that was accepted then is a duplicate now.
    await scene.email(ACME, 'ann-1');
    await scene.email(ACME, 'new');
    const all = await scene.entries('the new one', (found) => found.length > before.length);
    expect(all).toHaveLength(before.length + 1);
    expect(await gateway.terminate()).toMatchObject({ code: 0 });
  },
);
