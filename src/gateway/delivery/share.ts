import { hash } from 'node:crypto';
import type { ShopId } from '../../domain/ids.ts';

/** One of several threads that deliver. */
export interface Share {
  /** From 0. */
  readonly index: number;
  readonly of: number;
}

export const WHOLE: Share = { index: 0, of: 1 };

/** The shares of threads: no more than there may be attempts at the same time. */
export const sharesOf = ({
  threads,
  concurrency,
}: {
  readonly threads: number;
  readonly concurrency: number;
}): readonly Share[] => {
  const of = Math.min(threads, concurrency);
  return Array.from({ length: of }, (_, index) => ({ index, of }));
};

/** Whether the thread delivers for the shop: always the same one, so that the shop's health is in one place. */
export const isOwnShop = ({ index, of }: Share, shopId: ShopId): boolean =>
  of === 1 || hash('sha1', shopId, 'buffer').readUInt32BE(0) % of === index;

/** The thread's part of a number; the parts add up to it. At least 1. */
export const partOf = ({ index, of }: Share, whole: number): number =>
  Math.max(1, Math.floor(((index + 1) * whole) / of) - Math.floor((index * whole) / of));
