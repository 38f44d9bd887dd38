import type { Command } from 'commander';
import { sendNotice, type Target, TargetFailed } from '../operations/alerts/target.ts';
import { alertSource, alertTargets } from '../gateway/alerts.ts';
import { configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

const TIMEOUT_MS = 120_000;
/** Who waits at a terminal wants the first answer. */
const ONCE = { times: 0, firstAfterMs: 0 };

/**
 * `alerts test`: a test alert to every target at once.
 * @throws {CommandFailed} one did not take it, or there is none
 */
export async function tryAlertTargets(command: Command, terminal: Terminal): Promise<void> {
  const { config } = configuration(command, terminal);
  const targets = alertTargets(config);
  if (targets.length === 0) {
    throw new CommandFailed(
      'there is nowhere to send alerts: set alerts.webhook.url or alerts.email.to',
    );
  }
  const source = alertSource(config);
  const answers = await Promise.all(targets.map((target) => tryTarget(target, source)));
  for (const { line } of answers) terminal.out(line);
  const failed = answers.filter(({ ok }) => !ok).length;
  if (failed > 0) throw new CommandFailed(`${failed} of ${answers.length} did not take it`);
}

async function tryTarget(target: Target, source: string): Promise<{ ok: boolean; line: string }> {
  const started = performance.now();
  const nothing = { fired: [], worse: [], resolved: [], still: [] };
  try {
    const notice = { source, at: Date.now(), ...nothing, isTest: true };
    await sendNotice(target, notice, AbortSignal.timeout(TIMEOUT_MS), ONCE);
    const ms = Math.round(performance.now() - started);
    return { ok: true, line: `ok      ${target.name}: it took the test alert, in ${ms} ms\n` };
  } catch (error) {
    return { ok: false, line: `failed  ${target.name}: ${whatCame(error)}\n` };
  } finally {
    target.close();
  }
}

function whatCame(error: unknown): string {
  if (!(error instanceof TargetFailed)) return 'no answer in time';
  switch (error.kind) {
    case 'refused':
      return `it refuses it (${error.code}): check its URL, token or password`;
    case 'busy':
      return `it cannot take it now (${error.code})`;
    case 'unreachable':
      return `it is not reached (${error.code}): check host, port and the way there`;
    case 'timeout':
      return 'it does not answer in time';
  }
}
