import type { Command } from 'commander';
import type { AuditFilter, AuditLine } from '../spool/operator-store.ts';
import { document, jsonLine } from './json.ts';
import { withSpool } from './open-spool.ts';
import { iso, time } from './queue-entry.ts';
import { type Column, Table } from './table.ts';
import { note, type Terminal } from './terminal.ts';
import type { Moment } from './time-argument.ts';

export interface AuditOptions {
  readonly text?: string;
  readonly action?: readonly string[];
  readonly since?: Moment;
  readonly until?: Moment;
  readonly before?: number;
  readonly limit: number;
  readonly json?: true;
  readonly jsonl?: true;
}

const COLUMNS: readonly Column<AuditLine>[] = [
  { head: 'no', min: 6, value: ({ no }) => no },
  { head: 'when (UTC)', min: 19, value: ({ at }) => time(at) },
  { head: 'who', min: 12, max: 30, value: ({ who }) => who },
  { head: 'from', min: 9, max: 24, drop: 2, value: ({ address = '' }) => address },
  { head: 'action', min: 10, max: 24, value: ({ action }) => action },
  { head: 'on', min: 10, max: 48, value: ({ target }) => target },
  { head: 'outcome', min: 8, max: 40, drop: 1, value: ({ outcome }) => outcome },
];

const filterOf = ({ text, action, since, until }: AuditOptions, now: number): AuditFilter => ({
  ...(text !== undefined && { text }),
  ...(action !== undefined && { actions: action }),
  ...(since !== undefined && { from: since(now) }),
  ...(until !== undefined && { to: until(now) }),
});

/** `audit`: prints a page of the audit log. */
export async function listAudit(
  options: AuditOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async ({ operator }) => {
    const { before, limit } = options;
    const filter = filterOf(options, Date.now());
    const lines = await operator.auditLines({
      ...{ ...filter, limit },
      ...(before !== undefined && { before }),
    });
    const plain = lines.map((line) => ({ ...line, at: iso(line.at) }));
    if (options.json) terminal.out(document(plain));
    else if (options.jsonl) {
      for (const line of plain) terminal.out(jsonLine(line));
    } else {
      terminal.out(
        lines.length === 0
          ? (await operator.auditLines({ limit: 1 })).length === 0
            ? 'The audit log is empty.\n'
            : Object.keys(filter).length > 0
              ? 'No such lines.\n'
              : 'No older lines.\n'
          : new Table(COLUMNS, terminal).lines(lines),
      );
      const last = lines.at(-1);
      if (last !== undefined && lines.length === limit) {
        note(terminal, `For older lines: --before ${last.no}\n`);
      }
    }
  });
}
