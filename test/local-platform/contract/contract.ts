import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from '@jest/globals';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import { closed } from '../../support/closed-schema.ts';
import { type Answer, call, type ErrorBody } from '../harness.ts';

/** The parts of an OpenAPI document that the tests read. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
}
export interface DocumentedOperation {
  readonly operationId: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly style?: string;
    readonly explode?: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
  readonly 'x-codeSamples': readonly { readonly source: string }[];
}
interface Content {
  readonly schema: JsonSchema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: unknown;
}

/** By the documents of this file's platforms, which are nearly always alike: Ajv compiles for long. */
const validators = new Map<string, Ajv2020>();

function validatorOf({ paths, components }: Document, url: string): Ajv2020 {
  // The samples have the platform's address.
  const text = JSON.stringify({ paths, components }).replaceAll(url, '');
  const known = validators.get(text);
  if (known !== undefined) return known;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ paths, components: closed(components), $id: 'document' });
  validators.set(text, ajv);
  return ajv;
}

type Options = Parameters<typeof call>[3];

/**
 * Checks a running platform's answers against the document that it serves: the status must be
 * documented for the operation, and the body must match the documented schema without undocumented
 * fields.
 */
export class Contract {
  readonly document: Document;
  readonly #platform: LocalPlatform;
  readonly #ajv: Ajv2020;

  private constructor(platform: LocalPlatform, document: Document) {
    this.#platform = platform;
    this.document = document;
    this.#ajv = validatorOf(document, platform.url);
  }

  static async of(platform: LocalPlatform): Promise<Contract> {
    const served = await fetch(`${platform.url}/v2026-04/openapi.json`);
    expect(served.status).toBe(200);
    return new Contract(platform, (await served.json()) as Document);
  }

  operation(operationId: string): DocumentedOperation & { path: string; method: string } {
    for (const [path, methods] of Object.entries(this.document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation.operationId === operationId) return { ...operation, path, method };
      }
    }
    throw new Error(`${operationId} is not documented`);
  }

  /** The errors of a value by a schema of the document; empty when it is valid. */
  mistakes(pointer: string, value: unknown): string[] {
    const validate = this.#ajv.getSchema(`document#${pointer}`);
    if (validate === undefined) throw new Error(`${pointer} is not in the document`);
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) =>
      JSON.stringify({ at: error.instancePath, ...error.params, message: error.message }),
    );
  }

  bodySchema(operationId: string): string {
    const { path, method } = this.operation(operationId);
    return `/paths/${escaped(path)}/${method}/requestBody/content/application~1json/schema`;
  }

  /** Calls an operation and checks its answer. `to` goes in place of the path's id, with a query. */
  async call<Body>(operationId: string, to = '', options: Options = {}): Promise<Answer<Body>> {
    const { method, path } = this.operation(operationId);
    const target = path.includes('{id}') ? path.replace('{id}', to) : path + to;
    const answer = await call<Body>(this.#platform, method.toUpperCase(), target, options);
    this.check(operationId, answer);
    return answer;
  }

  /** The same for a request that must be refused. @returns the error */
  async refused(operationId: string, to: string, options: Options, status: number) {
    const { status: given, body } = await this.call<ErrorBody>(operationId, to, options);
    expect([given, body]).toEqual([status, expect.anything()]);
    return body.error;
  }

  check(operationId: string, { status, body, headers }: Answer<unknown>): void {
    const { path, method, responses } = this.operation(operationId);
    const documented = responses[status] ?? (status < 400 ? undefined : responses['default']);
    if (documented === undefined) throw new Error(`${operationId}: ${status} is not documented`);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    const place = responses[status] ? String(status) : 'default';
    const pointer =
      documented.$ref?.slice(1) ?? `/paths/${escaped(path)}/${method}/responses/${place}`;
    expect(this.mistakes(`${pointer}/content/application~1json/schema`, body)).toEqual([]);
  }
}

const escaped = (path: string) =>
  encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
