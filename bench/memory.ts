/**
 * npm run bench -- memory [--quick] [--json] [--profile FOLDER]
 *
 * Sends 50 emails of 25 MB at once, each with two attachments of random bytes. Checks that all are
 * acknowledged and delivered with intact attachments, and measures how much the gateway's memory
 * grows.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type * as LargeEmails from './load/large-emails.ts';
import type { SentEmail } from './load/large-emails.ts';
import type * as FastPlatform from './platform/fast-platform.ts';
import type { Submitted } from './platform/fast-platform.ts';
import { startGateway } from './support/gateway.ts';
import { readOptions } from './support/options.ts';
import { ProcessMemory, toMiB } from './support/process-memory.ts';
import { withWorkbench } from './support/workbench.ts';

const MIB = 1024 * 1024;
const MAY_GROW_BY = 256 * MIB;
const MESSAGE_BYTES = 25 * MIB;
const DELIVERED_WITHIN_MS = 600_000;
/** Memory that a process allocates while it starts is not all resident when it is ready. */
const SETTLE_MS = 2000;

const options = readOptions();
const count = options.quick ? 10 : 50;

await withWorkbench(async (bench) => {
  const at = (file: string) => new URL(file, import.meta.url);
  const platform = await bench.part<typeof FastPlatform>(at('./platform/fast-platform.ts'), {
    hashMedia: true,
  });
  const load = await bench.part<typeof LargeEmails>(at('./load/large-emails.ts'), undefined);
  const { profile } = options;
  const gateway = await startGateway(bench, {
    platformUrl: await platform.call('url'),
    paused: false,
    ...(profile !== undefined && { profileInto: profile }),
  });
  await delay(SETTLE_MS);
  const memory = new ProcessMemory(gateway.pid);
  const idle = await memory.resident();
  await memory.watch();

  const started = performance.now();
  const sent = await load.call('run', gateway.smtpPort, count, MESSAGE_BYTES);
  const acceptedSeconds = (performance.now() - started) / 1000;
  await platform.call('whenCount', count, DELIVERED_WITHIN_MS);
  const seconds = (performance.now() - started) / 1000;
  const peak = await memory.peak();
  const result = {
    acknowledged: sent.length,
    delivered: await platform.call('count'),
    intact: intactOf(sent, await platform.call('submitted')),
    acceptedSeconds,
    seconds,
    idle,
    peak,
    grewBy: peak - idle,
    mayGrowBy: MAY_GROW_BY,
  };
  const met = result.intact === count && result.grewBy <= MAY_GROW_BY;
  if (options.json) console.log(JSON.stringify({ ...result, met }, null, 2));
  else print(result, met);
  if (!met) process.exitCode = 1;
});

/** The number of messages that arrived with exactly the attachments that were sent. */
function intactOf(sent: readonly SentEmail[], submitted: readonly Submitted[]): number {
  const media = new Map(submitted.map((each) => [each.remoteId, each.media]));
  return sent.filter(({ messageId, attachments }) => {
    const hashes = media.get(messageId)?.map(({ sha256 }) => sha256) ?? [];
    return (
      hashes.length === attachments.length && hashes.every((hash, i) => hash === attachments[i])
    );
  }).length;
}

function print(result: Record<string, number>, met: boolean): void {
  const { acknowledged, intact, acceptedSeconds = 0, seconds = 0 } = result;
  const { idle = 0, peak = 0, grewBy = 0 } = result;
  console.log(
    `${count} emails of ${toMiB(MESSAGE_BYTES)} at once: ${acknowledged} acknowledged in ` +
      `${acceptedSeconds.toFixed(1)} s, ${intact} delivered intact in ${seconds.toFixed(1)} s`,
  );
  console.log(
    `${met ? 'PASS' : 'FAIL'} memory ${toMiB(idle)} idle, ${toMiB(peak)} at most: grew by ` +
      `${toMiB(grewBy)} (goal ${toMiB(MAY_GROW_BY)})`,
  );
}
