import { domainOf, matchKey } from '../domain/email-addresses.ts';
import { nodeAt, scalarsAt } from './layers.ts';
import { type Mistake, showPath } from './mistakes.ts';
import type { SourceNode } from './source-tree.ts';

/**
 * Checks that email alerts have a sender and a relay, and that they do not go to a shop's address.
 */
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
      found: 'nothing',
      fix,
    }));
}

/**
 * Rejects alert addresses that belong to a shop: an alert that arrives as a message of a shop could
 * fail to be delivered, which would raise the next alert.
 */
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
        expected: 'an address that does not belong to a shop',
        found: `an address of ${showPath(inbox)}`,
        fix: 'write the address of the person on call',
      },
    ];
  });
}
