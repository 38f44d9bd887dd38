import { parentPort, workerData } from 'node:worker_threads';
import { createMonotonicClock } from '../../../runtime/clock.ts';
import { serveRpc } from '../../../runtime/worker-rpc.ts';
import type { AuthenticationSettings, AuthenticationThread } from './authenticator.ts';
import { checkMessage } from './check-message.ts';
import { DnsResolver } from './dns-resolver.ts';

// mailauth creates objects from dotted names in ARC-Authentication-Results, including
// `__proto__.x`. Without this accessor, that is an ordinary name, and no message can change the
// prototype.
Reflect.deleteProperty(Object.prototype, '__proto__');

// Set by the authenticator, the only code that starts this file.
const settings = workerData as AuthenticationSettings;
const resolver = new DnsResolver(settings.dns, createMonotonicClock());

serveRpc<AuthenticationThread>(parentPort, {
  check: (request) => checkMessage(request, settings, (name, type) => resolver.resolve(name, type)),
});
