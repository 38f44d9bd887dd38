// npm run bench -- failover [--seconds 20]: two gateways with one database, whose primary has a synchronous
// standby. The primary is killed under load, and the standby promoted. Is an acknowledged message lost, is one
// submitted twice, and how long does a sender wait? Exit code 1 if anything is lost, twice or out of order.
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts, ownLoopbackAddress } from '../test/support/gateway-config.ts';
import { GatewayProcess } from '../test/support/gateway-process.ts';
import { PlatformFront } from '../test/support/platform-front.ts';
import { startCluster } from '../test/support/postgres-cluster.ts';
import { writeConfig } from '../test/support/running-gateway.ts';
import { sendSms, sidOf } from '../test/support/sms-sender.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '20' } } });
const SENDERS = 16;
/** A sender that is refused tries again after this long. */
const AGAIN_AFTER_MS = 100;

interface Acknowledged {
  readonly text: string;
  /** From the first try to the acknowledgement. */
  readonly ms: number;
}

async function startGateway(
  bench: Workbench,
  { url, platformUrl, keys }: { url: string; platformUrl: string; keys?: string },
) {
  const dataDir = join(await bench.folder(), 'data');
  await mkdir(dataDir, { mode: 0o700 });
  if (keys !== undefined) await copyFile(keys, join(dataDir, 'keys.json'));
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const configFile = writeConfig({ dataDir, platformUrl, host, ports });
  const gateway = new GatewayProcess({ configFile, host, ports, env: { SLUICE_SPOOL_URL: url } });
  bench.onEnd('gateway', () => gateway.kill());
  await gateway.ready({ host, ports });
  return { gateway, httpUrl: `http://${host}:${ports.http}`, keys: join(dataDir, 'keys.json') };
}

/** One customer, who sends a text after the other, at each gateway in turn, until it is stopped. */
async function send(
  sender: number,
  gateways: readonly string[],
  isOver: () => boolean,
  onAcknowledged: (acknowledged: Acknowledged) => void,
): Promise<void> {
  for (let n = 0; !isOver(); n += 1) {
    const text = `${sender}/${n}`;
    const begunAt = performance.now();
    for (let attempt = n; ; attempt += 1) {
      const url = gateways[attempt % gateways.length] ?? '';
      const from = `+1415555${String(1000 + sender)}`;
      const answer = await sendSms(url, { MessageSid: sidOf(text), From: from, Body: text }).catch(
        () => undefined,
      );
      if (answer?.status === 200) break;
      await delay(AGAIN_AFTER_MS);
    }
    onAcknowledged({ text, ms: performance.now() - begunAt });
  }
}

await withWorkbench(async (bench) => {
  const seconds = Number(values.seconds);
  const cluster = await startCluster();
  let isPrimaryKilled = false;
  bench.onEnd('primary', () => (isPrimaryKilled ? undefined : cluster.stop()));
  const url = await cluster.createDatabase();
  const standby = await cluster.startStandby();
  bench.onEnd('standby', () => standby.stop());
  const both = url.replace(/127\.0\.0\.1:\d+/, `$&,127.0.0.1:${standby.port}`);
  const platform = new PlatformFront({ dir: await bench.folder() });
  await platform.start();
  bench.onEnd('platform', () => platform.stop());
  const one = await startGateway(bench, { url: both, platformUrl: platform.url });
  const other = await startGateway(bench, { url: both, platformUrl: platform.url, keys: one.keys });

  const acknowledged: Acknowledged[] = [];
  let isOver = false;
  const sending = Array.from({ length: SENDERS }, (_, sender) =>
    send(
      sender,
      [one.httpUrl, other.httpUrl],
      () => isOver,
      (each) => acknowledged.push(each),
    ),
  );
  await delay((seconds / 3) * 1000);
  const before = acknowledged.length;
  process.kill(cluster.pid, 'SIGKILL');
  isPrimaryKilled = true;
  console.log(`${before} acknowledged; the primary is killed`);
  await delay(1000);
  await standby.promote();
  console.log('the standby is promoted');
  await delay((seconds * 2000) / 3);
  isOver = true;
  await Promise.all(sending);

  const isThere = () => platform.messages.length >= acknowledged.length;
  await waitFor('the deliveries', isThere, 200, 300_000).catch(() => undefined);
  const times = new Map<string, number>();
  const numbers = new Map<string, number[]>();
  for (const { content } of platform.messages) {
    times.set(content, (times.get(content) ?? 0) + 1);
    const [sender = '', n = ''] = content.split('/');
    numbers.set(sender, [...(numbers.get(sender) ?? []), Number(n)]);
  }
  const lost = acknowledged.filter(({ text }) => !times.has(text)).length;
  const twice = [...times.values()].filter((count) => count > 1).length;
  const outOfOrder = [...numbers.values()].flatMap((all) =>
    all.filter((n, index) => index > 0 && n < (all[index - 1] ?? 0)),
  ).length;
  const slowest = Math.max(...acknowledged.map(({ ms }) => ms));
  const ended = [one, other].filter(({ gateway }) => gateway.hasEnded);
  for (const { gateway } of ended) console.log(gateway.tail());
  console.log(
    `${acknowledged.length} acknowledged, ${acknowledged.length - before} of them after the kill\n` +
      `${lost} lost, ${twice} twice, ${outOfOrder} out of order, ${ended.length} gateways ended\n` +
      `slowest acknowledgement, from the sender's first try: ${(slowest / 1000).toFixed(1)} s`,
  );
  if (lost + twice + outOfOrder + ended.length > 0 || slowest > 10_000) process.exitCode = 1;
});
