import type { Command } from 'commander';
import type { AuditLine } from '../spool/operator-store.ts';
import { document, jsonLine } from './json.ts';
import { withSpool } from './open-spool.ts';
import { iso, time } from './queue-entry.ts';
import { type Column, Table } from './table.ts';
import { note, type Terminal } from './terminal.ts';

export interface AuditOptions {
  readonly before?: number;
  readonly limit: number;
  readonly json?: true;
  readonly jsonl?: true;
}

const COLUMNS: readonly Column<AuditLine>[] = [
  { head: 'no', min: 6, value: ({ no }) => no },
  { head: 'when (UTC)', min: 19, value: ({ at }) => time(at) },
  { head: 'who', min: 12, max: 30, value: ({ who }) => who },
  { head: 'action', min: 10, max: 24, value: ({ action }) => action },
  { head: 'on', min: 10, max: 48, value: ({ target }) => target },
  { head: 'outcome', min: 8, max: 40, drop: 1, value: ({ outcome }) => outcome },
];

/** `audit`: prints a page of the audit log. */
export async function listAudit(
  options: AuditOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async ({ operator }) => {
    const { before, limit } = options;
    const lines = await operator.auditLines({ limit, ...(before !== undefined && { before }) });
    const plain = lines.map((line) => ({ ...line, at: iso(line.at) }));
    if (options.json) terminal.out(document(plain));
    else if (options.jsonl) {
      for (const line of plain) terminal.out(jsonLine(line));
    } else {
      terminal.out(
        lines.length === 0
          ? (await operator.auditLines({ limit: 1 })).length === 0
            ? 'The audit log is empty.\n'
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
