/**
 * npm run bench -- field-limits [--only WORDS] [--filler FILLER] [--json]
 *
 * What does each field of each door cost at the longest that is let in, made of each filler? For each,
 * best of up to three: the processor time of the main thread and of all other threads together. Goals: at
 * most 50 ms on the main thread, 1 s in the others, and at full length at most 2.5 times that at half
 * (where it is over 2 ms).
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  doorFields,
  OTHER_SHOPS,
  platformFields,
} from '../test/support/field-limits/door-fields.ts';
import { type Field, filled, FILLERS } from '../test/support/field-limits/field.ts';
import { mailFields } from '../test/support/field-limits/mail-fields.ts';
import type * as FastPlatform from './platform/fast-platform.ts';
import { type Gateway, INBOUND_TOKEN, startGateway } from './support/gateway.ts';
import { printFigures } from './support/goals.ts';
import { PUBLIC_URL, SHOP } from './support/shop.ts';
import { BENCH_DOMAIN } from './support/smtp-source.ts';
import { type ThreadTimes, threadTimes, whenIdle } from '../test/support/thread-times.ts';
import { withWorkbench } from './support/workbench.ts';

const MAIN_MS = 50;
const OTHERS_MS = 1000;
const GROWTH = 2.5;
/** Of one measurement of each length. */
const SURELY_LINEAR = 2;
/** Below it, noise decides how much it grows. */
const GROWS_FROM_MS = 2;
const ROUNDS = 3;
const WARM_UP = 5;
const INBOX = `support@${BENCH_DOMAIN}`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    filler: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

interface Measured {
  readonly what: string;
  readonly half: ThreadTimes;
  readonly full: ThreadTimes;
  readonly met: boolean;
}

await withWorkbench(async (bench) => {
  const platform = await bench.part<typeof FastPlatform>(
    new URL('./platform/fast-platform.ts', import.meta.url),
    { hashMedia: false },
  );
  const gateway = await startGateway(bench, {
    platformUrl: await platform.call('url'),
    ...{ paused: false, trustProxy: true, furtherShops: OTHER_SHOPS },
  });
  const embedding = await startGateway(bench, { paused: false });
  const httpUrl = `http://127.0.0.1:${gateway.httpPort}`;
  const ofGateway = [
    ...mailFields(gateway.smtpPort, INBOX),
    ...doorFields({
      ...{ httpUrl, adminUrl: `http://127.0.0.1:${gateway.adminPort}`, publicUrl: PUBLIC_URL },
      ...{ twilio: SHOP, chatKey: SHOP.chatKey, inboundToken: INBOUND_TOKEN },
    }),
  ];
  const fields = [
    ...ofGateway.map((field) => ({ field, pid: gateway.pid })),
    ...platformFields({ url: platformUrlOf(embedding), ...SHOP }).map((field) => ({
      ...{ field, pid: embedding.pid },
    })),
  ].filter(({ field: { door, name } }) => `${door} ${name}`.includes(values.only));
  const fillers =
    values.filler === undefined ? FILLERS : [String(JSON.parse(`"${values.filler}"`))];
  const measured: Measured[] = [];
  for (const { field, pid } of fields) {
    const each: Measured[] = [];
    // The code of a field is compiled when it runs for the first times.
    for (let n = 0; n < WARM_UP; n += 1) await field.send(filled('a ', field.maxBytes));
    for (const filler of fillers) each.push(...(await measure(pid, field, filler)));
    measured.push(...each);
    const worst = Math.max(...each.map(({ full }) => full.main));
    const over = each.filter(({ met }) => !met);
    console.error(
      `${field.door} ${field.name}: ${each.length} values, at most ${worst.toFixed(1)} ms on the main thread, ${over.length} over a goal`,
    );
    for (const one of over) console.error(`  ${line(one)}`);
  }
  const missed = measured.filter(({ met }) => !met);
  if (values.json) console.log(JSON.stringify(measured));
  const most = (of: (one: Measured) => number) => Math.max(...measured.map(of));
  console.log(`${fields.length} fields × ${fillers.length} fillers, ${measured.length} values`);
  const isMet = printFigures([
    { what: 'main thread, ms', value: most(({ full }) => full.main), atMost: MAIN_MS },
    { what: 'other threads, ms', value: most(({ full }) => full.others), atMost: OTHERS_MS },
    { what: 'values over a goal, growth included', value: missed.length, atMost: 0 },
  ]);
  if (!isMet) process.exitCode = 1;
});

function platformUrlOf({ logFile }: Gateway): string {
  const [, url] = /"url":"(http:[^"]+)"/.exec(readFileSync(logFile, 'utf8')) ?? [];
  if (url === undefined) throw new Error('the embedded platform does not listen');
  return url;
}

async function measure(pid: number, field: Field, filler: string): Promise<readonly Measured[]> {
  const all: Measured[] = [];
  for (const [before, after] of field.frames) {
    const room = field.maxBytes - before.length - after.length;
    const timeOf = (bytes: number, known?: ThreadTimes) =>
      least(pid, () => field.send(`${before}${filled(filler, bytes)}${after}`), known);
    let full = await timeOf(room);
    let half = isLittle(full) ? full : await timeOf(room / 2);
    // Often one of each shows that all is well; what is in doubt is measured up to three times.
    for (let round = 2; round <= ROUNDS && !isWell(half, full); round += 1) {
      full = await timeOf(room, full);
      half = await timeOf(room / 2, half);
    }
    const met = full.main <= MAIN_MS && full.others <= OTHERS_MS && growthOf(half, full) <= GROWTH;
    const frame = before + after === '' ? '' : ` in ${JSON.stringify(`${before}…${after}`)}`;
    all.push({
      what: `${field.door} ${field.name}: ${JSON.stringify(filler)}${frame}`,
      half,
      full,
      met,
    });
  }
  return all;
}

function isLittle({ main, others }: ThreadTimes): boolean {
  return Math.max(main, others) <= GROWS_FROM_MS;
}

function isWell(half: ThreadTimes, full: ThreadTimes): boolean {
  return full.main <= MAIN_MS && full.others <= OTHERS_MS && growthOf(half, full) <= SURELY_LINEAR;
}

/** How many times as long the full length takes, where that is more than a little. */
function growthOf(half: ThreadTimes, full: ThreadTimes): number {
  const growths = (['main', 'others'] as const).map((thread) =>
    full[thread] > GROWS_FROM_MS ? full[thread] / Math.max(half[thread], 1) : 0,
  );
  return Math.max(...growths);
}

/** The time that it takes, or took before. */
async function least(
  pid: number,
  send: () => Promise<unknown>,
  known: ThreadTimes = { main: Infinity, others: Infinity },
): Promise<ThreadTimes> {
  const before = threadTimes(pid);
  await send();
  await whenIdle(pid);
  const after = threadTimes(pid);
  return {
    main: Math.min(known.main, after.main - before.main),
    others: Math.min(known.others, after.others - before.others),
  };
}

function line({ what, half, full }: Measured): string {
  const times = ({ main, others }: ThreadTimes) => `${main.toFixed(1)} + ${others.toFixed(1)} ms`;
  return `${what}: ${times(full)}, at half ${times(half)}`;
}
