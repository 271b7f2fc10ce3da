import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import express, { type NextFunction, type Request, type Response, Router } from 'express';
import { type OperationId, operationIds, operations } from '../../generated/operations.ts';
import type { Json } from '../../openapi/tools/document.ts';
import { Failure, invalid } from '../../server/lib/failure.ts';
import { type Behaviours, faultsOf, isSocket, type Scope } from './behaviours.ts';
import { httpFaults } from './faults.ts';
import type { RecentRequests } from './recent-requests.ts';
import { scripts } from './sockets/scripts.ts';

/** Where the control page is, and below it its JSON interface. */
export const controlPath = '/__mock';

const folder = fileURLToPath(new URL('./control', import.meta.url));
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The control page, and what it and tests speak to it with:
 *
 * | request | |
 * |---|---|
 * | `GET /state` | what is set, and the last requests |
 * | `PUT /behaviours/{operationId or all}` | sets a `Behaviour` in place of the one before |
 * | `DELETE /behaviours` or `/behaviours/{operationId or all}` | resets |
 * | `GET /operations` | the operations with the statuses and faults that each can have |
 * | `DELETE /requests` | forgets the last requests |
 *
 * No page of another origin can use it: it answers no preflight, and a body must be JSON.
 */
export function control(behaviours: Behaviours, requests: RecentRequests): Router {
  const router = Router();
  const file = (name: string) => (_: Request, response: Response, next: NextFunction) => {
    readFile(`${folder}/${name}`)
      .then((bytes) => {
        response.setHeader('content-security-policy', policy);
        response.type(name).setHeader('cache-control', 'no-store').end(bytes);
      })
      .catch(next);
  };
  router.get('/', (request, response, next) => {
    // So that the page's own files are found beside it.
    if (request.originalUrl.startsWith(`${controlPath}/`)) file('page.html')(request, response, next);
    else response.redirect(308, `${controlPath}/`);
  });
  router.get('/page.js', file('page.js'));
  router.get('/page.css', file('page.css'));

  router.get('/state', (_, response) => {
    response.json({ behaviours: Object.fromEntries(behaviours.all), requests: requests.list() });
  });
  router.get('/operations', (_, response) => void response.json(known));
  router.put('/behaviours/:scope', express.json({ strict: false, limit: '10kb' }), (request, response) => {
    if (!request.is('application/json')) throw invalid('content-type', 'must be application/json.');
    const scope = scopeOf(request.params.scope);
    response.json(behaviours.set(scope, request.body as Json | undefined));
  });
  router.delete(['/behaviours', '/behaviours/:scope'], (request, response) => {
    const { scope } = request.params as { scope?: string };
    behaviours.reset(scope === undefined ? undefined : scopeOf(scope));
    response.status(204).end();
  });
  router.delete('/requests', (_, response) => {
    requests.forget();
    response.status(204).end();
  });
  router.use((request: Request) => {
    throw new Failure(
      404,
      'path_not_found',
      `${request.method} ${request.originalUrl} is not part of the control.`,
    );
  });
  router.use((error: unknown, _: Request, _response: Response, next: NextFunction) => {
    // The reader of bodies has errors of its own.
    const problem = error instanceof Error && 'body' in error ? invalid('body', `${error.message}.`) : error;
    next(problem);
  });
  return router;
}

function scopeOf(name: string | undefined): Scope {
  if (name === 'all' || (operationIds as readonly (string | undefined)[]).includes(name))
    return name as Scope;
  throw invalid('operation', `there is no ${String(name).slice(0, 100)}; take an operationId or all.`);
}

const known = {
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
