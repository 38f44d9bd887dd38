import { createReadStream } from 'node:fs';
import express, { type Router } from 'express';
import { z } from 'zod';
import { fileKindAt } from '../../runtime/file-kind.ts';
import { DESK_FILES_MAX_BYTES, type DeskTicket, type TicketAsSeen } from '../../domain/desk.ts';
import type { CannedTexts, DeskMessageRequest, DeskQueue, DeskTicketView } from '../contract.ts';
import type { Audit } from './audit.ts';
import { sendDownload } from './content-routes.ts';
import type { DeskAccess, DeskPort } from './desk-access.ts';
import type { DeskPresence } from './desk-presence.ts';
import { integer, wholeNumber } from './entry-search.ts';
import { type DeskPlace, idOf, orRefusal, placeOf } from './desk-place.ts';
import { checked, Refusal } from './refusal.ts';
import type { Stream } from './stream.ts';
import { actorOf, callerOf } from './sign-in.ts';

const QUEUE_MAX = 200;
const TEXT_MAX = 100_000;
const BODY_LIMIT = '512kb';

const id = z.guid().toLowerCase();
const version = z.string().min(1).max(60).describe('Of the ticket as the person has read it.');

export const deskQueueSchema = z.strictObject({
  limit: wholeNumber
    .pipe(z.number().min(1).max(QUEUE_MAX))
    .optional()
    .meta({ ...integer, minimum: 1, maximum: QUEUE_MAX, default: QUEUE_MAX }),
});
export const deskTicketSchema = z.strictObject({
  before: id.optional().describe('A message: those before it.'),
});
export const deskTextsSchema = z.strictObject({
  words: z.string().max(200).default('').describe('Without any, the first texts.'),
});
export const deskMessageSchema = z.strictObject({
  version,
  text: z.string().min(1).max(TEXT_MAX),
  format: z.enum(['TEXT', 'MARKDOWN']).default('TEXT'),
  files: z.array(id).max(50).default([]).describe('Ids of uploaded files.'),
}) satisfies z.ZodType<DeskMessageRequest>;
export const deskAssignSchema = z.strictObject({
  version,
  to: z.string().min(1).max(64).nullable().describe('A person; null: nobody has it any more.'),
});
export const deskChangeSchema = z.strictObject({ version });
export const deskPresenceSchema = z.strictObject({ writing: z.boolean() });
export const deskSeenSchema = z.strictObject({
  message: id.describe("The customer's newest message on the screen."),
});
export const deskUploadSchema = z.strictObject({ name: z.string().min(1).max(255) });

interface DeskRouteParts {
  readonly desk: DeskAccess;
  readonly presence: DeskPresence;
  /** The names of the people who can sign in. */
  readonly people: () => readonly string[];
  readonly stream: Pick<Stream, 'publish'>;
  readonly audit: Audit;
}

