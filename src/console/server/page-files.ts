import express, { type Request, type Response, type Router } from 'express';

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const MISSING = 'The console is not part of this build. Run `npm run build`; the API works.\n';

/** The built page: hashed files for ever, and `index.html` for every address within the console. */
export function pageFiles(folder: string): Router {
  const router = express.Router();
  router.use(
    '/assets',
    express.static(`${folder}/assets`, {
      immutable: true,
      maxAge: YEAR_MS,
      index: false,
      redirect: false,
      dotfiles: 'ignore',
    }),
  );
  router.use(express.static(folder, { index: false, redirect: false, dotfiles: 'ignore' }));
  router.get('/{*path}', (req: Request, res: Response, next) => {
    // A file that is not there is not the page: a script that gets HTML fails without a reason.
    if (/\.[a-z0-9]{1,8}$/i.test(req.path) || !acceptsPage(req)) {
      next();
      return;
    }
    res.set('Cache-Control', 'no-cache');
    res.sendFile('index.html', { root: folder, cacheControl: false }, (error) => {
      if (error === undefined || res.headersSent) return;
      res.status(503).type('text/plain').end(MISSING);
    });
  });
  return router;
}

const acceptsPage = (req: Request): boolean => req.accepts(['html', 'text']) !== false;
