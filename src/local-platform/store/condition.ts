/** One condition of a WHERE clause. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** `column = value`, or nothing when no value is asked for. */
export function equals(column: string, value: string | number | boolean | undefined): Condition[] {
  if (value === undefined) return [];
  const bound = typeof value === 'boolean' ? Number(value) : value;
  return [{ sql: `${column} = ?`, values: [bound] }];
}

/** `column IN (values)`, as one parameter however many there are. */
export function oneOf(column: string, list: readonly (string | number)[] | undefined): Condition[] {
  if (list === undefined) return [];
  const sql = `${column} IN (SELECT value FROM json_each(?))`;
  return [{ sql, values: [JSON.stringify(list)] }];
}

export function isNull(column: string, wanted: boolean | undefined): Condition[] {
  if (wanted === undefined) return [];
  return [{ sql: `${column} IS ${wanted ? '' : 'NOT '}NULL`, values: [] }];
}

/** All of them; of none, what is always true. */
export function allOf(conditions: readonly Condition[]): Condition {
  if (conditions.length === 0) return { sql: 'true', values: [] };
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}
