import { userInfo } from 'node:os';

/**
 * Who types: the system's user, or who became root by sudo. It goes into the audit, so it comes
 * from the system and only then from the environment.
 */
export function operatorName(env: Readonly<Record<string, string | undefined>>): string {
  const name = systemUser();
  const before = env['SUDO_USER'] ?? '';
  const shown = name === 'root' && before !== '' ? before : name;
  return shown.replace(/[^\w.@-]/g, '?').slice(0, 64);
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that no user has.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
