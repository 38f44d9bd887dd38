import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import type { Audit } from './audit.ts';
import type { Session } from '../contract.ts';
import { FailedLogins } from './failed-logins.ts';
import { LoginLimits } from './login-limits.ts';
import { OPERATOR, type Operators } from './operators.ts';
import { Refusal } from './refusal.ts';
import type { LiveSession, Sessions } from './sessions.ts';
import { checked } from './checked.ts';

const COOKIE = 'sluice_session';
const MAX_PASSWORD = 1024;

const loginSchema = z.strictObject({
  operator: z.string().max(64).optional(),
  password: z.string().max(MAX_PASSWORD),
});

export interface SignInParts {
  readonly operators: Operators;
  readonly sessions: Sessions;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Whose tries count together; a proxy's word is taken where proxies are trusted. */
  readonly network: (req: Request) => string;
  /** The browser's connection is encrypted. */
  readonly isSecure: (req: Request) => boolean;
}

/** Who asks: a browser with a session, or a program with the password. */
export interface Visitor {
  readonly operator: string;
  readonly session?: LiveSession;
}

/** Recognizes who asks, and lets operators in and out. */
export class SignIn {
  readonly #parts: SignInParts;
  readonly #limits = new LoginLimits();
  readonly #failed: FailedLogins;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#failed = new FailedLogins(parts.audit, parts.clock);
  }

  /** `POST /login`, which needs no session. */
  loginRoute(): Router {
    const router = express.Router();
    router.post('/login', express.json({ limit: '8kb' }), async (req, res) => {
      const { operator, password } = checked(loginSchema, req.body);
      const name = operator === undefined || operator === '' ? OPERATOR : operator;
      // Before the look: a password that is replaced meanwhile must not get a session of the new one.
      const configured = this.#parts.operators.passwordOf(name);
      if (!(await this.#isRight(req, name, password))) {
        throw new Refusal('wrong_password', 'Name or password is wrong');
      }
      const old = this.#session(req);
      if (old !== undefined) await this.#parts.sessions.end(old.id);
      const { token, session } = await this.#parts.sessions.begin(name, configured);
      await this.#parts.audit.write({ who: name, action: 'login', target: 'console' });
      this.#setCookie(req, res, token, session.endsAt);
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
    return (await this.#isRight(req, name, given.password)) ? { operator: name } : undefined;
  }

  async #isRight(req: Request, name: string, password: string): Promise<boolean> {
    const { network, operators } = this.#parts;
    const address = network(req);
    const tried = await this.#limits.look({ address, mark: operators.markOf(name, password) }, () =>
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
    return this.#parts.sessions.find(cookieOf(req.headers.cookie ?? ''));
  }

  #setCookie(req: Request, res: Response, token: string, endsAt: number): void {
    const maxAge = Math.max(0, Math.floor((endsAt - this.#parts.clock()) / 1000));
    const secure = this.#parts.isSecure(req) ? '; Secure' : '';
    const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
    res.append('Set-Cookie', `${COOKIE}=${token}; ${attributes}`);
  }
}

const VISITOR = 'visitor';

/** Who asks, behind `require`. */
export function visitorOf(res: Response): Visitor {
  // Set by `require`, and by nobody else.
  return res.locals[VISITOR] as Visitor;
}

function cookieOf(header: string): string | undefined {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === COOKIE) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Basic (RFC 7617), or the password alone as a bearer token. */
function presented(authorization: string): { name: string; password: string } | undefined {
  // All that stands behind the scheme: a password may be several words.
  const [, scheme, value] = /^(basic|bearer) +(.+)$/i.exec(authorization) ?? [];
  if (value === undefined || value.length > 2 * MAX_PASSWORD) return undefined;
  if (scheme?.toLowerCase() === 'bearer') return { name: OPERATOR, password: value };
  const pair = Buffer.from(value, 'base64').toString();
  const at = pair.indexOf(':');
  return at === -1 ? undefined : { name: pair.slice(0, at), password: pair.slice(at + 1) };
}
