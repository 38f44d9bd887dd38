import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, asRefusal, type DeskAction, session } from '../../api.ts';
import { useRequest } from '../../loading.ts';
import { gatewayNow, now } from '../../now.ts';
import { onPresence, onTickets, openings } from '../../stream.ts';
import { Button } from '../../ui/button.tsx';
import { CopyFact } from '../../ui/copy-button.tsx';
import { Select } from '../../ui/field.tsx';
import { toast } from '../../ui/overlays.tsx';
import type { IconName } from '../../ui/icon.tsx';
import { Card, ChannelBadge, Fact, Note, NotLoaded } from '../../ui/page-parts.tsx';
import { exact } from '../../formats.ts';
import { BesideMessages, LinkedIdRow, StatusBadge } from '../facts.tsx';
import { QUEUE } from '../addresses.ts';
import type { DeskChange, DeskTicketView, Present } from '../../../contract.ts';
import { changeInWords, changesBetween } from './change-words.ts';
import { Composer, useDraft } from './composer.tsx';
import { Conversation } from './conversation.tsx';
import { useTicketKeys } from './desk-keys.ts';
import { isEmpty } from './draft.ts';
import { Waiting } from './queue.tsx';
import './desk.css';

/** Renewed before it ends on the gateway, which is after 12 s. */
const PRESENT_EVERY_MS = 5_000;
/** Somebody who has stopped typing no longer writes. */
const WRITING_MS = 10_000;
const NOBODY = '';

interface TicketProps {
  readonly shop: string;
  readonly id: string;
}

/** One ticket of the local platform: its conversation, and what a person can do about it. */
export function DeskTicket({ shop, id }: TicketProps) {
  const { data, failure, send } = useRequest<DeskTicketView>(true);
  const reload = () => send((signal) => api.deskTicket(shop, id, {}, signal));
  useEffect(reload, [openings.value]);
  useEffect(() => onTickets((changed) => changed.some((each) => each.id === id) && reload()), []);
  if (data === undefined) return <NotLoaded {...{ failure }} onRetry={reload} lines={8} />;
  return (
    <Ticket
      {...{ reload }}
      ticket={data}
      onChanged={(ticket) => send(() => Promise.resolve(ticket))}
    />
  );
}

interface LoadedProps {
  readonly ticket: DeskTicketView;
  readonly reload: () => void;
  readonly onChanged: (ticket: DeskTicketView) => void;
}

function Ticket({ ticket: newest, reload, onChanged }: LoadedProps) {
  const me = session.value?.operator ?? '';
  const { route } = useLocation();
  const earlier = useEarlier(newest);
  const ticket = { ...newest, ...earlier.shown };
  const { draft, update, clear } = useDraft(newest.id);
  const news = useNews(newest, !isEmpty(draft), me);
  const { act, busy } = useActions(newest, {
    ...{ reload, onRefused: news.add },
    onChanged: (changed) => {
      news.clear();
      onChanged(changed);
    },
  });
  const { others, typed } = usePresence(newest, me);
  useSeen(newest);
  const field = useRef<HTMLTextAreaElement>(null);
  const write = (isNote: boolean) => {
    update({ isNote });
    field.current?.focus();
  };
  const post = async () => {
    if (isEmpty(draft) || busy !== undefined || (newest.optedOut && !draft.isNote)) return;
    const { isNote, text, format, files } = draft;
    const body = { text, format: isNote ? 'TEXT' : format, files: files.map((file) => file.id) };
    if (!(await act(isNote ? 'note' : 'reply', body))) return;
    clear();
  };
  const isCompleted = newest.status === 'Completed';
  useTicketKeys({
    reply: () => write(false),
    note: () => write(true),
    take: () => {
      if (!isCompleted && newest.assignee !== me) void act('assign', { to: me });
    },
    complete: () => {
      if (!isCompleted) void act('complete');
    },
    leave: () => route(QUEUE),
  });
  return (
    <div class="desk">
      <BesideMessages
        messages={
          <Card
            title={newest.name === '' ? `Ticket ${newest.number}` : newest.name}
            tools={<Actions ticket={newest} {...{ me, busy, act }} />}
          >
            {earlier.hasMore && (
              <p class="list-end">
                <Button busy={earlier.loading} onClick={earlier.load}>
                  Load earlier messages
                </Button>
              </p>
            )}
            <Conversation {...{ ticket, me, reload }} />
            <LimitReached ticket={newest} {...{ busy, act }} />
            <Presence {...{ others }} />
            <News {...{ me }} changes={news.changes} />
            <Composer
              {...{ ticket, draft }}
              busy={busy === 'reply' || busy === 'note'}
              fieldRef={field}
              onChange={(change) => {
                typed();
                update(change);
              }}
              onSend={() => void post()}
            />
          </Card>
        }
      >
        <Card title={`Ticket ${newest.number}`}>
          <Facts ticket={newest} onAssign={(to) => void act('assign', { to })} />
        </Card>
      </BesideMessages>
    </div>
  );
}

