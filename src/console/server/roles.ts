/**
 * The roles of people on the console. `operator` may do everything. `desk` answers customers: the
 * Platform pages and what they need, so that support staff cannot erase, release or discard.
 */
export const ROLES = ['operator', 'desk'] as const;
export type Role = (typeof ROLES)[number];

/** All that the role `desk` may request below `/api`. Everything else is refused. */
const OF_THE_DESK: readonly (readonly [methods: readonly string[], path: RegExp])[] = [
  [['GET', 'HEAD', 'POST'], /^\/platform\//],
  [['GET', 'HEAD'], /^\/(?:session|stream)$/],
  [['POST'], /^\/logout$/],
];

/** Whether a role permits a request. @param path below `/api`, as it was sent */
export const permits = (role: Role, method: string, path: string): boolean =>
  role === 'operator' ||
  OF_THE_DESK.some(([methods, pattern]) => methods.includes(method) && pattern.test(path));
