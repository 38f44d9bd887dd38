import type { AuditFilter, AuditLine, NewAuditLine, OperatorStore } from '../operator-store.ts';
import { type Dialect, type Operation, rowsOf } from './operation.ts';

type Page = Parameters<OperatorStore['auditLines']>[0];

interface Portion {
  readonly lines: readonly AuditLine[];
  /** The `before` of the next call; absent when there are no older lines. */
  readonly next?: number;
}

/** In SQLite, acknowledgements of other callers wait for one call. */
const LINES_PER_CALL = 2000;

/** The audit log of operators' actions. Lines are only added; `retention.ts` sweeps old ones. */
export const auditOperations = ({ now }: Dialect) => ({
  *audit({ who, action, target, outcome, address }: NewAuditLine): Operation<void> {
    yield* rowsOf(
      `INSERT INTO audit (at, who, action, target, outcome, address)
       VALUES (${now}, $1, $2, $3, $4, $5)`,
      ...[who, action, target, outcome, address ?? null],
    );
  },

  /** The lines among the next `LINES_PER_CALL` that pass the filter, the newest first. */
  *auditPortion({ before = Number.MAX_SAFE_INTEGER, limit, ...filter }: Page): Operation<Portion> {
    const isFiltered = Object.keys(filter).length > 0;
    const most = isFiltered ? LINES_PER_CALL : Math.min(limit, LINES_PER_CALL);
    const rows = yield* rowsOf<Omit<AuditLine, 'address'> & { readonly address: string | null }>(
      `SELECT no, at, who, action, target, outcome, address FROM audit
       WHERE no < $1 ORDER BY no DESC LIMIT $2`,
      ...[before, most],
    );
    const lines = rows
      .map(({ address, ...line }) => ({ ...line, ...(address !== null && { address }) }))
      .filter((line) => passes(filter, line));
    const last = rows.length === most ? rows.at(-1) : undefined;
    return { lines: lines.slice(0, limit), ...(last !== undefined && { next: last.no }) };
  },
});

/** Filtered here because the databases know different letters without regard to case. */
function passes({ text = '', actions, from = 0, to = Infinity }: AuditFilter, line: AuditLine) {
  const { at, who, action, target, outcome, address = '' } = line;
  if (at < from || at >= to || actions?.includes(action) === false) return false;
  const part = text.toLowerCase();
  return [who, target, outcome, address].some((field) => field.toLowerCase().includes(part));
}

/** `OperatorStore.auditLines`, of a store that reads them in portions. */
export async function findAuditLines(
  store: { auditPortion(page: Page): Promise<Portion> },
  { limit, before, ...filter }: Page,
): Promise<readonly AuditLine[]> {
  const lines: AuditLine[] = [];
  let next = before ?? Number.MAX_SAFE_INTEGER;
  while (lines.length < limit) {
    const left = limit - lines.length;
    const portion = await store.auditPortion({ ...filter, before: next, limit: left });
    lines.push(...portion.lines);
    if (portion.next === undefined) break;
    next = portion.next;
  }
  return lines;
}
