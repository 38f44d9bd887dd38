import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../config/duration.ts';
import { MIN_TOKEN_MS, TOKEN_NAME, TOKEN_NAME_RULE, TOKEN_SCOPES } from '../domain/api-token.ts';
import type { CreateTokenOptions, TokenOptions } from './api-tokens.ts';
import type { Terminal } from './terminal.ts';

/** `token`: programs' access to the admin API. */
export function registerTokens(program: Command, terminal: Terminal): void {
  const token = program
    .command('token')
    .description('makes, lists and revokes the tokens with which programs use the admin API');
  token.addHelpText('after', '\nExample:\n  $ sluice token create grafana --scope read');
  registerCreate(token, terminal);
  registerList(token, terminal);
  registerRevoke(token, terminal);
}

function registerCreate(parent: Command, terminal: Terminal): void {
  parent
    .command('create')
    .description('makes a token and prints it, once')
    .argument('<name>', 'what it is for, as the audit log shows it', tokenName)
    .addOption(
      new Option('--scope <scope>', 'read: sees everything; operate: also retries, discards ...')
        .choices(TOKEN_SCOPES)
        .default('read'),
    )
    .addOption(
      new Option('--expires <when>', 'how long it is valid, or never')
        .argParser(expiry)
        .default(expiry('90d'), '90d'),
    )
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ sluice token create grafana\n' +
        '  $ TOKEN=$(sluice token create night-shift --scope operate --expires 7d)\n' +
        '  $ curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8081/api/overview\n\n' +
        'Standard output has the token alone. It is not stored: a lost one is revoked and replaced. It is\n' +
        'valid at once, at every gateway with this store.',
    )
    .action(async (name: string, options: CreateTokenOptions, command: Command) => {
      const { createToken } = await import('./api-tokens.ts');
      await createToken(name, options, command, terminal);
    });
}

function registerList(parent: Command, terminal: Terminal): void {
  parent
    .command('list')
    .description('lists the tokens: who made them, when they were last used, and when they end')
    .option('--json', 'for programs: a JSON array')
    .addHelpText('after', '\nExample:\n  $ sluice token list')
    .action(async (options: TokenOptions, command: Command) => {
      const { listTokens } = await import('./api-tokens.ts');
      await listTokens(options, command, terminal);
    });
}

function registerRevoke(parent: Command, terminal: Terminal): void {
  parent
    .command('revoke')
    .description('ends a token at once')
    .argument('<token>', 'its name or id')
    .option('--json', 'for programs: one JSON object')
    .addHelpText('after', '\nExample:\n  $ sluice token revoke grafana')
    .action(async (nameOrId: string, options: TokenOptions, command: Command) => {
      const { revokeToken } = await import('./api-tokens.ts');
      await revokeToken(nameOrId, options, command, terminal);
    });
}

function tokenName(value: string): string {
  if (TOKEN_NAME.test(value)) return value;
  throw new InvalidArgumentError(`Expected ${TOKEN_NAME_RULE}.`);
}

/** Milliseconds, or `never`. */
function expiry(value: string): number | 'never' {
  if (value === 'never') return value;
  const duration = parseDuration(value);
  if (duration !== undefined && duration >= MIN_TOKEN_MS) return duration;
  throw new InvalidArgumentError('Expected a duration such as 90d, at least 1m, or never.');
}
