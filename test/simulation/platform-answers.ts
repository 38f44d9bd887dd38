import type { PlatformTraits } from './platform-traits.ts';
import type { Random } from './random.ts';

/** What the platform or a proxy in front of it does with a request. */
export type PlatformAnswer =
  | (HttpAnswer & { readonly kind: 'answer'; readonly afterMs: number })
  | { readonly kind: 'reset'; readonly afterMs: number }
  /** The connection is refused at once. */
  | { readonly kind: 'refused' }
  /** No answer ever comes. */
  | { readonly kind: 'silence' };

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An error of one field; the field is a dotted path such as `contact.email`. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

const JSON_HEADERS = Object.freeze({ 'content-type': 'application/json' });
const HTML_HEADERS = Object.freeze({ 'content-type': 'text/html; charset=utf-8' });

export const json = (status: number, value: unknown): HttpAnswer => ({
  status,
  headers: JSON_HEADERS,
  body: JSON.stringify(value),
});

export const empty = (status: number): HttpAnswer => ({ status, headers: {}, body: '' });

export const html = (status: number, title: string, text = title): HttpAnswer => ({
  status,
  headers: HTML_HEADERS,
  body: `<!doctype html><html><head><title>${title}</title></head><body><p>${text}</p></body></html>`,
});

/** The same answer with a further header. */
export const withHeader = (answer: HttpAnswer, name: string, value: string): HttpAnswer => ({
  ...answer,
  headers: { ...answer.headers, [name]: value },
});

const REFUSALS: Readonly<Record<number, readonly [detail: string, code: string]>> = {
  400: ['Invalid', 'invalid_request'],
  401: ['Invalid credentials', 'unauthorized'],
  403: ['Permission denied', 'forbidden'],
  404: ['Not found', 'not_found'],
  405: ['Method not allowed', 'method_not_allowed'],
  409: ['Conflict', 'conflict'],
  413: ['Too large', 'too_large'],
  415: ['Unsupported media type', 'unsupported_media_type'],
  422: ['Invalid', 'invalid_request'],
  429: ['Too many requests', 'rate_limited'],
  500: ['Internal server error', 'internal_error'],
  503: ['Service unavailable', 'unavailable'],
};

/** Error answers, in the shape that a platform's traits give (§7: not shown). */
export class Refusals {
  readonly #shape: PlatformTraits['errorBodies'];
  readonly #random: Random;

  constructor(shape: PlatformTraits['errorBodies'], random: Random) {
    this.#shape = shape;
    this.#random = random;
  }

  /** @param fields the fields at fault, which the shapes `django` and `pointer` name */
  of(status: number, fields: readonly FieldError[] = []): HttpAnswer {
    const [detail, code] = REFUSALS[status] ?? ['Error', 'error'];
    switch (this.#shape) {
      case 'django':
        return json(status, fields.length > 0 ? nested(fields) : { detail });
      case 'pointer':
        return json(status, { errors: fields.length > 0 ? fields : [{ message: detail }] });
      case 'code':
        return json(status, { detail, code, request_id: this.#random.uuid() });
      case 'html':
        return html(status, `${status} ${detail}`);
      case 'empty':
        return empty(status);
    }
  }

  /** The page of a web application firewall, with a different incident number each time. */
  firewall(): HttpAnswer {
    return html(403, 'Request blocked', `Incident ID: ${this.#random.uuid()}`);
  }
}

interface Nested {
  [key: string]: Nested | string[];
}

/** `contact.email` becomes {"contact": {"email": ["what is wrong"]}}. */
function nested(fields: readonly FieldError[]): Nested {
  const tree: Nested = {};
  for (const { field, message } of fields) {
    const path = field.split('.');
    const last = path.pop() ?? field;
    let node = tree;
    for (const key of path) {
      const child = node[key];
      if (child === undefined || Array.isArray(child)) node = node[key] = {};
      else node = child;
    }
    // An error inside a field is more specific than one of the whole field.
    const present = node[last];
    if (present === undefined) node[last] = [message];
    else if (Array.isArray(present)) present.push(message);
  }
  return tree;
}
