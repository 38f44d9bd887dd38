// A reporter of jest: ends a red run with the command that repeats what failed, and nothing else.
import { relative } from 'node:path';

const MAX_FILES = 20;

export default class HowToRepeat {
  onRunComplete(_contexts, { testResults }) {
    const failed = testResults.filter(
      ({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError !== undefined,
    );
    if (failed.length === 0) return;
    const files = failed.slice(0, MAX_FILES).map(({ testFilePath }) => relative('', testFilePath));
    const more = failed.length > MAX_FILES ? ` (and ${failed.length - MAX_FILES} more files)` : '';
    console.error(`\nTo repeat what failed${more}:\n  npm test -- ${files.join(' ')}\n`);
  }
}
