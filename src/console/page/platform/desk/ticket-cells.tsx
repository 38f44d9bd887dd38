import { addressIn } from '../addresses.ts';

interface ListedTicket {
  readonly shop: string;
  readonly number: number;
  /** The ticket's. */
  readonly name: string;
  /** Of what is listed: a message or a reply. */
  readonly excerpt: string;
  readonly customer: string;
}

/** The first cells of a row about a ticket: its link with an excerpt, and its customer. */
export const TicketCells = (props: {
  readonly ticketId: string;
  readonly listed: ListedTicket;
}) => {
  const { shop, number, name, excerpt, customer } = props.listed;
  return (
    <>
      <td class="wide-cell">
        <a href={addressIn('tickets', shop, props.ticketId)}>
          <bdi>{name === '' ? `Ticket ${number}` : name}</bdi>
        </a>
        <p class="muted ellipsis">
          <bdi>{excerpt}</bdi>
        </p>
      </td>
      <td class="break">
        {customer === '' ? <span class="muted">Visitor</span> : <bdi>{customer}</bdi>}
      </td>
    </>
  );
};
