import { type Move, movedAway } from '../move.ts';
import type { Database } from './connection.ts';

/** Whether the store in this database is moved (`sluice migrate`). */
export async function databaseMove(database: Database): Promise<Move | undefined> {
  const [move] = await database.query<Move>('SELECT id, state, other, at FROM moved');
  return move;
}

/** @throws {SpoolUnusable} the store in this database is moved */
export async function assertNotMoved(database: Database): Promise<void> {
  const move = await databaseMove(database);
  if (move !== undefined) throw movedAway('The database', move, 'run DELETE FROM moved in it');
}
