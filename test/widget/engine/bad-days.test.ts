import { expect, test } from '@jest/globals';
import { ends } from '../../support/ends.ts';
import { seededRandom } from '../../support/random-faults.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Browser, online, say, type Tab, textsOf } from './browser.ts';
import { journalOf, outboxOf, relayTo, reply, start, visitorOf } from './widget-scene.ts';

/**
 * Two tabs write while the network comes and goes, pages crash and are loaded again, and the
 * gateway restarts. In the end every message is there once, in the order in which its tab wrote
 * it, in all tabs; and at no moment did a tab show one twice, or a line before an earlier one.
 */
test.each([1, 2, 3])('nothing is lost, doubled or out of order on bad day %i', async (seed) => {
  const random = seededRandom(seed);
  const temp = tempDir();
  ends(() => temp.remove());
  let gateway = await start({ dir: temp.path });
  const relay = await relayTo(gateway);
  const browser = new Browser(relay.url, { timing: { leaseMs: 200, ackTimeoutMs: 2_000 } });
  const first = await browser.open();
  say(first, 'hello');
  await waitFor('the first line', () => first.chat.lines.value[0]?.seq === 1);
  const tabs = [first, await browser.open()];
  const tabAt = (index: number): Tab => tabs[index] ?? first;
  const said: string[][] = [[], []];
  const watch = (tab: Tab): void => {
    ends(
      tab.chat.lines.subscribe((lines) => {
        const numbers = lines.flatMap(({ seq }) => seq ?? []);
        const [lowest = 0] = numbers;
        expect(numbers).toEqual(numbers.map((_, index) => lowest + index));
        expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
      }),
    );
  };
  tabs.forEach(watch);

  for (let step = 0; step < 80; step += 1) {
    const who = random() < 0.5 ? 0 : 1;
    const what = random();
    if (what < 0.55) {
      const text = `tab ${who}, line ${said[who]?.length ?? 0}`;
      said[who]?.push(text);
      say(tabAt(who), text);
    } else if (what < 0.65) {
      relay.cut();
    } else if (what < 0.8) {
      relay.restore(gateway.url);
    } else if (what < 0.88) {
      tabAt(who).crash();
      tabs[who] = browser.page();
      watch(tabAt(who));
      tabAt(who).chat.start();
    } else if (what < 0.92) {
      await gateway.stop();
      gateway = await start({ dir: temp.path });
      relay.cut();
      relay.restore(gateway.url);
    } else {
      const known = tabs.find(({ chat }) => chat.session.value !== undefined);
      if (known) await reply(gateway, visitorOf(known), `reply ${step}`);
    }
    await new Promise((resolve) => setTimeout(resolve, random() * 60));
  }
  relay.restore(gateway.url);
  // A client that has just come back does not know its visitor yet.
  for (const tab of tabs) await online(tab);
  await waitFor('an empty outbox', () => outboxOf(browser).length === 0);
  const journal = await journalOf(gateway, tabAt(0));
  for (const tab of tabs) {
    await waitFor('every line', () => tab.chat.lines.value.at(-1)?.seq === journal.length);
    while (tab.chat.older.value !== 'none') await tab.chat.loadOlder();
    expect(textsOf(tab)).toEqual(journal);
  }
  for (const who of [0, 1]) {
    expect(journal.filter((text) => text.startsWith(`tab ${who},`))).toEqual(said[who]);
  }
  expect(await gateway.entries()).toHaveLength(1 + said.flat().length);
});