/** `/platform/desk/...`: people answer the tickets of shops on the local platform. */
export function deskRoutes(parts: DeskRouteParts): Router {
  const router = express.Router();
  const { desk, presence } = parts;
  const json = express.json({ limit: BODY_LIMIT });

  const view = async (
    { port, shop, shopId }: DeskPlace,
    ticket: DeskTicket,
  ): Promise<DeskTicketView> => ({
    ...ticket,
    shop,
    optedOut: await orRefusal(() => port.isOptedOut(shopId, ticket.id)),
    assignable: parts.people(),
    present: presence.of(ticket.id),
  });

  router.get('/platform/desk/queue', (req, res) => {
    const { limit = QUEUE_MAX } = checked(deskQueueSchema, req.query);
    const port = desk.port();
    const tickets = desk
      .shops()
      .filter(({ isLocal }) => isLocal)
      .flatMap(({ name, shopId }) =>
        (port?.queue(shopId, limit) ?? []).map((ticket) => ({ ...ticket, shop: name })),
      )
      .sort((a, b) => a.waitingSince - b.waitingSince);
    res.json({ tickets: tickets.slice(0, limit) } satisfies DeskQueue);
  });

  router.get('/platform/desk/texts', async (req, res) => {
    const { words } = checked(deskTextsSchema, req.query);
    res.json({ texts: (await desk.port()?.texts(words)) ?? [] } satisfies CannedTexts);
  });

  router.get('/platform/desk/:shop/tickets/:id', async (req, res) => {
    const { before } = checked(deskTicketSchema, req.query);
    const place = placeOf(req, desk);
    const ticket = await orRefusal(() => place.port.ticket(place.shopId, idOf(req), before));
    res.json(await view(place, ticket));
  });

  const change = <Body extends { readonly version: string }>(
    name: string,
    schema: z.ZodType<Body>,
    make: (port: DeskPort, seen: TicketAsSeen, body: Body) => Promise<void>,
    outcomeOf: (body: Body) => string = () => 'ok',
  ) =>
    router.post(`/platform/desk/:shop/tickets/:id/${name}`, json, async (req, res) => {
      const body = checked(schema, req.body);
      const place = placeOf(req, desk);
      const { port, shop, shopId } = place;
      const who = callerOf(res).operator;
      const seen = { shopId, id: idOf(req), version: body.version, who };
      await orRefusal(() => make(port, seen, body));
      const ticket = await orRefusal(() => port.ticket(shopId, seen.id));
      await parts.audit.write({
        ...{ ...actorOf(res), action: `ticket_${name.replace('-', '_')}` },
        ...{ target: `${shop} ticket ${ticket.number}`, outcome: outcomeOf(body) },
      });
      res.json(await view(place, ticket));
    });

  change('reply', deskMessageSchema, (port, seen, message) => port.reply(seen, message));
  change('note', deskMessageSchema, (port, seen, message) => port.note(seen, message));
  change(
    'assign',
    deskAssignSchema,
    (port, seen, { to }) => {
      if (to !== null && to !== seen.who && !parts.people().includes(to)) {
        throw new Refusal('invalid', 'There is no such person: reload the page');
      }
      return port.assign(seen, to);
    },
    ({ to }) => (to === null ? 'to nobody' : `to ${to}`),
  );
  change('complete', deskChangeSchema, (port, seen) => port.complete(seen));
  change('reopen', deskChangeSchema, (port, seen) => port.reopen(seen));
  change('hand-back', deskChangeSchema, (port, seen) => port.handBack(seen));

  router.post('/platform/desk/:shop/tickets/:id/presence', json, (req, res) => {
    const { writing } = checked(deskPresenceSchema, req.body);
    const { port, shopId } = placeOf(req, desk);
    const ticketId = idOf(req);
    if (!port.has(shopId, ticketId)) throw new Refusal('not_found', 'Ticket not found');
    const present = presence.note(ticketId, callerOf(res).operator, writing);
    parts.stream.publish({ event: 'presence', data: { id: ticketId, present } });
    res.status(204).end();
  });

  // Reading the ticket does not count, because programs read it too.
  router.post('/platform/desk/:shop/tickets/:id/seen', json, async (req, res) => {
    const { message } = checked(deskSeenSchema, req.body);
    const { port, shopId } = placeOf(req, desk);
    await orRefusal(() => port.seen(shopId, idOf(req), message));
    res.status(204).end();
  });

  fileRoutes(router, parts);
  return router;
}

/** What browsers draw and never execute. */
const PICTURES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);
const PICTURE_MAX_BYTES = 10_000_000;

/** The type of a picture by its bytes; undefined for any other file, and for a large one. */
async function pictureType({
  path,
  bytes,
}: NonNullable<ReturnType<DeskPort['file']>>): Promise<string | undefined> {
  if (bytes > PICTURE_MAX_BYTES) return undefined;
  const found = await fileKindAt(path).catch(() => undefined);
  const isPicture = found?.kind === 'recognized' && !found.hasPage && PICTURES.has(found.type);
  return isPicture ? found.type : undefined;
}

/** Files of messages. The page shows pictures only; each file is a download. */
function fileRoutes(router: Router, { desk, audit }: DeskRouteParts): void {
  router.post('/platform/desk/:shop/files', async (req, res) => {
    const { name } = checked(deskUploadSchema, req.query);
    const { port, shopId } = placeOf(req, desk);
    if (Number(req.headers['content-length'] ?? 0) > DESK_FILES_MAX_BYTES) {
      throw new Refusal('invalid', 'The file is too large: at most 15 MB', { status: 413 });
    }
    // A composite type would make the file a part of the email's own structure (RFC 2046 §5).
    const type = /^(?!multipart\/|message\/)[\w.+-]{1,80}\/[\w.+-]{1,80}/i.exec(
      req.headers['content-type'] ?? '',
    )?.[0];
    const file = { name, type: type ?? 'application/octet-stream', content: req };
    res.status(201).json(await orRefusal(() => port.upload(shopId, file)));
  });

  router.get('/platform/desk/:shop/files/:id', async (req, res) => {
    const { port, shop, shopId } = placeOf(req, desk);
    const file = port.file(shopId, idOf(req));
    if (file === undefined) throw new Refusal('not_found', 'File not found');
    await audit.write({ ...actorOf(res), action: 'download', target: `${shop} file ${file.id}` });
    await sendDownload(res, {
      name: file.name,
      // Regardless of its declared type: browsers do not render this type.
      type: 'application/octet-stream',
      size: file.bytes,
      stream: () => createReadStream(file.path),
    });
  });

  // Not audited: like the text of the message, it is shown with the ticket.
  router.get('/platform/desk/:shop/files/:id/picture', async (req, res) => {
    const { port, shopId } = placeOf(req, desk);
    const file = port.file(shopId, idOf(req));
    const type = file && (await pictureType(file));
    if (file === undefined || type === undefined) throw new Refusal('not_found', 'Not a picture');
    const stream = () => createReadStream(file.path);
    await sendDownload(res, { name: file.name, type, size: file.bytes, stream });
  });
}
