import type { Request } from 'express';
import { z } from 'zod';
import { DeskRefused } from '../../domain/desk.ts';
import type { DeskAccess, DeskPort, OutboxPort } from './desk-access.ts';
import { checked, Refusal } from './refusal.ts';

/** The desk and the shop of a request. */
export interface DeskPlace {
  readonly port: DeskPort;
  readonly outbox: OutboxPort;
  readonly shop: string;
  readonly shopId: string;
}

const idSchema = z.guid().toLowerCase();

/** The id in the path. @throws {Refusal} it is none */
export const idOf = (req: Request): string => checked(idSchema, req.params['id']);

/** @throws {Refusal} the shop is unknown, or is not on the local platform */
export function placeOf(req: Request, desk: DeskAccess): DeskPlace {
  const found = desk.shops().find(({ name }) => name === req.params['shop']);
  if (found === undefined) throw new Refusal('not_found', 'Shop not found');
  const [port, outbox] = [desk.port(), desk.outbox()];
  if (!found.isLocal || port === undefined || outbox === undefined) {
    throw new Refusal('not_found', 'The shop has another platform: answer its tickets there');
  }
  return { port, outbox, shop: found.name, shopId: found.shopId };
}

/** @throws {Refusal} the desk refused */
export async function orRefusal<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DeskRefused)) throw error;
    const { kind, message, changes } = error;
    throw new Refusal(kind, message, { cause: error, ...(changes.length > 0 && { changes }) });
  }
}
