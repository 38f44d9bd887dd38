import { parentPort, workerData } from 'node:worker_threads';
import { createMonotonicClock } from '../../../runtime/clock.ts';
import { TurnBatch } from '../../../runtime/worker-threads.ts';
import { checkMessage } from './check-message.ts';
import { DnsResolver } from './dns-resolver.ts';
import type {
  AuthenticationSettings,
  FromAuthenticationWorker,
  ToAuthenticationWorker,
} from './authenticator.ts';

// mailauth creates objects from dotted names in ARC-Authentication-Results, including
// `__proto__.x`. Without this accessor, that is an ordinary name, and no message can change the
// prototype.
Reflect.deleteProperty(Object.prototype, '__proto__');

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread');
// Set by the authenticator, the only code that starts this file.
const settings = workerData as AuthenticationSettings;
const resolver = new DnsResolver(settings.dns, createMonotonicClock());

async function answer({ id, request }: ToAuthenticationWorker): Promise<FromAuthenticationWorker> {
  try {
    const resolve = (name: string, type: string) => resolver.resolve(name, type);
    return { id, verdict: await checkMessage(request, settings, resolve) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.name : typeof error };
  }
}

const outgoing = new TurnBatch<FromAuthenticationWorker>((replies) => port.postMessage(replies));

port.on('message', (messages: readonly ToAuthenticationWorker[]) => {
  for (const message of messages) void answer(message).then((reply) => outgoing.add(reply));
});
