/** What a token of the admin API permits. */
export const TOKEN_SCOPES = ['read', 'operate'] as const;
/** `read`: to see everything. `operate`: also to change it, but not the tokens or a session. */
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** A name is shown in the audit log and typed on a command line. */
export const TOKEN_NAME = /^[A-Za-z0-9][\w.-]{0,47}$/;
/** The rule of `TOKEN_NAME`, for people. */
export const TOKEN_NAME_RULE = 'up to 48 letters, digits, dots, dashes and underscores';

const DAY_MS = 86_400_000;
/** Limits of the lifetime of a token that ends. */
export const MIN_TOKEN_MS = 60_000;
export const MAX_TOKEN_MS = 3650 * DAY_MS;

/** A token of the admin API, without its secret. Times are milliseconds since the epoch. */
export interface ApiToken {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenScope;
  /** The operator, or `terminal:` and the system's user. */
  readonly madeBy: string;
  readonly madeAt: number;
  /** Absent: it does not end. */
  readonly endsAt?: number;
  /** When a request last carried it, to the minute. */
  readonly usedAt?: number;
}

export const hasEnded = ({ endsAt }: Pick<ApiToken, 'endsAt'>, now: number): boolean =>
  endsAt !== undefined && endsAt <= now;

/** How the audit log calls who acts with a token. */
export const tokenActor = ({ name, madeBy }: Pick<ApiToken, 'name' | 'madeBy'>): string =>
  `${madeBy}'s token "${name}"`;

/** What the audit log says of a token that was made. */
export const tokenOutcome = ({ scope, endsAt }: Pick<ApiToken, 'scope' | 'endsAt'>): string =>
  `${scope}, ${endsAt === undefined ? 'does not end' : `until ${new Date(endsAt).toISOString()}`}`;
