import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import type { OpenBudget } from '../../runtime/budgets.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Session } from '../contract.ts';
import type { Actor, Audit } from './audit.ts';
import { DEVICE_MS, type Devices, type LiveSession, type Sessions } from './sessions.ts';
import { type LoginSource, LoginLimits } from './login-limits.ts';
import { OPERATOR, type Operators } from './operators.ts';
import { checked, Refusal } from './refusal.ts';

const COOKIE = 'sluice_session';
const DEVICE_COOKIE = 'sluice_device';
/** The only path for which the device cookie is sent. */
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
  readonly openBudget: OpenBudget;
  /** The client address for the login limits, from a trusted proxy's header where there is one. */
  readonly network: (req: Request) => string;
  /** Whether the browser's connection is encrypted. */
  readonly isSecure: (req: Request) => boolean;
  /** Whether the given token is the metrics token. */
  readonly isMetricsToken: (given: string) => boolean;
}

/** The credentials of a request; `device` only on the sign-in page. */
interface Credentials {
  readonly name: string;
  readonly password: string;
  readonly source: LoginSource;
  readonly device?: string | undefined;
}

/** The caller of the API: a browser with a session, or a program with the password. */
export interface Caller {
  readonly operator: string;
  readonly address: string;
  readonly session?: LiveSession;
}

/** Authenticates requests, and signs operators in and out. */
export class SignIn {
  readonly #parts: SignInParts;
  readonly #limits: LoginLimits;
  readonly #failed: FailedLogins;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#limits = new LoginLimits(parts.openBudget);
    this.#failed = new FailedLogins(parts.audit, parts.clock);
  }

  /** `POST /login`; requires no session. */
  loginRoute(): Router {
    const router = express.Router();
    router.post(LOGIN, express.json({ limit: '8kb' }), async (req, res) => {
      const { operator, password } = checked(loginSchema, req.body);
      const name = operator === undefined || operator === '' ? OPERATOR : operator;
      // Read before the check, so that the session is bound to the password that was checked.
      const configured = this.#parts.operators.passwordOf(name);
      const { devices } = this.#parts;
      const device = devices.idOf(cookieOf(req, DEVICE_COOKIE), name);
      if (!(await this.#isRight(req, { name, password, source: 'page', device }))) {
        throw new Refusal('wrong_password', 'Wrong name or password');
      }
      const old = this.#session(req);
      if (old !== undefined) await this.#parts.sessions.end(old.id);
      const { token, session } = await this.#parts.sessions.begin(name, configured);
      const address = this.#parts.network(req);
      await this.#parts.audit.write({ who: name, address, action: 'login', target: 'console' });
      this.#setCookie(req, res, token, session.endsAt);
      this.#setDeviceCookie(req, res, devices.issue(name, configured));
      res.json({ operator: name, endsAt: session.endsAt } satisfies Session);
    });
    return router;
  }

  /** `GET /session`, `POST /logout`: behind `require`. */
  sessionRoutes(): Router {
    const router = express.Router();
    router.get('/session', (_req, res) => {
      const { operator, session } = callerOf(res);
      const endsAt = session?.endsAt ?? this.#parts.clock();
      res.json({ operator, endsAt } satisfies Session);
    });
    router.post('/logout', async (req, res) => {
      const { session } = callerOf(res);
      if (session !== undefined) {
        await this.#parts.sessions.end(session.id);
        await this.#parts.audit.write({ ...actorOf(res), action: 'logout', target: 'console' });
      }
      this.#setCookie(req, res, '', 0);
      res.status(204).end();
    });
    return router;
  }

  /** Admits requests with a session or the password. */
  require = async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    const caller = await this.recognize(req);
    if (caller === undefined) throw new Refusal('signed_out', 'Sign in first');
    res.locals[CALLER] = caller;
    next();
  };

  /** @throws {Refusal} too many wrong passwords from this client */
  async recognize(req: Request): Promise<Caller | undefined> {
    const session = this.#session(req);
    const address = this.#parts.network(req);
    if (session !== undefined) return { operator: session.operator, address, session };
    const given = credentialsIn(req.headers.authorization ?? '');
    if (given === undefined) return undefined;
    // An unknown name is accepted with the console's single password, for compatibility.
    const name = this.#parts.operators.has(given.name) ? given.name : OPERATOR;
    const { password } = given;
    const isRight = await this.#isRight(req, { name, password, source: 'program' });
    return isRight ? { operator: name, address } : undefined;
  }

  /**
   * Whether the caller may read the metrics: with the metrics token, a session or the password. The
   * token is random and too long to guess, so it is not limited.
   * @throws {Refusal} too many wrong passwords from this client
   */
  async mayReadMetrics(req: Request): Promise<boolean> {
    const given = credentialsIn(req.headers.authorization ?? '');
    if (given !== undefined && this.#parts.isMetricsToken(given.password)) return true;
    return (await this.recognize(req)) !== undefined;
  }

  async #isRight(req: Request, { name, password, source, device }: Credentials): Promise<boolean> {
    const { network, operators } = this.#parts;
    const address = network(req);
    const fingerprint = operators.fingerprintOf(name, password);
    const tried = await this.#limits.check({ address, source, device, fingerprint }, () =>
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

  #setDeviceCookie(req: Request, res: Response, token: string): void {
    const path = `${req.baseUrl}${LOGIN}`;
    const maxAge = DEVICE_MS / 1000;
    this.#append(req, res, `${DEVICE_COOKIE}=${token}; Path=${path}; Max-Age=${maxAge}`);
  }

  #append(req: Request, res: Response, cookie: string): void {
    const secure = this.#parts.isSecure(req) ? '; Secure' : '';
    res.append('Set-Cookie', `${cookie}; HttpOnly; SameSite=Strict${secure}`);
  }
}

