import { domainOf, matchKey } from '../domain/email-addresses.ts';
import { nodeAt, scalarsAt } from './layers.ts';
import { type Mistake, showPath } from './mistakes.ts';
import type { SourceNode } from './source-tree.ts';

/** What alerts by email need, and where they must not go. */
export function alertMistakes(root: SourceNode | undefined): Mistake[] {
  return [...incomplete(root), ...intoOurInbox(root)];
}

function incomplete(root: SourceNode | undefined): Mistake[] {
  const to = nodeAt(root, ['alerts', 'email', 'to']);
  const email = nodeAt(root, ['alerts', 'email']);
  if (to?.kind !== 'list' || to.items.length === 0 || email?.kind !== 'map') return [];
  return [
    { key: 'from', fix: 'write from: sluice@acme.example, for instance' },
    { key: 'relay', fix: 'write relay: smtp://mail.acme.example, for instance' },
  ]
    .filter(({ key }) => email.entries.get(key)?.value === undefined)
    .map(({ key, fix }) => ({
      path: `alerts.email.${key}`,
      place: to.place,
      expected: `${key}, since alerts.email.to is given`,
      came: 'nothing',
      fix,
    }));
}

/** An alert that comes in as a message may be one that cannot be delivered: an alert, and so on. */
function intoOurInbox(root: SourceNode | undefined): Mistake[] {
  const inboxes = new Map(
    scalarsAt(root, ['shops', '*', 'email', 'addresses', '*']).map(({ node, path }) => [
      node.text.startsWith('*@') ? node.text.toLowerCase() : (matchKey(node.text) ?? ''),
      path,
    ]),
  );
  const given = [
    ...scalarsAt(root, ['alerts', 'email', 'to', '*']),
    ...scalarsAt(root, ['alerts', 'email', 'from']),
  ];
  return given.flatMap(({ node, path }) => {
    const key = matchKey(node.text);
    if (key === undefined) return [];
    const inbox = inboxes.get(key) ?? inboxes.get(`*@${domainOf(key)}`);
    if (inbox === undefined) return [];
    return [
      {
        path: showPath(path),
        place: node.place,
        expected: "an address that is not a shop's",
        came: `one that ${showPath(inbox)} takes`,
        fix: 'give the address of whoever is on call',
      },
    ];
  });
}
