import type { Command } from 'commander';
import type { EntryState } from '../spool/entry.ts';
import type { Spool } from '../spool/spool.ts';
import { asEntryId, type EntryId } from '../types/ids.ts';
import { CommandFailed } from './exit-codes.ts';
import { withSpool } from './open-spool.ts';
import { printable, type Terminal } from './terminal.ts';

interface Change {
  readonly name: string;
  readonly done: string;
  readonly description: string;
  /** The states that it is meant for. */
  readonly from: readonly EntryState[];
  readonly apply: (spool: Spool, id: EntryId) => Promise<boolean>;
}

const CHANGES: readonly Change[] = [
  {
    name: 'retry',
    done: 'retried now',
    description: 'tries dead or waiting entries again, at once',
    from: ['dead', 'queued'],
    apply: (spool, id) => spool.requeue(id),
  },
  {
    name: 'release',
    done: 'released',
    description: 'lets held or suppressed entries go out as usual',
    from: ['held', 'suppressed'],
    apply: (spool, id) => spool.requeue(id),
  },
  {
    name: 'discard',
    done: 'discarded',
    description: 'gives up entries that are not delivered; they stay visible',
    from: ['queued', 'dead', 'held', 'suppressed'],
    apply: (spool, id) => spool.discard(id),
  },
];

/** The operator's three moves; each takes several ids and tells what became of every one. */
export function registerQueueChange(parent: Command, terminal: Terminal): void {
  for (const change of CHANGES) {
    parent
      .command(change.name)
      .description(change.description)
      .argument('<id...>', 'ids of entries')
      .option('--json', 'for programs: a JSON array')
      .addHelpText('after', `\nExample:\n  $ sluice queue ${change.name} 01936f0a7c1e7d3a9b52`)
      .action(async (ids: string[], options: { json?: true }, command: Command) => {
        await withSpool(command, terminal, async ({ spool }) => {
          const results = [];
          for (const id of ids) results.push(await applyTo(spool, change, asEntryId(id)));
          terminal.out(
            options.json
              ? `${JSON.stringify(results, null, 2)}\n`
              : results.map(({ id, result }) => `${printable(id)}: ${result}\n`).join(''),
          );
          const failed = results.filter(({ ok }) => !ok).length;
          if (failed > 0) throw new CommandFailed(`${failed} of ${results.length} not changed`);
        });
      });
  }
}

async function applyTo(
  spool: Spool,
  change: Change,
  id: EntryId,
): Promise<{ id: string; ok: boolean; result: string }> {
  const entry = await spool.get(id);
  if (entry === undefined) return { id, ok: false, result: 'there is no such entry' };
  if (!change.from.includes(entry.state)) {
    const meant = change.from.join(', ');
    return { id, ok: false, result: `is ${entry.state}; ${change.name} is for ${meant}` };
  }
  // False when the entry moved on meanwhile, or its raw form has been swept.
  const ok = await change.apply(spool, id);
  return { id, ok, result: ok ? change.done : 'could not be changed: it moved on, or is swept' };
}
