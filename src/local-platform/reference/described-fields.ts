import { html, type Markup } from '../../runtime/markup.ts';
import { prose } from './prose.ts';

/** As much of JSON Schema as the document uses. */
export interface FieldSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly contentMediaType?: string;
  readonly description?: string;
  readonly default?: string | number;
  readonly enum?: readonly unknown[];
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: FieldSchema | boolean;
  readonly required?: readonly string[];
}

export interface Field {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly required: boolean;
}

export const fieldsOf = (schema: FieldSchema): Field[] =>
  Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    required: schema.required?.includes(name) ?? false,
  }));

/** A list of fields, each with its type and meaning; what an object is made of stands below it. */
export function fieldList(fields: readonly Field[]): Markup {
  return html`<dl class="fields">
    ${fields.map(
      ({ name, schema, required }) =>
        html`<div>
          <dt>
            <code>${name}</code>
            <span class="type">${typeOf(schema)}</span>
            ${required ? html`<span class="required">required</span>` : undefined}
          </dt>
          <dd>${meaning(schema)}</dd>
        </div>`,
    )}
  </dl>`;
}

function meaning(schema: FieldSchema): Markup {
  const inner = fieldsOf(schema.items ?? schema);
  return html`${prose(schema.description ?? '')}
  ${schema.enum && schema.enum.length > 1 ? values(schema.enum) : undefined}
  ${schema.default === undefined ? undefined : html`<p class="values">Default <code>${schema.default}</code></p>`}
  ${inner.length > 0 ? fieldList(inner) : undefined}`;
}

const values = (list: readonly unknown[]) =>
  html`<p class="values">One of ${list.map((value) => html`<code>${String(value)}</code> `)}</p>`;

/** In words: "uuid or null", "array of integer". */
function typeOf(schema: FieldSchema): Markup {
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? '') ?? [];
  if (name !== undefined) return html`<a href="#${name}">${name}</a>`;
  const types = [schema.type ?? 'any'].flat();
  const [kind = 'any'] = types.filter((type) => type !== 'null');
  const orNull = types.includes('null') ? ' or null' : '';
  if (kind === 'array') return html`array of ${typeOf(schema.items ?? {})}${orNull}`;
  if (typeof schema.additionalProperties === 'object') return html`map of string to string`;
  if (schema.contentMediaType !== undefined) return html`file`;
  if (schema.enum?.length === 1) return html`<code>${String(schema.enum[0])}</code>`;
  return html`${FORMATS[schema.format ?? ''] ?? kind}${orNull}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'uuid',
  'date-time': 'date-time',
  email: 'email address',
  uri: 'URI',
};
