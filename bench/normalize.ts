/**
 * npm run bench -- normalize [--quick] [--json] [--only NAME] [--profile FOLDER]
 *
 * Measures how many emails per second one worker thread of the normalizer processes completely,
 * compared with one worker thread in which mailparser's `simpleParser` parses them with its
 * defaults; and how much more memory larger attachments need.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as SimpleParser from './normalize/simple-parser.ts';
import { type MessageFiles, writeLargeMessage, writeMessages } from './normalize/messages.ts';
import type * as Sluice from './normalize/sluice.ts';
import { describeProfiles } from './support/cpu-profile.ts';
import { judge, printTable, type Row } from './support/goals.ts';
import { readOptions } from './support/options.ts';
import { ProcessMemory, toMiB } from './support/process-memory.ts';
import { printProgress, takeTurns } from './support/rounds.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const SLUICE = 'Sluice';
const PARSER = 'simpleParser';
/** Messages processed at once, as many as delivery's default. */
const WIDTH = 16;
/** On noisy machines a few rounds give ratios between 0.7 and 1 for the same code. */
const ROUNDS = 15;
const MIB = 1024 * 1024;
const MEMORY_SIZES_MB = [1, 10, 25];
const MAY_GROW_BY = 24 * MIB;

interface Scenario {
  readonly name: string;
  readonly atLeast: number;
  readonly times: number;
  readonly write: (folder: string) => Promise<MessageFiles>;
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'text, 2 KB',
    atLeast: 0.8,
    times: 4,
    write: (folder) => writeMessages(folder, 'text', 500),
  },
  {
    name: 'newsletter, 30 KB',
    atLeast: 0.8,
    times: 4,
    write: (folder) => writeMessages(folder, 'newsletter', 100),
  },
  {
    name: 'attachment, 1 MB',
    atLeast: 1.1,
    times: 60,
    write: (folder) => writeLargeMessage(folder, 1),
  },
  {
    name: 'attachment, 10 MB',
    atLeast: 1.1,
    times: 8,
    write: (folder) => writeLargeMessage(folder, 10),
  },
];

interface MemoryRow {
  readonly megabytes: number;
  readonly idle: number;
  readonly peak: number;
  readonly grewBy: number;
}

const options = readOptions();
const at = (file: string) => new URL(file, import.meta.url);

await withWorkbench(async (bench) => {
  const folder = await bench.folder();
  const speed = await measureSpeed(bench, folder);
  const memory = 'memory'.includes(options.only) ? await measureMemory(bench, folder) : [];
  const flat = isFlat(memory);
  if (options.json) console.log(JSON.stringify({ speed, memory, flat }, null, 2));
  else print(speed, memory, flat);
  const met = speed.every(({ judged }) => judged.every((goal) => goal.met)) && flat;
  if (!met) process.exitCode = 1;
});

async function measureSpeed(bench: Workbench, folder: string): Promise<Row[]> {
  const { profile } = options;
  const sluice = await bench.part<typeof Sluice>(at('./normalize/sluice.ts'), { folder }, [
    ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
  ]);
  const parser = await bench.part<typeof SimpleParser>(
    at('./normalize/simple-parser.ts'),
    undefined,
  );
  const rows: Row[] = [];
  for (const { name, atLeast, times, write } of SCENARIOS) {
    if (!name.includes(options.only)) continue;
    const { paths, bytes } = await write(folder);
    const repeat = options.quick ? Math.ceil(times / 4) : times;
    await sluice.call('prepare', paths, repeat);
    await parser.call('prepare', paths, repeat);
    const count = paths.length * repeat;
    const megabytes = bytes / paths.length / 1e6;
    const measured = await takeTurns(
      [
        { name: SLUICE, measure: async () => count / (await sluice.call('run', WIDTH)) },
        { name: PARSER, measure: async () => count / (await parser.call('run', WIDTH)) },
      ],
      options.quick ? 1 : ROUNDS,
      printProgress(name),
    );
    const own = measured.find((each) => each.name === SLUICE)?.perSecond ?? 0;
    rows.push({
      scenario: `${name}\n${(own * megabytes).toFixed(1)} MB/s`,
      measured,
      judged: judge(measured, [{ of: SLUICE, over: PARSER, atLeast }]),
      noted: [],
    });
  }
  await sluice.call('stop');
  await sluice.stop();
  await parser.stop();
  if (profile !== undefined) await writeProfileSummary(profile);
  return rows;
}

async function writeProfileSummary(profile: string): Promise<void> {
  await mkdir(profile, { recursive: true });
  const text = await describeProfiles(profile);
  const file = join(profile, 'summary.txt');
  await writeFile(file, `${text}\n`);
  console.error(`Where the time went: ${file}`);
}

/** Each size in its own process: memory left allocated would hide the growth of the next. */
async function measureMemory(bench: Workbench, folder: string): Promise<MemoryRow[]> {
  const rows: MemoryRow[] = [];
  const small = await writeLargeMessage(folder, 1);
  for (const megabytes of MEMORY_SIZES_MB) {
    const { paths } = await writeLargeMessage(folder, megabytes);
    const sluice = await bench.part<typeof Sluice>(at('./normalize/sluice.ts'), { folder });
    // A warm-up that loads and compiles the code.
    await sluice.call('prepare', small.paths, 20);
    await sluice.call('run', 1);
    const memory = new ProcessMemory(sluice.pid);
    const idle = await memory.resident();
    await memory.watch();
    await sluice.call('prepare', paths, options.quick ? 4 : 16);
    await sluice.call('run', 1);
    const peak = await memory.peak();
    rows.push({ megabytes, idle, peak, grewBy: peak - idle });
    console.error(`memory, ${megabytes} MB: grew by ${toMiB(peak - idle)}`);
    await sluice.call('stop');
    await sluice.stop();
  }
  return rows;
}

/** Whether the largest attachment needs no more memory than the smallest, apart from garbage. */
function isFlat(rows: readonly MemoryRow[]): boolean {
  const [first, last] = [rows[0], rows.at(-1)];
  return first === undefined || last === undefined || last.grewBy - first.grewBy <= MAY_GROW_BY;
}

function print(speed: readonly Row[], memory: readonly MemoryRow[], flat: boolean): void {
  if (speed.length > 0) printTable([SLUICE, PARSER], speed);
  if (memory.length === 0) return;
  for (const { megabytes, idle, peak, grewBy } of memory) {
    console.log(
      `     attachment of ${megabytes} MB: ${toMiB(idle)} before, ${toMiB(peak)} at most, grew by ${toMiB(grewBy)}`,
    );
  }
  console.log(
    `${flat ? 'PASS' : 'FAIL'} memory is flat in the attachment's size (goal: 25 MB takes at most ` +
      `${toMiB(MAY_GROW_BY)} more than 1 MB)`,
  );
}
