import { CopyButton } from '../../ui/copy-button.tsx';

/** A request with a token, to copy. */
export function Curl() {
  const command = `curl -H "Authorization: Bearer $TOKEN" ${location.origin}/api/overview`;
  return (
    <div class="command">
      <code>{command}</code>
      <CopyButton text={command} what="the command" />
    </div>
  );
}
