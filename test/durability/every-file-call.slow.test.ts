import { testFileCalls } from './file-call-faults.ts';

testFileCalls([
  {
    ...{ title: 'of a store that is open', countFrom: 'opened' },
    ...{ hasBallast: true, hasLog: false, isWhole: true, every: 12 },
  },
]);
