import type { OpenBudget } from '../../runtime/budgets.ts';
import type { Database } from './connection.ts';
import { NOW, sqlFunction } from './schema.ts';

/** What is spent of a budget now; `spent` is what was at `at`. */
const SPENT = `greatest(0, spent_from.spent - greatest(0, ${NOW.name}() - spent_from.at) * per_hour / 3600000)`;

/** Returns the milliseconds until the budget has the amount; 0: spent. */
const SPEND = sqlFunction(
  'spend',
  `(of text, amount float8, burst float8, per_hour float8) RETURNS bigint LANGUAGE plpgsql AS $$
   DECLARE over float8 := amount - burst;
   BEGIN
     IF over <= 0 THEN
       INSERT INTO budget AS spent_from (key, spent, at) VALUES (of, amount, ${NOW.name}())
       ON CONFLICT (key) DO UPDATE SET spent = ${SPENT} + amount, at = greatest(spent_from.at, EXCLUDED.at)
         WHERE ${SPENT} + amount <= burst;
       IF FOUND THEN RETURN 0; END IF;
     END IF;
     over := over + coalesce((SELECT ${SPENT} FROM budget AS spent_from WHERE key = of), 0);
     RETURN greatest(1, ceil(over * 3600000 / per_hour));
   END $$`,
);

const REFUND = sqlFunction(
  'refund',
  `(of text, amount float8, per_hour float8) RETURNS void LANGUAGE sql AS $$
     UPDATE budget AS spent_from SET spent = greatest(0, ${SPENT} - amount), at = greatest(at, ${NOW.name}())
       WHERE key = of $$`,
);

/** Budgets of all gateways together. A crash of the server, or a fail-over, fills them. */
export const openBudgets =
  (database: Database): OpenBudget =>
  (name, { burst, perHour }) => ({
    spend: async (key, amount = 1) => {
      const values = [`${name} ${key}`, amount, burst, perHour];
      return (await database.value<number>(`SELECT ${SPEND.name}($1, $2, $3, $4)`, values)) ?? 0;
    },
    refund: async (key, amount = 1) => {
      const values = [`${name} ${key}`, amount, perHour];
      await database.query(`SELECT ${REFUND.name}($1, $2, $3)`, values);
    },
  });