type Act = (action: DeskAction, body?: object) => Promise<boolean>;

/** What can be done to a ticket besides answering. */
function Actions(props: {
  readonly ticket: DeskTicketView;
  readonly me: string;
  readonly busy: DeskAction | undefined;
  readonly act: Act;
}) {
  const { ticket, me, busy, act } = props;
  const button = (action: DeskAction, words: string, icon: IconName, body = {}) => (
    <Button
      size="small"
      {...{ icon }}
      busy={busy === action}
      onClick={() => void act(action, body)}
    >
      {words}
    </Button>
  );
  return (
    <div class="desk-actions">
      {ticket.status === 'Completed' ? (
        button('reopen', 'Reopen', 'again')
      ) : (
        <>
          {ticket.assignee !== me && button('assign', 'Assign to me', 'person', { to: me })}
          {button('complete', 'Complete', 'ok')}
          {ticket.agent === 'silent' && button('hand-back', 'Hand back to the agent', 'back')}
        </>
      )}
    </div>
  );
}

const LIMIT_WORDS: Readonly<Record<NonNullable<DeskTicketView['limitReached']>, string>> = {
  repeated: 'the same message came several times in a row',
  too_fast: 'this customer has had many automatic answers in a short time',
  unverified:
    'nothing confirms who wrote, and the automatic answers to such senders are used up for now',
  fails_policy:
    'the domain of the sender says that this email is not from there (DMARC), so that an answer may reach somebody else',
  domain_budget: "this domain's share of the shop's automatic answers of this hour is used up",
  shop_budget: "the shop's automatic answers of this hour are used up",
};

/** Why the last message has no automatic answer. */
function LimitReached(props: {
  readonly ticket: DeskTicketView;
  readonly busy: DeskAction | undefined;
  readonly act: Act;
}) {
  const { limitReached } = props.ticket;
  if (limitReached === undefined) return null;
  return (
    <Note tone="warning" icon="warning">
      The AI agent has not answered: {LIMIT_WORDS[limitReached]}.{' '}
      {limitReached === 'fails_policy' ? (
        'Answer it yourself if you know who wrote.'
      ) : (
        <Button
          size="small"
          icon="back"
          busy={props.busy === 'hand-back'}
          onClick={() => void props.act('hand-back')}
        >
          Let the agent answer now
        </Button>
      )}
    </Note>
  );
}

const AGENT_WORDS = {
  answers: 'answers the next message',
  silent: 'silent: people answer',
  off: 'none: people answer',
} as const;

function Facts(props: {
  readonly ticket: DeskTicketView;
  readonly onAssign: (to: string | null) => void;
}) {
  const { shop, status, channel, customer, assignee = NOBODY, ...ticket } = props.ticket;
  const people = [...new Set([...ticket.assignable, ...(assignee === NOBODY ? [] : [assignee])])];
  return (
    <dl class="resource-facts">
      <Fact name="Status">
        <StatusBadge {...{ status }} />
      </Fact>
      {ticket.waitingSince !== undefined && (
        <Fact name="Waits">
          <Waiting {...{ shop }} since={ticket.waitingSince} />
        </Fact>
      )}
      {ticket.completedAt !== undefined && (
        <Fact name="Completed">{exact(ticket.completedAt)}</Fact>
      )}
      <Fact name="Who has it">
        {status === 'Completed' ? (
          assignee === NOBODY ? (
            'nobody'
          ) : (
            assignee
          )
        ) : (
          <Select
            label="Who has it"
            value={assignee}
            options={[
              { value: NOBODY, label: 'nobody' },
              ...people.map((name) => ({ value: name, label: name })),
            ]}
            onChoose={(name) => props.onAssign(name === NOBODY ? null : name)}
          />
        )}
      </Fact>
      <Fact name="Customer">
        <bdi>{customer === '' ? 'Visitor' : customer}</bdi>
      </Fact>
      {ticket.replyTo !== undefined && ticket.replyTo !== customer && (
        <CopyFact name="Address" text={ticket.replyTo} what="the address" isProse />
      )}
      <Fact name="Channel">
        <ChannelBadge {...{ channel }} />
      </Fact>
      <Fact name="AI agent">{AGENT_WORDS[ticket.agent]}</Fact>
      <Fact name="Shop">{shop}</Fact>
      <LinkedIdRow name="Contact" view="contacts" id={ticket.contactId} {...{ shop }} />
      <LinkedIdRow
        name="Conversation"
        view="conversations"
        id={ticket.conversationId}
        {...{ shop }}
      />
      <CopyFact name="Id" text={ticket.id} what="the ticket id" />
    </dl>
  );
}

