import type { CallName } from './calls.ts';
import type { Mutation } from './interleaver.ts';

export interface NamedMutation extends Mutation {
  readonly name: string;
  /** Calls that meet the fault. */
  readonly calls: readonly [CallName, CallName, ...CallName[]];
}

/** What scale.md warns of: it returns entries that were settled after it had its snapshot. */
const CLAIM_IN_ONE_STATEMENT = `BEGIN
  RETURN QUERY WITH due AS (
    SELECT key, (SELECT min(job.seq) FROM job WHERE job.lane = lane.key) AS first FROM lane
    WHERE shop = (requests->0->>'shop')::uuid AND waits = 0 AND due_at <= now AND NOT (owned AND due_at > now)
    ORDER BY due_at, head LIMIT at_most FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE lane SET head = first, after = first - 1, due_at = now + lease, owned = true, owner = instance,
      generation = nextval('lease_generation') FROM due WHERE lane.key = due.key AND first IS NOT NULL
    RETURNING lane.key, first, lane.generation
  )
  SELECT 0, taken.generation, seq, id, kind, entry.shop, channel, entry.lane, remote_id, received_at, meta,
    raw_size, blob, raw_checksum, 0::bigint, 0, 0, 0, 0::bigint, 0::bigint, taken.key < 0, NULL::text, false,
    NULL::text, bytes, NULL::json
  FROM taken JOIN entry ON seq = first LEFT JOIN raw USING (seq);
END `;

/** Safeguards of the functions, each taken away: the interleaver has to notice. */
export const MUTATIONS: readonly NamedMutation[] = [
  {
    name: 'accept does not lower `after`',
    ...{ in: 'accept', from: 'after = least(old.after, EXCLUDED.after),', to: '' },
    calls: ['accept', 'accept', 'claim'],
  },
  {
    name: 'accept answers duplicates although the first was swept',
    ...{
      in: 'accept',
      from: /IF EXISTS \(SELECT FROM json_to_recordset\(items\) AS item \(dedup uuid\)\s+WHERE NOT/g,
      to: 'IF false AND EXISTS (SELECT FROM json_to_recordset(items) AS item (dedup uuid) WHERE NOT',
    },
    calls: ['accept', 'sweep'],
  },
  {
    name: 'accept does not look for people erased meanwhile',
    ...{
      in: 'accept',
      from: "RAISE serialization_failure USING MESSAGE = 'a person was erased meanwhile'",
      to: 'NULL',
    },
    calls: ['accept', 'erase'],
  },
  {
    name: 'claim does not lock the lanes',
    ...{ in: 'claim', from: /FOR UPDATE SKIP LOCKED/g, to: '' },
    calls: ['claim', 'claim'],
  },
  {
    name: 'claim is one statement',
    ...{ in: 'claim', from: /BEGIN[\s\S]*$/g, to: CLAIM_IN_ONE_STATEMENT },
    calls: ['claim', 'settle late'],
  },
  {
    name: 'claim raises `after` beyond the head',
    ...{ in: 'claim', from: 'after = first.seq - 1', to: 'after = first.seq' },
    calls: ['claim', 'retry later'],
  },
  {
    name: 'settle does not lock the lanes',
    ...{ in: 'settle', from: 'ORDER BY key FOR UPDATE', to: '' },
    calls: ['settle late', 'claim', 'renew', 'discard after its lease'],
  },
  {
    name: 'settle does not compare generations',
    ...{ in: 'settle', from: 'AND lane.generation = item.generation', to: '' },
    calls: ['settle late', 'claim'],
  },
  {
    name: 'a detached entry gets a lane that is not lowered',
    ...{
      in: 'settle',
      from: 'DO UPDATE SET after = least(old.after, EXCLUDED.after)',
      to: 'DO NOTHING',
    },
    calls: ['detach', 'sweep', 'erase in flight'],
  },
  {
    name: 'renew does not look at the lane again',
    ...{ in: 'renew', from: 'FOR UPDATE OF lane', to: '' },
    calls: ['renew', 'settle', 'settle late', 'claim'],
  },
  {
    name: 'a requeue does not lower `after`',
    ...{
      in: 'move_entry',
      from: 'SET after = least(old.after, EXCLUDED.after)',
      to: 'SET after = old.after',
    },
    calls: ['requeue', 'claim'],
  },
  {
    name: 'a move does not lock the outcome',
    ...{ in: 'move_entry', from: 'PERFORM 1 FROM outcome WHERE seq = own.seq FOR UPDATE;', to: '' },
    calls: ['restore', 'sweep', 'requeue', 'release'],
  },
  {
    name: 'a move does not lock the lanes',
    ...{
      in: 'move_entry',
      from: 'DO UPDATE SET after = least(old.after, EXCLUDED.after)',
      to: 'DO NOTHING',
    },
    calls: ['discard after its lease', 'claim', 'requeue after its lease', 'settle late'],
  },
  {
    name: 'an operator discards what is in flight',
    ...{
      in: 'move_entry',
      from: 'WHEN lane.due_at > now',
      to: 'WHEN lane.due_at > now + 100000000',
    },
    calls: ['discard after its lease', 'claim'],
  },
  {
    name: 'the sweep does not lock empty lanes',
    ...{ in: 'sweep', from: /(head IS NULL\s+LIMIT \d+) FOR UPDATE SKIP LOCKED/g, to: '$1' },
    calls: ['sweep', 'accept', 'requeue', 'restore'],
  },
  {
    name: 'the sweep does not lock outcomes',
    ...{ in: 'sweep', from: /(now - entries_ms\s+LIMIT \d+) FOR UPDATE SKIP LOCKED/g, to: '$1' },
    calls: ['sweep', 'restore', 'sweep'],
  },
  {
    name: 'lanes that an attempt owns are computed anew',
    ...{ in: 'refresh_lanes', from: 'AND (settled OR NOT lane.owned)', to: '' },
    calls: ['requeue', 'settle', 'claim'],
  },
  {
    name: 'a start returns the leases of all gateways',
    ...{ in: 'recover', from: 'owned AND owner = instance', to: 'owned' },
    calls: ['recover', 'claim'],
  },
  {
    name: 'a start does not lock the lanes',
    ...{ in: 'recover', from: 'ORDER BY key FOR UPDATE', to: '' },
    calls: ['recover', 'claim', 'accept', 'wait for the shop'],
  },
  {
    name: 'hasten does not lock the lanes',
    ...{ in: 'hasten', from: 'ORDER BY key FOR UPDATE', to: '' },
    calls: ['hasten', 'hasten', 'erase', 'claim'],
  },
  {
    name: 'an erasure does not lock the lanes',
    ...{ in: 'erase_entries', from: 'ORDER BY key FOR UPDATE', to: '' },
    calls: ['erase', 'requeue', 'claim', 'detach', 'erase in flight'],
  },
  {
    name: 'a repair does not lock the lanes',
    ...{ in: 'repair_lanes', from: 'ORDER BY key FOR UPDATE', to: '' },
    calls: ['repair', 'accept', 'requeue', 'detach'],
  },
];
