import { test } from '@jest/globals';
import { describeWhenPossible, installAndUse, plainUser, TIMEOUT_MS } from './installed.ts';

/** Of the other majors of `engines`. */
const NODES = ['20.20.2', '22.23.3', '24.9.0'].filter(
  (version) => version.split('.')[0] !== process.versions.node.split('.')[0],
);

describeWhenPossible('a plain user with another Node', () => {
  test.each(NODES)(
    'installs the package under Node %s, serves all three channels and stops it',
    async (version) => {
      const user = plainUser();
      await user.useNode(version);
      await installAndUse(user);
    },
    TIMEOUT_MS,
  );
});