/** What others did while somebody writes, or that their change was refused for. */
const News = (props: { readonly changes: readonly DeskChange[]; readonly me: string }) => (
  <div role="status" aria-live="polite">
    {props.changes.length > 0 && (
      <Note tone="warning" icon="alert">
        <b>The ticket has changed since you began.</b> Read it, then send again or change your text.
        <ul>
          {props.changes.map((change, index) => (
            <li key={index}>
              <bdi>{changeInWords(change, props.me)}</bdi>
            </li>
          ))}
        </ul>
      </Note>
    )}
  </div>
);

const Presence = ({ others }: { readonly others: readonly Present[] }) => (
  <p class="desk-presence muted small" role="status" aria-live="polite">
    {others.map(({ who, writing }) => `${who} ${writing ? 'is writing…' : 'is here'}`).join(' · ')}
  </p>
);

/** Sends the changes of a ticket; one that is refused leaves it as the gateway has it now. */
function useActions(
  { shop, id, version }: DeskTicketView,
  on: {
    readonly reload: () => void;
    readonly onChanged: (ticket: DeskTicketView) => void;
    readonly onRefused: (changes: readonly DeskChange[]) => void;
  },
) {
  const [busy, setBusy] = useState<DeskAction | undefined>(undefined);
  const act: Act = async (action, body = {}) => {
    if (busy !== undefined) return false;
    setBusy(action);
    try {
      on.onChanged(await api.changeTicket(shop, id, action, { version, ...body }));
      return true;
    } catch (error) {
      const { message, changes } = asRefusal(error);
      if (changes.length > 0) on.onRefused(changes);
      else toast({ tone: 'danger', text: message });
      on.reload();
      return false;
    } finally {
      setBusy(undefined);
    }
  };
  return { act, busy };
}

/** What others did since somebody began to write. */
function useNews(ticket: DeskTicketView, isWriting: boolean, me: string) {
  const begun = useRef<DeskTicketView | undefined>(undefined);
  const [refused, setRefused] = useState<readonly DeskChange[]>([]);
  if (!isWriting) begun.current = ticket;
  begun.current ??= ticket;
  const changes = refused.length > 0 ? refused : changesBetween(begun.current, ticket, me);
  return {
    changes,
    add: setRefused,
    clear: () => {
      setRefused([]);
      begun.current = undefined;
    },
  };
}

/** Says that the ticket is open and whether somebody writes; answers who else does. */
function usePresence({ shop, id, present }: DeskTicketView, me: string) {
  const [people, setPeople] = useState(present);
  const typedAt = useRef(0);
  const say = () => {
    if (document.hidden) return;
    const isWriting = gatewayNow() - typedAt.current < WRITING_MS;
    // The next one follows soon.
    api.present(shop, id, isWriting).catch(() => undefined);
  };
  useEffect(() => {
    say();
    const timer = setInterval(say, PRESENT_EVERY_MS);
    const end = onPresence((presence) => {
      if (presence.id === id) setPeople(presence.present);
    });
    return () => {
      clearInterval(timer);
      end();
    };
  }, []);
  return {
    others: people.filter(({ who, until }) => who !== me && until > now.value),
    typed: () => {
      const isNew = gatewayNow() - typedAt.current > WRITING_MS;
      typedAt.current = gatewayNow();
      if (isNew) say();
    },
  };
}

/** Says once which message of a chat visitor is on the screen: their widget shows it as seen. */
function useSeen({ shop, id, channel, messages }: DeskTicketView): void {
  const said = useRef('');
  useEffect(() => {
    const newest = messages.findLast(({ from }) => from === 'customer')?.id;
    if (channel !== 'web_chat' || newest === undefined) return;
    const say = () => {
      if (document.hidden || said.current === newest) return;
      said.current = newest;
      // The next change of the ticket is another chance.
      api.seen(shop, id, newest).catch(() => (said.current = ''));
    };
    say();
    document.addEventListener('visibilitychange', say);
    return () => document.removeEventListener('visibilitychange', say);
  }, [messages]);
}

/** The messages before those of the ticket, which are loaded on request. */
function useEarlier({ shop, id, messages, hasEarlier }: DeskTicketView) {
  const { data, send, loading } = useRequest<Pick<DeskTicketView, 'messages' | 'hasEarlier'>>();
  const before = data?.messages ?? [];
  const known = new Set(messages.map((message) => message.id));
  const all = [...before.filter((message) => !known.has(message.id)), ...messages];
  return {
    shown: { messages: all, hasEarlier: data?.hasEarlier ?? hasEarlier },
    hasMore: data?.hasEarlier ?? hasEarlier,
    loading,
    load: () =>
      send(async (signal) => {
        const page = await api.deskTicket(shop, id, { before: all[0]?.id }, signal);
        return { messages: [...page.messages, ...all], hasEarlier: page.hasEarlier };
      }),
  };
}
