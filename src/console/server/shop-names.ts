import type { ShopId } from '../../domain/ids.ts';

/** The shops that are configured now. */
export interface ShopNames {
  idOf(name: string): ShopId | undefined;
  /** The id itself when no shop has it any more. */
  nameOf(id: ShopId): string;
  isServed(id: ShopId): boolean;
}
