import { runProgram } from './run-program.ts';

export interface SmtpLoad {
  readonly sessions: number;
  readonly messages: number;
  readonly bytes: number;
  /** Whether a connection is used for many messages or for one. */
  readonly reuse: boolean;
}

/** The domain for which every SMTP server of a benchmark accepts mail. */
export const BENCH_DOMAIN = 'demo.example';

/** The inbox of the nth shop; the first one, 0, is that of every benchmark. */
export const inboxOf = (shop: number): string =>
  `support@${shop === 0 ? BENCH_DOMAIN : `shop${shop}.example`}`;

/**
 * Sends a load with Postfix's generator and resolves with the elapsed seconds from the first
 * connection to the last answer. Each message has a recipient of its own; any unexpected answer
 * ends the generator and with it the benchmark.
 */
export async function runSmtpSource(port: number, load: SmtpLoad): Promise<number> {
  const { seconds } = await runProgram('smtp-source', [
    ...['-s', String(load.sessions), '-m', String(load.messages), '-l', String(load.bytes)],
    ...(load.reuse ? ['-d'] : []),
    ...['-N', '-M', 'client.example', '-f', 'ann@client.example', '-t', `support@${BENCH_DOMAIN}`],
    `127.0.0.1:${port}`,
  ]);
  return seconds;
}
