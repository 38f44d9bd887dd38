import { type EntryState, OPERATOR_MOVES } from '../../domain/entry-state.ts';
import type { EntryId } from '../../domain/ids.ts';
import type { OperatorStore } from '../operator-store.ts';
import type { Spool } from '../spool.ts';
import type { Database } from './connection.ts';
import { REFRESH } from './lanes.ts';
import { isUuid } from './rows.ts';
import { NEVER, NOW, sqlFunction } from './schema.ts';

/** The states from which a requeue means that an operator released the entry. */
const RELEASED = OPERATOR_MOVES.release.map((state) => `'${state}'`).join(', ');

/**
 * Moves one entry from a state in `allowed` and returns whether it did. `step` says how: `requeued`, unless the
 * entry is queued, and `discarded` remember the state before in `move`; `restored` and `taken_back` return to it.
 * `by`: the operator. The notes stay, with the marks of `MovedNotes`.
 */
const MOVE = sqlFunction(
  'move_entry',
  `(of_id uuid, step text, allowed text[], by text)
   RETURNS boolean LANGUAGE plpgsql AS $$
   #variable_conflict use_column
   DECLARE
     now bigint := ${NOW.name}();
     own record;
     was record;
     next record;
     marked text;
   BEGIN
     SELECT seq, shop, lane_key, received_at INTO own FROM entry WHERE id = of_id;
     IF NOT FOUND THEN RETURN false; END IF;
     -- Whoever changes the entry holds the locks of its lanes. A sweep may delete their rows until then,
     -- so this makes or locks each in one step. The lock of the outcome keeps a sweep from the entry.
     INSERT INTO lane AS old (key, shop, due_at, waits, failures, after)
       SELECT key, own.shop, ${NEVER}, 0, 0, own.seq - 1
       FROM unnest(ARRAY[-own.seq, own.lane_key]) AS key ORDER BY key
       ON CONFLICT (key) DO UPDATE SET after = least(old.after, EXCLUDED.after);
     PERFORM 1 FROM outcome WHERE seq = own.seq FOR UPDATE;

     SELECT * INTO was FROM (
       SELECT CASE WHEN lane.due_at > now THEN 'delivering' ELSE 'queued' END AS state,
         NULL::bigint AS settled_at, next_at, attempts, job.failures, failing_ms, last_attempt_at,
         job.lane < 0 AS detached, released, reason, notes, unended OR lane.key IS NOT NULL AS is_unended
       FROM job LEFT JOIN lane ON lane.key = job.lane AND head = job.seq AND owned
       WHERE seq = own.seq
       UNION ALL
       SELECT state, settled_at, next_at, attempts, failures, failing_ms, last_attempt_at, detached,
         released, reason, notes, false
       FROM outcome WHERE seq = own.seq AND has_raw
     ) AS now;
     IF NOT FOUND OR was.state <> ALL (allowed) THEN
       DELETE FROM lane WHERE key = -own.seq AND head IS NULL;
       RETURN false;
     END IF;

     marked := CASE WHEN was.is_unended
       THEN (coalesce(was.notes, '{}')::jsonb || '{"unended": true}')::text ELSE was.notes END;
     IF step IN ('restored', 'taken_back') THEN
       SELECT * INTO next FROM move WHERE seq = own.seq
         AND move = CASE step WHEN 'restored' THEN 'discarded' ELSE 'requeued' END
         -- The outcome of an attempt since then has changed this time; one without an outcome has left its mark.
         AND (step = 'restored' OR last_attempt_at = was.last_attempt_at
           AND NOT coalesce(marked::jsonb ? 'unended', false));
       IF NOT FOUND THEN
         DELETE FROM lane WHERE key = -own.seq AND head IS NULL;
         RETURN false;
       END IF;
       DELETE FROM move WHERE seq = own.seq;
     ELSE
       -- Retried twice before an attempt, it is taken back to where it was before the first.
       IF step = 'discarded' OR was.state <> 'queued' THEN
         DELETE FROM move WHERE seq = own.seq;
         INSERT INTO move (seq, move, state, settled_at, next_at, attempts, failing_ms, last_attempt_at,
             detached, released, reason)
           VALUES (own.seq, step, was.state, was.settled_at, was.next_at, was.attempts, was.failing_ms,
             was.last_attempt_at, was.detached, was.released, was.reason);
       END IF;
       next := was;
       IF step = 'requeued' THEN
         marked := (marked::jsonb || '{"restarted": true}')::text;
         next.released := was.released OR was.state IN (${RELEASED});
         next.state := 'queued';
         next.next_at := least(now, greatest(own.received_at, was.last_attempt_at));
         next.attempts := 0;
         next.failing_ms := 0;
         next.detached := false;
         was.failures := 0;
       ELSE
         next.state := 'discarded';
         next.settled_at := now;
         next.last_attempt_at := now;
       END IF;
     END IF;

     DELETE FROM job WHERE seq = own.seq;
     DELETE FROM outcome WHERE seq = own.seq;
     IF next.state = 'queued' THEN
       INSERT INTO job (seq, lane, next_at, attempts, failures, failing_ms, last_attempt_at, released, reason, notes)
         VALUES (own.seq, CASE WHEN next.detached THEN -own.seq ELSE own.lane_key END, next.next_at,
           next.attempts, was.failures, next.failing_ms, next.last_attempt_at, next.released, next.reason, marked);
     ELSE
       INSERT INTO outcome (seq, state, settled_at, next_at, attempts, failures, failing_ms,
           last_attempt_at, detached, released, reason, notes)
         VALUES (own.seq, next.state, next.settled_at, next.next_at, next.attempts, was.failures,
           next.failing_ms, next.last_attempt_at, next.detached, next.released, next.reason, marked);
     END IF;
     -- A lease of this entry has ended; another entry of the lane may be in an attempt.
     UPDATE lane SET owned = false WHERE key IN (-own.seq, own.lane_key) AND head = own.seq;
     PERFORM ${REFRESH.name}(ARRAY[-own.seq, own.lane_key], false);
     DELETE FROM lane WHERE key = -own.seq AND head IS NULL;
     INSERT INTO timeline (seq, no, at, steps) SELECT own.seq, coalesce(max(no), 0) + 1, now,
       json_build_array(CASE WHEN by IS NULL THEN json_build_object('at', now, 'step', step)
         ELSE json_build_object('at', now, 'step', step, 'detail', json_build_object('by', by)) END)
       FROM timeline WHERE seq = own.seq;
     RETURN true;
   END $$`,
);

type Moves = Pick<Spool & OperatorStore, 'requeue' | 'discard' | 'restore' | 'takeBack'>;

/** Operators' moves of single entries, and their undo (`domain/entry-state.ts`). */
export function operatorMoves(database: Database): Moves {
  const { retry, release, discard, restore } = OPERATOR_MOVES;
  const text = `SELECT ${MOVE.name}($1, $2, $3, $4)`;
  const move = (step: string, allowed: readonly EntryState[]) => async (id: EntryId, by?: string) =>
    isUuid(id) && (await database.value(text, [id, step, allowed, by ?? null])) === true;
  return {
    requeue: move('requeued', [...retry, ...release]),
    discard: move('discarded', discard),
    restore: move('restored', restore),
    takeBack: move('taken_back', ['queued']),
  };
}
