import { hash } from 'node:crypto';
import type { ShopId } from '../../domain/ids.ts';

/** One of several threads that deliver. */
export interface Share {
  /** From 0. */
  readonly index: number;
  readonly of: number;
}

export const WHOLE: Share = { index: 0, of: 1 };

/** The shares of this many threads. */
export const sharesOf = (threads: number): readonly Share[] =>
  Array.from({ length: threads }, (_, index) => ({ index, of: threads }));

/** Whether the thread delivers for the shop: always the same one, so that the shop's health is in one place. */
export const isOwnShop = ({ index, of }: Share, shopId: ShopId): boolean =>
  of === 1 || hash('sha1', shopId, 'buffer').readUInt32BE(0) % of === index;

/** The thread's part of a number, rounded up. */
export const partOf = ({ of }: Share, whole: number): number => Math.ceil(whole / of);
