import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { ShopsScene } from '../test/support/shops-scene.ts';
import { type BucketReport, fillBucket } from './lies/bucket.ts';
import { NamedPlatform, Names } from './lies/named-platform.ts';
import { type Liar, tell, type Told } from './lies/run.ts';
import { LIES } from './lies/table.ts';
import { printFigures } from './support/goals.ts';
import { withWorkbench } from './support/workbench.ts';

const HELP = `npm run bench -- lies [--only TEXT] [--at-once 4] [--bucket 1000] [--json]

Platforms that lie: each answers in one wrong way for ten seconds, before it was ever well and again
afterwards, and is then well. What is to become of each message is listed first (bench/lies/table.ts)
and compared. Another platform takes five requests a second and says Retry-After: 90.

Exit status 1 when a message is lost, is there twice or in another's conversation, is delivered more
than 60 s after the platform is well, or is in a state that the list does not say; when a request is
made within an announced wait, or more than 2% are answered 429.

  --only TEXT    only lies whose name contains this, and no bucket
  --at-once 4    how many platforms lie at the same time
  --bucket 1000  the messages for the platform with a limit; 0 leaves it out`;

const BUCKET = 'bucket';
const AT_MOST_S = 20 * 60;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    'at-once': { type: 'string', default: '4' },
    bucket: { type: 'string', default: '1000' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(HELP);
  console.log(`\n${LIES.map(({ name, cold, warm }) => `${name}: ${cold}, ${warm}`).join('\n')}`);
} else {
  await withWorkbench(async (bench) => {
    const startedAt = performance.now();
    const lies = LIES.filter(({ name }) => name.includes(values.only));
    const names = new Names(await bench.folder());
    const liars = await Promise.all(
      lies.map(async (lie, n) => {
        const shop = `lie-${n + 1}`;
        if (lie.line === undefined) return { lie, shop, named: undefined };
        const named = await NamedPlatform.start(shop, names);
        bench.onEnd(shop, () => named.stop());
        return { lie, shop, named };
      }),
    );
    const scene = await ShopsScene.start<string>({
      shops: Object.fromEntries(
        // Repetitions are detected.
        [BUCKET, ...liars.map(({ shop }) => shop)].map((shop) => [shop, { dedup: 'none' }]),
      ),
      delivery: { requestTimeout: '30s' },
      env: names.env,
      urlOf: ({ name, platform }) => {
        const named = liars.find(({ shop }) => shop === name)?.named;
        if (named !== undefined) named.platform = platform;
        return named?.url ?? platform.url;
      },
    });
    bench.onEnd('scene', () => scene.stop());

    const shopOf = (name: string) => {
      const shop = scene.shops[name];
      if (shop === undefined) throw new Error(`there is no shop ${name}`);
      return shop;
    };
    const messages = values.only === '' ? Number(values.bucket) : 0;
    const filling =
      messages === 0 ? undefined : fillBucket(scene, shopOf(BUCKET), messages, AT_MOST_S * 1000);
    const told = await inParallel(
      liars.map((liar) => ({ ...liar, scene, shop: shopOf(liar.shop) })),
      Number(values['at-once']),
    );
    const bucket = await filling;
    const faults = [
      ...told.flatMap((each) => each.faults.map((fault) => `${each.lie}: ${fault}`)),
      ...(bucket?.faults ?? []).map((fault) => `bucket: ${fault}`),
      ...(bucket?.withinWaits ?? []).map((fault) => `bucket: ${fault}`),
      ...(await faultsOf(scene, told)),
    ];
    const seconds = (performance.now() - startedAt) / 1000;
    if (values.json) console.log(JSON.stringify({ told, bucket, faults, seconds }));
    else print(told, faults);
    if (!printFigures(figuresOf(told, bucket, faults, seconds))) process.exitCode = 1;
  });
}

async function inParallel(liars: readonly Liar[], atOnce: number): Promise<readonly Told[]> {
  const waiting = [...liars];
  const told: Told[] = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const both = await tell(next);
      told.push(...both);
      const found = both.flatMap(({ faults }) => faults);
      console.error(`${told.length / 2} of ${liars.length}: ${next.lie.name} ${found.join('; ')}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return told;
}

/** What the gateway says of itself: it has not ended, it found no bug, and what is held was alarmed of. */
async function faultsOf(
  scene: ShopsScene<string>,
  told: readonly Told[],
): Promise<readonly string[]> {
  if (scene.gateway.hasEnded) return [`the gateway has ended\n${scene.gateway.tail()}`];
  const held = told.reduce((sum, { counts }) => sum + counts.held, 0);
  const alarms = await scene.alarms('unclear_answers');
  const bugs = scene.gateway.log.filter(({ message }) =>
    ['watchdog.repaired', 'entry.outcome_refused', 'entry.not_settled'].includes(message),
  );
  return [
    ...(alarms < held ? [`${held} are held, with ${alarms} alarms`] : []),
    ...bugs.map((line) => JSON.stringify(line)),
  ];
}

function print(told: readonly Told[], faults: readonly string[]): void {
  const table = new Table({
    head: [
      'lie',
      '',
      'is to be',
      'delivered',
      'refused',
      'held',
      'believed',
      'last after',
      'posts',
      '',
    ],
    style: { head: [], border: [] },
  });
  for (const each of told) {
    const { counts } = each;
    table.push([
      ...[each.lie, each.phase, each.fate],
      ...[counts.delivered, counts.refused, counts.held, counts.believed],
      ...[`${(each.lastAfterMs / 1000).toFixed(1)} s`, each.postsPerMessage.toFixed(1)],
      each.faults.length === 0 ? 'PASS' : 'FAIL',
    ]);
  }
  console.log(table.toString());
  for (const fault of faults.slice(0, 40)) console.log(`FAULT ${fault}`);
}

function figuresOf(
  told: readonly Told[],
  bucket: BucketReport | undefined,
  faults: readonly string[],
  seconds: number,
) {
  const sum = (of: (each: Told) => number) => told.reduce((all, each) => all + of(each), 0);
  const slowest = Math.max(0, ...told.map(({ lastAfterMs }) => lastAfterMs));
  return [
    { what: 'lies', value: told.length / 2, ...(values.only === '' && { atLeast: 40 }) },
    {
      what: 'messages',
      value: sum(({ counts }) => Object.values(counts).reduce((a, b) => a + b, 0)),
    },
    { what: 'delivered', value: sum(({ counts }) => counts.delivered) },
    { what: 'refused', value: sum(({ counts }) => counts.refused) },
    { what: 'held', value: sum(({ counts }) => counts.held) },
    { what: 'believed', value: sum(({ counts }) => counts.believed) },
    { what: 'slowest after the platform is well, in s', value: slowest / 1000, atMost: 60 },
    ...(bucket === undefined
      ? []
      : [
          { what: 'bucket: messages', value: bucket.messages },
          { what: 'bucket: s', value: bucket.seconds },
          {
            what: 'bucket: requests within an announced wait',
            value: bucket.withinWaits.length,
            atMost: 0,
          },
          { what: 'bucket: 429s in %', value: (100 * bucket.tooMany) / bucket.requests, atMost: 2 },
        ]),
    { what: 'faults', value: faults.length, atMost: 0 },
    { what: 's in all', value: seconds, atMost: AT_MOST_S },
  ];
}
