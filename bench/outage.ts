import { parseArgs } from 'node:util';
import { ShopsScene } from '../test/support/shops-scene.ts';
import { describe, outage, OUTAGES } from './outage/run.ts';
import { withWorkbench } from './support/workbench.ts';

const HELP = `npm run bench -- outage [--minutes 10] [--queued 20000] [--kind black-hole]

The platform is away for so long while messages of three channels are accepted, and comes back. Exit
status 1 when the first message takes more than 60 s, one is missing, there twice or out of order,
the rate of the first 10 s is more than double the usual one, or that from the 30th second on less
than 80% of it. --kind black-hole: connections stay open and say nothing; 401: the key is refused.`;

/** With 16 in flight this allows 160 messages/s, so that the backlog lasts over a minute. */
const LATENCY_MS = 100;
const USUAL = 4_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    queued: { type: 'string', default: '20000' },
    kind: { type: 'string', default: 'black-hole' },
    usual: { type: 'string', default: String(USUAL) },
    help: { type: 'boolean', default: false },
  },
});
const kind = (['black-hole', '401'] as const).find((each) => each === values.kind);

if (values.help || kind === undefined) {
  console.log(HELP);
  console.log(`Kinds: ${Object.keys(OUTAGES).join(', ')}`);
} else {
  await withWorkbench(async (bench) => {
    const scene = await ShopsScene.start({
      // The platform stores repeated ids twice, so that repetitions are detected.
      shops: { acme: { latencyMs: [LATENCY_MS, LATENCY_MS], dedup: 'none' } },
      delivery: { requestTimeout: '30s' },
    });
    bench.onEnd('scene', () => scene.stop());
    const report = await outage(scene, scene.shops.acme, {
      kind,
      outageMs: Number(values.minutes) * 60_000,
      queued: Number(values.queued),
      trafficEveryMs: 1_000,
      usual: Number(values.usual),
      firstWithinMs: 60_000,
      drainWithinMs: 20 * 60_000,
      onProgress: (line) => console.log(line),
    });
    console.log(`\n${describe(report)}`);
    if (report.faults.length > 0) process.exitCode = 1;
  });
}
