import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { type ApiToken, hasEnded, tokenActor } from '../../domain/api-token.ts';
import type { OpenBudget } from '../../runtime/budgets.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isTokenSecret, tokenHash } from '../../spool/api-token-store.ts';
import type { Session } from '../contract.ts';
import type { ApiTokens } from './api-tokens.ts';
import type { Actor, Audit } from './audit.ts';
import { DEVICE_MS, type Devices, type LiveSession, type Sessions } from './sessions.ts';
import { type LoginAttempt, LoginLimits, type LoginSource } from './login-limits.ts';
import { OPERATOR, type Operators } from './operators.ts';
import { checked, Refusal } from './refusal.ts';
import { SAFE_METHODS } from './request-guards.ts';
import { permits, type Role } from './roles.ts';

const COOKIE = 'sluice_session';
const DEVICE_COOKIE = 'sluice_device';
/** The only path for which the device cookie is sent. */
const LOGIN = '/login';
const MAX_PASSWORD = 1024;

export const loginSchema = z.strictObject({
  operator: z.string().max(64).optional(),
  password: z.string().max(MAX_PASSWORD),
});

interface SignInParts {
  readonly operators: Operators;
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly tokens: ApiTokens;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly openBudget: OpenBudget;
  /** The client address for the login limits, from a trusted proxy's header where there is one. */
  readonly network: (req: Request) => string;
  /** Whether the browser's connection is encrypted. */
  readonly isSecure: (req: Request) => boolean;
  /** Who runs the command that sent a request on the socket of the data folder. */
  readonly localUser: (req: Request) => string | undefined;
  /** Whether the given token is the metrics token. */
  readonly isMetricsToken: (given: string) => boolean;
}

/** A name and a password; `device` only on the sign-in page. */
interface Credentials {
  readonly name: string;
  readonly password: string;
  readonly source: LoginSource;
  readonly device?: string | undefined;
}

