import { parentPort, workerData } from 'node:worker_threads';
import { normalizeMessage } from '../normalize-message.ts';
import { serveJobs } from './serve-jobs.ts';
import type { WorkerSettings } from '../job.ts';

// Set by the pool, the only code that starts this file.
serveJobs(parentPort, workerData as WorkerSettings, normalizeMessage);
