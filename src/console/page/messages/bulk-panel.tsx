import { useEffect } from 'preact/hooks';
import { count, plural } from '../formats.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { ACTION_WORDS, resultLine } from './action-words.ts';
import { bulk, forgetBulk, resumeBulk, undoMany } from './acting.ts';

/** How far the bulk action is, then what it came to and the way back. */
export function BulkPanel() {
  const progress = bulk.value;
  useEffect(() => void resumeBulk(), []);
  if (progress === undefined) return null;
  const { id, action, done, total, finished, refused, canUndo, undone } = progress;
  const words = ACTION_WORDS[action];
  const said = finished
    ? resultLine(progress)
    : `${undone ? 'Taking back' : words.doing} ${count(done)} of ${plural(total, 'message')}`;
  return (
    <section class="bulk" aria-label="Bulk action">
      <div class="bulk-line">
        {finished && <Icon name={refused.length === 0 ? 'ok' : 'info'} />}
        <p role="status">{said}</p>
        {finished && canUndo && !undone && (
          <Button size="small" onClick={() => void undoMany(id)}>
            Undo
          </Button>
        )}
        {finished && (
          <Button
            size="small"
            look="quiet"
            icon="close"
            aria-label="Dismiss"
            onClick={forgetBulk}
          />
        )}
      </div>
      {!finished && (
        <progress aria-label={words.doing} max={Math.max(1, total)} value={done}>
          {done}
        </progress>
      )}
      {refused.length > 0 && (
        <ul>
          {refused.map(({ why, count: n }) => (
            <li key={why}>
              {plural(n, 'message')}: {why}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
