import { once } from 'node:events';
import { connect } from 'node:net';
import { type CheckResult, get, resultsFor } from './check.ts';
import { reachable } from '../../runtime/ip-addresses.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** A configured listener of the gateway. */
export interface Door {
  readonly name: 'smtp' | 'http' | 'admin';
  /** Its address for programs on this machine. */
  readonly host: string;
  readonly port: number;
  readonly lmtp?: boolean;
}

export type GatewayState = 'running' | 'stopped' | 'never-started';

/** The response of a listener: its greeting, the status of `/readyz`, or why there is none. */
export type DoorAnswer =
  | { readonly greeting: string }
  | { readonly status: number }
  | { readonly failure: string };

/** Whether the gateway responds at its listeners, as seen from this machine. */
export function judgeDoor(door: Door, answer: DoorAnswer, gateway: GatewayState): CheckResult {
  const { name, host, port } = door;
  const subject = `${name} ${host}:${port}`;
  const { ok, skipped, warning, failed } = resultsFor(
    'ports',
    subject,
    'a response from the gateway',
  );
  if ('failure' in answer) {
    if (gateway === 'never-started') return skipped('the gateway has not been started yet');
    const why = `no response (${answer.failure})`;
    return gateway === 'stopped'
      ? failed(
          `${why}: the gateway is not running`,
          'start the gateway (npm start, or your service)',
        )
      : failed(
          `${why}, but a gateway is running with this data folder`,
          `check the gateway's log for its listen addresses; it may use another configuration (${name}.host, ` +
            `${name}.port), or a firewall blocks the port`,
        );
  }
  const theirs = gateway === 'running' ? 'another server' : 'another program';
  if ('greeting' in answer) {
    // For both SMTP and LMTP (RFC 5321 §4.2).
    if (/^220[ -]/.test(answer.greeting)) return ok('ready');
    if (answer.greeting.startsWith('421')) {
      return warning('connections are refused (421)', 'check smtp.maxConnections and the log');
    }
    return failed(
      `${theirs} uses this port`,
      `stop what listens on port ${port}, or configure another ${name}.port`,
    );
  }
  if (answer.status === 200) return ok('ready');
  if (answer.status === 503) {
    return failed(
      'not ready (503)',
      `read the reason at http://${reachable(door)}/readyz: starting, store failure, or full disk`,
    );
  }
  return failed(
    `${theirs} uses this port (${answer.status})`,
    `stop what listens on port ${port}, or configure another ${name}.port`,
  );
}

export async function askDoor(
  door: Door,
  timeoutMs: number,
  clock: () => number,
): Promise<DoorAnswer> {
  if (door.name === 'smtp') return greeting(door.host, door.port, timeoutMs);
  const answer = await get(`http://${reachable(door)}/readyz`, timeoutMs, clock);
  return 'failure' in answer ? answer : { status: answer.status };
}

async function greeting(host: string, port: number, timeoutMs: number): Promise<DoorAnswer> {
  const socket = connect({ host, port });
  // Errors after the response are irrelevant.
  socket.on('error', () => undefined);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const [data] = (await once(socket, 'data', { signal })) as [Buffer];
    return { greeting: data.toString('latin1').slice(0, 200) };
  } catch (error) {
    if (signal.aborted) return { failure: 'timeout' };
    return { failure: codeOf(error) || 'network' };
  } finally {
    socket.destroy();
  }
}
