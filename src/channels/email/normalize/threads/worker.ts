import { parentPort, workerData } from 'node:worker_threads';
import { normalizeMessage } from '../normalize-message.ts';
import { serveJobs } from './serve-jobs.ts';
import type { WorkerSettings } from '../job.ts';

// Set by the pool, the only code that starts this file.
serveJobs(parentPort, workerData as WorkerSettings, async (job, context) => {
  if (job.explain !== true) return normalizeMessage(job, context);
  // Only an operator's question needs it.
  const { explainEmail } = await import('../explain-email.ts');
  return explainEmail(job, context);
});
