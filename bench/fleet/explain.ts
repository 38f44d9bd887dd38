import type { SeenCall } from '../../test/support/platform-front.ts';

/** While a gateway is frozen, or its line to the platform is cut: what it has written may arrive afterwards. */
export interface HoldUp {
  /** Where this gateway asks the platform. */
  readonly address: string;
  readonly from: number;
  readonly to: number;
}

/** Between a look and the request after it, on a machine that is busy. */
const ATTEMPT_MS = 10_000;

/**
 * Of the requests for messages that the platform had already: those that a look could have prevented. It cannot
 * when one of the two requests was held up: the later one was written before the earlier one had arrived, or the
 * earlier one arrived after the look for the later one.
 *
 * @returns their remote ids
 */
export function unexplained(calls: readonly SeenCall[], holdUps: readonly HoldUp[]): string[] {
  const first = new Map<string, SeenCall>();
  return calls.flatMap((call) => {
    const id = call.payload?.message.remote_id ?? '';
    if (id === '' || (call.status !== 200 && call.status !== 201)) return [];
    const earlier = first.get(id);
    if (earlier === undefined) {
      first.set(id, call);
      return [];
    }
    const isLaterHeldUp = holdUps.some(
      (each) => isReleasedBy(each, call) && each.from - ATTEMPT_MS <= earlier.at,
    );
    const isEarlierHeldUp =
      call.at - earlier.at <= ATTEMPT_MS && holdUps.some((each) => isReleasedBy(each, earlier));
    return isLaterHeldUp || isEarlierHeldUp ? [] : [id];
  });
}

/** TCP sends again after a time that doubles while nothing is answered. */
const isReleasedBy = ({ address, from, to }: HoldUp, call: SeenCall): boolean =>
  call.address === address && call.at >= from && call.at <= to + (to - from) + ATTEMPT_MS;
