import type { Response } from 'express';
import type { z } from 'zod';
import type { Problem } from '../contract.ts';

const STATUS: Readonly<Record<Problem['code'], number>> = {
  invalid: 400,
  signed_out: 401,
  wrong_password: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_many_tries: 429,
  internal: 500,
  unavailable: 503,
};

/** An error response of the API; thrown anywhere below `/api`. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly problem: Problem;
  readonly status: number;

  /** @param more.status overrides the status of the code */
  constructor(code: Problem['code'], message: string, more: RefusalDetails = {}) {
    super(message, { cause: more.cause });
    const { retryAfter, changes, isNamed, status = STATUS[code] } = more;
    this.problem = {
      ...{ code, message },
      ...(retryAfter !== undefined && { retryAfter }),
      ...(changes !== undefined && { changes }),
      ...(isNamed !== undefined && { isNamed }),
    };
    this.status = status;
  }
}

interface RefusalDetails {
  readonly status?: number;
  /** Seconds. */
  readonly retryAfter?: number;
  /** Of a ticket. */
  readonly changes?: Problem['changes'];
  /** Whether operators with names are configured, for the sign-in page. */
  readonly isNamed?: boolean;
  readonly cause?: unknown;
}

/** Without `WWW-Authenticate`, which would make browsers ask for a password and store it. */
export function refuse(res: Response, { status, problem }: Refusal): void {
  if (problem.retryAfter !== undefined) res.set('Retry-After', String(problem.retryAfter));
  res.set('Cache-Control', 'no-store').status(status).json(problem);
}

/**
 * Validates input.
 * @throws {Refusal} `invalid`, naming the field without its value
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined ? '' : issue.path.slice(0, 3).join('.').slice(0, 60);
  throw new Refusal('invalid', where === '' ? 'The request is not valid' : `${where} is not valid`);
}
