import { z } from 'zod';
import { field } from './field.ts';
import { httpUrl } from './network-fields.ts';
import { Secret } from './secret.ts';

/** One header of a request (RFC 9110 §5.1, §5.5): its value may be a key. */
const header = () =>
  field(
    {
      expected: 'an HTTP header: its name, a colon and its value',
      example: '"authorization: ${OTLP_AUTHORIZATION}"',
      secret: true,
    },
    (text) => {
      const [, name, value] =
        /^([\w!#$%&'*+.^`|~-]{1,100}): *([\x20-\x7e]{1,4000})$/.exec(text) ?? [];
      if (name === undefined || value === undefined) return undefined;
      return new Secret(`${name.toLowerCase()}: ${value.trim()}`);
    },
  );

const ratio = () =>
  field<number>({ expected: 'a share from 0 to 1', example: '0.1' }, (value) => {
    const share = /^(?:\d{1,4}|\d{0,4}\.\d{1,9})$/.test(value) ? Number(value) : NaN;
    return share >= 0 && share <= 1 ? share : undefined;
  });

const serviceName = () =>
  field({ expected: 'a name without spaces', example: 'sluice' }, (value) =>
    /^[\w.-]{1,100}$/.test(value) ? value : undefined,
  );

/** Where traces go; without an endpoint there are none. */
export const tracingSchema = z.strictObject({
  endpoint: z.exactOptional(
    httpUrl('the URL of an OTLP/HTTP collector, without /v1/traces', 'http://localhost:4318'),
  ),
  headers: z.array(header()),
  sampleRatio: ratio(),
  serviceName: serviceName(),
});
