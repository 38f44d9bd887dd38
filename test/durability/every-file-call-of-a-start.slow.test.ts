import { testFileCalls } from './file-call-faults.ts';

testFileCalls([
  {
    ...{ title: 'from the opening on, after a process that was killed', countFrom: 'opening' },
    ...{ hasBallast: true, hasLog: true, isWhole: false, every: 24 },
  },
  {
    ...{ title: 'from the opening on, after an erasure', countFrom: 'opening', isErased: true },
    ...{ hasBallast: true, hasLog: true, isWhole: false, every: 24 },
  },
  {
    ...{ title: 'from the very first start on', countFrom: 'opening' },
    ...{ hasBallast: false, hasLog: false, isWhole: false, every: 24 },
  },
]);
