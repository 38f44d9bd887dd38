import { parseArgs } from 'node:util';
import { measureAcks } from './chat/acks.ts';
import { measureHeavyPages } from './chat/heavy-pages.ts';
import { measureIdle } from './chat/idle.ts';
import { measureQuietShop } from './chat/quiet-shop.ts';
import { measureReplies } from './chat/replies.ts';
import { type Line, printLines } from './chat/lines.ts';
import { withWorkbench } from './support/workbench.ts';

const HELP = `npm run bench -- chat [--quick] [--json] [--only acks|idle|replies|quiet|heavy] [--generators 2] [--profile FOLDER]

acks     durable acknowledgements a second and their 99th percentile, at 100 and at 1,000 clients,
         beside bare socket.io in the same run, and beside one that also sends each line to its
         sender as the protocol has it; what the load's own processes cost is printed
idle     memory for each of 5,000 clients that say nothing, beside bare socket.io
replies  from the moment a reply is listed at the platform to its arrival at the client, with 1,000
         open conversations of which 100 wait, and how often the platform is asked meanwhile
quiet    one visitor alone in a shop and two replies to each question: when each is on the screen
heavy    replies to others while one visitor's long messages make the platform's pages too large`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    generators: { type: 'string', default: '2' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  const { quick, only, profile } = values;
  const generators = Number(values.generators);
  await withWorkbench(async (bench) => {
    const lines: Line[] = [];
    const parts = [
      { name: 'acks', measure: () => measureAcks(bench, { quick, generators, profile }) },
      { name: 'idle', measure: () => measureIdle(bench, quick) },
      { name: 'replies', measure: () => measureReplies(bench, quick) },
      { name: 'quiet', measure: () => measureQuietShop(bench, quick) },
      { name: 'heavy', measure: () => measureHeavyPages(bench, quick) },
    ];
    for (const { name, measure } of parts) {
      if (name.includes(only)) lines.push(...(await measure()));
    }
    if (values.json) console.log(JSON.stringify(lines, null, 2));
    else printLines(lines);
    if (lines.some(({ met }) => met === false)) process.exitCode = 1;
  });
}
