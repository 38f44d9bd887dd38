import type { Command } from 'commander';
import { type ApiToken, hasEnded, tokenOutcome, type TokenScope } from '../domain/api-token.ts';
import { makeToken, TokenRefused } from '../spool/api-token-store.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import { type OpenSpool, withSpool } from './open-spool.ts';
import { iso, time } from './queue-entry.ts';
import { type Column, Table } from './table.ts';
import { note, printable, type Terminal } from './terminal.ts';

export interface TokenOptions {
  readonly json?: true;
}

export interface CreateTokenOptions extends TokenOptions {
  readonly scope: TokenScope;
  /** Milliseconds, or `never`. */
  readonly expires: number | 'never';
}

/**
 * `token create`: prints the token, and on standard error how it is used.
 * @throws {CommandFailed} the name is taken
 */
export async function createToken(
  name: string,
  { scope, expires, json }: CreateTokenOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async ({ apiTokens, config, who, audit }) => {
    const madeAt = Date.now();
    const ends = expires === 'never' ? {} : { endsAt: madeAt + expires };
    const { secret, token } = await orFailed(
      makeToken(apiTokens, { name, scope, madeBy: who, madeAt, ...ends }),
    );
    await audit('token_create', name, tokenOutcome(token));
    if (json) {
      terminal.out(document({ token: secret, ...tokenJson(token) }));
      return;
    }
    const { host, port } = config.admin;
    terminal.out(`${secret}\n`);
    note(
      terminal,
      `The token ${name} (${tokenOutcome(token)}) is not shown again. Send it in a header:\n` +
        `  curl -H "Authorization: Bearer $TOKEN" http://${host}:${port}/api/overview\n`,
    );
  });
}

const COLUMNS: readonly Column<ApiToken>[] = [
  { head: 'name', min: 10, max: 30, value: ({ name }) => name },
  { head: 'scope', min: 7, value: ({ scope }) => scope },
  { head: 'made by', min: 12, max: 30, value: ({ madeBy }) => madeBy },
  { head: 'made (UTC)', min: 19, drop: 2, value: ({ madeAt }) => time(madeAt) },
  { head: 'last used (UTC)', min: 19, value: ({ usedAt }) => (usedAt ? time(usedAt) : 'never') },
  { head: 'ends (UTC)', min: 19, value: ({ endsAt }) => (endsAt ? time(endsAt) : 'never') },
  { head: '', min: 7, value: (token) => (hasEnded(token, Date.now()) ? 'expired' : '') },
  { head: 'id', min: 36, drop: 1, value: ({ id }) => id },
];

/** `token list` */
export async function listTokens(
  { json }: TokenOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async ({ apiTokens }) => {
    const tokens = await apiTokens.apiTokens();
    if (json) terminal.out(document(tokens.map(tokenJson)));
    else if (tokens.length === 0) {
      terminal.out('There are no tokens. Make one with: sluice token create NAME\n');
    } else terminal.out(new Table(COLUMNS, terminal).lines(tokens));
  });
}

/**
 * `token revoke`
 * @throws {CommandFailed} there is no such token
 */
export async function revokeToken(
  nameOrId: string,
  { json }: TokenOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async ({ apiTokens, audit }) => {
    const token = await tokenCalled(nameOrId, apiTokens);
    if (token === undefined || !(await apiTokens.removeApiToken(token.id))) {
      throw new CommandFailed(
        `there is no token ${printable(nameOrId)}; list them with: sluice token list`,
      );
    }
    await audit('token_revoke', token.name, 'ok');
    terminal.out(
      json
        ? document({ id: token.id, name: token.name })
        : `${token.name}: revoked; requests with it are refused now\n`,
    );
  });
}

/** A name that is another token's id means the name. */
async function tokenCalled(
  nameOrId: string,
  store: OpenSpool['apiTokens'],
): Promise<ApiToken | undefined> {
  const tokens = await store.apiTokens();
  return (
    tokens.find(({ name }) => name === nameOrId) ??
    tokens.find(({ id }) => id === nameOrId.toLowerCase())
  );
}

/** A token for programs: times in ISO 8601. */
function tokenJson({ madeAt, endsAt, usedAt, ...token }: ApiToken): object {
  return {
    ...token,
    madeAt: iso(madeAt),
    ...(endsAt !== undefined && { endsAt: iso(endsAt) }),
    ...(usedAt !== undefined && { usedAt: iso(usedAt) }),
  };
}

/** @throws {CommandFailed} the token was not made */
async function orFailed<Made>(making: Promise<Made>): Promise<Made> {
  try {
    return await making;
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    throw new CommandFailed(error.message, { cause: error });
  }
}
