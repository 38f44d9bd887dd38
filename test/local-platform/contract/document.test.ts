import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from '@jest/globals';
import { startPlatform } from '../harness.ts';
import { BODIES, OPERATIONS, RESOURCES, VALUES } from './api-tables.ts';
import { Contract, type JsonSchema } from './contract.ts';

/** `name:type?!` of each field, in the order of the document. */
const fieldsOf = ({ properties = {}, required = [] }: JsonSchema) =>
  Object.entries(properties).map(
    ([name, schema]) => `${name}:${typeOf(schema)}${required.includes(name) ? '!' : ''}`,
  );

function typeOf(schema: JsonSchema): string {
  const types = [schema.type ?? 'any'].flat();
  const [kind = ''] = types.filter((type) => type !== 'null');
  const named = schema.enum ? 'enum' : (schema.format ?? kind);
  return types.includes('null') ? `${named}?` : named;
}

const listed = (table: string) => table.trim().split(/\s+/);

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1, for anyone to read', async () => {
    const platform = await startPlatform();
    const served = await fetch(`${platform.url}/v2026-04/openapi.json`);
    expect(served.headers.get('content-type')).toMatch(/^application\/json/);
    expect(served.headers.get('access-control-allow-origin')).toBe('*');
    const document = (await served.json()) as Record<string, unknown>;
    expect(document).toMatchObject({
      openapi: '3.1.0',
      servers: [{ url: `${platform.url}/v2026-04` }],
      security: [{ ApiKey: [], Shop: [] }],
    });
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  });

  it('has the resources of §2, field by field', async () => {
    const { document } = await Contract.of(await startPlatform());
    for (const [name, table] of Object.entries(RESOURCES)) {
      const schema = document.components['schemas']?.[name] ?? {};
      expect([name, ...fieldsOf(schema)]).toEqual([name, ...listed(table)]);
    }
    for (const [place, values] of Object.entries(VALUES)) {
      const [name = '', field = ''] = place.split('.');
      const schema = document.components['schemas']?.[name]?.properties?.[field];
      expect([place, schema?.enum]).toEqual([place, listed(values)]);
    }
  });

  it('has the operations of §4, with their parameters', async () => {
    const contract = await Contract.of(await startPlatform());
    const documented = Object.values(contract.document.paths).flatMap(Object.values);
    expect(documented).toHaveLength(11);
    for (const [id, [method, path, table]] of Object.entries(OPERATIONS)) {
      const operation = contract.operation(id);
      expect([id, operation.method, operation.path]).toEqual([id, method, path]);
      const parameters = (operation.parameters ?? []).map(
        ({ name, schema, required }) => `${name}:${typeOf(schema)}${required ? '!' : ''}`,
      );
      expect([id, ...parameters]).toEqual([id, ...(table === undefined ? [] : listed(table))]);
      for (const { schema, style, explode } of operation.parameters ?? []) {
        if (schema.type === 'array') expect([style, explode]).toEqual(['form', false]);
      }
    }
  });

  it('has the bodies of §4, field by field', async () => {
    const contract = await Contract.of(await startPlatform());
    for (const [id, objects] of Object.entries(BODIES)) {
      const [content] = Object.values(contract.operation(id).requestBody?.content ?? {});
      for (const [place, table] of Object.entries(objects)) {
        let schema: JsonSchema = content?.schema ?? {};
        for (const name of place.split('.').filter((part) => part !== '')) {
          const inner = schema.properties?.[name] ?? {};
          schema = inner.items ?? inner;
        }
        expect([id, place, ...fieldsOf(schema)]).toEqual([id, place, ...listed(table)]);
      }
    }
  });

  it('describes everything, with valid examples', async () => {
    const contract = await Contract.of(await startPlatform());
    const silent: string[] = [];
    const look = (place: string, schema: JsonSchema) => {
      for (const [name, inner] of Object.entries(schema.properties ?? {})) {
        if (inner.description === undefined && inner.$ref === undefined) {
          if (name !== 'error') silent.push(`${place}.${name}`);
        }
        look(`${place}.${name}`, inner.items ?? inner);
      }
    };
    const { schemas = {}, responses = {} } = contract.document.components;
    for (const [name, schema] of Object.entries(schemas)) look(name, schema);
    for (const id of Object.keys(OPERATIONS)) {
      const operation = contract.operation(id);
      if (!operation.description) silent.push(id);
      for (const parameter of operation.parameters ?? []) {
        if (!parameter.description) silent.push(`${id}?${parameter.name}`);
      }
      for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
        look(id, content.schema);
        if (type !== 'application/json') continue;
        for (const { value } of Object.values(content.examples ?? {})) {
          expect([id, contract.mistakes(contract.bodySchema(id), value)]).toEqual([id, []]);
        }
      }
      expect(operation['x-codeSamples'][0]?.source).toMatch(/^curl '/);
      for (const [status, response] of Object.entries(operation.responses)) {
        if (response.$ref === undefined) expectExample(contract, id, status, response);
      }
    }
    for (const [name, response] of Object.entries(responses)) {
      const { example } = contentOf(response);
      if (name === 'Other') continue;
      expect([name, contract.mistakes('/components/schemas/Error', example)]).toEqual([name, []]);
    }
    expect(silent).toEqual([]);
  });
});

const contentOf = (response: object) =>
  (response as { content: Record<string, { example?: unknown; schema: JsonSchema }> }).content[
    'application/json'
  ] ?? { schema: {} };

function expectExample(contract: Contract, id: string, status: string, response: object): void {
  const { example, schema } = contentOf(response);
  const pointer = schema.$ref?.slice(1) ?? '';
  expect([id, status, contract.mistakes(pointer, example)]).toEqual([id, status, []]);
}
