import type { Command } from 'commander';
import { sendNotice, type Target, TargetFailed } from '../operations/alerts/target.ts';
import { alertSource, alertTargets } from '../gateway/alerts.ts';
import { configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import type { Terminal } from './terminal.ts';

const TIMEOUT_MS = 120_000;
/** No retries: the operator waits for the first result. */
const ONCE = { times: 0, firstAfterMs: 0 };

export interface TryAlertsOptions {
  readonly json?: true;
}

/**
 * `alerts test`: sends a test alert to every target at once.
 * @throws {CommandFailed} a target did not accept it, or none is configured
 */
export async function tryAlertTargets(
  { json }: TryAlertsOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const { config } = configuration(command, terminal);
  const targets = alertTargets(config);
  if (targets.length === 0) {
    throw new CommandFailed(
      'no alert target is configured: set alerts.webhook.url or alerts.email.to',
    );
  }
  const source = alertSource(config);
  const answers = await Promise.all(targets.map((target) => tryTarget(target, source)));
  if (json) terminal.out(document(answers));
  else {
    for (const { ok, target, result } of answers) {
      terminal.out(`${(ok ? 'ok' : 'failed').padEnd(8)}${target}: ${result}\n`);
    }
  }
  const failed = answers.filter(({ ok }) => !ok).length;
  if (failed > 0)
    throw new CommandFailed(`${failed} of ${answers.length} targets did not accept it`);
}

interface Answer {
  readonly target: string;
  readonly ok: boolean;
  readonly result: string;
}

async function tryTarget(target: Target, source: string): Promise<Answer> {
  const started = performance.now();
  const nothing = { fired: [], worse: [], resolved: [], still: [] };
  try {
    const notice = { source, at: Date.now(), ...nothing, isTest: true };
    await sendNotice(target, notice, AbortSignal.timeout(TIMEOUT_MS), ONCE);
    const ms = Math.round(performance.now() - started);
    return { target: target.name, ok: true, result: `accepted the test alert in ${ms} ms` };
  } catch (error) {
    return { target: target.name, ok: false, result: failureText(error) };
  } finally {
    target.close();
  }
}

function failureText(error: unknown): string {
  if (!(error instanceof TargetFailed)) return 'no response in time';
  switch (error.kind) {
    case 'refused':
      return `refused it (${error.code}): check its URL, token or password`;
    case 'busy':
      return `cannot accept it now (${error.code})`;
    case 'unreachable':
      return `cannot be reached (${error.code}): check host, port and network`;
    case 'timeout':
      return 'no response in time';
  }
}
