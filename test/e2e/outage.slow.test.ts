import { expect, test } from '@jest/globals';
import { describe, outage } from '../../bench/outage/run.ts';
import { allArrived, faultsOf } from '../support/arrivals.ts';
import { type Accepted, customerNumber, MailSession, sendText } from '../support/customers.ts';
import { answered, blackHole, type Gate } from '../support/platform-model-server.ts';
import { probeUnderWay } from '../support/platform-probe.ts';
import { sharedScene } from '../support/shared-scene.ts';
import type { SceneShop } from '../support/shops-scene.ts';
import { waitFor } from '../support/wait-for.ts';

/** Probes are at most 25 s apart, and take 5 s at the most. */
const FIRST_WITHIN_MS = 40_000;
const BACK_WITHIN_MS = 60_000;
const OUTAGE_MS = 15_000;

// Two messages of one id are two messages there: a repetition shows.
const scene = sharedScene({
  shops: { acme: { dedup: 'none' }, erased: { dedup: 'none' }, media: { dedup: 'none' } },
  delivery: { requestTimeout: '2s' },
});

const pass: Gate = (_received, platform) => platform();

const sendTexts = (shop: SceneShop, count: number): Promise<Accepted[]> =>
  Promise.all(
    Array.from({ length: count }, (_none, n) =>
      sendText(scene(), shop, customerNumber(n), `text ${n}`),
    ),
  );

test.concurrent('what was queued while the platform was away arrives once it is back, once and in order', async () => {
  const report = await outage(scene(), scene().shops.acme, {
    ...{ kind: 'black-hole', outageMs: OUTAGE_MS, queued: 300, trafficEveryMs: 500, usual: 0 },
    ...{ firstWithinMs: FIRST_WITHIN_MS, drainWithinMs: BACK_WITHIN_MS },
    onProgress: () => undefined,
  });
  console.log(describe(report));
  expect(report.faults).toEqual([]);
  expect(report.arrived).toBe(report.accepted);
});

test.concurrent('a probe whose message is erased meanwhile is not the last probe', async () => {
  const { erased: shop } = scene().shops;
  shop.platform.gate = blackHole;
  const accepted = await sendTexts(shop, 12);
  const probe = await probeUnderWay(scene(), shop);
  const probed = accepted.findIndex(({ remoteId }) => remoteId === probe.remoteId);
  const args = ['--address', customerNumber(probed), '--shop', shop.name, '--yes'];
  expect((await scene().command('erase', ...args)).code).toBe(0);

  shop.platform.gate = pass;
  const others = accepted.filter((_each, n) => n !== probed);
  await allArrived(others);
  // It may have been on its way already.
  expect(faultsOf(accepted)).toEqual([]);
});

test.concurrent('uploads that are refused as if the key were wrong wait, without haste, and keep the file', async () => {
  const { media: shop } = scene().shops;
  shop.platform.gate = ({ call }, platform) =>
    call === 'POST /media/' ? answered(401, '{"detail":"Invalid credentials"}') : platform();
  const mail = await MailSession.open(scene());
  const content = 'see the file';
  const withFile = await mail.send(shop, {
    ...{ from: 'ann@example.com', content },
    headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
    body: [
      ...['--b', 'Content-Type: text/plain', '', content, '--b'],
      'Content-Type: application/pdf; name="order.pdf"',
      'Content-Disposition: attachment; filename="order.pdf"',
      ...['Content-Transfer-Encoding: base64', '', 'JVBERi0xLjQK', '--b--'],
    ].join('\r\n'),
  });
  mail.close();
  const began = Date.now();
  const others = await sendTexts(shop, 5);
  await allArrived(others);
  await waitFor('the end of the trouble', () => Date.now() >= began + OUTAGE_MS, 50);
  const uploads = shop.platform.of('POST /media/').length;
  expect(uploads).toBeGreaterThan(0);
  // Two tries at once, then after 1 s, 5 s and 30 s, and probes each 5 s.
  expect(uploads).toBeLessThanOrEqual(6 + (2 * (Date.now() - began)) / 5_000);

  shop.platform.gate = pass;
  await allArrived([withFile]);
  expect(faultsOf([withFile, ...others])).toEqual([]);
  const { model } = shop.platform;
  const arrived = model
    .messages(shop.shopId)
    .find(({ remoteId }) => remoteId === withFile.remoteId);
  expect(arrived?.attachments).toHaveLength(1);
});