/** The caller of the API: a browser with a session, or a program with the password or a token. */
export interface Caller {
  /** As in the audit log. */
  readonly operator: string;
  /** Of a program with a token: that of the person who made it. */
  readonly role: Role;
  /** Absent for a command on this machine. */
  readonly address?: string;
  readonly session?: LiveSession;
  readonly token?: ApiToken;
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
      const role = this.#parts.operators.roleOf(name);
      res.json({ operator: name, role, endsAt: session.endsAt } satisfies Session);
    });
    return router;
  }

  /** `GET /session`, `POST /logout`: behind `require`. */
  sessionRoutes(): Router {
    const router = express.Router();
    router.get('/session', (_req, res) => {
      const { operator, role, session, token } = callerOf(res);
      const endsAt = session?.endsAt ?? token?.endsAt ?? this.#parts.clock();
      res.json({ operator, role, endsAt } satisfies Session);
    });
    router.post('/logout', requireOperator, async (req, res) => {
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

  /** Admits requests with a session, the password, or a token, if the role or scope permits them. */
  require = async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    const caller = await this.recognize(req);
    if (caller === undefined) {
      const isNamed = this.#parts.operators.names.some((name) => name !== OPERATOR);
      throw new Refusal('signed_out', 'Sign in first', { isNamed });
    }
    if (caller.token?.scope === 'read' && !SAFE_METHODS.has(req.method)) {
      throw new Refusal('forbidden', 'This token only permits reading (scope read)');
    }
    if (!permits(caller.role, req.method, req.path)) throw deskOnly();
    res.locals[CALLER] = caller;
    next();
  };

  /** @throws {Refusal} the token is not valid, or too many wrong ones came from this client */
  async recognize(req: Request): Promise<Caller | undefined> {
    const user = this.#parts.localUser(req);
    if (user !== undefined) return { operator: user, role: 'operator' };
    const session = this.#session(req);
    const address = this.#parts.network(req);
    const { operators } = this.#parts;
    if (session !== undefined) {
      const { operator } = session;
      return { operator, role: operators.roleOf(operator), address, session };
    }
    const given = credentialsIn(req.headers.authorization ?? '');
    if (given === undefined) return undefined;
    if (isTokenSecret(given.password)) return this.#tokenCaller(req, given);
    // An unknown name is accepted with the console's single password, for compatibility.
    const name = operators.has(given.name) ? given.name : OPERATOR;
    const { password } = given;
    const isRight = await this.#isRight(req, { name, password, source: 'program' });
    return isRight ? { operator: name, role: operators.roleOf(name), address } : undefined;
  }

  /**
   * Whether the caller may read the metrics: with the metrics token, a session, the password or a
   * token of the API. The metrics token is random and too long to guess, so it is not limited.
   * @throws {Refusal} too many wrong passwords from this client, or a role without metrics
   */
  async mayReadMetrics(req: Request): Promise<boolean> {
    const given = credentialsIn(req.headers.authorization ?? '');
    if (given !== undefined && this.#parts.isMetricsToken(given.password)) return true;
    const caller = await this.recognize(req);
    if (caller?.role === 'desk') throw deskOnly();
    return caller !== undefined;
  }

  /** Who acts with this token; never with one from HTTP Basic, which browsers store. */
  async #tokenCaller(req: Request, { scheme, password }: GivenCredentials): Promise<Caller> {
    if (scheme !== 'bearer') {
      throw new Refusal('signed_out', 'Send the token as `Authorization: Bearer`');
    }
    const token = await this.#tokenOf(req, tokenHash(password));
    if (token === undefined) {
      throw new Refusal('signed_out', 'The token is not valid: it is wrong or was revoked');
    }
    if (hasEnded(token, this.#parts.clock())) {
      throw new Refusal('signed_out', 'The token has expired');
    }
    const { operators, tokens } = this.#parts;
    const role = operators.roleOfMaker(token.madeBy);
    if (role === undefined) {
      throw new Refusal('signed_out', 'The token is not valid: its maker is no longer an operator');
    }
    await tokens.noteUse(token);
    return { operator: tokenActor(token), role, address: this.#parts.network(req), token };
  }

  async #tokenOf(req: Request, hash: string): Promise<ApiToken | undefined> {
    const { tokens } = this.#parts;
    // One that was right before does not wait for limits that others have reached: no one guesses a token.
    if (!tokens.isKnown(hash)) {
      const isRight = async () => (await tokens.find(hash)) !== undefined;
      if (!(await this.#admits(req, { source: 'token', fingerprint: hash }, isRight))) {
        return undefined;
      }
    }
    return tokens.find(hash);
  }

  #isRight(req: Request, { name, password, source, device }: Credentials): Promise<boolean> {
    const { operators } = this.#parts;
    const fingerprint = operators.fingerprintOf(name, password);
    const who = name !== OPERATOR && operators.has(name) ? name : undefined;
    const isRight = () => operators.verify(name, password);
    return this.#admits(req, { source, device, fingerprint }, isRight, who);
  }

  /**
   * @param who the named operator whose password is tried
   * @throws {Refusal} too many wrong passwords or tokens from this client
   */
  async #admits(
    req: Request,
    attempt: Omit<LoginAttempt, 'address'>,
    isRight: () => Promise<boolean>,
    who?: string,
  ): Promise<boolean> {
    const address = this.#parts.network(req);
    const tried = await this.#limits.check({ address, ...attempt }, isRight);
    if (tried.kind === 'too_many') {
      const { retryAfter } = tried;
      const what = attempt.source === 'token' ? 'tokens' : 'passwords';
      const message = `Too many wrong ${what}; try again in ${retryAfter} s`;
      throw new Refusal('too_many_tries', message, { retryAfter });
    }
    if (tried.kind === 'wrong') await this.#failed.add(address, who);
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

const deskOnly = () =>
  new Refusal('forbidden', 'Your role, desk, permits the Platform pages only: ask an operator');

const CALLER = 'caller';

/** The caller, in routes behind `require`. */
export function callerOf(res: Response): Caller {
  // Only `require` sets this.
  return res.locals[CALLER] as Caller;
}

/** The caller, as the audit log names them. */
export function actorOf(res: Response): Actor {
  const { operator, address } = callerOf(res);
  return { who: operator, ...(address !== undefined && { address }) };
}

/**
 * Refuses tokens: whoever gets hold of one must not be able to make another that outlives it.
 * @throws {Refusal} the caller has a token
 */
export function requireOperator(_req: Request, res: Response, next: NextFunction): void {
  if (callerOf(res).token !== undefined) {
    throw new Refusal('forbidden', 'Only operators may do this: sign in, or send the password');
  }
  next();
}

function cookieOf({ headers }: Request, name: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

interface GivenCredentials {
  readonly scheme: 'basic' | 'bearer';
  readonly name: string;
  readonly password: string;
}

/** Credentials from HTTP Basic (RFC 7617), or the password or a token as a bearer token. */
function credentialsIn(authorization: string): GivenCredentials | undefined {
  // Everything after the scheme, since a password may contain spaces.
  const [, scheme, value] = /^(basic|bearer) +(\S.*)$/i.exec(authorization) ?? [];
  if (value === undefined || value.length > 2 * MAX_PASSWORD) return undefined;
  if (scheme?.toLowerCase() === 'bearer') {
    return { scheme: 'bearer', name: OPERATOR, password: value };
  }
  const pair = Buffer.from(value, 'base64').toString();
  const at = pair.indexOf(':');
  if (at === -1) return undefined;
  return { scheme: 'basic', name: pair.slice(0, at), password: pair.slice(at + 1) };
}

const EVERY_MS = 60_000;
/** Lines per minute over all addresses, so that they cannot fill the disk. */
const MAX_LINES = 30;

/**
 * Records wrong passwords in the audit log, at most one line per minute and address. A name that no
 * operator has is omitted, since it is often a password in the wrong field.
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

  async add(address: string, name = 'unknown'): Promise<void> {
    const minute = Math.floor(this.#clock() / EVERY_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#logged.clear();
    }
    if (this.#logged.has(address) || this.#logged.size >= MAX_LINES) return;
    this.#logged.add(address);
    await this.#audit.write({
      who: name,
      address,
      action: 'login_failed',
      target: 'console',
      outcome: 'refused',
    });
  }
}
