import { expect, test } from '@jest/globals';
import { readPerson } from '../../src/cli/erase-person.ts';
import { PersonEraser } from '../../src/cli/person-eraser.ts';
import { wholePerson } from '../../src/cli/whole-person.ts';
import { openEraser } from '../../src/spool/sqlite/erasure.ts';
import { ends } from '../support/ends.ts';
import { anEntry, SHOP } from '../support/entries.ts';
import { openStore } from '../support/store.ts';
import { tempDir } from '../support/temp-dir.ts';

test('what arrives just before the names of a person are erased is erased, too', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const { spool } = await openStore(dir.path);
  ends(() => spool.close());
  const place = { scope: 'whatsapp/whatsapp', ours: '+15550783881' };
  const write = async (names: { userId: string; previousUserId?: string }) => {
    const sender = { ...place, ...names, at: Date.now() };
    await spool.accept([anEntry({ channel: 'sms', sender })]);
  };
  await write({ userId: 'US.1111' });
  await write({ userId: 'US.2222', previousUserId: 'US.1111' });

  const inSpool = openEraser(dir.path);
  const eraseNames = inSpool.eraseNames.bind(inSpool);
  // The lane has the first name, which only the names say is this person's.
  const lane = {
    shopId: SHOP,
    channel: 'sms',
    lane: 'whatsapp/whatsapp/+15550783881/US.1111',
  } as const;
  inSpool.eraseNames = async (names) => {
    await write({ userId: 'US.2222' });
    await spool.rememberConversation(lane, 'of the person');
    await eraseNames(names);
  };
  const config = { dataDir: dir.path, shops: [{ shopId: SHOP }] };
  // The rest of the configuration is not used.
  const eraser = PersonEraser.open(config as never, inSpool);
  ends(() => eraser.close());
  const whole = { person: await wholePerson(readPerson('US.2222', []), inSpool) };
  await eraser.erase(whole, await eraser.find(whole), new AbortController().signal);
  expect(await spool.list({ limit: 10 })).toEqual([]);
  expect(await spool.conversation(lane)).toBeUndefined();
});
