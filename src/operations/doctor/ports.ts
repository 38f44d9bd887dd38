import { once } from 'node:events';
import { connect } from 'node:net';
import { type CheckResult, get, verdicts } from './check.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** A door that the configuration names. */
export interface Door {
  readonly name: 'smtp' | 'http' | 'admin';
  /** As a program on this machine reaches it. */
  readonly host: string;
  readonly port: number;
  readonly lmtp?: boolean;
}

export type GatewayState = 'running' | 'stopped' | 'never-started';

/** What a door said: its first line, the status of `/readyz`, or why nothing came. */
export type DoorAnswer =
  | { readonly greeting: string }
  | { readonly status: number }
  | { readonly failure: string };

/** Whether the gateway answers at its own doors, as seen from this machine. */
export function judgeDoor(door: Door, answer: DoorAnswer, gateway: GatewayState): CheckResult {
  const { name, host, port } = door;
  const subject = `${name} ${host}:${port}`;
  const { ok, skipped, warning, failed } = verdicts('ports', subject, 'the gateway answers there');
  if ('failure' in answer) {
    if (gateway === 'never-started') return skipped('no gateway has run yet');
    const why = `nothing answers (${answer.failure})`;
    return gateway === 'stopped'
      ? failed(`${why}: the gateway does not run`, 'start the gateway (npm start, or your service)')
      : failed(
          `${why}, though a gateway runs with this data folder: the port is closed`,
          `see in its log where it listens; it may have been started with another configuration (${name}.host, ` +
            `${name}.port), or a firewall is between`,
        );
  }
  const theirs = gateway === 'running' ? 'something else' : 'another program';
  if ('greeting' in answer) {
    // In LMTP and SMTP alike (RFC 5321 §4.2).
    if (/^220[ -]/.test(answer.greeting)) return ok('it greets');
    if (answer.greeting.startsWith('421')) {
      return warning('it turns connections away (421)', 'look at smtp.maxConnections and its log');
    }
    return failed(
      `${theirs} answers there`,
      `stop what listens on port ${port}, or configure another ${name}.port`,
    );
  }
  if (answer.status === 200) return ok('ready');
  if (answer.status === 503) {
    return failed(
      'not ready (503)',
      `see why at http://${authority(host)}:${port}/readyz: it is starting, its store fails, or its disk is full`,
    );
  }
  return failed(
    `${theirs} answers there (${answer.status})`,
    `stop what listens on port ${port}, or configure another ${name}.port`,
  );
}

export async function askDoor(
  { name, host, port }: Door,
  timeoutMs: number,
  clock: () => number,
): Promise<DoorAnswer> {
  if (name === 'smtp') return greeting(host, port, timeoutMs);
  const answer = await get(`http://${authority(host)}:${port}/readyz`, timeoutMs, clock);
  return 'failure' in answer ? answer : { status: answer.status };
}

const authority = (host: string): string => (host.includes(':') ? `[${host}]` : host);

async function greeting(host: string, port: number, timeoutMs: number): Promise<DoorAnswer> {
  const socket = connect({ host, port });
  // What comes after the answer is nobody's matter.
  socket.on('error', () => undefined);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const [data] = (await once(socket, 'data', { signal })) as [Buffer];
    return { greeting: data.toString('latin1').slice(0, 200) };
  } catch (error) {
    if (signal.aborted) return { failure: 'no answer in time' };
    return { failure: codeOf(error) || 'network' };
  } finally {
    socket.destroy();
  }
}
