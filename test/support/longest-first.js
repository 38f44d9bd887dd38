import Sequencer from '@jest/test-sequencer';

/** Those that wait for browsers and processes: begun last, they would be what all the others wait for. */
const LONG =
  /\/(?:browser|durability|e2e|simulation)\/|\/(?:alerts|doctor)\/|conformance|hostile|migration|properties|long-/;

/** jest goes by how long a file took the last time; in a fresh clone it knows only its size. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [
      ...sorted.filter(({ path }) => LONG.test(path)),
      ...sorted.filter(({ path }) => !LONG.test(path)),
    ];
  }
}
