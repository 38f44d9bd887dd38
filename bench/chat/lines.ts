import Table from 'cli-table3';

/** One line of the result. */
export interface Line {
  readonly what: string;
  readonly sluice: string;
  /** The figure of bare socket.io in the same run. */
  readonly bare?: string;
  readonly goal?: string;
  /** Undefined for a figure without a goal. */
  readonly met?: boolean;
}

export function printLines(lines: readonly Line[]): void {
  const table = new Table({
    head: ['chat', 'Sluice', 'bare socket.io', 'goal', ''],
    style: { head: [], border: [] },
  });
  for (const { what, sluice, bare = '', goal = '', met } of lines) {
    table.push([what, sluice, bare, goal, met === undefined ? '' : met ? 'PASS' : 'FAIL']);
  }
  console.log(table.toString());
}
