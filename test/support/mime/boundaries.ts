import type { Dice } from '../dice.ts';
import type { Plan } from './plan.ts';

const CHARACTERS = "0123456789abcXYZ'()+_,-./:=?";

/** A boundary as programs write them; now and then an extension of the outer one. */
export function writeBoundary(dice: Dice, outer: string): string {
  const number = dice.below(1e9);
  if (outer !== '' && dice.chance(8)) return outer + dice.pick(['1', '-', '--', '=', ' x']);
  const random = () =>
    Array.from({ length: 1 + dice.below(60) }, () => CHARACTERS.charAt(dice.below(28))).join('');
  const styles = [
    `b${number}`,
    `----=_Part_${number}_17.1736067600`,
    `------------0${number}`,
    `Apple-Mail=_${number}-AAAA`,
    `=_${number}`,
    `_000_${number}_`,
    `a b ${number}`,
    `--${number}--`,
    `${random()}${number}`,
    `${'x'.repeat(60)}${number}`,
  ];
  return dice.pick(styles);
}

interface BoundaryParameter {
  /** Empty if it is missing. */
  readonly parameter: string;
  /** It does not name the boundary that is used. */
  readonly isFaulty: boolean;
}

/** The parameter of a multipart's type that declares its boundary, or should. */
export function boundaryParameter(dice: Dice, plan: Plan, boundary: string): BoundaryParameter {
  const faulty = (parameter: string) => ({ parameter, isFaulty: true });
  const declared = { parameter: dice.pick(WRITERS)(boundary, dice), isFaulty: false };
  // While this one is unknown, its delimiter is the end of the outer one.
  if (boundary.endsWith('--')) return declared;
  if (plan.takes('wrong boundary')) return faulty(`boundary="other-${dice.below(1e6)}"`);
  if (plan.takes('no boundary parameter')) return faulty('');
  if (plan.takes('single quotes')) return faulty(`boundary='${boundary}'`);
  if (plan.takes('quote not closed')) return faulty(`boundary="${boundary}`);
  if (/[a-z]/.test(boundary) && plan.takes('other case')) {
    return faulty(`boundary="${boundary.toUpperCase()}"`);
  }
  return declared;
}

const isToken = (text: string): boolean => /^[\w.+'-]+$/.test(text);

const WRITERS: readonly ((boundary: string, dice: Dice) => string)[] = [
  (boundary) => `boundary="${boundary}"`,
  (boundary) => `boundary="${boundary}"`,
  (boundary) => `charset=utf-8; boundary="${boundary}"; type="text/html"`,
  (boundary) => (isToken(boundary) ? `boundary=${boundary}` : `BOUNDARY="${boundary}"`),
  (boundary) => `Boundary = "${boundary}" (a comment; boundary=x)`,
  (boundary, dice) => {
    const cut = 1 + dice.below(boundary.length - 1);
    return `boundary*0="${boundary.slice(0, cut)}"; boundary*1="${boundary.slice(cut)}"`;
  },
];
