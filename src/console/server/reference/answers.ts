import { z } from 'zod';
import { type ApiToken, TOKEN_SCOPES } from '../../../domain/api-token.ts';
import { CHANNELS } from '../../../domain/channel.ts';
import { DESK_CHANGES, type DeskChange } from '../../../domain/desk.ts';
import { ENTRY_STATES } from '../../../domain/entry-state.ts';
import type { ReasonCode, ReasonParams } from '../../../domain/reasons.ts';
import type { ShopTrial } from '../../../domain/shop-trial.ts';
import { type Alert, ruleSchema, severitySchema } from '../../../operations/alerts/alert.ts';
import { type CheckResult, CHECKS } from '../../../operations/doctor/check.ts';
import { ROLES } from '../roles.ts';

/**
 * The fields of a type of the domain, each with a schema of its own type: the compiler refuses a
 * field that is missing here, that the type does not have, or that has another type there.
 */
type Fields<T> = {
  readonly [Key in keyof T]-?: Pick<T, Key> extends Required<Pick<T, Key>>
    ? z.ZodType<T[Key]>
    : z.ZodType<T[Key] | undefined>;
};
export const answer = <T extends object>(fields: Fields<T>): z.ZodType<T> =>
  // `Fields` has compared them; the object's own type would say that absent ones may be undefined.
  z.object(fields) as unknown as z.ZodType<T>;

/** For a type that JSON Schema describes less exactly, or whose values are listed elsewhere. */
// The type is that of the domain, and tests compare real answers with the schema.
export const loosely = <T>(schema: z.ZodType): z.ZodType<T> => schema as unknown as z.ZodType<T>;

export const named = <T extends z.ZodType>(schema: T, id: string, description: string) =>
  schema.meta({ id, description });

export const time = (about = '') =>
  z.number().describe(`${about}${about === '' ? '' : ', in '}milliseconds since 1970.`);
export const count = z.int().min(0);
export const channel = z.enum(CHANNELS);
export const state = z.enum(ENTRY_STATES);
export const text = (about: string) => z.string().describe(about);

/** A reason in words, and as data: its code is one of docs/reasons.md. */
export const reasonFields = {
  reason: text('Why it is in this state, in words.').optional(),
  reasonCode: loosely<ReasonCode>(text('The reason as a code.')).optional(),
  reasonParams: loosely<ReasonParams>(z.record(z.string(), z.unknown())).optional(),
};

export const problem = named(
  z.object({
    code: z.enum([
      'signed_out',
      'wrong_password',
      'too_many_tries',
      'invalid',
      'not_found',
      'conflict',
      'forbidden',
      'unavailable',
      'internal',
    ]),
    message: text('For people.'),
    retryAfter: z.int().optional().describe('Seconds to wait before the next attempt.'),
    isNamed: z.boolean().optional().describe('Of `signed_out`: whether people sign in with names.'),
    changes: z
      .array(
        answer<DeskChange>({
          what: z.enum(DESK_CHANGES),
          at: time(),
          who: text('Absent for customers and the agent.').optional(),
          to: z.string().optional(),
          text: text('The beginning of a message, or a status.').optional(),
        }),
      )
      .optional()
      .describe('What happened to a ticket since it was read, oldest first.'),
  }),
  'Problem',
  'The body of every error.',
);

export const session = named(
  z.object({
    operator: text('The name in the audit log.'),
    role: z.enum(ROLES).describe('Of a token: operator, within its scope.'),
    endsAt: time('When the session or the token ends'),
  }),
  'Session',
  'Who sends the request.',
);

export const alert = named(
  answer<Alert>({
    rule: ruleSchema,
    severity: severitySchema,
    summary: text('One line, with the figure.'),
    todo: text('What to do about it.'),
    shop: text('A configured name.').optional(),
    since: time('When it began'),
    wellSince: time(
      'The condition is gone since then; the alert ends once that has lasted',
    ).optional(),
  }),
  'Alert',
  'A problem that the gateway reports.',
);

