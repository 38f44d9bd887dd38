import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { FieldError } from './platform-answers.ts';
import type { PlatformTraits } from './platform-traits.ts';

/** The request body of Create message (§4.7). */
export interface MessagePayload {
  readonly contact: {
    readonly email?: string | null;
    readonly name?: string;
    readonly phone?: string | null;
  };
  readonly conversation: {
    readonly direction: 'inbound';
    readonly type?: 'email' | 'sms' | 'web_chat';
    readonly id?: string | null;
    readonly agent_contact?: string | null;
    readonly intent_id?: string | null;
    readonly topic_id?: string | null;
    readonly user_id?: string | null;
  };
  readonly message: {
    readonly content: string;
    readonly format?: 'TEXT' | 'MARKDOWN' | 'HTML';
    readonly attachments?: readonly string[];
    readonly remote_id?: string | null;
    readonly timestamp?: string | null;
    readonly email?: {
      readonly subject?: string;
      readonly in_reply_to?: string;
      readonly references?: readonly string[];
      readonly cc?: readonly { readonly email?: string; readonly name?: string }[];
      readonly bcc?: readonly { readonly email?: string; readonly name?: string }[];
    };
  };
}

/** The request body of Create event (§4.1). */
export interface EventPayload {
  readonly name: string;
  readonly description?: string;
  readonly event_time?: string;
  readonly contact?: {
    readonly email?: string;
    readonly name?: string;
    readonly phone?: string;
    readonly remote_id?: string;
  };
  readonly metric?: Readonly<Record<string, unknown>>;
}

/** The form of Upload media (§4.8) as the transport passes it. */
export interface MediaForm {
  readonly file: { readonly name: string; readonly type: string; readonly size: number };
  readonly permission?: 'private' | 'public';
}

export type Checked<Body> =
  | { readonly body: Body; readonly errors?: undefined }
  | { readonly errors: readonly FieldError[] };

const string = { type: 'string' };
const nullableString = { type: ['string', 'null'] };
const uuid = { type: 'string', format: 'uuid' };
const nullableUuid = { type: ['string', 'null'], format: 'uuid' };
const emailAddress = { type: 'string', format: 'email' };
const people = {
  type: 'array',
  items: { type: 'object', properties: { email: emailAddress, name: string } },
};

const MESSAGE_SCHEMA = {
  type: 'object',
  required: ['contact', 'conversation', 'message'],
  properties: {
    contact: {
      type: 'object',
      properties: {
        email: { type: ['string', 'null'], format: 'email' },
        name: string,
        phone: nullableString,
      },
    },
    conversation: {
      type: 'object',
      required: ['direction'],
      properties: {
        direction: { enum: ['inbound'] },
        type: { enum: ['email', 'sms', 'web_chat'] },
        id: nullableUuid,
        agent_contact: nullableString,
        intent_id: nullableUuid,
        topic_id: nullableUuid,
        user_id: nullableUuid,
      },
    },
    message: {
      type: 'object',
      required: ['content'],
      properties: {
        content: string,
        format: { enum: ['TEXT', 'MARKDOWN', 'HTML'] },
        attachments: { type: 'array', items: uuid },
        remote_id: nullableString,
        timestamp: { type: ['string', 'null'], format: 'date-time' },
        email: {
          type: 'object',
          properties: {
            subject: string,
            in_reply_to: string,
            references: { type: 'array', items: string },
            cc: people,
            bcc: people,
          },
        },
      },
    },
  },
};

const EVENT_SCHEMA = {
  type: 'object',
  required: ['name'],
  properties: {
    name: string,
    description: string,
    event_time: { type: 'string', format: 'date-time' },
    contact: {
      type: 'object',
      properties: { email: string, name: string, phone: string, remote_id: string },
    },
    metric: {
      type: 'object',
      properties: {
        metric_name: string,
        value: { type: 'number' },
        deduping_key: string,
        metric_object_type: string,
        metric_object_id: uuid,
        context_object_type: string,
        context_object_id: uuid,
        additional_properties: { type: 'object', additionalProperties: string },
      },
    },
  },
};

const MEDIA_SCHEMA = {
  type: 'object',
  required: ['file'],
  properties: {
    file: {
      type: 'object',
      required: ['name', 'type', 'size'],
      properties: { name: string, type: string, size: { type: 'integer', minimum: 0 } },
    },
    permission: { enum: ['private', 'public'] },
  },
};

function compiler(emails: PlatformTraits['emails']): Ajv {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
  formats.default(ajv, { mode: 'full' });
  if (emails === 'lenient') ajv.addFormat('email', /^[^\s@]+@[^\s@]+$/);
  if (emails === 'none') ajv.addFormat('email', true);
  return ajv;
}

const messageBody: Readonly<Record<PlatformTraits['emails'], ValidateFunction<MessagePayload>>> = {
  ajv: compiler('ajv').compile<MessagePayload>(MESSAGE_SCHEMA),
  lenient: compiler('lenient').compile<MessagePayload>(MESSAGE_SCHEMA),
  none: compiler('none').compile<MessagePayload>(MESSAGE_SCHEMA),
};
const eventBody = compiler('none').compile<EventPayload>(EVENT_SCHEMA);
const mediaForm = compiler('none').compile<MediaForm>(MEDIA_SCHEMA);

/**
 * Validates a body against the table of §4.7. In addition, a new conversation needs a type (rule
 * 2), email and sms need `agent_contact`, and web_chat must not have it. Unknown fields are
 * ignored.
 */
export function checkMessage(
  body: unknown,
  emails: PlatformTraits['emails'],
): Checked<MessagePayload> {
  const fits = messageBody[emails];
  if (!fits(body)) return { errors: fieldErrors(fits.errors) };
  const { id = null, type, agent_contact: agentContact = null } = body.conversation;
  const errors: FieldError[] = [];
  if (type === undefined && id === null) {
    errors.push({ field: 'conversation.type', message: 'required for a new conversation' });
  }
  if ((type === 'email' || type === 'sms') && (agentContact ?? '') === '') {
    errors.push({ field: 'conversation.agent_contact', message: `required for ${type}` });
  }
  if (type === 'web_chat' && agentContact !== null) {
    errors.push({ field: 'conversation.agent_contact', message: 'must be omitted for web_chat' });
  }
  return errors.length === 0 ? { body } : { errors };
}

/** Validates a body against the tables of §4.1: a name, and at least one of contact and metric. */
export function checkEvent(body: unknown): Checked<EventPayload> {
  if (!eventBody(body)) return { errors: fieldErrors(eventBody.errors) };
  if (body.contact === undefined && body.metric === undefined) {
    return { errors: [{ field: 'contact', message: 'contact or metric is required' }] };
  }
  return { body };
}

/** Validates a form against the table of §4.8. */
export function checkMedia(form: unknown): Checked<MediaForm> {
  return mediaForm(form) ? { body: form } : { errors: fieldErrors(mediaForm.errors) };
}

function fieldErrors(errors: ValidateFunction['errors']): readonly FieldError[] {
  return (errors ?? []).map((error) => ({
    field: fieldOf(error),
    message: error.message ?? 'is invalid',
  }));
}

function fieldOf({ instancePath, params }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const missing: unknown = params['missingProperty'];
  if (typeof missing !== 'string') return path === '' ? 'body' : path;
  return path === '' ? missing : `${path}.${missing}`;
}
