import type { DoctorReport } from '../../contract.ts';
import { api } from '../api.ts';
import { plural } from '../formats.ts';
import { useLoad } from '../loading.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Badge, Card, Failure, PageTitle, Prose, Skeleton, type Tone } from '../ui/page-parts.tsx';
import { Button } from '../ui/button.tsx';
import './doctor.css';

type Check = DoctorReport['checks'][number];
type Status = Check['status'];

/** Most severe first. */
const STATUSES: Readonly<Record<Status, readonly [Tone, string]>> = {
  failed: ['danger', 'Failed'],
  warning: ['warning', 'Warning'],
  ok: ['ok', 'OK'],
  skipped: ['neutral', 'Skipped'],
};
const ORDER = Object.keys(STATUSES);

/** Of the names for `--only`, what does not read as it is. */
const TITLES: Readonly<Record<string, string>> = {
  'public-url': 'Public URL',
  whatsapp: 'WhatsApp',
  reach: 'Reachable from outside',
  descriptors: 'Open files',
  mx: 'MX record',
  breaker: 'Deliveries',
  'chat-origins': 'Chat pages',
  'data-folder': 'Data folder',
};

/** `data-folder.keys` is the keys of the data folder. */
function titleOf(check: string): string {
  const [name = '', ...part] = check.split('.');
  const title = TITLES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
  return [title, ...part].join(', ').replaceAll('-', ' ');
}

/** Runs the checks of `sluice doctor` and shows their results. */
export function DoctorPage() {
  const { data, failure, loading, reload } = useLoad((signal) => api.doctor(signal));
  return (
    <>
      <PageTitle title="Doctor">
        <Button icon="again" busy={loading} onClick={reload}>
          {loading ? 'Checking' : 'Check again'}
        </Button>
      </PageTitle>
      <p class="muted doctor-what">
        Checks keys, addresses, DNS, ports, certificate, disk and clock, without changing anything.
        Same as <code>sluice doctor</code> in a terminal.
      </p>
      {failure !== undefined && <Failure refusal={failure} onRetry={reload} />}
      {data === undefined && loading && <Checking />}
      {data !== undefined && failure === undefined && <Report checks={data.checks} />}
    </>
  );
}

const Checking = () => (
  <>
    <p role="status" class="sr">
      Running the checks; this may take several seconds.
    </p>
    <Skeleton lines={6} height={44} />
  </>
);

function Report({ checks }: { readonly checks: readonly Check[] }) {
  const count = (of: Check['status']) => checks.filter(({ status }) => status === of).length;
  const [failed, warnings, skipped] = [count('failed'), count('warning'), count('skipped')];
  const bad = [
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(warnings === 0 ? [] : [plural(warnings, 'warning')]),
  ];
  const sorted = [...checks].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  return (
    <>
      <p class="doctor-sum" role="status">
        {bad.length === 0
          ? `No problems found: ${plural(checks.length - skipped, 'check')} passed${skipped === 0 ? '' : `, ${skipped} skipped`}.`
          : `${bad.join(' and ')} in ${plural(checks.length, 'check')}.`}
      </p>
      <div class="cards">
        {groupsOf(sorted).map(({ shop, checks: own }) => (
          <Card key={shop ?? ''} title={shop ?? 'Gateway'}>
            <Checks checks={own} />
          </Card>
        ))}
      </div>
    </>
  );
}

/** Those of the gateway, then those of each shop; a group with a problem comes first. */
function groupsOf(
  checks: readonly Check[],
): readonly { readonly shop: string | undefined; readonly checks: readonly Check[] }[] {
  const shops = [...new Set(checks.flatMap((check) => check.shops ?? []))];
  const groups = [
    { shop: undefined, checks: checks.filter((check) => check.shops === undefined) },
    ...shops.map((shop) => ({
      shop,
      checks: checks.filter((check) => check.shops?.includes(shop) === true),
    })),
  ];
  const worst = (own: readonly Check[]) =>
    Math.min(...own.map(({ status }) => ORDER.indexOf(status)));
  return groups
    .filter((group) => group.checks.length > 0)
    .sort((a, b) => worst(a.checks) - worst(b.checks));
}

const Checks = ({ checks }: { readonly checks: readonly Check[] }) => (
  <ul class="doctor rows">
    {checks.map((check) => (
      <li key={`${check.check} ${check.subject}`}>
        <Badge tone={STATUSES[check.status][0]} icon={check.status}>
          {STATUSES[check.status][1]}
        </Badge>
        <div class="doctor-check">
          <h2>
            {titleOf(check.check)} <span class="muted">{check.subject}</span>
          </h2>
          {check.status === 'ok' ? (
            <p class="muted">{check.found}</p>
          ) : (
            <>
              <p>{check.found}</p>
              {check.expected !== '' && <p class="muted">Expected: {check.expected}</p>}
              {check.todo !== undefined && (
                <p class="doctor-todo">
                  <Prose text={check.todo} />
                </p>
              )}
              {check.copy !== undefined && (
                <p class="command">
                  <code>{check.copy}</code>
                  <CopyButton
                    text={check.copy}
                    what={`what to enter for ${titleOf(check.check)}`}
                  />
                </p>
              )}
            </>
          )}
        </div>
      </li>
    ))}
  </ul>
);