export const actionProgress = named(
  z.object({
    id: z.string(),
    action: z.enum(['retry', 'release', 'discard', 'restore']),
    total: count.describe('Entries that it applies to.'),
    done: count,
    changed: count,
    refused: z
      .array(z.object({ why: z.string(), count }))
      .describe('Why entries were not changed.'),
    finished: z.boolean(),
    canUndo: z.boolean(),
    undone: z.boolean(),
  }),
  'ActionProgress',
  'An action on one or many entries, which runs in the background.',
);

export const shopTrial = named(
  answer<ShopTrial>({
    parts: z
      .array(
        answer<ShopTrial['parts'][number]>({
          part: z.enum(['messages', 'media']),
          outcome: z.enum(['delivered', 'failed', 'nothing_to_try', 'no_answer']),
          reason: z.string().optional(),
          nextProbeAt: time().optional(),
        }),
      )
      .describe('The endpoints that were in trouble; none when deliveries succeed.'),
    refusedAlike: z.array(z.object({ words: z.string(), over: z.boolean() })),
    released: count.describe('Messages that waited for their next attempt and are due now.'),
    waiting: count.describe('Messages that wait for delivery now.'),
  }),
  'ShopTrial',
  'The result of trying a shop.',
);

export const testMessage = named(
  z.object({ id: text('The id of its entry.') }),
  'TestMessage',
  'A test message that was accepted.',
);

export const personReport = named(
  z.object({ text: text('As the terminal prints it.') }),
  'PersonReport',
  'What is stored about a person, or what was erased.',
);

export const auditPage = named(
  z.object({
    lines: z
      .array(
        z.object({
          no: count,
          at: time(),
          who: text('An operator, `terminal:` and a user, or a token: `ann\'s token "ci"`.'),
          action: z.string(),
          target: text('An entry, a shop, a token or a count.'),
          outcome: z.string(),
          address: text(
            'The network address of the browser or program; of IPv6, its /64.',
          ).optional(),
        }),
      )
      .describe('Newest first.'),
    next: count.optional().describe('`before` of the next page; absent at the end.'),
  }),
  'AuditPage',
  'A page of the audit log.',
);

export const doctorReport = named(
  z.object({
    checks: z.array(
      answer<CheckResult>({
        check: text(`The name of the check, one of ${CHECKS.length} groups: \`twilio.webhook\`.`),
        subject: z.string(),
        shops: z.array(z.string()).optional().describe('Absent for the gateway itself.'),
        status: z.enum(['ok', 'warning', 'failed', 'skipped']),
        expected: z.string(),
        found: z.string(),
        todo: text('What to do; always present if it failed.').optional(),
        copy: text('What to enter elsewhere: a DNS record, or a URL.').optional(),
        changed: z
          .array(z.object({ setting: z.string(), before: z.string(), after: z.string() }))
          .optional(),
      }),
    ),
  }),
  'DoctorReport',
  'The results of the checks of `sluice doctor`.',
);

const apiToken = named(
  answer<ApiToken>({
    id: z.string(),
    name: z.string(),
    scope: z.enum(TOKEN_SCOPES),
    madeBy: text('An operator, or `terminal:` and a user.'),
    madeAt: time(),
    endsAt: time('Absent if it does not end').optional(),
    usedAt: time('When a request last carried it, to the minute').optional(),
  }),
  'ApiToken',
  'A token, without its secret.',
);

export const apiTokenList = named(
  z.object({ tokens: z.array(apiToken).describe('By name.') }),
  'ApiTokenList',
  'All tokens, also expired ones.',
);

export const madeApiToken = named(
  z.object({
    secret: text('What requests carry as `Authorization: Bearer`; shown only now.'),
    token: apiToken,
  }),
  'MadeApiToken',
  'A new token.',
);
