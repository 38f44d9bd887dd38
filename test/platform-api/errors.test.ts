import { describe, expect, test } from '@jest/globals';
import { problemOf } from '../../src/platform-api/errors.ts';

const of = (answer: unknown) => problemOf(JSON.stringify(answer));

describe('the fields that an error names', () => {
  test.each<[string, unknown, readonly string[]]>([
    [
      'the local platform',
      { error: { code: 'invalid', message: 'no', fields: { 'contact.email': 'no address' } } },
      ['contact.email'],
    ],
    ['Django REST', { contact: { email: ['Enter a valid email address.'] } }, ['contact.email']],
    [
      'Django REST, of an item in a list',
      { message: { attachments: { 0: ['Invalid pk'] }, email: { cc: [{}, { email: ['no'] }] } } },
      ['message.attachments', 'message.email.cc'],
    ],
    ['a flat object', { email: ['Enter a valid email address.'] }, ['contact.email']],
    [
      'a list of errors with fields',
      { errors: [{ field: 'contact.email', message: 'no' }, { field: 'message.content' }] },
      ['contact.email', 'message.content'],
    ],
    [
      'a field’s last part alone',
      { errors: [{ field: 'references' }] },
      ['message.email.references'],
    ],
    [
      'JSON:API pointers',
      { errors: [{ source: { pointer: '/data/attributes/conversation/id' }, detail: 'gone' }] },
      ['conversation.id'],
    ],
    ['JSON pointers as fragments', { errors: [{ pointer: '#/contact/email' }] }, ['contact.email']],
    [
      'pydantic’s locations',
      { detail: [{ loc: ['body', 'message', 'attachments', 0], msg: 'no', type: 'value_error' }] },
      ['message.attachments'],
    ],
    [
      'problem details (RFC 9457)',
      { title: 'no', status: 400, 'invalid-params': [{ name: 'x', path: 'message.format' }] },
      ['message.format'],
    ],
    ['PHP’s brackets', { errors: { 'message[attachments][0]': ['no'] } }, ['message.attachments']],
    [
      'dotted members',
      { errors: { 'message.email.in_reply_to': 'no' } },
      ['message.email.in_reply_to'],
    ],
    ['a list at the top', [{ path: 'contact.phone' }], ['contact.phone']],
    ['nothing', { detail: 'the request is not valid' }, []],
    ['a sentence with a field’s name', { detail: 'contact.email is no' }, []],
    ['problem details without a list', { type: 'about:blank', status: 400, title: 'no' }, []],
    ['Spring’s', { timestamp: '2026-01-01', status: 400, path: '/v2026-04/messages/' }, []],
    ['members without a value', { content: null, name: null, subject: null }, []],
    ['members of an error in an envelope', { data: { type: 'x', format: 'y' } }, []],
    ['an id of the error’s own', { error: { id: 'e1', type: 'invalid', code: 7 } }, []],
    [
      'fields that no request has',
      { errors: [{ field: 'shop.owner' }, { field: 'password' }] },
      [],
    ],
  ])('%s', (_, answer, fields) => {
    expect(of(answer)?.named).toEqual(fields);
  });

  test('each appears once', () => {
    const twice = { errors: [{ field: 'contact.email' }, { field: 'email' }], email: ['no'] };
    expect(of(twice)?.named).toEqual(['contact.email']);
  });
});

describe('code and message', () => {
  test('of the local platform, with the error of each field', () => {
    const fields = { 'message.attachments.0': 'no such file' };
    expect(of({ error: { code: 'invalid', message: 'not valid', fields } })).toEqual({
      ...{ code: 'invalid', message: 'not valid', named: ['message.attachments'] },
      fields,
    });
  });

  test.each<[unknown, string | undefined]>([
    [{ code: 'invalid_choice' }, 'invalid_choice'],
    [{ code: 4711 }, '4711'],
    [{ type: 'https://x.example/probs/no-credit' }, 'https://x.example/probs/no-credit'],
    [{ code: 'Ann Smith is unknown' }, undefined],
    [{ code: 'x'.repeat(61) }, undefined],
    [{ code: { toString: 'no' } }, undefined],
    [{ code: null, type: ['a'] }, undefined],
    [[{ code: 'in a list' }], undefined],
  ])('%j has the code %s: never a sentence, which may quote the message', (answer, code) => {
    expect(of(answer)?.code).toBe(code);
  });
});

describe('hostile answers', () => {
  test.each([
    ['nothing', undefined],
    ['an empty body', ''],
    ['HTML', '<html>contact.email</html>'],
    ['a text', '"contact.email"'],
    ['half an object', '{"contact": {"email"'],
    ['more than 64 KiB', JSON.stringify({ contact: { email: 'x'.repeat(70_000) } })],
  ])('%s is no problem that can be read', (_, answer) => {
    expect(problemOf(answer)).toBeUndefined();
  });

  test('one that is 30,000 levels deep', () => {
    const deep = '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000);
    expect(problemOf(deep)).toEqual({ named: [], fields: {} });
    const list = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(problemOf(list)).toEqual({ named: [], fields: {} });
  });

  test('one with thousands of members, with paths that are very long', () => {
    const wide = Object.fromEntries(Array.from({ length: 4000 }, (_, n) => [`k${n}`, n]));
    expect(of(wide)?.named).toEqual([]);
    const path = Array.from({ length: 10_000 }, () => 'a').join('.');
    expect(of({ errors: [{ field: `${path}.contact.email` }] })?.named).toEqual([]);
    expect(of({ errors: Array.from({ length: 3000 }, () => ({ field: 'email' })) })?.named).toEqual(
      ['contact.email'],
    );
  });

  test('one that names itself, and one whose members are named like methods', () => {
    const path = 'error';
    expect(of({ error: { path, error: { path, error: { $ref: '#/error' } } } })?.named).toEqual([]);
    const methods = '{"toString":1,"constructor":{"email":["no"]},"hasOwnProperty":"x","length":9}';
    expect(() => problemOf(methods)).not.toThrow();
  });

  test('one that would change all objects', () => {
    const answer =
      '{"__proto__":{"polluted":true},"error":{"code":"x","fields":{"__proto__":"a","contact.email":"b"}},' +
      '"constructor":{"prototype":{"polluted":true}},"field":"__proto__"}';
    const problem = problemOf(answer);
    expect(problem?.named).toEqual(['contact.email']);
    expect('polluted' in {}).toBe(false);
    expect(Object.getPrototypeOf(problem?.fields)).not.toBe('a');
  });

  test('paths of all types', () => {
    const loc = [null, {}, [['contact', 'email']], 7, true];
    expect(() => of({ detail: [{ loc }], field: 7, path: null, pointer: {} })).not.toThrow();
  });
});
