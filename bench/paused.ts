import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { allArrived, arrivals, faultsOf } from '../test/support/arrivals.ts';
import { customerNumber, sendText } from '../test/support/customers.ts';
import { blackHole } from '../test/support/platform-model-server.ts';
import { probeUnderWay } from '../test/support/platform-probe.ts';
import { ShopsScene } from '../test/support/shops-scene.ts';
import { withWorkbench } from './support/workbench.ts';

const HELP = `npm run bench -- paused [--seconds 75] [--queued 50]

Two shops; the platform of one is a black hole. While its probe is under way the process stands
still (SIGSTOP) for longer than a lease, and the platform comes back meanwhile. Exit status 1 when
one message has not arrived 60 s after the process goes on, or is there twice or out of order.`;

const WITHIN_MS = 60_000;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '75' },
    queued: { type: 'string', default: '50' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  await withWorkbench(async (bench) => {
    const scene = await ShopsScene.start({ shops: { away: {}, well: {} } });
    bench.onEnd('scene', () => scene.stop());
    const { away, well } = scene.shops;
    const queue = (shop: typeof away, from: number) =>
      Promise.all(
        Array.from({ length: Number(values.queued) }, (_none, n) =>
          sendText(scene, shop, customerNumber(from + n), `text ${from + n}`),
        ),
      );
    away.platform.gate = blackHole;
    const before = [...(await queue(away, 0)), ...(await queue(well, 0))];
    console.log('waiting for deliveries to pause, and for a probe');
    await probeUnderWay(scene, away);
    const during = [...(await queue(away, 1000)), ...(await queue(well, 1000))];
    scene.gateway.signal('SIGSTOP');
    console.log(`the process stands still for ${values.seconds} s`);
    away.platform.gate = (_received, platform) => platform();
    await delay(Number(values.seconds) * 1000);
    scene.gateway.signal('SIGCONT');
    const goesOnAt = Date.now();

    const accepted = [...before, ...during];
    const faults: string[] = [];
    await allArrived(accepted, WITHIN_MS).catch((error: unknown) => {
      faults.push(error instanceof Error ? error.message : String(error));
    });
    faults.push(...faultsOf(accepted));
    for (const shop of scene.all) {
      const times = [...arrivals(shop).values()].flatMap(([first]) => first?.at ?? []);
      const last = ((Math.max(...times) - goesOnAt) / 1000).toFixed(1);
      const { posts } = shop.platform.model;
      const again = posts.filter(({ outcome }) => outcome === 'duplicate').length;
      console.log(
        `${shop.name}: ${times.length} arrived, the last ${last} s after it went on; ` +
          `${again} were posted again that the platform had`,
      );
    }
    for (const fault of faults.slice(0, 20)) console.log(`FAULT ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
  });
}
