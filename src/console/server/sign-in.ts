import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import type { Session } from '../contract.ts';
import type { Audit } from './audit.ts';
import { DEVICE_MS, type Devices, type LiveSession, type Sessions } from './sessions.ts';
import { type Door, LoginLimits } from './login-limits.ts';
import { OPERATOR, type Operators } from './operators.ts';
import { checked, Refusal } from './refusal.ts';

const COOKIE = 'sluice_session';
const DEVICE_COOKIE = 'sluice_device';
/** The one request that the device cookie is for. */
const LOGIN = '/login';
const MAX_PASSWORD = 1024;

const loginSchema = z.strictObject({
  operator: z.string().max(64).optional(),
  password: z.string().max(MAX_PASSWORD),
});

interface SignInParts {
  readonly operators: Operators;
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Whose tries count together; a proxy's word is taken where proxies are trusted. */
  readonly network: (req: Request) => string;
  /** The browser's connection is encrypted. */
  readonly isSecure: (req: Request) => boolean;
  /** Whether this is the token that reads the metrics, and nothing else. */
  readonly isMetricsToken: (given: string) => boolean;
}

/** What a request gives to be recognized by; `device` only where somebody signs in. */
interface Given {
  readonly name: string;
  readonly password: string;
  readonly door: Door;
  readonly device?: string | undefined;
}

/** Who asks: a browser with a session, or a program with the password. */
export interface Visitor {
  readonly operator: string;
  readonly session?: LiveSession;
}

/** Recognizes who asks, and lets operators in and out. */
export class SignIn {
  readonly #parts: SignInParts;
  readonly #limits: LoginLimits;
  readonly #failed: FailedLogins;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#limits = new LoginLimits(parts.clock);
    this.#failed = new FailedLogins(parts.audit, parts.clock);
  }

  /** `POST /login`, which needs no session. */
  loginRoute(): Router {
    const router = express.Router();
    router.post(LOGIN, express.json({ limit: '8kb' }), async (req, res) => {
      const { operator, password } = checked(loginSchema, req.body);
      const name = operator === undefined || operator === '' ? OPERATOR : operator;
      // Read before the check: a password replaced meanwhile must not get a session of the new one.
      const configured = this.#parts.operators.passwordOf(name);
      const { devices } = this.#parts;
      const device = devices.idOf(cookieOf(req, DEVICE_COOKIE), name);
      if (!(await this.#isRight(req, { name, password, door: 'page', device }))) {
        throw new Refusal('wrong_password', 'Name or password is wrong');
      }
      const old = this.#session(req);
      if (old !== undefined) await this.#parts.sessions.end(old.id);
      const { token, session } = await this.#parts.sessions.begin(name, configured);
      await this.#parts.audit.write({ who: name, action: 'login', target: 'console' });
      this.#setCookie(req, res, token, session.endsAt);
      this.#knowDevice(req, res, devices.issue(name, configured));
      res.json({ operator: name, endsAt: session.endsAt } satisfies Session);
    });
    return router;
  }

  /** `GET /session`, `POST /logout`: behind `require`. */
  sessionRoutes(): Router {
    const router = express.Router();
    router.get('/session', (_req, res) => {
      const { operator, session } = visitorOf(res);
      const endsAt = session?.endsAt ?? this.#parts.clock();
      res.json({ operator, endsAt } satisfies Session);
    });
    router.post('/logout', async (req, res) => {
      const { operator, session } = visitorOf(res);
      if (session !== undefined) {
        await this.#parts.sessions.end(session.id);
        await this.#parts.audit.write({ who: operator, action: 'logout', target: 'console' });
      }
      this.#setCookie(req, res, '', 0);
      res.status(204).end();
    });
    return router;
  }

  /** Lets pass whoever has a session, or the password in the request. */
  require = async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    const visitor = await this.recognize(req);
    if (visitor === undefined) throw new Refusal('signed_out', 'Sign in first');
    res.locals[VISITOR] = visitor;
    next();
  };

  /** @throws {Refusal} too many wrong passwords came from there */
  async recognize(req: Request): Promise<Visitor | undefined> {
    const session = this.#session(req);
    if (session !== undefined) return { operator: session.operator, session };
    const given = presented(req.headers.authorization ?? '');
    if (given === undefined) return undefined;
    // Any name did before there were names: it is the console's own password then.
    const name = this.#parts.operators.has(given.name) ? given.name : OPERATOR;
    const { password } = given;
    const isRight = await this.#isRight(req, { name, password, door: 'program' });
    return isRight ? { operator: name } : undefined;
  }

  /**
   * Whoever is recognized may read the metrics, and the token for them. That one is never too many:
   * it is made by chance and too long to be guessed.
   * @throws {Refusal} too many wrong passwords came from there
   */
  async mayReadMetrics(req: Request): Promise<boolean> {
    const given = presented(req.headers.authorization ?? '');
    if (given !== undefined && this.#parts.isMetricsToken(given.password)) return true;
    return (await this.recognize(req)) !== undefined;
  }

  async #isRight(req: Request, { name, password, door, device }: Given): Promise<boolean> {
    const { network, operators } = this.#parts;
    const address = network(req);
    const mark = operators.markOf(name, password);
    const tried = await this.#limits.look({ address, door, device, mark }, () =>
      operators.verify(name, password),
    );
    if (tried.kind === 'too_many') {
      const { retryAfter } = tried;
      const message = `Too many wrong passwords; try again in ${retryAfter} s`;
      throw new Refusal('too_many_tries', message, { retryAfter });
    }
    if (tried.kind === 'wrong') await this.#failed.add(address);
    return tried.kind === 'right';
  }

  #session(req: Request): LiveSession | undefined {
    return this.#parts.sessions.find(cookieOf(req, COOKIE));
  }

  #setCookie(req: Request, res: Response, token: string, endsAt: number): void {
    const maxAge = Math.max(0, Math.floor((endsAt - this.#parts.clock()) / 1000));
    this.#append(req, res, `${COOKIE}=${token}; Path=/; Max-Age=${maxAge}`);
  }

  #knowDevice(req: Request, res: Response, token: string): void {
    const path = `${req.baseUrl}${LOGIN}`;
    const maxAge = DEVICE_MS / 1000;
    this.#append(req, res, `${DEVICE_COOKIE}=${token}; Path=${path}; Max-Age=${maxAge}`);
  }

  #append(req: Request, res: Response, cookie: string): void {
    const secure = this.#parts.isSecure(req) ? '; Secure' : '';
    res.append('Set-Cookie', `${cookie}; HttpOnly; SameSite=Strict${secure}`);
  }
}

