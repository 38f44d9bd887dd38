/**
 * npm run bench -- chat-floods [--quick] [--json] [--only floods|silent]
 *
 * - floods: 10 sockets send refused events at full speed and reconnect whenever they are closed,
 *   from the address of a well-behaved visitor, whose acknowledgements are timed
 * - silent: 50 tabs of one visitor request a long history and never read it; measures the growth of
 *   the process
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ChatClient } from '../test/support/chat-client.ts';
import { CHAT_KEY } from '../test/support/gateway-config.ts';
import type * as GatewayInPart from './chat/gateway-in-part.ts';
import type * as Floods from './load/chat-floods.ts';
import type * as Silent from './load/chat-silent.ts';
import type * as FastPlatform from './platform/fast-platform.ts';
import { type Line, printLines } from './chat/lines.ts';
import { startGateway } from './support/gateway.ts';
import { readOptions } from './support/options.ts';
import { toMiB } from './support/process-memory.ts';
import { SHOP } from './support/shop.ts';
import { percentile } from './support/statistics.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const SOCKETS = 10;
/** Within the message rate limit. */
const HONEST_EVERY_MS = 1_100;
const HONEST = { usual: 40, quick: 10 };
const ACK_WITHIN_MS = 500;

const TABS = 50;
const LONG_TEXT = '😀'.repeat(8_000);
const LONG_TEXTS = 200;
const ASKS = 50;
const SILENT_MS = { usual: 15_000, quick: 5_000 };
/** The maximum growth: the data that every tab may leave unread. */
const GROWS_BY = TABS * 1024 * 1024;

const options = readOptions();
const at = (file: string) => new URL(file, import.meta.url);

await withWorkbench(async (bench) => {
  const parts = [
    { name: 'floods', measure: measureFloods },
    { name: 'silent', measure: measureSilent },
  ];
  const lines: Line[] = [];
  for (const { name, measure } of parts) {
    if (name.includes(options.only)) lines.push(...(await measure(bench)));
  }
  if (options.json) console.log(JSON.stringify(lines, null, 2));
  else printLines(lines);
  if (lines.some(({ met }) => met === false)) process.exitCode = 1;
});

async function startFor(bench: Workbench, strictChat: boolean) {
  const platform = await bench.part<typeof FastPlatform>(at('./platform/fast-platform.ts'), {
    hashMedia: false,
  });
  const platformUrl = await platform.call('url');
  const gateway = await startGateway(bench, { platformUrl, paused: false, strictChat });
  const auth = { key: SHOP.chatKey };
  const client = await ChatClient.connect({ url: `http://127.0.0.1:${gateway.httpPort}`, auth });
  bench.onEnd('client', () => client.close());
  return { gateway, client };
}

async function measureFloods(bench: Workbench): Promise<Line[]> {
  const { gateway, client } = await startFor(bench, true);
  await client.send('Hello?');
  const floods = await bench.part<typeof Floods>(at('./load/chat-floods.ts'), {
    ...{ port: gateway.httpPort, key: SHOP.chatKey, sockets: SOCKETS },
  });
  const acks: number[] = [];
  for (let nth = 0; nth < (options.quick ? HONEST.quick : HONEST.usual); nth += 1) {
    await delay(HONEST_EVERY_MS);
    const started = performance.now();
    const answer = await client.send(`Message ${nth}`);
    acks.push(answer.ok ? performance.now() - started : Infinity);
  }
  const { events, connected, refused } = await floods.call('counts');
  await floods.call('close');
  await floods.stop();
  await gateway.stop();
  const p95 = percentile(acks, 0.95);
  return [
    {
      what: `honest visitor's ack beside ${SOCKETS} flooding sockets, 95th percentile`,
      sluice: `${p95.toFixed(0)} ms (median ${percentile(acks, 0.5).toFixed(0)} ms)`,
      goal: `at most ${ACK_WITHIN_MS} ms`,
      met: p95 <= ACK_WITHIN_MS,
    },
    {
      what: '  what the flooding sockets did',
      sluice: `${events} events, ${connected} connections, ${refused} refused`,
    },
  ];
}

async function measureSilent(bench: Workbench): Promise<Line[]> {
  const platform = await bench.part<typeof FastPlatform>(at('./platform/fast-platform.ts'), {
    hashMedia: false,
  });
  const gateway = await bench.part<typeof GatewayInPart>(
    at('./chat/gateway-in-part.ts'),
    { dataDir: await bench.folder(), platformUrl: await platform.call('url') },
    ['--expose-gc'],
  );
  const port = await gateway.call('port');
  const client = await ChatClient.connect({
    url: `http://127.0.0.1:${port}`,
    auth: { key: CHAT_KEY },
  });
  bench.onEnd('client', () => client.close());
  for (let nth = 0; nth < LONG_TEXTS; nth += 1) await client.deliver(LONG_TEXT);
  const before = await gateway.call('memory');
  const silent = await bench.part<typeof Silent>(at('./load/chat-silent.ts'), {
    ...{ port, auth: { key: CHAT_KEY, token: client.session.token } },
  });
  await silent.call('open', TABS);
  await silent.call('ask', ASKS);
  await delay(options.quick ? SILENT_MS.quick : SILENT_MS.usual);
  const after = await gateway.call('memory');
  await silent.call('close');
  for (const part of [silent, gateway, platform]) await part.stop();
  const growth = after.heap - before.heap;
  return [
    {
      what: `${TABS} tabs that never read ${LONG_TEXTS} x 8,000 emoji: memory in use grows by`,
      sluice: `${toMiB(growth)} (resident: ${toMiB(after.rss - before.rss)})`,
      goal: `at most ${toMiB(GROWS_BY)}`,
      met: growth <= GROWS_BY,
    },
  ];
}
