/** The base URL with the version that this folder was written for. */
export const GRAPH_API = 'https://graph.facebook.com/v25.0';

/**
 * The versions of the Graph API and the day, in UTC, on which Meta ends each; undefined if Meta has
 * not said it. Calls of an ended version are answered by the oldest one that is still served (Meta,
 * "Platform versioning"). From Meta, "Graph API versions":
 * https://developers.facebook.com/docs/graph-api/changelog/versions/, a copy read on 2026-11-30.
 */
export const GRAPH_VERSIONS: ReadonlyMap<string, string | undefined> = new Map([
  ['v20.0', '2026-09-24'],
  ['v21.0', '2027-01-21'],
  ['v22.0', '2027-05-20'],
  ['v23.0', '2027-10-08'],
  ['v24.0', '2028-02-18'],
  ['v25.0', '2028-07-29'],
  ['v26.0', undefined],
]);
