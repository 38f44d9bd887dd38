import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ChatClient } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import { CHAT_KEY } from '../support/gateway-config.ts';
import { gatewaySetting, type GatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { lastCommitWithAnotherStore, writeVersion } from '../support/older-version.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
});
afterAll(() => cluster.stop());

const commit = lastCommitWithAnotherStore();
if (commit === undefined) {
  process.stderr.write(
    '\n!! SKIPPED: two versions on one database, since there is no git history here\n',
  );
}
const testWithHistory = commit === undefined ? test.skip : test;

/** One message of each channel; each channel has one sender, so its messages have an order. */
async function sendAll(n: number, at: GatewaySetting, tab: ChatClient): Promise<void> {
  const smtp = await at.greeted();
  expect(await sendEmail(smtp, `mail-${n}`, `mail ${n}`)).toMatch(/^250/);
  smtp.destroy();
  const text = { MessageSid: sidOf(`text ${n}`), Body: `text ${n}` };
  expect((await sendSms(at.httpUrl, text)).status).toBe(200);
  await tab.deliver(`chat ${n}`);
}

testWithHistory(
  'gateways of the last version and of this one share a database, and one is upgraded',
  async () => {
    const folder = tempDir();
    ends(() => folder.remove());
    const program = writeVersion(commit ?? '', folder.path);
    const env = { SLUICE_SPOOL_URL: await cluster.createDatabase() };
    const upgraded = await gatewaySetting({ stopDelay: '100ms' });
    const { platform } = upgraded;
    const newer = await gatewaySetting({ stopDelay: '100ms', platformUrl: platform.url });

    let older = await upgraded.start({ env, program });
    const tab = await upgraded.chat();
    await sendAll(1, upgraded, tab);
    copyFileSync(join(upgraded.dataDir, 'keys.json'), join(newer.dataDir, 'keys.json'));
    await newer.start({ env });
    const auth = { key: CHAT_KEY, token: tab.session.token };
    const tabOfNewer = new ChatClient({ url: newer.httpUrl, auth, reconnect: true });
    ends(() => tabOfNewer.close());
    await tabOfNewer.open();
    await sendAll(2, newer, tabOfNewer);
    await sendAll(3, upgraded, tab);
    // The older version also starts on what the newer one has made of the database.
    await older.kill();
    older = await upgraded.start({ env, program });
    await sendAll(4, upgraded, tab);
    await sendAll(5, newer, tabOfNewer);
    expect(await older.terminate()).toMatchObject({ code: 0 });
    await upgraded.start({ env });
    await sendAll(6, upgraded, tab);

    await waitFor('everything', () => platform.messages.length >= 18, 20);
    const contents = platform.messages.map(({ content }) => content.split('\n', 1)[0] ?? '');
    expect(contents).toHaveLength(18);
    for (const kind of ['mail', 'text', 'chat']) {
      expect(contents.filter((content) => content.startsWith(kind))).toEqual(
        [1, 2, 3, 4, 5, 6].map((n) => `${kind} ${n}`),
      );
    }
    for (const each of [tab, tabOfNewer]) {
      await waitFor('the record', () => each.texts.length === 6);
      expect(each.texts).toEqual([1, 2, 3, 4, 5, 6].map((n) => `chat ${n}`));
    }
  },
);