const CALLER = 'caller';

/** The caller, in routes behind `require`. */
export function callerOf(res: Response): Caller {
  // Only `require` sets this.
  return res.locals[CALLER] as Caller;
}

/** The caller, as the audit log names them. */
export function actorOf(res: Response): Actor {
  const { operator, address } = callerOf(res);
  return { who: operator, address };
}

function cookieOf({ headers }: Request, name: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Credentials from HTTP Basic (RFC 7617), or the password as a bearer token. */
function credentialsIn(authorization: string): { name: string; password: string } | undefined {
  // Everything after the scheme, since a password may contain spaces.
  const [, scheme, value] = /^(basic|bearer) +(.+)$/i.exec(authorization) ?? [];
  if (value === undefined || value.length > 2 * MAX_PASSWORD) return undefined;
  if (scheme?.toLowerCase() === 'bearer') return { name: OPERATOR, password: value };
  const pair = Buffer.from(value, 'base64').toString();
  const at = pair.indexOf(':');
  return at === -1 ? undefined : { name: pair.slice(0, at), password: pair.slice(at + 1) };
}

const EVERY_MS = 60_000;
/** Lines per minute over all addresses, so that they cannot fill the disk. */
const MAX_LINES = 30;

/**
 * Records wrong passwords in the audit log, at most one line per minute and address. The given name
 * is omitted, since it is often a password in the wrong field.
 */
class FailedLogins {
  readonly #audit: Audit;
  readonly #clock: Clock;
  #minute = 0;
  readonly #logged = new Set<string>();

  constructor(audit: Audit, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
  }

  async add(address: string): Promise<void> {
    const minute = Math.floor(this.#clock() / EVERY_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#logged.clear();
    }
    if (this.#logged.has(address) || this.#logged.size >= MAX_LINES) return;
    this.#logged.add(address);
    await this.#audit.write({
      who: 'unknown',
      address,
      action: 'login_failed',
      target: 'console',
      outcome: 'refused',
    });
  }
}
