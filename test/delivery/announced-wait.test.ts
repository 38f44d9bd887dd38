import { expect, test } from '@jest/globals';
import { waitFor } from '../support/wait-for.ts';
import { deliveryScene, message, toCreate } from './scene.ts';

test('an attempt that has begun sends nothing once the platform has asked to wait', async () => {
  const { platform, files, opened, submit, waits } = await deliveryScene();
  platform.script = toCreate({ status: 429, headers: { 'retry-after': '60' } });
  let readFile: () => void = () => undefined;
  files.open = () =>
    new Promise((resolve) => (readFile = () => resolve(Buffer.from('of a slow disk'))));
  const begun = message({ attachments: ['a'] });
  await submit(begun);
  await waitFor('its file to be opened', () => opened.length === 1);
  const other = message();
  await submit(other);
  await waits(other);

  readFile();
  expect(await waits(begun)).toMatchObject({ attempts: 0, failures: 0 });
  expect(platform.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /messages/']);
});
