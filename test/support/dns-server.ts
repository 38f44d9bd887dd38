import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type Answer, decode, encode, type Packet } from 'dns-packet';

/** Record values by `name TYPE`; names in lower case. */
export type Zone = Readonly<Record<string, readonly string[]>>;

/** A name server on a free port of the loopback interface, for one zone. */
export class DnsServer {
  /** Every question, as `name TYPE`. */
  readonly questions: string[] = [];
  /** Questions that get no answer at all. */
  silentTo: (question: string) => boolean = () => false;
  /** Questions that the server has trouble with. */
  failsOn: (question: string) => boolean = () => false;
  readonly #socket: Socket;
  readonly #zone: Zone;

  private constructor(socket: Socket, zone: Zone) {
    this.#socket = socket;
    this.#zone = zone;
    socket.on('message', (bytes, { port, address }) => {
      const answer = this.#answer(decode(bytes));
      if (answer !== undefined) socket.send(answer, port, address);
    });
  }

  static async start(zone: Zone): Promise<DnsServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new DnsServer(socket, zone);
  }

  /** As `dns.servers` names it. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  #answer({ id, questions }: Packet): Buffer | undefined {
    const [question] = questions ?? [];
    if (question === undefined) return undefined;
    const { name, type } = question;
    const asked = `${name.toLowerCase()} ${type}`;
    this.questions.push(asked);
    if (this.silentTo(asked)) return undefined;
    const values = this.#zone[asked] ?? [];
    const exists = Object.keys(this.#zone).some((key) => key.startsWith(`${name.toLowerCase()} `));
    // RFC 1035 §4.1.1: 2 is SERVFAIL, 3 is NXDOMAIN.
    const rcode = this.failsOn(asked) ? 2 : exists ? 0 : 3;
    const answers = rcode === 0 ? values.map((value) => record(name, type, value)) : [];
    // 0x0400 says that the answer is authoritative.
    return encode({
      type: 'response',
      id: id ?? 0,
      flags: 0x0400 | rcode,
      questions: [question],
      answers,
    });
  }
}

function record(name: string, type: string, value: string): Answer {
  const ttl = 60;
  if (type === 'TXT') return { type, name, ttl, data: value.match(/.{1,255}/gs) ?? [''] };
  if (type === 'A' || type === 'AAAA' || type === 'PTR') return { type, name, ttl, data: value };
  const [preference = '10', exchange = ''] = value.split(' ');
  return { type: 'MX', name, ttl, data: { preference: Number(preference), exchange } };
}
