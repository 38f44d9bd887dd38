import type { Readable } from 'node:stream';
import type {
  CannedText,
  DeskFile,
  DeskTicket,
  NewDeskMessage,
  TicketAsSeen,
  WaitingCount,
  WaitingTicket,
} from '../../domain/desk.ts';
import type { OtherChannel, OutboxReply, ReplyAction } from '../../domain/outbox.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DeskSummary } from '../contract.ts';

/** The desk of the local platform, by shop ids. Changes throw `DeskRefused`. */
export interface DeskPort {
  count(shopId: string): WaitingCount;
  queue(shopId: string, limit: number): WaitingTicket[];
  has(shopId: string, id: string): boolean;
  ticket(shopId: string, id: string, before?: string): DeskTicket;
  seen(shopId: string, id: string, messageId: string): void;
  isOptedOut(shopId: string, id: string): Promise<boolean>;
  reply(seen: TicketAsSeen, message: NewDeskMessage): Promise<void>;
  note(seen: TicketAsSeen, message: NewDeskMessage): Promise<void>;
  assign(seen: TicketAsSeen, to: string | null): Promise<void>;
  complete(seen: TicketAsSeen): Promise<void>;
  reopen(seen: TicketAsSeen): Promise<void>;
  handBack(seen: TicketAsSeen): Promise<void>;
  upload(
    shopId: string,
    file: { readonly name: string; readonly type: string; readonly content: Readable },
  ): Promise<DeskFile>;
  file(shopId: string, id: string): (DeskFile & { readonly path: string }) | undefined;
  texts(words: string): Promise<CannedText[]>;
}

/** The local platform's replies that have not arrived, by shop ids. Changes throw `DeskRefused`. */
export interface OutboxPort {
  countFailed(shopId: string): number;
  failed(shopId: string, limit: number): OutboxReply[];
  deferred(shopId: string, limit: number): OutboxReply[];
  sendAgain(action: ReplyAction): Promise<void>;
  sendBy(channel: OtherChannel, action: ReplyAction): Promise<void>;
  dismiss(action: ReplyAction): Promise<void>;
}

/** A configured shop, as the desk sees it. */
export interface ServedDeskShop {
  readonly name: string;
  readonly shopId: string;
  readonly isLocal: boolean;
  readonly answerWithinMs?: number;
}

/** How the console reaches the desk. */
export interface DeskAccess {
  /** Undefined while no shop has used the local platform. */
  readonly port: () => DeskPort | undefined;
  readonly outbox: () => OutboxPort | undefined;
  readonly shops: () => readonly ServedDeskShop[];
}

/** What waits in each shop. */
export function deskSummary({ port, outbox, shops }: DeskAccess, clock: Clock): DeskSummary {
  const desk = port();
  const replies = outbox();
  return {
    at: clock(),
    shops: shops().map(({ name, shopId, isLocal, answerWithinMs }) => ({
      shop: name,
      isLocal: isLocal && desk !== undefined,
      ...(isLocal && desk !== undefined ? desk.count(shopId) : { waiting: 0 }),
      undelivered: isLocal ? (replies?.countFailed(shopId) ?? 0) : 0,
      ...(answerWithinMs !== undefined && { answerWithinMs }),
    })),
  };
}