const VISITOR = 'visitor';

/** Who asks, behind `require`. */
export function visitorOf(res: Response): Visitor {
  // Only `require` sets this.
  return res.locals[VISITOR] as Visitor;
}

function cookieOf({ headers }: Request, name: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Basic (RFC 7617), or the password alone as a bearer token. */
function presented(authorization: string): { name: string; password: string } | undefined {
  // Everything after the scheme, since a password may contain spaces.
  const [, scheme, value] = /^(basic|bearer) +(.+)$/i.exec(authorization) ?? [];
  if (value === undefined || value.length > 2 * MAX_PASSWORD) return undefined;
  if (scheme?.toLowerCase() === 'bearer') return { name: OPERATOR, password: value };
  const pair = Buffer.from(value, 'base64').toString();
  const at = pair.indexOf(':');
  return at === -1 ? undefined : { name: pair.slice(0, at), password: pair.slice(at + 1) };
}

const EVERY_MS = 60_000;
/** Lines a minute from all addresses together: nobody fills the disk from a thousand of them. */
const MAX_LINES = 30;

/**
 * Wrong passwords in the audit: at most a line a minute for each address. Never the name that was
 * given, which is often a password in the wrong field.
 */
class FailedLogins {
  readonly #audit: Audit;
  readonly #clock: Clock;
  #minute = 0;
  readonly #told = new Set<string>();

  constructor(audit: Audit, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
  }

  async add(address: string): Promise<void> {
    const minute = Math.floor(this.#clock() / EVERY_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#told.clear();
    }
    if (this.#told.has(address) || this.#told.size >= MAX_LINES) return;
    this.#told.add(address);
    await this.#audit.write({
      who: 'unknown',
      action: 'login_failed',
      target: 'console',
      outcome: 'refused',
    });
  }
}
