import type { Command } from 'commander';
import type { Entry, TimelineStep } from '../spool/entry.ts';
import { asEntryId } from '../types/ids.ts';
import { CommandFailed } from './exit-codes.ts';
import { withSpool } from './open-spool.ts';
import { entryJson, iso, time } from './queue-entry.ts';
import { printable, type Terminal } from './terminal.ts';

export function registerQueueShow(parent: Command, terminal: Terminal): void {
  parent
    .command('show')
    .description('prints an entry with its timeline')
    .argument('<id>', 'the id that log, list and console show')
    .option('--json', 'for programs: one JSON object')
    .addHelpText('after', '\nExample:\n  $ sluice queue show 01936f0a7c1e7d3a9b52')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await withSpool(command, terminal, async ({ spool, shopName }) => {
        const entry = await spool.get(asEntryId(id));
        if (entry === undefined) throw new CommandFailed(`there is no entry ${printable(id)}`);
        const timeline = await spool.timeline(entry.id);
        const shop = shopName(entry.shopId);
        terminal.out(options.json ? json(entry, shop, timeline) : text(entry, shop, timeline));
      });
    });
}

function json(entry: Entry, shop: string, timeline: readonly TimelineStep[]): string {
  const steps = timeline.map((step) => ({ ...step, at: iso(step.at) }));
  return `${JSON.stringify({ ...entryJson(entry, shop), timeline: steps }, null, 2)}\n`;
}

function text(entry: Entry, shop: string, timeline: readonly TimelineStep[]): string {
  const fields: [string, string | number | undefined][] = [
    ['id', entry.id],
    ['shop', shop],
    ['channel', entry.kind === 'event' ? `${entry.channel} event` : entry.channel],
    ['state', entry.detached ? `${entry.state} (lets its lane pass)` : entry.state],
    ['reason', entry.reason],
    ['lane', entry.lane],
    ['remote id', entry.remoteId],
    ['received', time(entry.receivedAt)],
    ['size', `${entry.rawSize} bytes`],
    ['tries', entry.attempts],
    ['next try', entry.state === 'queued' ? time(entry.nextAttemptAt) : undefined],
    ['settled', entry.settledAt === undefined ? undefined : time(entry.settledAt)],
    ['message', entry.platformMessageId],
    ['conversation', entry.conversationId],
  ];
  const head = fields.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name.padEnd(13)} ${printable(String(value))}`],
  );
  const steps = timeline.map(
    ({ at, step, detail }) => `  ${time(at)}  ${printable(step.padEnd(14))} ${details(detail)}`,
  );
  return `${[...head, '', 'timeline (UTC)', ...steps.map((line) => line.trimEnd())].join('\n')}\n`;
}

function details(detail: TimelineStep['detail']): string {
  return Object.entries(detail ?? {})
    .map(([name, value]) => printable(`${name}=${value}`))
    .join(' ');
}
