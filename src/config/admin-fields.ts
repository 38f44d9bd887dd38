import { isPasswordHash, parsePasswordHash } from '../runtime/password-hash.ts';
import { field } from './field.ts';
import { Secret } from './secret.ts';

/** Who signs in without a name. */
const OPERATOR = 'operator';

/** The password itself, or the scrypt hash that it was made into. */
export const consolePassword = () =>
  field(
    {
      expected: 'a password of at least 8 characters, or its scrypt hash ($scrypt$ln=...)',
      example: '"${NAME_OF_A_VARIABLE}"',
      secret: true,
    },
    (value) => {
      // Secrets that come from files end with a line break that is not part of them.
      const bare = value.replace(/[\r\n]+$/, '');
      if (bare.length < 8 || bare.length > 500 || /[\r\n\0]/.test(bare)) return undefined;
      if (isPasswordHash(bare) && parsePasswordHash(bare) === undefined) return undefined;
      return new Secret(bare);
    },
  );

/** Long enough that nobody guesses it, however often they try. */
export const metricsToken = () =>
  field(
    {
      expected:
        'a token of 32 to 500 letters, digits or any of -._~+/= (openssl rand -hex 32 makes one)',
      example: '"${NAME_OF_A_VARIABLE}"',
      secret: true,
    },
    (value) => {
      const bare = value.replace(/[\r\n]+$/, '');
      return /^[\w.~+/=-]{32,500}$/.test(bare) ? new Secret(bare) : undefined;
    },
  );

/** As the audit shows it: nothing that looks like a terminal's user (`terminal:ann`). */
export const operatorName = () =>
  field(
    {
      expected: `a name of 1 to 40 letters, digits, dots, dashes or underscores; not "${OPERATOR}"`,
      example: 'ann',
      hint: (value) => value.replace(/[^\p{L}\p{N}._-]/gu, '').slice(0, 40) || undefined,
    },
    (value) => (/^[\p{L}\p{N}._-]{1,40}$/u.test(value) && value !== OPERATOR ? value : undefined),
  );
