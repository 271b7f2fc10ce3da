import { readFileSync } from 'node:fs';

/** The bundles as they are served, read once. */
export const contractDocuments = {
  openapi: readFileSync(new URL('../../generated/openapi.json', import.meta.url)),
  asyncapi: readFileSync(new URL('../../generated/asyncapi.json', import.meta.url)),
};

let parsed: object | undefined;

/** The OpenAPI bundle as an object, the same for all who ask in one process. Not to be changed. */
export function openApiBundle(): object {
  parsed ??= JSON.parse(contractDocuments.openapi.toString('utf8')) as object;
  return parsed;
}
