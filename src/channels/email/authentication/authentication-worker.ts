import { parentPort, workerData } from 'node:worker_threads';
import { createMonotonicClock } from '../../../runtime/clock.ts';
import { serveRpc } from '../../../runtime/worker-rpc.ts';
import type { AuthenticationSettings, AuthenticationThread } from './authenticator.ts';
import { DnsResolver } from './dns-resolver.ts';
import { checkWithLifetime } from './verdict-lifetime.ts';

// mailauth creates objects from dotted names in ARC-Authentication-Results, including
// `__proto__.x`. Without this accessor, that is an ordinary name, and no message can change the
// prototype.
Reflect.deleteProperty(Object.prototype, '__proto__');

// Nobody sees a stack of this thread (worker-rpc.ts, `Failure`), and the library creates and drops
// an error for each `ip4` of an SPF record: for a record with 20 of them, a fifth of the check.
Error.stackTraceLimit = 0;

// Set by the authenticator, the only code that starts this file.
const settings = workerData as AuthenticationSettings;
const clock = createMonotonicClock();
const resolver = new DnsResolver(settings.dns, clock);

serveRpc<AuthenticationThread>(parentPort, {
  check: (request) => checkWithLifetime(request, settings, resolver, clock),
});
