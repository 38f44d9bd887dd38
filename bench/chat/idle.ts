import { CHAT_KEY } from '../../test/support/gateway-config.ts';
import type * as BareChat from '../baselines/bare-chat.ts';
import type * as IdleChat from '../load/idle-chat.ts';
import type * as FastPlatform from '../platform/fast-platform.ts';
import type { Part } from '../support/part.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Workbench } from '../support/workbench.ts';
import type * as GatewayInPart from './gateway-in-part.ts';
import type { Line } from './lines.ts';
import type { Memory } from './memory-after-gc.ts';

const CLIENTS = 5000;
const AT_MOST = 1.5;
const SETTLED_WITHIN_MS = 60_000;

interface Server {
  readonly port: number;
  readonly memory: () => Promise<Memory>;
  /** Whether it sends a `session` event. */
  readonly greets: boolean;
}

/** Measures the memory of each connected, silent client: growth after garbage collection. */
export async function measureIdle(bench: Workbench, quick: boolean): Promise<Line[]> {
  const at = (file: string) => new URL(file, import.meta.url);
  const withGc = ['--expose-gc'];
  const platform = await bench.part<typeof FastPlatform>(at('../platform/fast-platform.ts'), {
    hashMedia: false,
  });
  const gateway = await bench.part<typeof GatewayInPart>(
    at('./gateway-in-part.ts'),
    { dataDir: await bench.folder(), platformUrl: await platform.call('url') },
    withGc,
  );
  const bare = await bench.part<typeof BareChat>(
    at('../baselines/bare-chat.ts'),
    { sendsLines: false },
    withGc,
  );
  const load = await bench.part<typeof IdleChat>(at('../load/idle-chat.ts'), undefined);
  const count = quick ? CLIENTS / 5 : CLIENTS;
  const sluiceEach = await growth(load, count, {
    port: await gateway.call('port'),
    memory: () => gateway.call('memory'),
    greets: true,
  });
  const bareEach = await growth(load, count, {
    port: await bare.call('port'),
    memory: () => bare.call('memory'),
    greets: false,
  });
  await gateway.call('stop');
  for (const part of [gateway, bare, load, platform]) await part.stop();
  return (['heap', 'rss'] as const).map((kind) => {
    const ratio = sluiceEach[kind] / bareEach[kind];
    return {
      what: `${count} idle clients, ${kind === 'heap' ? 'heap' : 'resident memory'} of each`,
      sluice: kilobytes(sluiceEach[kind]),
      bare: kilobytes(bareEach[kind]),
      goal: `${ratio.toFixed(2)} x, goal at most ${AT_MOST} x`,
      met: ratio <= AT_MOST,
    };
  });
}

async function growth(load: Part<typeof IdleChat>, count: number, server: Server): Promise<Memory> {
  const { port, greets } = server;
  // Warm-up: code, caches, the heap's first growth and remains of sockets do not count.
  await load.call('open', port, count / 10, CHAT_KEY, greets);
  await load.call('close');
  const before = await settled(server);
  await load.call('open', port, count, CHAT_KEY, greets);
  const after = await settled(server);
  const connected = await load.call('connected');
  if (connected !== count) throw new Error(`${connected} of ${count} clients are connected`);
  await load.call('close');
  return { heap: (after.heap - before.heap) / count, rss: (after.rss - before.rss) / count };
}

/** The memory in use when timers and closing sockets have been released. */
async function settled({ memory }: Server): Promise<Memory> {
  let last = await memory();
  return waitUntil('a steady heap', SETTLED_WITHIN_MS, async () => {
    const now = await memory();
    const isSteady = Math.abs(now.heap - last.heap) < 0.002 * last.heap;
    last = now;
    return isSteady ? now : undefined;
  });
}

const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`;
