import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type Router } from 'express';
import { z } from 'zod';
import type { AuditFilter, AuditLine, OperatorStore } from '../../spool/operator-store.ts';
import type { AuditPage } from '../contract.ts';
import type { Audit } from './audit.ts';
import { integer, shortText, wholeNumber } from './entry-search.ts';
import { checked } from './refusal.ts';
import { csvLine } from './csv.ts';
import { actorOf } from './sign-in.ts';

const PAGE = 50;
const MAX_PAGE = 200;
/** Lines that an export reads at once. */
const EXPORT_PAGE = 1000;

interface AuditRouteParts {
  readonly operator: Pick<OperatorStore, 'auditLines'>;
  readonly audit: Audit;
}

const filterShape = {
  text: shortText.optional().describe('Part of the operator, target, outcome or address.'),
  action: z
    .array(z.string().max(40))
    .max(40)
    .optional()
    .describe('Any of these: repeat the parameter.'),
  from: wholeNumber
    .optional()
    .meta({ ...integer, description: 'At this time or later, in milliseconds since 1970.' }),
  to: wholeNumber
    .optional()
    .meta({ ...integer, description: 'Before this time, in milliseconds since 1970.' }),
};
export const auditFilterSchema = z.strictObject(filterShape);
export const auditQuerySchema = z.strictObject({
  ...filterShape,
  before: wholeNumber.optional().meta({ ...integer, description: '`next` of the page before.' }),
  limit: wholeNumber
    .pipe(z.number().min(1).max(MAX_PAGE))
    .optional()
    .meta({ ...integer, minimum: 1, maximum: MAX_PAGE, default: PAGE }),
});

/** `GET /audit`, and `GET /audit.csv`, which is a download of all lines of the filter. */
export function auditRoutes({ operator, audit }: AuditRouteParts): Router {
  const router = express.Router();
  router.get('/audit', async (req, res) => {
    const { before, limit = PAGE, ...filter } = checked(auditQuerySchema, withList(req.query));
    const lines = await operator.auditLines({
      ...filterOf(filter),
      limit,
      ...(before !== undefined && { before }),
    });
    const last = lines.at(-1);
    const more = lines.length === limit && last !== undefined && last.no > 1;
    res.json({ lines, ...(more && { next: last.no }) } satisfies AuditPage);
  });
  router.get('/audit.csv', async (req, res) => {
    const filter = filterOf(checked(auditFilterSchema, withList(req.query)));
    await audit.write({ ...actorOf(res), action: 'export', target: 'audit log' });
    res.attachment('sluice-audit.csv').type('text/csv');
    try {
      await pipeline(Readable.from(csvLines(operator, filter)), res);
    } catch (error) {
      // The client has disconnected, or detects the failure from the incomplete response.
      if (!res.headersSent) throw error;
      res.destroy();
    }
  });
  return router;
}

function filterOf({ text, action, from, to }: z.output<typeof auditFilterSchema>): AuditFilter {
  return {
    ...(text !== undefined && { text }),
    ...(action !== undefined && { actions: action }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

/** Without empty parameters, and `action` always as a list. */
const withList = (query: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === '' ? [] : [[name, name === 'action' ? [value].flat() : value]],
    ),
  );

const COLUMNS = ['no', 'time', 'operator', 'address', 'action', 'target', 'outcome'];

async function* csvLines(
  operator: AuditRouteParts['operator'],
  filter: AuditFilter,
): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  let before: number | undefined;
  for (;;) {
    const page = { ...filter, limit: EXPORT_PAGE, ...(before !== undefined && { before }) };
    const lines = await operator.auditLines(page);
    yield lines.map(asCsv).join('');
    before = lines.at(-1)?.no;
    if (before === undefined || lines.length < EXPORT_PAGE) return;
  }
}

const asCsv = ({ no, at, who, address = '', action, target, outcome }: AuditLine): string =>
  csvLine([String(no), new Date(at).toISOString(), who, address, action, target, outcome]);
