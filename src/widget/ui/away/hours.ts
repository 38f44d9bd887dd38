import type { OpeningHours } from '../../../channels/chat/events.ts';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/**
 * When the shop opens next, in ms; undefined while it is open.
 * @param now ms since the epoch
 */
export function nextOpening({ zone, open }: OpeningHours, now: number): number | undefined {
  const wall = wallClock(zone);
  const today = Math.floor(wall(now) / DAY_MS) * DAY_MS;
  /** Twice, because the zone's offset at the first result may differ from that at the guess (DST). */
  const instantOf = (at: number): number => {
    const first = at - (wall(at) - at);
    return at - (wall(first) - first);
  };
  let next: number | undefined;
  // Yesterday's hours may last until midnight; a week later each day has come.
  for (let day = today - DAY_MS; day <= today + 7 * DAY_MS; day += DAY_MS) {
    const name = DAYS[new Date(day).getUTCDay()];
    for (const { days, from, to } of open) {
      if (name === undefined || !days.includes(name)) continue;
      const opens = instantOf(day + minutesOf(from) * MINUTE_MS);
      // Until the next day, as from 22:00 to 06:00.
      const closingDay = minutesOf(to) > minutesOf(from) ? day : day + DAY_MS;
      const closes = instantOf(closingDay + minutesOf(to) * MINUTE_MS);
      if (opens <= now && now < closes) return undefined;
      if (opens > now) next = Math.min(next ?? Infinity, opens);
    }
  }
  return next;
}

const minutesOf = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
};

/** @returns what the zone's clock shows at an instant, as if it were UTC */
function wallClock(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (at) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute);
  };
}
