import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import express, { type NextFunction, type Request, type Response, Router } from 'express';
import { type OperationId, operationIds, operations } from '../../generated/operations.ts';
import type { Json } from '../../openapi/tools/document.ts';
import { Failure, invalid } from '../../server/lib/failure.ts';
import { type Behaviors, faultsOf, isSocket, scopeOf } from './behaviors.ts';
import { httpFaults } from './faults.ts';
import type { RecentRequests } from './recent-requests.ts';
import { scripts } from './sockets/scripts.ts';

/** Path of the control page. Its JSON API is below it. */
export const controlPath = '/__mock';

const folder = fileURLToPath(new URL('./control', import.meta.url));
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The control page and its JSON API:
 *
 * | request | |
 * |---|---|
 * | `GET /state` | the settings and the last requests |
 * | `PUT /behaviours/{operationId or all}` | replaces a `Behavior` |
 * | `DELETE /behaviours` or `/behaviours/{operationId or all}` | resets |
 * | `GET /operations` | the operations with their statuses and faults |
 * | `DELETE /requests` | clears the last requests |
 *
 * Pages of other origins cannot use it: it answers no preflight, and a body must be JSON.
 */
export function control(behaviors: Behaviors, requests: RecentRequests): Router {
  const router = Router();
  const file = (name: string) => (_: Request, response: Response, next: NextFunction) => {
    readFile(`${folder}/${name}`)
      .then((bytes) => {
        response.setHeader('content-security-policy', contentSecurityPolicy);
        response.type(name).setHeader('cache-control', 'no-store').end(bytes);
      })
      .catch(next);
  };
  router.get('/', (request, response, next) => {
    // The page loads its files by relative URLs.
    if (request.originalUrl.startsWith(`${controlPath}/`)) file('page.html')(request, response, next);
    else response.redirect(308, `${controlPath}/`);
  });
  router.get('/page.js', file('page.js'));
  router.get('/page.css', file('page.css'));

  router.get('/state', (_, response) => {
    response.json({ behaviours: Object.fromEntries(behaviors.all), requests: requests.list() });
  });
  router.get('/operations', (_, response) => void response.json(operationList));
  router.put('/behaviours/:scope', express.json({ strict: false, limit: '10kb' }), (request, response) => {
    if (!request.is('application/json')) throw invalid('content-type', 'must be application/json.');
    const scope = scopeOf(request.params.scope);
    response.json(behaviors.set(scope, request.body as Json | undefined));
  });
  router.delete(['/behaviours', '/behaviours/:scope'], (request, response) => {
    const { scope } = request.params as { scope?: string };
    behaviors.reset(scope === undefined ? undefined : scopeOf(scope));
    response.status(204).end();
  });
  router.delete('/requests', (_, response) => {
    requests.clear();
    response.status(204).end();
  });
  router.use((request: Request) => {
    throw new Failure(
      404,
      'path_not_found',
      `${request.method} ${request.originalUrl} is not part of the control API.`,
    );
  });
  router.use((error: unknown, _: Request, _response: Response, next: NextFunction) => {
    // Errors of the body parser have a `body`.
    const problem = error instanceof Error && 'body' in error ? invalid('body', `${error.message}.`) : error;
    next(problem);
  });
  return router;
}

const operationList = {
  all: {
    statuses: [...new Set(operationIds.flatMap((id) => errorsOf(id)))].sort((a, b) => a - b),
    faults: faultsOf('all'),
  },
  operations: operationIds.map((id) => ({
    id,
    about: operations[id].summary,
    statuses: isSocket(id) ? [] : errorsOf(id),
    faults: faultsOf(id),
  })),
  about: Object.fromEntries([...httpFaults, ...scripts].map(([name, { about }]) => [name, about])),
};

function errorsOf(id: OperationId): number[] {
  return operations[id].statuses.filter((status) => status >= 400);
}
