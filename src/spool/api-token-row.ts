import type { ApiToken, TokenScope } from '../domain/api-token.ts';

/** A token as both databases have it. */
export interface ApiTokenRow {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenScope;
  readonly made_by: string;
  readonly made_at: number;
  readonly ends_at: number | null;
  readonly used_at: number | null;
}

export const apiTokenOfRow = (row: ApiTokenRow): ApiToken => ({
  ...{ id: row.id, name: row.name, scope: row.scope },
  ...{ madeBy: row.made_by, madeAt: row.made_at },
  ...(row.ends_at !== null && { endsAt: row.ends_at }),
  ...(row.used_at !== null && { usedAt: row.used_at }),
});
