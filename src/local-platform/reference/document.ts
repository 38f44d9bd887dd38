import { OpenApiGeneratorV31, OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { LIMITS } from '../open-points.ts';
import { type ErrorAnswer, errorAnswer, ERRORS } from './answers.ts';
import { curl, type Operation, operations } from './operations.ts';
import { SHOP_ID } from './examples.ts';

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;
/** A response that is not a reference. */
interface ResponseObject {
  readonly description: string;
  readonly headers?: object;
  readonly content: object;
}

const DESCRIPTION = `A customer-support platform with an AI agent. With JSON over HTTP a client reads tickets, messages, conversations and contacts, submits customers' messages from email, SMS and web chat, uploads files, and records events.

Every request carries \`Authorization: Bearer\` with the API key and \`X-Shop-Id\` with the uuid of the shop, and can access the data of that shop only. Paths end with a slash. Lists are paged with \`next\` and \`previous\` links. An array parameter is one parameter with comma-separated values.`;

const TAGS = [
  ['Messages', 'Messages of customers and of the agent.'],
  ['Tickets', 'Tasks of the shop, one per conversation.'],
  ['Conversations', 'Related messages on one channel.'],
  ['Contacts', 'The customers.'],
  ['Media', 'Files to attach to messages.'],
  ['Events', 'Timeline events and metrics of other systems.'],
] as const;

/**
 * The OpenAPI 3.1 document of the API, generated from the schemas that validate requests.
 * @param baseUrl the platform's URL without the version
 */
export function openApiDocument(baseUrl: string): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'ApiKey', {
    type: 'http',
    scheme: 'bearer',
    description: "The shop's API key.",
  });
  registry.registerComponent('securitySchemes', 'Shop', {
    type: 'apiKey',
    in: 'header',
    name: 'X-Shop-Id',
    description: `The uuid of the shop, like \`${SHOP_ID}\`.`,
  });
  for (const operation of operations(baseUrl)) registerOperation(registry, operation, baseUrl);
  const document = new OpenApiGeneratorV31([
    ...registry.definitions,
    { type: 'schema', schema: errorAnswer },
  ]).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Customer Support Platform',
      version: '2026-04',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${baseUrl}/v2026-04`, description: 'The local platform.' }],
    security: [{ ApiKey: [], Shop: [] }],
    tags: TAGS.map(([name, description]) => ({ name, description })),
  });
  delete document.webhooks;
  for (const { get } of Object.values(document.paths ?? {})) {
    // None of them is a reference, because they come from query schemas.
    for (const parameter of (get?.parameters ?? []) as Parameter[]) completeParameter(parameter);
  }
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

interface Parameter {
  readonly name: string;
  description?: string;
  style?: string;
  explode?: boolean;
  readonly schema: { readonly type?: unknown; default?: number };
}

/** Adds what a query schema cannot express about its parameter. */
function completeParameter(parameter: Parameter): void {
  if (parameter.schema.type === 'array') {
    // One parameter with comma-separated values (API §4).
    parameter.style = 'form';
    parameter.explode = false;
  }
  if (parameter.name === 'limit') {
    parameter.schema.default = LIMITS.pageDefault;
    parameter.description = `The number of results per page; a value above ${LIMITS.pageMax} is reduced to that.`;
  }
}

function registerOperation(registry: OpenAPIRegistry, operation: Operation, baseUrl: string): void {
  const { query, body, form } = operation;
  registry.registerPath({
    operationId: operation.id,
    method: operation.method,
    path: operation.path,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    request: {
      ...(operation.path.includes('{id}') && { params: pathParameters }),
      ...(query && { query: query.schema }),
      ...(body && { body: jsonBody(body) }),
      ...(form && { body: formBody(form) }),
    },
    responses: { ...successes(operation), ...errors(operation) },
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: curl(operation, baseUrl) }],
  });
}

const pathParameters = z.object({ id: z.guid().describe('The id of the resource.') });

function jsonBody({ schema, examples }: NonNullable<Operation['body']>) {
  const named = examples.map(({ name, summary, value }) => [name, { summary, value }] as const);
  return {
    required: true,
    content: { 'application/json': { schema, examples: Object.fromEntries(named) } },
  };
}

const formBody = ({ schema }: NonNullable<Operation['form']>) => ({
  required: true,
  content: { 'multipart/form-data': { schema } },
});

const successes = (operation: Operation) =>
  Object.fromEntries(
    Object.entries(operation.successes).map(([status, { description, schema, example }]) => [
      status,
      { description, content: { 'application/json': { schema, example } } },
    ]),
  );

const errors = (operation: Operation) => ({
  ...Object.fromEntries(
    operation.errors.map((status) => [
      status,
      { $ref: `#/components/responses/${ERRORS[status].name}` },
    ]),
  ),
  default: { $ref: '#/components/responses/Other' },
});

const ERROR_SCHEMA = { $ref: '#/components/schemas/Error' };

function errorResponses() {
  const responses = Object.values<ErrorAnswer>(ERRORS).map((error): [string, ResponseObject] => [
    error.name,
    {
      description: error.description,
      ...(error.headers && { headers: headersOf(error.headers) }),
      content: { 'application/json': { schema: ERROR_SCHEMA, example: { error: error.example } } },
    },
  ]);
  const other = {
    description: 'Any other error, in the same format.',
    content: { 'application/json': { schema: ERROR_SCHEMA } },
  };
  return { ...Object.fromEntries(responses), Other: other };
}

const headersOf = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
