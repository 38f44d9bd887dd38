import type { EntryDetail } from '../../contract.ts';
import { explain } from '../messages/reasons.ts';
import { Badge, type Tone as BadgeTone } from '../ui/badge.tsx';
import { Card } from '../ui/card.tsx';
import type { IconName } from '../ui/icon.tsx';
import { checkWords } from './authentication-words.ts';
import type { Tone } from './step-words.ts';

const TONES: Readonly<Record<Tone, readonly [BadgeTone, IconName]>> = {
  good: ['ok', 'ok'],
  warning: ['warning', 'warning'],
  bad: ['danger', 'failed'],
  plain: ['neutral', 'skipped'],
};
const VERDICTS: Readonly<Record<string, string>> = {
  deliver: 'To be submitted',
  held: 'A person decides',
  suppressed: 'Not submitted',
};

/** What was found out about the sender, and what the message was taken for. */
export function AuthenticationCard({ entry }: { readonly entry: EntryDetail }) {
  const { authentication, classification, channel } = entry;
  return (
    <>
      {classification !== undefined && (
        <Card title="Classification">
          <p>
            <b>{VERDICTS[classification.verdict] ?? classification.verdict}</b>
          </p>
          <p class="muted">{explain(classification.reason)?.meaning ?? classification.reason}</p>
        </Card>
      )}
      {authentication !== undefined && (
        <Card title="Sender authentication">
          <table class="table checks">
            <tbody>
              {checkWords(authentication).map(({ name, result, meaning, tone }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>
                    <Badge tone={TONES[tone][0]} icon={TONES[tone][1]}>
                      {result}
                    </Badge>
                    <p class="muted">{meaning}</p>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
      )}
      {authentication === undefined && channel === 'email' && entry.kind === 'message' && (
        <Card title="Sender authentication">
          <p class="muted">
            {entry.attempts === 0 && entry.state === 'queued'
              ? 'Checked with the first attempt.'
              : 'The sender was not checked.'}
          </p>
        </Card>
      )}
    </>
  );
}
