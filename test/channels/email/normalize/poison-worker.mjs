import { parentPort, workerData } from 'node:worker_threads';
import { normalizeMessage } from '../../../../dist/channels/email/normalize/normalize-message.js';
import { serveJobs } from '../../../../dist/channels/email/normalize/threads/serve-jobs.js';

/** The real worker, in which some messages do what no message should be able to do. */
serveJobs(parentPort, workerData, (job, context) => {
  const text = Buffer.from(job.raw.bytes ?? []).toString('latin1');
  if (text.includes('X-Poison: loop')) for (;;);
  if (text.includes('X-Poison: exit')) process.exit(1);
  if (text.includes('X-Poison: throw')) throw new RangeError('never mind');
  if (text.includes('X-Poison: hang')) return new Promise(() => undefined);
  if (text.includes('X-Poison: heap')) {
    const kept = [];
    for (;;) kept.push({ more: [...kept.slice(-1000)] });
  }
  return normalizeMessage(job, context);
});
