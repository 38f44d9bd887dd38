import { exact, relative } from '../formats.ts';
import { now } from '../now.ts';

/** `12 s ago`, which goes on counting; the exact time is its title. */
export const Time = ({ at }: { readonly at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={exact(at)}>
    {relative(at, now.value)}
  </time>
);
