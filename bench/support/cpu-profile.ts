import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** The parts of a V8 CPU profile that are used here. */
const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

const WAITING = new Set(['(idle)', '(program)', '(root)']);
const SHOWN = 40;

/** How the processor time of each profile in the folder was spent, by functions' own time. */
export async function describeProfiles(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.cpuprofile')).sort();
  const texts = files.map(async (file) => {
    const profile: unknown = JSON.parse(await readFile(join(folder, file), 'utf8'));
    return `${file}\n${describeProfile(profileSchema.parse(profile))}`;
  });
  return (await Promise.all(texts)).join('\n\n');
}

function describeProfile({ nodes, samples, timeDeltas }: z.infer<typeof profileSchema>): string {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const own = new Map<string, number>();
  let busy = 0;
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    if (frame === undefined || WAITING.has(frame.functionName)) return;
    const { functionName, url, lineNumber } = frame;
    const where = url.replace(/^.*?\/(?=dist\/|node_modules\/|bench\/|src\/)/, '');
    const name = `${functionName || '(anonymous)'} ${where}:${lineNumber + 1}`;
    const micros = timeDeltas[index] ?? 0;
    busy += micros;
    own.set(name, (own.get(name) ?? 0) + micros);
  });
  const lines = [...own]
    .sort(([, one], [, other]) => other - one)
    .slice(0, SHOWN)
    .map(([name, micros]) => `${((100 * micros) / busy).toFixed(1).padStart(6)} %  ${name}`);
  return [`  busy ${(busy / 1e6).toFixed(2)} s`, ...lines].join('\n');
}
