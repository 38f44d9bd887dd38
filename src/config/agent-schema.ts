import { z } from 'zod';
import { field } from './field.ts';
import { httpUrl } from './network-fields.ts';
import { choice, duration, path, secret } from './scalar-fields.ts';

const modelName = () =>
  field(
    { expected: 'the name of a model, as the endpoint knows it', example: 'llama3.1' },
    (value) => (/^[^\s\p{C}](?:[^\p{C}]{0,198}[^\s\p{C}])?$/u.test(value) ? value : undefined),
  );

/** What answers on the local platform. The keys of an endpoint count for `kind: openai` only. */
export const agentSchema = z.strictObject({
  kind: choice('builtin', 'openai', 'off'),
  knowledge: z.exactOptional(path('./knowledge')),
  baseUrl: httpUrl(
    'the base URL of an endpoint with the chat completions API, with /v1 when it has one',
    'http://localhost:11434/v1',
  ),
  model: z.exactOptional(modelName()),
  apiKey: z.exactOptional(secret('the key of the endpoint; any text when it wants none')),
  timeout: duration('2m'),
  stallTimeout: duration('30s'),
  giveUpAfter: duration('15m'),
});
