import { runProgram } from './run-program.ts';

export interface SmtpLoad {
  readonly sessions: number;
  readonly messages: number;
  readonly bytes: number;
  /** Many messages over one connection, or one each. */
  readonly reuse: boolean;
}

/** The domain that every SMTP server of a benchmark takes mail for. */
export const BENCH_DOMAIN = 'demo.example';

/**
 * Sends a load with Postfix's own generator and resolves with its wall time in seconds, which is
 * from the first connection to the last answer. Each message has a recipient of its own; any
 * answer but the expected one ends the generator, and with it the benchmark.
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
