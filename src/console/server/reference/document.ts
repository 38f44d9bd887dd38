import { OpenApiGeneratorV31, OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { problem } from './answers.ts';
import { permits } from '../roles.ts';
import {
  type Access,
  type AdminOperation,
  ERRORS,
  errorsOf,
  type ErrorStatus,
  OPERATIONS,
} from './operations.ts';

export type AdminDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

const DESCRIPTION = `Everything that the operators' console shows and does, as JSON over HTTP on the admin port. Times are milliseconds since 1970, durations are milliseconds and sizes are bytes.

A program sends a token as \`Authorization: Bearer\`. The scope \`read\` permits GET requests, \`operate\` also changes. A password works in the same way and permits everything. A change also carries the header \`X-Sluice-Console: 1\`.`;

export const TAGS = [
  ['State', 'What the gateway does now, and whether it works.'],
  ['Entries', 'The messages and events in the spool.'],
  ['Actions', 'What operators do about them.'],
  ['Platform', "A shop's resources at its platform, through the gateway's client; read only."],
  ['Desk', 'People answer the tickets of shops on the local platform.'],
  ['Upkeep', 'Configuration, checks and the audit log.'],
  ['Access', 'Tokens and sessions.'],
] as const;

/** By the names of their security schemes. */
const SECURITY: Readonly<Record<Access, readonly ('Token' | 'Password' | 'Session')[]>> = {
  anyone: [],
  read: ['Token', 'Password', 'Session'],
  operate: ['Token', 'Password', 'Session'],
  operator: ['Password', 'Session'],
};
const NEEDED: Readonly<Record<Access, string>> = {
  anyone: 'Needs no credentials.',
  read: 'Scope: `read`.',
  operate: 'Scope: `operate`.',
  operator: 'For operators only: no token permits it.',
};

/**
 * The OpenAPI 3.1 document of the admin API. Requests have the schemas that validate them; answers
 * have schemas that the compiler compares with the contract.
 */
export function adminDocument(version: string): AdminDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'Token', {
    ...{ type: 'http', scheme: 'bearer', bearerFormat: 'sluice_…' },
    description: 'A token of the admin API.',
  });
  registry.registerComponent('securitySchemes', 'Password', {
    ...{ type: 'http', scheme: 'basic' },
    description: "An operator's name and password.",
  });
  registry.registerComponent('securitySchemes', 'Session', {
    ...{ type: 'apiKey', in: 'cookie', name: 'sluice_session' },
    description: 'The session of a browser.',
  });
  for (const operation of OPERATIONS) registerOperation(registry, operation);
  const document = new OpenApiGeneratorV31([
    ...registry.definitions,
    { type: 'schema', schema: problem },
  ]).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Sluice admin',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The admin port.' }],
    tags: TAGS.map(([name, description]) => ({ name, description })),
  });
  delete document.webhooks;
  const schemas = Object.entries(document.components?.schemas ?? {}).sort();
  return {
    ...document,
    components: {
      securitySchemes: document.components?.securitySchemes ?? {},
      schemas: Object.fromEntries(schemas),
      responses: errorResponses(),
    },
  };
}

function registerOperation(registry: OpenAPIRegistry, operation: AdminOperation): void {
  const { id, tag, method, path, summary, access, query, body, isUpload } = operation;
  const { description = '' } = operation;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  registry.registerPath({
    ...{ operationId: id, tags: [tag], method, path, summary },
    description: [description, NEEDED[access] + roleOf(operation)]
      .filter((part) => part !== '')
      .join('\n\n'),
    security: SECURITY[access].map((name) => ({ [name]: [] })),
    'x-sluice-access': access,
    request: {
      ...(names.length > 0 && {
        params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))),
      }),
      ...(query && { query }),
      ...(method !== 'get' && {
        headers: z.object({
          'X-Sluice-Console': z.literal('1').describe('Which pages of other sites cannot send.'),
        }),
      }),
      ...(isUpload === true && {
        body: {
          required: true,
          content: {
            'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
          },
        },
      }),
      ...(body && {
        body: {
          required: true,
          content: { 'application/json': { schema: body.schema, example: body.example } },
        },
      }),
    },
    responses: { ...successOf(operation), ...errorsIn(operation) },
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: curl(operation) }],
  });
}

/** A command to try an operation in a POSIX shell with `SLUICE` and `TOKEN`. */
function curl({ method, path, access, body, isUpload }: AdminOperation): string {
  const query = isUpload === true ? '?name=photo.jpg' : '';
  const lines = [`curl "$SLUICE${path.replace(/\{(\w+)\}/g, '$$$1')}${query}"`];
  if (method !== 'get') lines.push(`-X ${method.toUpperCase()} -H 'X-Sluice-Console: 1'`);
  if (access === 'operator') lines.push('-u "ann:$PASSWORD"');
  else if (access !== 'anyone') lines.push('-H "Authorization: Bearer $TOKEN"');
  if (body) {
    lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(body.example)}'`);
  }
  if (isUpload === true) lines.push("-H 'Content-Type: image/jpeg' --data-binary @photo.jpg");
  return lines.join(' \\\n  ');
}

/** The routes outside of `/api` are not for the role desk, but for those that need no credentials. */
const roleOf = ({ method, path, access }: AdminOperation): string =>
  access !== 'anyone' && permits('desk', method.toUpperCase(), path.replace(/^\/api/, ''))
    ? ' Also for the role `desk`.'
    : '';

function successOf({ success: { status, description, schema, type } }: AdminOperation) {
  if (schema !== undefined) {
    return { [status]: { description, content: { 'application/json': { schema } } } };
  }
  const content = type === undefined ? undefined : { [type]: { schema: z.string() } };
  return { [status]: { description, ...(content && { content }) } };
}

const nameOf = (status: ErrorStatus): string => ERRORS[status][0];

const errorsIn = (operation: AdminOperation) =>
  Object.fromEntries(
    errorsOf(operation).map((status) => [
      status,
      { $ref: `#/components/responses/${nameOf(status)}` },
    ]),
  );

function errorResponses() {
  const schema = { $ref: '#/components/schemas/Problem' };
  return Object.fromEntries(
    Object.values(ERRORS).map(([name, code, description]) => [
      name,
      {
        description,
        content: { 'application/json': { schema, example: { code, message: description } } },
      },
    ]),
  );
}
