import { parseArgs } from 'node:util';
import { ShopsScene } from '../test/support/shops-scene.ts';
import { ERROR_BODIES } from '../test/simulation/platform-traits.ts';
import { describe, oddAddresses } from './odd-addresses/run.ts';
import { withWorkbench } from './support/workbench.ts';

const HELP = `npm run bench -- odd-addresses [--odd 200] [--hopeless 8] [--ordinary 500] [--errors pointer]

Emails with addresses that a platform refuses (quoted local parts, no dot in the domain, address
literals, UTF-8), in From, Reply-To and Cc, among ordinary messages of three channels. Exit status 1
when one ordinary message is missing, 5% of them take longer than 5 s, an odd one is neither
delivered nor dead with the platform's words, or the alarm does not ring just once. It rings for the
hopeless ones: odd addresses too, and texts that the platform refuses whatever is left out.
--errors is the shape of the platform's refusals: ${ERROR_BODIES.join(', ')}.`;

const { values } = parseArgs({
  options: {
    odd: { type: 'string', default: '200' },
    hopeless: { type: 'string', default: '8' },
    ordinary: { type: 'string', default: '500' },
    errors: { type: 'string', default: 'pointer' },
    help: { type: 'boolean', default: false },
  },
});
const errorBodies = ERROR_BODIES.find((shape) => shape === values.errors);

if (values.help || errorBodies === undefined) {
  console.log(HELP);
} else {
  await withWorkbench(async (bench) => {
    const scene = await ShopsScene.start({ shops: { acme: { errorBodies, latencyMs: [5, 50] } } });
    bench.onEnd('scene', () => scene.stop());
    const report = await oddAddresses(scene, scene.shops.acme, {
      odd: Number(values.odd),
      hopeless: Number(values.hopeless),
      ordinary: Number(values.ordinary),
      withinMs: 120_000,
      p95WithinMs: 5_000,
    });
    console.log(describe(report));
    if (report.faults.length > 0) process.exitCode = 1;
  });
}
