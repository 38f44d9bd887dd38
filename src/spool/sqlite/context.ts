import type { Clock } from '../../runtime/clock.ts';
import type { Db } from './database.ts';
import type { ErasedKeys } from './erased-keys.ts';
import type { FreshEntries } from './fresh-entries.ts';
import type { LaneHeads } from './lanes.ts';
import type { NameTable } from './name-table.ts';

/** What the tables of the database's thread share. */
export interface StoreContext {
  readonly db: Db;
  readonly clock: Clock;
  readonly fresh: FreshEntries;
  readonly erased: ErasedKeys;
  readonly lanes: LaneHeads;
  readonly names: NameTable;
}
